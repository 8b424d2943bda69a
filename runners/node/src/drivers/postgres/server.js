// Shared parts of the drivers of PostgreSQL's protocol: options of connections, errors, and the values of some types.

import { once } from "node:events";
import { finished } from "node:stream/promises";

import { Failure, oneLine } from "../../failure.js";
import { numberOf } from "../../values.js";
import { PATIENCE, ServerSql, seconds, tls, untried } from "../server.js";
import { Session } from "../session.js";

/** The codes of types whose values drivers give as text, because a number of JavaScript does not hold all of them. */
const INT8 = 20;
const NUMERIC = 1700;
/** The codes of types whose values JavaScript holds as they are: boolean, bytea, int2, int4, oid, float4, float8. */
export const AS_VALUES = [16, 17, 21, 23, 26, 700, 701];
/** Rows that are read back at once. */
const READ = 4096;
/** Most parameters of a statement, by the protocol. */
const PARAMETERS = 65_535;
/** The server was stopped by its administrator. */
const SHUTDOWN = "57P01";
/** A serialization failure, a deadlock, a lock that was not available. */
const MAY_PASS = ["40001", "40P01", "55P03"];

/** libpq's names of TLS files, and Node.js's. */
const FILES = { sslrootcert: "ca", sslcert: "cert", sslkey: "key" };
const OPTIONS = ["sslmode", "connect_timeout", "application_name", ...Object.keys(FILES)];

const FULL = "; the server accepts no more connections: take fewer clients, close other connections, or raise its max_connections";
/** Advice on a connection that failed, by words of its message. */
const ADVICE = {
  "password must be a string": "; give the password in the URL, in PGPASSWORD or in ~/.pgpass",
  "authentication failed": "; check user and password in the URL, PGPASSWORD or ~/.pgpass",
  ENOTFOUND: "; check the host's name in the URL",
  ENOENT: "; is the server running, and is its socket there?",
  ECONNREFUSED: "; is the server running, and does it listen there?",
  "does not exist": "; name a database and a user of the server in the URL",
  "too many clients": FULL,
  "connection slots": FULL,
  "too many connections for":
    "; the server accepts no more connections of this role or to this database: take fewer clients, or raise the limit (ALTER " +
    "ROLE or ALTER DATABASE … CONNECTION LIMIT)",
  EMFILE: "; the limit of open files is reached: take fewer clients, or raise it (ulimit -n)",
};

export class PostgresSql extends ServerSql {
  static variants = ["copy", "pipeline", "multirow", "insert"];

  constructor(job) {
    super(job);
    this.options = parse(job.server.options, job.server.host);
  }

  placeholder(number) {
    return `$${number}`;
  }

  /** Empty for an error of the connection. */
  code(error) {
    const isServers = error.severity !== undefined && /^[0-9A-Z]{5}$/.test(error.code ?? "");
    return isServers && error.code !== SHUTDOWN ? error.code : "";
  }

  words(error) {
    const code = this.code(error);
    if (code) {
      const parts = [error.message, error.detail, error.hint].filter(Boolean);
      return `${oneLine(parts.join(" "))} (PostgreSQL error ${code})`;
    }
    const words = messageOf(error).replace(/\.$/, "");
    const isLost = error.code !== undefined || /terminated|closed|not queryable|ended/i.test(words);
    return this.connection && isLost
      ? `the connection to the server is lost: ${words}. If the server has crashed or was stopped, its log says why`
      : words;
  }

  advice(error) {
    const words = messageOf(error);
    return Object.entries(ADVICE).find(([known]) => words.includes(known))?.[1] ?? "";
  }

  async encryption() {
    const { ssl, isPreferred } = this.options;
    if (!ssl) {
      return "none";
    }
    // Not every server has this view.
    const rows = await this.query("SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl").catch(() => []);
    return rows[0]?.[0] ?? (isPreferred ? "none" : "TLS");
  }

  /** `columns` are the codes of the types. */
  exact(rows, columns) {
    const isText = columns?.map((type) => type === INT8 || type === NUMERIC) ?? [];
    if (!isText.includes(true)) {
      return rows;
    }
    const exactly = (value, place) => (isText[place] && typeof value === "string" ? numberOf(value) : value);
    return rows.map((row) => row.map(exactly));
  }

  /** By a cursor of the server: a client holds all rows of a query. */
  async each(sql, add) {
    await this.run(this.connection, "BEGIN");
    await this.run(this.connection, `DECLARE dyno NO SCROLL CURSOR FOR ${sql}`);
    for (;;) {
      const rows = this.rows(await this.run(this.connection, `FETCH ${READ} FROM dyno`));
      rows.forEach(add);
      if (rows.length < READ) {
        break;
      }
    }
    await this.run(this.connection, "COMMIT");
  }

  bulkLoad(load) {
    const many = Math.min(1000, Math.floor(PARAMETERS / load.file.columns.length));
    switch (this.variant) {
      case "copy":
        return this.inBlocks(load, Infinity, (start, stop) => this.copy(load, start, stop));
      case "pipeline":
        return this.pipelined(load);
      case "multirow":
        return this.inBlocks(load, many, (start, stop) => this.multirow(load, start, stop));
      default:
        return this.insertRows(load);
    }
  }

  /** Sends the INSERTs of a block of rows before the first answer is there. */
  async pipelined(load) {
    const insert = this.inserter(this.insertText(load));
    const send = (start, stop) => Promise.all(load.file.rows(start, stop).map((row) => insert(...row)));
    await this.inBlocks(load, 1000, send, 1);
  }
}

export class PostgresSession extends Session {
  mayPass(error) {
    return MAY_PASS.includes(this.driver.code(error));
  }
}

/** Writes texts to a stream of COPY, as quickly as it takes them. */
export async function pour(texts, stream) {
  const end = finished(stream);
  for (const text of texts) {
    if (!stream.write(text)) {
      await Promise.race([once(stream, "drain"), end]);
    }
  }
  stream.end();
  await end;
}

/** The message of an error; of one that stands for several, as of a host with several addresses, theirs. */
export const messageOf = (error) =>
  oneLine(error.errors?.map(({ message }) => message).join("; ") || error.message || error.code || error);

/** The options of a URL, by libpq's names. */
function parse(options, host) {
  for (const name of Object.keys(options)) {
    if (!OPTIONS.includes(name)) {
      const known = OPTIONS.join(", ");
      throw new Failure(`the URL has the option '${name}', and a connection of this driver has ${known}`);
    }
  }
  const named = Object.entries(FILES).filter(([name]) => options[name]);
  const files = Object.fromEntries(named.map(([name, own]) => [own, options[name]]));
  const mode = options.sslmode ?? (options.sslrootcert ? "verify-ca" : "disable");
  if (mode === "allow") {
    throw untried("sslmode", mode, ["disable", "require"]);
  }
  if (!["disable", "prefer", "require", "verify-ca", "verify-full"].includes(mode)) {
    throw new Failure(`the option sslmode is one of libpq's, not '${mode}'`);
  }
  // PostgreSQL encrypts nothing through a socket.
  const isPreferred = mode === "prefer" && !host.startsWith("/");
  return {
    ssl: tls(isPreferred ? "require" : mode === "prefer" ? "disable" : mode, files, host),
    isPreferred,
    patience: seconds("connect_timeout", options.connect_timeout ?? String(PATIENCE)),
    name: options.application_name ?? "dyno",
  };
}
