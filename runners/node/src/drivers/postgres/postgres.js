// postgres.js. https://github.com/porsager/postgres#readme

import { identifier } from "../sql.js";
import { load as use, versionOf } from "../../native.js";
import { PostgresSession, PostgresSql, pour } from "./server.js";

const postgres = use("postgres");

/** Types whose values come as the server writes them, since no value of JavaScript holds them whole.
 *  https://github.com/porsager/postgres#custom-types */
const asWritten = (...from) => ({ to: from[0], from, serialize: String, parse: (text) => text });

/** Without a function that parses them, arrays come as the server writes them too. */
function takeArraysAsWritten({ shared, parsers }) {
  Object.values(shared.typeArrayMap).forEach((type) => delete parsers[type]);
}

export default class Postgres extends PostgresSql {
  /** A pool of one connection for each client, which is taken out of it: so a connection that is lost is an error, and
   *  not replaced by another without the settings. */
  async attach(database) {
    const { host, port, user, password } = this.job.server;
    const { ssl, isPreferred } = this.options;
    const pool = postgres({
      host,
      port: port ?? undefined,
      user,
      password: password ?? "",
      database: database ?? undefined,
      ssl: isPreferred ? "prefer" : (ssl ?? false),
      connect_timeout: this.options.patience,
      connection: { application_name: this.options.name },
      max: 1,
      max_lifetime: null,
      onnotice: () => {},
      types: { json: asWritten(114, 3802), date: asWritten(1184, 1082, 1114) },
    });
    try {
      // It asks the server for the types of arrays first: without the option `fetch_types` this call would never return.
      const sql = await pool.reserve();
      takeArraysAsWritten(pool.options);
      return { pool, sql };
    } catch (error) {
      await pool.end({ timeout: 0 });
      throw error;
    }
  }

  async disconnect({ pool, sql }) {
    sql.release();
    await pool.end({ timeout: 1 });
  }

  /** A text without parameters goes by the simple protocol. `values`: rows as arrays, because names of columns may
   *  repeat. */
  run({ sql }, text) {
    return sql.unsafe(text).values();
  }

  rows(result) {
    return result;
  }

  columns(result) {
    return result.columns?.map(({ type }) => type) ?? null;
  }

  changed(result) {
    return result.columns?.length ? 0 : (result.count ?? 0);
  }

  inserter(text) {
    const { sql } = this.connection;
    const pieces = template(text.split(/\$\d+/));
    return (...values) => sql(pieces, ...values);
  }

  multirow({ table, file }, start, stop) {
    const { sql } = this.connection;
    return sql`INSERT INTO ${sql(identifier(table))} VALUES ${sql(file.rows(start, stop))}`;
  }

  async copy({ table, file }, start, stop) {
    const { sql } = this.connection;
    const stream = await sql.unsafe(`COPY ${identifier(table)} FROM STDIN`).writable();
    await pour(file.lines(start, stop), stream);
  }

  identity() {
    return { driver_version: `postgres.js ${versionOf("postgres")}` };
  }

  Session(connection, isOwn) {
    return new PostgresJsSession(this, connection, isOwn);
  }
}

class PostgresJsSession extends PostgresSession {
  /** By a tagged template, as its manual does: what such a template says is prepared, and kept. `describe` does this and
   *  executes nothing. It is kept by the types that are named for its parameters: none, for NULL as for numbers and texts. */
  async prepare(pieces) {
    const { sql } = this.connection;
    const strings = template(pieces);
    await sql(strings, ...pieces.slice(1).map(() => null)).describe();
    return (...values) => sql(strings, ...values).values();
  }

  /** The driver has such a statement described before it sends the values: two exchanges. */
  simple(pieces) {
    const { sql } = this.connection;
    const text = this.text(pieces);
    return (...values) => sql.unsafe(text, values, { prepare: false, simple: false }).values();
  }
}

/** The strings of a tagged template. */
const template = (pieces) => Object.assign([...pieces], { raw: [...pieces] });
