// node-postgres. https://node-postgres.com/features/queries

import { identifier } from "../sql.js";
import { load as use, versionOf } from "../../native.js";
import { AS_VALUES, PostgresSession, PostgresSql, pour } from "./server.js";

const { Client, types } = use("pg");

/** The library's words for a server without TLS. */
const NO_TLS = "The server does not support SSL connections";

export default class Pg extends PostgresSql {
  #names = new Map();

  /** As libpq: a server that offers no encryption is reached without, if the URL prefers it and no more. */
  async attach(database) {
    try {
      return await this.reach(database);
    } catch (error) {
      if (!this.options.isPreferred || error.message !== NO_TLS) {
        throw error;
      }
      // The other connections need not ask it again.
      this.options.ssl = undefined;
      return this.reach(database);
    }
  }

  async reach(database) {
    const { host, port, user, password } = this.job.server;
    const client = new Client({
      host,
      port: port ?? undefined,
      user,
      password: password ?? undefined,
      database: database ?? undefined,
      ssl: this.options.ssl ?? false,
      connectionTimeoutMillis: this.options.patience * 1000,
      application_name: this.options.name,
      pipeline: this.variant === "pipeline",
      types: { getTypeParser: (type, format) => this.parser(type, format) },
    });
    // The call that is under way reports it too.
    client.on("error", () => {});
    await client.connect();
    return client;
  }

  disconnect(client) {
    return client.end();
  }

  /** Values of types that no value of JavaScript holds whole, such as dates with microseconds, come as the server writes
   *  them. https://node-postgres.com/features/types */
  parser(type, format) {
    return AS_VALUES.includes(type) ? types.getTypeParser(type, format) : (text) => text;
  }

  /** `rowMode`: rows as arrays, because names of columns may repeat. */
  run(client, text) {
    return client.query({ text, rowMode: "array" });
  }

  columns(result) {
    return result.fields.map(({ dataTypeID }) => dataTypeID);
  }

  changed(result) {
    return result.fields.length ? 0 : (result.rowCount ?? 0);
  }

  /** With a name the server keeps the statement prepared. */
  inserter(text) {
    const name = this.nameOf(text);
    return (...values) => this.connection.query({ name, text, values });
  }

  multirow(load, start, stop) {
    const text = this.blockText(load, stop - start);
    return this.connection.query({ name: this.nameOf(text), text, values: load.file.rows(start, stop).flat() });
  }

  /** A statement's name: the same for one text, on every connection and in every test. */
  nameOf(text) {
    if (!this.#names.has(text)) {
      this.#names.set(text, `dyno ${this.#names.size + 1}`);
    }
    return this.#names.get(text);
  }

  /** https://github.com/brianc/node-pg-copy-streams */
  async copy({ table, file }, start, stop) {
    const { from } = use("pg-copy-streams");
    const stream = this.connection.query(from(`COPY ${identifier(table)} FROM STDIN`));
    await pour(file.lines(start, stop), stream);
  }

  identity() {
    return { driver_version: `pg ${versionOf("pg")}` };
  }

  Session(client, isOwn) {
    return new PgSession(this, client, isOwn);
  }
}

class PgSession extends PostgresSession {
  /** The first execution prepares, without a further exchange: the library has no call that only prepares. */
  prepare(pieces) {
    const { connection } = this;
    const text = this.text(pieces);
    const name = this.driver.nameOf(text);
    return (...values) => connection.query({ name, text, values, rowMode: "array" });
  }

  simple(pieces) {
    const { connection } = this;
    const text = this.text(pieces);
    return (...values) => connection.query({ text, values, rowMode: "array" });
  }
}
