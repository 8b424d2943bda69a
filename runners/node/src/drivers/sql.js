// Shared by the drivers of engines with SQL: everything but the calls of the client library.

import { Answer } from "../answer.js";
import { Failure, oneLine } from "../failure.js";
import { OnConnect, readBack } from "./listed.js";

/** A driver whose calls return promises. Its loops do what a careful program would do and nothing else; an engine's error
 *  becomes a `Failure`, with the position of the operation where it is known. */
export class Sql {
  /** The ways of loading rows that a contender may name, the usual one first. */
  static variants = ["insert"];

  connection = null;
  #changes = 0;
  #block = null;

  constructor(job) {
    const { variants } = this.constructor;
    this.job = job;
    this.variant = job.variant ?? variants[0];
    if (!variants.includes(this.variant)) {
      const there = variants.join(", ");
      throw new Failure(`${job.engine}/${job.driver} has no way of working '${this.variant}'; it has ${there}`);
    }
    this.onConnect = new OnConnect(this, job.onConnect);
  }

  // A driver also has:
  //   connect(database)    a connection to a database; without one, to that of the trial
  //   disconnect(connection)
  //   run(connection, sql) the result of one statement, all rows of which were fetched
  //   inserter(sql)        a function that inserts the row whose cells it is given, by a prepared statement
  //   each(sql, add)       calls `add` with each row of a query, of which not all need fit into memory
  //   identity()           what `hello` says of driver and engine
  //   Session(connection, isOwn)

  /** A result: its rows as arrays, what the library says of their columns, and how many rows were changed. */
  rows(result) {
    return result.rows;
  }
  columns() {
    return null;
  }
  changed() {
    return 0;
  }
  /** The engine's code of an error; empty for an error of the connection. */
  code() {
    return "";
  }
  /** All codes by which a job may name an error. */
  codes(error) {
    return [this.code(error)];
  }
  words(error) {
    return oneLine(error.message);
  }
  /** The exact values of rows: libraries give some numbers as text. */
  exact(rows) {
    return rows;
  }
  placeholder() {
    return "?";
  }

  /** Opens the database, which it makes if it is not there, with the settings asked for. Returns what `hello` says. */
  async open() {
    await this.begin();
    await this.onConnect.apply(this.connection);
    return this.hello();
  }

  async begin() {
    this.connection = await this.connect();
  }

  async hello() {
    const read_back = await readBack(this, this.connection, this.job.readBack);
    return { settings: [], read_back, ...(await this.identity()) };
  }

  /** One more connection, with the settings in force. */
  async another() {
    const connection = await this.connect();
    try {
      await this.onConnect.apply(connection);
      return connection;
    } catch (error) {
      await this.disconnect(connection);
      throw error;
    }
  }

  take(result, answer) {
    const rows = this.rows(result);
    if (rows.length) {
      answer.take(rows, this.columns(result));
    }
    this.#changes += this.changed(result);
  }

  /** Timed. */
  async statements(file, answer) {
    const { connection } = this;
    let place = 0;
    try {
      for (; place < file.length; place++) {
        this.take(await this.run(connection, file.get(place)), answer);
      }
    } catch (error) {
      throw this.failure(error, place);
    }
  }

  /** Timed. */
  async insertRows(load) {
    const { file } = load;
    const begins = load.begins();
    const insert = file.feeding(await this.inserter(this.insertText(load)));
    // That of a row; none at BEGIN and COMMIT.
    let place = null;
    try {
      for (const [start, stop] of load.ranges()) {
        if (begins) {
          await this.run(this.connection, "BEGIN");
        }
        for (place = start; place < stop; place++) {
          await insert(place);
        }
        place = null;
        if (begins) {
          await this.run(this.connection, "COMMIT");
        }
      }
    } catch (error) {
      throw this.failure(error, place);
    }
  }

  /** Loads rows by the way that the contender names: here one by one. Timed. */
  bulkLoad(load) {
    return this.insertRows(load);
  }

  /** Calls `work` with the ends of each transaction's part of at most `most` rows, which it loads by statements of up to
   *  `each` rows. */
  async inBlocks(load, most, work, each = most) {
    const begins = load.begins(each);
    let first = load.start;
    try {
      for (const [start, stop] of load.transactions()) {
        if (begins) {
          await this.run(this.connection, "BEGIN");
        }
        for (first = start; first < stop; first += most) {
          await work(first, Math.min(first + most, stop));
        }
        if (begins) {
          await this.run(this.connection, "COMMIT");
        }
      }
    } catch (error) {
      throw this.failure(error);
    }
  }

  /** The INSERT of a block of rows, made once for all blocks of one length: the text for a thousand rows is long. */
  blockText(load, rows) {
    if (this.#block?.load !== load || this.#block.rows !== rows) {
      this.#block = { load, rows, text: this.insertText(load, rows) };
    }
    return this.#block.text;
  }

  /** The INSERT of a number of rows with parameters. */
  insertText({ table, file }, rows = 1) {
    let number = 0;
    const row = () => `(${file.columns.map(() => this.placeholder(++number)).join(", ")})`;
    return `INSERT INTO ${identifier(table)} VALUES ${Array.from({ length: rows }, row).join(", ")}`;
  }

  /** Timed. */
  async scan(sql, answer) {
    try {
      this.take(await this.run(this.connection, sql), answer);
    } catch (error) {
      throw this.failure(error);
    }
  }

  /** Rows of a query or statement outside the clock. */
  async query(sql) {
    const answer = new Answer(true);
    await this.scan(sql, answer);
    return answer.rows((rows, columns) => this.exact(rows, columns));
  }

  /** Reads columns of a whole table back, in any order. */
  async table(table, columns, add) {
    const names = columns.map((column) => identifier(column.name)).join(", ");
    try {
      await this.each(`SELECT ${names} FROM ${identifier(table)}`, add);
    } catch (error) {
      throw this.failure(error);
    }
  }

  /** The number of rows inserted, updated or deleted so far. */
  changes() {
    return this.#changes;
  }

  /** The size of the database as reported by a server; nothing for files in the job's folder. */
  databaseBytes() {
    return null;
  }

  failure(error, place = null) {
    if (error instanceof Failure) {
      return place === null || error.place !== null ? error : new Failure(error.message, place);
    }
    return new Failure(this.words(error), place);
  }

  async close() {
    const { connection } = this;
    this.connection = null;
    if (connection) {
      await this.disconnect(connection);
    }
  }

  /** Closes what is open, as far as possible, after a failure that is reported elsewhere. */
  async abandon() {
    try {
      await this.close();
    } catch {
      // The first failure is the one to report.
    }
  }
}

/** A driver whose calls return when they are done, and with rows as arrays: its loops wait for nothing. */
export class SyncSql extends Sql {
  statements(file, answer) {
    const { connection } = this;
    let place = 0;
    try {
      for (; place < file.length; place++) {
        const rows = this.run(connection, file.get(place));
        if (rows.length) {
          answer.take(rows, null);
        }
      }
    } catch (error) {
      throw this.failure(error, place);
    }
  }

  insertRows(load) {
    const { file } = load;
    const begins = load.begins();
    // That of a row; none at BEGIN and COMMIT.
    let place = null;
    try {
      const insert = file.feeding(this.inserter(this.insertText(load)));
      for (const [start, stop] of load.ranges()) {
        if (begins) {
          this.run(this.connection, "BEGIN");
        }
        for (place = start; place < stop; place++) {
          insert(place);
        }
        place = null;
        if (begins) {
          this.run(this.connection, "COMMIT");
        }
      }
    } catch (error) {
      throw this.failure(error, place);
    }
  }
}

/** Checks that a name can stand unquoted in a statement. */
export function identifier(name) {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    throw new Failure(`'${name}' is no name of a table: letters, digits and _ make one`);
  }
  return name;
}

/** Where the data are to be, by the setting `database`: one of the keys of `places`, the first unless the job says more. */
export function placeOf(job, places) {
  const names = Object.keys(places);
  let place = names[0];
  for (const { name, value } of job.settings) {
    if (name !== "database") {
      throw new Failure(`${job.engine}/${job.driver} itself has no setting '${name}'`);
    }
    if (!names.includes(value)) {
      throw new Failure(`the setting 'database' is one of ${names.join(", ")}, not '${value}'`);
    }
    place = value;
  }
  return place;
}
