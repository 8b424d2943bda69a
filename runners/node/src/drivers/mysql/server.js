// Shared parts of the drivers of MySQL's protocol: options of connections, errors, and the values of some types.

import { Failure, oneLine } from "../../failure.js";
import { numberOf } from "../../values.js";
import { PATIENCE, ServerSql, seconds, tls, untried } from "../server.js";
import { Session } from "../session.js";

/** MySQL's usual port. */
const PORT = 3306;
// The numbers of errors that mean something: runners/mysql/errors.toml says what, with the manuals' pages.
/** Errors after which there is no connection: the server has gone, was lost within a query, shuts down, has killed the
 *  connection or closed it as idle. */
const LOST = [2006, 2013, 1053, 1927, 3169, 4031];
/** The numbers of servers' errors are below this: those of clients begin here. */
const CLIENTS = 45_000;
/** A deadlock, a lock that was not to be had in time or at once, a row that another transaction has changed. */
const MAY_PASS = [1213, 1205, 3572, 1020];
/** The server or its configuration lets no client send a file. */
const NO_LOCAL = [1148, 3948, 4166];

/** The names of TLS files in a URL, and Node.js's. */
const FILES = { "ssl-ca": "ca", "ssl-cert": "cert", "ssl-key": "key" };
/** The modes in a URL, and libpq's. */
const MODES = {
  DISABLED: "disable",
  REQUIRED: "require",
  VERIFY_CA: "verify-ca",
  VERIFY_IDENTITY: "verify-full",
};

/** Advice on a connection that failed, for the usual reasons. */
const ADVICE = {
  1045: "; check user and password in the URL, MYSQL_PWD or ~/.my.cnf",
  1698: "; check user and password in the URL, MYSQL_PWD or ~/.my.cnf",
  1044: "; name a database in the URL that the user may enter, or none",
  1049: "; name a database in the URL that the user may enter, or none",
  1040: "; the server accepts no more connections: take fewer clients, close other connections, or raise its max_connections",
  1203: "; the server accepts no more connections of one account: take fewer clients, or raise its max_user_connections",
  1226:
    "; the account may do no more: take fewer clients, or raise its limit (ALTER USER … WITH " +
    "MAX_USER_CONNECTIONS …)",
  ENOENT: "; is the server running, and is its socket there?",
  ECONNREFUSED: "; is the server running, and does it listen there? Else check the host's name",
  ENOTFOUND: "; check the host's name in the URL",
};

export class MySqlSql extends ServerSql {
  constructor(job) {
    super(job);
    // Read once: a program that connects often does not read its certificates each time.
    this.options = parse(job.server.options, job.server.host);
  }

  /** Options with which both libraries connect. */
  address(database) {
    const { host, port, user, password } = this.job.server;
    const place = host.startsWith("/") ? { socketPath: host } : { host, port: port ?? PORT };
    return {
      ...place,
      user,
      password: password ?? "",
      database: database ?? undefined,
      charset: "utf8mb4",
      ssl: this.options.ssl,
      connectTimeout: this.options.patience * 1000,
      // A date of JavaScript has a time zone, and milliseconds at most.
      dateStrings: true,
      // JSON that is parsed and written again has other spaces.
      jsonStrings: true,
      // Rows as arrays, because names of columns may repeat.
      rowsAsArray: true,
    };
  }

  /** Empty for an error of the connection. */
  code(error) {
    const { errno } = error;
    return errno > 0 && errno < CLIENTS && !LOST.includes(errno) ? String(errno) : "";
  }

  /** The number, and the SQLSTATE; none of an error of the connection. */
  codes(error) {
    const code = this.code(error);
    return code ? [code, error.sqlState ?? ""] : [];
  }

  words(error) {
    const code = this.code(error);
    const several = error.errors?.map(({ message }) => message).join("; ");
    const words = oneLine(error.sqlMessage || several || error.message || error.code);
    if (code) {
      const advice = NO_LOCAL.includes(error.errno)
        ? "; let the server take rows from its clients: SET GLOBAL local_infile = 1"
        : "";
      return `${words} (error ${code})${advice}`;
    }
    return this.connection
      ? `the connection to the server is lost: ${words}. If the server has crashed or was stopped, its log says why`
      : words;
  }

  advice(error) {
    const causes = [error, ...(error.errors ?? []), error.cause ?? {}];
    return causes.map(({ errno, code }) => ADVICE[errno] ?? ADVICE[code]).find(Boolean) ?? "";
  }

  async encryption() {
    const [cipher] = await this.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'");
    return cipher?.[1] || "none";
  }

  /** `columns` are true where a text stands for a number. */
  exact(rows, columns) {
    if (!columns?.includes(true)) {
      return rows;
    }
    const exactly = (value, place) => (columns[place] && typeof value === "string" ? numberOf(value) : value);
    return rows.map((row) => row.map(exactly));
  }
}

export class MySqlSession extends Session {
  /** The driver writes the values into the text. */
  simple(pieces) {
    const { connection } = this;
    const sql = this.text(pieces);
    return (...values) => connection.query(sql, values);
  }

  mayPass(error) {
    return MAY_PASS.includes(error.errno);
  }
}

/** The options of a URL, by the names of MySQL's own programs. */
function parse(options, host) {
  let mode = null;
  let patience = PATIENCE;
  const files = {};
  for (const [name, value] of Object.entries(options)) {
    const plain = name.toLowerCase().replaceAll("_", "-");
    if (plain === "ssl-mode") {
      mode = value.toUpperCase().replaceAll("-", "_");
    } else if (plain === "connect-timeout") {
      patience = seconds(plain, value);
    } else if (Object.hasOwn(FILES, plain)) {
      files[FILES[plain]] = value;
    } else {
      const known = ["ssl-mode", "connect-timeout", ...Object.keys(FILES)].join(", ");
      throw new Failure(`the URL has the option '${name}', and a connection of this driver has ${known}`);
    }
  }
  mode ??= files.ca ? "VERIFY_CA" : files.cert || files.key ? "REQUIRED" : "DISABLED";
  if (mode === "PREFERRED") {
    throw untried("ssl-mode", mode, ["DISABLED", "REQUIRED"]);
  }
  if (!Object.hasOwn(MODES, mode)) {
    throw new Failure(`the option ssl-mode is one of ${Object.keys(MODES).join(", ")}, not '${mode}'`);
  }
  return { ssl: tls(MODES[mode], files, host), patience };
}
