// bun:sqlite, which Bun brings. https://bun.com/docs/runtime/sqlite

import { Failure } from "../../failure.js";
import { SyncSql } from "../sql.js";
import { SyncSession, sqlite } from "./database.js";

const NONE = [];

export default class BunSqlite extends sqlite(SyncSql) {
  #Database;

  async begin() {
    if (process.versions.bun === undefined) {
      throw new Failure("bun:sqlite is a part of Bun, and this is Node.js: its runner.toml starts Bun");
    }
    this.#Database = (await import("bun:sqlite")).Database;
    await super.begin();
  }

  connect() {
    return new this.#Database(this.location, { readwrite: true, create: true });
  }

  disconnect(connection) {
    connection.close();
  }

  /** `values`: rows as arrays, because names of columns may repeat. A statement is finalized, or the database stays open until
   *  garbage is collected. */
  run(connection, sql) {
    const statement = connection.prepare(sql);
    try {
      return statement.values() ?? NONE;
    } finally {
      statement.finalize();
    }
  }

  rows(rows) {
    return rows ?? NONE;
  }

  /** Outside the clock with whole numbers of any size. */
  async query(sql) {
    const statement = this.connection.prepare(sql);
    try {
      statement.safeIntegers(true);
      return statement.values() ?? NONE;
    } catch (error) {
      throw this.failure(error);
    } finally {
      statement.finalize();
    }
  }

  inserter(sql) {
    const statement = this.connection.prepare(sql);
    return statement.run.bind(statement);
  }

  each(sql, add) {
    this.run(this.connection, sql).forEach(add);
  }

  code(error) {
    return error.name === "SQLiteError" ? String(error.errno || "") : "";
  }

  version() {
    return `bun:sqlite of Bun ${process.versions.bun}`;
  }

  Session(connection, isOwn) {
    return new BunSession(this, connection, isOwn);
  }
}

class BunSession extends SyncSession {
  prepare(pieces) {
    const statement = this.connection.prepare(this.text(pieces));
    return (statement.columnNames.length ? statement.values : statement.run).bind(statement);
  }

  simple(pieces) {
    const { connection } = this;
    const sql = this.text(pieces);
    return (...values) => {
      const statement = connection.prepare(sql);
      try {
        return statement.values(...values);
      } finally {
        statement.finalize();
      }
    };
  }
}
