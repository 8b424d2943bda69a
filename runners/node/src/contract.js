// Reads the job, dyno's request, from standard input and checks it.
//
// A job may contain a password, so a message names the field and never its value.

import { Failure } from "./failure.js";

export const PROTOCOL = 3;
export const VERSION = "0.1.0";

/** The kinds of value that a field may have. */
const KINDS = {
  text: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  flag: (value) => typeof value === "boolean",
  list: (value) => Array.isArray(value),
  object: (value) => typeof value === "object" && !Array.isArray(value),
};

/** A field of the job, whose kind is checked. One that is absent is `otherwise`, if that is given, else a failure. */
export function take(record, name, kind, otherwise) {
  if (record === null || !KINDS.object(record)) {
    throw unreadable(`a value of another kind where an object with \`${name}\` is expected`);
  }
  const value = record[name];
  if (value === undefined || value === null) {
    if (otherwise === undefined) {
      throw unreadable(`missing field \`${name}\``);
    }
    return otherwise;
  }
  if (!KINDS[kind](value)) {
    throw unreadable(`a value of another kind in \`${name}\``);
  }
  return value;
}

/** The job in a text. */
export function parse(text) {
  if (!text.trim()) {
    throw new Failure("standard input is empty where a job is expected: a runner is started by dyno, not by hand");
  }
  let job;
  try {
    job = JSON.parse(text);
  } catch (error) {
    // V8's message may quote the text, and so a password.
    const place = /position \d+|end of JSON input/i.exec(error.message)?.[0] ?? "some place";
    throw unreadable(`not JSON at ${place}`);
  }
  const version = take(job, "protocol", "number");
  if (version !== PROTOCOL) {
    throw new Failure(
      `the job is in version ${version} of the contract and this runner speaks version ${PROTOCOL}: take both ` +
        "from the same source",
    );
  }
  return {
    engine: take(job, "engine", "text"),
    // The protocol that the engine speaks; empty for engines within the runner.
    speaks: take(job, "speaks", "text", ""),
    driver: take(job, "driver", "text"),
    variant: take(job, "variant", "text", null),
    build: build(job),
    settings: take(job, "settings", "list").map(setting),
    directory: take(job, "directory", "text"),
    tests: take(job, "tests", "list").map(test),
    server: server(take(job, "server", "object", null)),
    maintenance: maintenance(take(job, "maintenance", "object", null)),
    onConnect: statements(job, "on_connect"),
    readBack: take(job, "read_back", "list", []).map((each) => ({
      name: take(each, "name", "text"),
      query: take(each, "query", "text", ""),
    })),
    // Queries for the size of the database: the first that is not refused counts.
    databaseBytes: take(job, "database_bytes", "list", []),
    // True if the database is there, and each test is only asked for its answer.
    answersOnly: take(job, "answers_only", "flag", false),
    // The share by which timed sections are to be slower than they are.
    slowdown: take(job, "slowdown", "number", 0),
  };
}

const setting = (each) => ({ name: take(each, "name", "text"), value: take(each, "value", "text") });

/** `bundled`, `system`, or the path of a library or folder of the user's own. */
function build(job) {
  const found = job.build !== null && typeof job.build === "object" ? job.build : null;
  return found ? { path: take(found, "path", "text") } : take(job, "build", "text");
}

function server(found) {
  return (
    found && {
      host: take(found, "host", "text"),
      user: take(found, "user", "text"),
      port: take(found, "port", "number", null),
      password: take(found, "password", "text", null),
      database: take(found, "database", "text", null),
      options: take(found, "options", "object", {}),
      process: take(found, "process", "number", 0),
      furtherProcesses: take(found, "further_processes", "list", []),
    }
  );
}

function maintenance(found) {
  return (
    found && {
      database: take(found, "database", "text", null),
      before: statements(found, "before"),
      after: statements(found, "after"),
    }
  );
}

function statements(record, name) {
  return take(record, name, "list", []).map((each) => ({
    // The setting that it sets, or what it does in a maintenance.
    name: take(each, "name", "text"),
    sql: take(each, "sql", "text"),
    // Codes of errors that do not matter; `*` is any.
    ignores: take(each, "ignores", "list", []),
    // True if it is a query, and the first value of each of its rows is a statement to execute.
    each: take(each, "each", "flag", false),
  }));
}

/** A test; `input` holds what its model needs, as the job gives it. */
const test = (each) => ({
  id: take(each, "id", "text"),
  model: take(each, "model", "text"),
  setup: take(each, "setup", "list", []),
  check: take(each, "check", "text", null),
  input: each,
});

export const unreadable = (what) => new Failure(`the job on standard input cannot be read: ${what}`);
