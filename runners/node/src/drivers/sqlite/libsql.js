// @libsql/client, whose calls return promises, and which keeps its connections to itself.
// https://docs.turso.tech/sdk/ts/reference

import { pathToFileURL } from "node:url";

import { Failure } from "../../failure.js";
import { load, versionOf } from "../../native.js";
import { Sql } from "../sql.js";
import { sqlite } from "./database.js";

const MANY = 1000;
/** The words that begin and end transactions: a statement that did would hold for none of the client's later calls. */
const ENDS = /^\s*(begin immediate|begin|commit|end|rollback(?! to))\b/i;
const NONE = { rows: [], columns: [] };

export default class Libsql extends sqlite(Sql) {
  static variants = ["batch", "insert"];

  #library = load("@libsql/client");

  connect() {
    if (this.place === "temporary") {
      throw new Failure("libsql has no temporary database: take the setting database=file or database=:memory:");
    }
    const url = this.place === "file" ? pathToFileURL(this.location).href : this.location;
    return new Connection(this.#library.createClient({ url, concurrency: 1, intMode: "bigint" }));
  }

  disconnect(connection) {
    connection.close();
  }

  run(connection, sql) {
    const word = ENDS.exec(sql)?.[1].toLowerCase();
    return word ? connection[CALLS[word]](word) : connection.execute(sql, []);
  }

  /** Objects in which columns of one name are found by their positions. */
  exact(rows) {
    const exactly = (value) => (value instanceof ArrayBuffer ? Buffer.from(value) : value);
    return rows.map((row) => Array.from(row, exactly));
  }

  inserter(sql) {
    return (...row) => this.connection.execute(sql, row);
  }

  async each(sql, add) {
    this.exact((await this.connection.execute(sql, [])).rows).forEach(add);
  }

  bulkLoad(load) {
    // Outside of a transaction a batch begins one, also for a single row.
    if (this.variant === "insert" || !load.begins()) {
      return this.insertRows(load);
    }
    const sql = this.insertText(load);
    const batch = (start, stop) => this.connection.batch(load.file.rows(start, stop).map((args) => ({ sql, args })));
    return this.inBlocks(load, MANY, batch, 1);
  }

  code(error) {
    return error.rawCode ? String(error.rawCode) : "";
  }

  version() {
    return `@libsql/client ${versionOf("@libsql/client")}`;
  }
}

/** The names of the calls of a connection, by the words of statements. */
const CALLS = { begin: "begin", "begin immediate": "begin", commit: "commit", end: "commit", rollback: "rollback" };

/** A client with one connection, and the transaction that is open. */
class Connection {
  #client;
  #transaction = null;

  constructor(client) {
    this.#client = client;
  }

  async begin(word) {
    this.#transaction = await this.#client.transaction(word === "begin" ? "deferred" : "write");
    return NONE;
  }

  async commit() {
    await this.#ended().commit();
    return NONE;
  }

  /** Without a transaction there is nothing to roll back: SQLite has done it, or a COMMIT that failed. */
  async rollback() {
    await this.#ended()?.rollback();
    return NONE;
  }

  execute(sql, values) {
    return (this.#transaction ?? this.#client).execute(sql, values);
  }

  batch(statements) {
    return this.#transaction.batch(statements);
  }

  close() {
    this.#client.close();
  }

  #ended() {
    const transaction = this.#transaction;
    this.#transaction = null;
    return transaction;
  }
}
