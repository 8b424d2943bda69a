// better-sqlite3, whose calls return when SQLite is done.
// https://github.com/WiseLibs/better-sqlite3/blob/master/docs/api.md

import { load, versionOf } from "../../native.js";
import { SyncSql } from "../sql.js";
import { codeOf } from "./codes.js";
import { SyncSession, sqlite } from "./database.js";

const NONE = [];

export default class Better extends sqlite(SyncSql) {
  #Library = load("better-sqlite3");

  connect() {
    return new this.#Library(this.location);
  }

  disconnect(connection) {
    connection.close();
  }

  /** `raw`: rows as arrays, because names of columns may repeat. */
  run(connection, sql) {
    const statement = connection.prepare(sql);
    if (statement.reader) {
      return statement.raw().all();
    }
    statement.run();
    return NONE;
  }

  rows(rows) {
    return rows;
  }

  /** Outside the clock with whole numbers of any size. */
  query(sql) {
    return this.#exactly(() => super.query(sql));
  }

  inserter(sql) {
    const statement = this.connection.prepare(sql);
    return statement.run.bind(statement);
  }

  each(sql, add) {
    for (const row of this.connection.prepare(sql).raw().iterate()) {
      add(row);
    }
  }

  code(error) {
    return String(codeOf(error.code ?? "") || "");
  }

  version() {
    return `better-sqlite3 ${versionOf("better-sqlite3")}`;
  }

  Session(connection, isOwn) {
    return new BetterSession(this, connection, isOwn);
  }

  async #exactly(work) {
    const { connection } = this;
    connection.defaultSafeIntegers(true);
    try {
      return await work();
    } finally {
      connection.defaultSafeIntegers(false);
    }
  }
}

class BetterSession extends SyncSession {
  prepare(pieces) {
    const statement = this.connection.prepare(this.text(pieces));
    return (statement.reader ? statement.raw().all : statement.run).bind(statement);
  }

  simple(pieces) {
    const { connection } = this;
    const sql = this.text(pieces);
    return (...values) => {
      const statement = connection.prepare(sql);
      return statement.reader ? statement.raw().all(values) : statement.run(values);
    };
  }
}
