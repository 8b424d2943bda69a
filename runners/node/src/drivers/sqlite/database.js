// Shared by the drivers of SQLite: everything but the calls of the library.

import { join } from "node:path";

import { Failure, oneLine } from "../../failure.js";
import { Session } from "../session.js";
import { placeOf } from "../sql.js";
import { BUSY, ERROR, LOCKED, primary } from "./codes.js";

/** The places where data may be stored, and SQLite's names for them. */
const FILE = "dyno.db";
const PLACES = { file: null, ":memory:": ":memory:", temporary: "" };
/** The time that a connection waits for a lock when others may be open, in milliseconds. */
const PATIENCE = 10_000;

/** A driver of SQLite on top of `Base`, whose calls return promises or not. */
export const sqlite = (Base) =>
  class extends Base {
    constructor(job) {
      super(job);
      if (job.build !== "bundled") {
        throw new Failure(
          `${job.driver} has its own SQLite and takes no other: name the contender sqlite/${job.driver}`,
        );
      }
      this.place = placeOf(job, PLACES);
      // SQLite's temporary files belong on the measured file system, like the database.
      process.env.SQLITE_TMPDIR = job.directory;
    }

    /** SQLite's name of the database. */
    get location() {
      return PLACES[this.place] ?? join(this.job.directory, FILE);
    }

    async identity() {
      const [[engine_version, source]] = await this.query("SELECT sqlite_version(), sqlite_source_id()");
      const compile_options = (await this.query("PRAGMA compile_options")).map((row) => row[0]);
      return { engine_version, driver_version: this.version(), build: { source_id: [source], compile_options } };
    }

    async changes() {
      return Number((await this.query("SELECT total_changes()"))[0][0]);
    }

    words(error) {
      const code = this.code(error);
      return `${oneLine(error.message)}${code ? ` (SQLite error ${code})` : ""}`;
    }

    /** One more connection, while others may be about to write, or to close the database. */
    async another() {
      if (this.place !== "file") {
        throw new Failure("a database that is not in a file is that of one connection alone");
      }
      const connection = await this.connect();
      await this.run(connection, `PRAGMA busy_timeout = ${PATIENCE}`);
      await this.onConnect.apply(connection);
      return connection;
    }

    async session(place) {
      return this.Session(place === 0 ? this.connection : await this.another(), place > 0);
    }

    async visit() {
      return this.Session(await this.another(), true);
    }

    /** Closes the connection while clients come and go: the last one that closes copies the log into the database
     *  and removes it, which is part of what it costs to come and go. */
    async aside() {
      if (this.place !== "file") {
        throw new Failure("a database that is not in a file is that of one connection alone");
      }
      await this.close();
    }

    async back() {
      this.connection = await this.another();
    }
  };

/** A client on a connection. It takes the write lock at the beginning of a transaction that writes: one that read first
 *  could not wait for it, since what it has read may have changed meanwhile
 *  (https://www.sqlite.org/lang_transaction.html). */
export class SqliteSession extends Session {
  constructor(driver, connection, isOwn) {
    super(driver, connection, isOwn);
    this.beginWrite = this.plain("BEGIN IMMEDIATE");
  }

  waitForLocks(patience) {
    return this.driver.run(this.connection, `PRAGMA busy_timeout = ${Math.floor(patience / 1e6)}`);
  }

  mayPass(error) {
    return [BUSY, LOCKED].includes(primary(this.driver.code(error)));
  }

  codes(error) {
    const code = Number(this.driver.code(error));
    return [String(code), String(primary(code))];
  }

  /** True if SQLite has rolled a transaction back already: there is none. */
  isRolledBack(error) {
    return primary(this.driver.code(error)) === ERROR;
  }
}

/** A client whose calls return when they are done. */
export class SyncSession extends SqliteSession {
  awaits = false;

  constructor(driver, connection, isOwn) {
    super(driver, connection, isOwn);
    const rollback = this.rollback;
    this.rollback = () => {
      try {
        rollback();
      } catch (error) {
        if (!this.isRolledBack(error)) {
          throw error;
        }
      }
    };
  }

  plain(sql) {
    const statement = this.connection.prepare(sql);
    return () => statement.run();
  }
}
