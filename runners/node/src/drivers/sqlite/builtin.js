// node:sqlite, which Node.js brings since version 22.5. https://nodejs.org/api/sqlite.html

import { Failure, oneLine } from "../../failure.js";
import { SyncSql } from "../sql.js";
import { SyncSession, sqlite } from "./database.js";

/** Statements that change nothing, and may be executed again. */
const READS = /^\s*(select|values|pragma|explain|with(?![^]*\b(insert|update|delete|replace)\b))\b/i;

export default class Builtin extends sqlite(SyncSql) {
  #Database;

  async begin() {
    const [major, minor] = process.versions.node.split(".").map(Number);
    if (major < 24 || (major === 24 && minor < 4)) {
      throw new Failure(
        `node:sqlite returns rows as arrays since Node.js 24.4, and this is ${process.versions.node}: ` +
          "scripts/build-node.sh brings one that does; unset DYNO_NODE",
      );
    }
    this.#Database = (await import("node:sqlite")).DatabaseSync;
    await super.begin();
  }

  /** Rows as arrays, because names of columns may repeat. */
  connect() {
    return new this.#Database(this.location, { returnArrays: true });
  }

  disconnect(connection) {
    connection.close();
  }

  run(connection, sql) {
    const statement = connection.prepare(sql);
    try {
      return statement.all();
    } catch (error) {
      // A whole number that JavaScript's usual one cannot hold: node:sqlite refuses where others round.
      if (error.code !== "ERR_OUT_OF_RANGE" || !READS.test(sql)) {
        throw error;
      }
      statement.setReadBigInts(true);
      return statement.all();
    }
  }

  rows(rows) {
    return rows;
  }

  inserter(sql) {
    const statement = this.connection.prepare(sql);
    return statement.run.bind(statement);
  }

  each(sql, add) {
    for (const row of this.connection.prepare(sql).iterate()) {
      add(row);
    }
  }

  code(error) {
    return error.code === "ERR_SQLITE_ERROR" ? String(error.errcode) : "";
  }

  words(error) {
    return this.code(error) ? super.words(error) : oneLine(error.message);
  }

  version() {
    return `node:sqlite of Node.js ${process.versions.node}`;
  }

  Session(connection, isOwn) {
    return new BuiltinSession(this, connection, isOwn);
  }
}

class BuiltinSession extends SyncSession {
  prepare(pieces) {
    const statement = this.connection.prepare(this.text(pieces));
    return (statement.columns().length ? statement.all : statement.run).bind(statement);
  }

  simple(pieces) {
    const { connection } = this;
    const sql = this.text(pieces);
    return (...values) => connection.prepare(sql).all(...values);
  }
}
