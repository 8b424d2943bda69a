// The package sqlite3 (node-sqlite3), whose calls go to a pool of threads and end with a callback. https://github.com/TryGhost/node-sqlite3/wiki/API

import { load, versionOf } from "../../native.js";
import { Sql } from "../sql.js";
import { SqliteSession, sqlite } from "./database.js";

/** The promise of what a call with a callback gives. */
const promise = (call) =>
  new Promise((resolve, reject) => call((error, found) => (error ? reject(error) : resolve(found))));

export default class Callbacks extends sqlite(Sql) {
  #library = load("sqlite3");
  /** By connection, what is prepared on it: with that it does not close. */
  #prepared = new Map();

  constructor(job) {
    super(job);
    // A call that waits for a lock keeps its thread of the pool, and the one that would release it needs another.
    const clients = Math.max(0, ...job.tests.map(({ input }) => input.clients ?? 0));
    process.env.UV_THREADPOOL_SIZE ??= String(Math.min(1024, Math.max(4, clients + 2)));
  }

  async connect() {
    let connection;
    await promise((done) => (connection = new this.#library.Database(this.location, done)));
    return connection;
  }

  async disconnect(connection) {
    for (const statement of this.#prepared.get(connection) ?? []) {
      await promise((done) => statement.finalize(() => done(null)));
    }
    this.#prepared.delete(connection);
    await promise((done) => connection.close(done));
  }

  async prepare(connection, sql) {
    let statement;
    await promise((done) => (statement = connection.prepare(sql, done)));
    this.#prepared.set(connection, [...(this.#prepared.get(connection) ?? []), statement]);
    return statement;
  }

  run(connection, sql) {
    return promise((done) => connection.all(sql, done));
  }

  /** Objects: the library has no rows of another kind, so of columns of one name it returns one. */
  rows(rows) {
    return rows;
  }

  exact(rows) {
    return rows.map(Object.values);
  }

  async inserter(sql) {
    const statement = await this.prepare(this.connection, sql);
    return (...row) => promise((done) => statement.run(row, done));
  }

  each(sql, add) {
    return promise((done) => this.connection.each(sql, (_, row) => row && add(Object.values(row)), done));
  }

  code(error) {
    return error.errno ? String(error.errno) : "";
  }

  version() {
    return `sqlite3 ${versionOf("sqlite3")}`;
  }

  Session(connection, isOwn) {
    return new CallbackSession(this, connection, isOwn);
  }
}

class CallbackSession extends SqliteSession {
  constructor(driver, connection, isOwn) {
    super(driver, connection, isOwn);
    const rollback = this.rollback;
    this.rollback = () =>
      rollback().catch((error) => {
        if (!this.isRolledBack(error)) {
          throw error;
        }
      });
  }

  async prepare(pieces) {
    const statement = await this.driver.prepare(this.connection, this.text(pieces));
    return (...values) => promise((done) => statement.all(values, done));
  }

  simple(pieces) {
    const { connection } = this;
    const sql = this.text(pieces);
    return (...values) => promise((done) => connection.all(sql, values, done));
  }

  rows(rows) {
    return rows.map(Object.values);
  }
}
