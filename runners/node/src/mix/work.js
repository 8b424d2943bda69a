// A mix, as described by a job.

import { take } from "../contract.js";
import { Failure } from "../failure.js";

/** The class that reports how long clients that come and go took to connect. */
export const CONNECT = "connect";

/** The kinds of fields of a step. */
const KINDS = ["integer", "real", "text", "varying-text"];
/** The bytes of a step before its fields: its due time and its class. */
const HEAD = 16;

/** The input of a mix. */
export function parse(input) {
  const work = {
    classes: take(input, "classes", "list").map(parseClass),
    fields: take(input, "fields", "list").map((each) => ({
      name: take(each, "name", "text"),
      kind: take(each, "kind", "text"),
      bytes: take(each, "bytes", "number"),
    })),
    // The positions of the fields of a list's count and of its first item's first column, how many columns an item
    // has, and the most items.
    lists: take(input, "lists", "list", []).map((each) => ({
      name: take(each, "name", "text"),
      count: take(each, "count", "number"),
      first: take(each, "first", "number"),
      columns: take(each, "columns", "number"),
      most: take(each, "most", "number"),
    })),
    clients: take(input, "clients", "number"),
    // A file for each client, or one that all share.
    steps: take(input, "steps", "list").map((each) => ({
      file: take(each, "file", "text"),
      count: take(each, "count", "number"),
    })),
    // The position of a field: for how many nanoseconds the client waits before it sends the step.
    think: take(input, "think", "number", null),
    // The number of steps of a session, where clients come and go.
    session: take(input, "session", "number", null),
    patience: take(input, "patience_ns", "number"),
    // True if each statement of each operation is timed.
    timesStatements: take(input, "times_statements", "flag", false),
    window: parseWindow(take(input, "lasts", "object", null)),
  };
  for (const refused of ["processes", "reports", "interval_ns", "store"]) {
    if (input[refused] !== undefined && input[refused] !== null && input[refused] !== false) {
      throw new Failure(`the mix has \`${refused}\`, which this runner does not do: this is an error in dyno`);
    }
  }
  return layOut(work);
}

/** The time for which an operation of a class, by position, may wait for locks, in nanoseconds. */
export const patienceOf = (work, place) => work.classes[place].patience ?? work.patience;

/** The time for which any operation may wait for locks: the limit of a connection that has one limit for all. */
export const shortestPatience = (work) => Math.min(...work.classes.map((_, place) => patienceOf(work, place)));

/** True if all clients share one file of steps. */
export const shares = (work) => work.steps.length < work.clients || work.session !== null;

/** The time in which operations count: those that end within it, in nanoseconds since the clients began. Without an end
 *  all steps are done once. */
function parseWindow(lasts) {
  if (lasts === null) {
    return { start: 0, stop: null, duration: 0 };
  }
  const start = take(lasts, "warm_up_ns", "number", 0);
  const duration = take(lasts, "duration_ns", "number");
  return { start, stop: start + duration, duration };
}

function parseClass(record) {
  return {
    name: take(record, "name", "text"),
    // The kind of the transaction around its statements; none: each statement is its own transaction.
    transaction: take(record, "transaction", "text", null),
    statements: take(record, "statements", "list").map(parseStatement),
    loops: take(record, "loops", "list", []).map(parseLoop),
    // The position of a field: where it is not 0, the transaction is rolled back at its end, as planned.
    rollbackIf: take(record, "rollback_if", "number", null),
    pauses: take(record, "pauses", "list", []).map((each) => ({
      before: take(each, "before", "number"),
      nanoseconds: take(each, "nanoseconds", "number"),
    })),
    // Codes of errors with which an operation may end.
    ignores: take(record, "ignores", "list", []),
    // True if its statements are never prepared beforehand.
    isSimple: take(record, "protocol", "text", "prepared") === "simple",
    patience: take(record, "patience_ns", "number", null),
  };
}

function parseStatement(record) {
  const keeps = take(record, "keeps", "object", null);
  return {
    text: take(record, "text", "list"),
    // A number is the position of a field; others are objects, with `item` or with `statement` and `column`.
    parameters: take(record, "parameters", "list"),
    keeps: keeps && {
      columns: take(keeps, "columns", "number"),
      mayMiss: take(keeps, "may_miss", "flag", false),
    },
  };
}

/** The statements from `first` up to `end`, repeated for the items of a list or the rows of a statement. */
function parseLoop(record) {
  const over = take(record, "over", "object");
  const first = take(record, "first", "number");
  return { first, end: first + take(record, "count", "number"), list: over.list, rows: over.rows };
}

/** Adds where each field of a step lies, and how long a step is. */
function layOut(work) {
  let at = HEAD;
  for (const field of work.fields) {
    if (!KINDS.includes(field.kind)) {
      throw new Failure(`a step has a field of the kind '${field.kind}', which this runner does not know`);
    }
    field.at = at;
    at += field.bytes;
  }
  return { ...work, stepBytes: at };
}
