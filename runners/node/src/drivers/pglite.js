// PGlite, PostgreSQL compiled to WebAssembly, within the process. https://pglite.dev/docs/api

import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { Failure, oneLine } from "../failure.js";
import { beside, versionOf } from "../native.js";
import { numberOf } from "../values.js";
import { Session } from "./session.js";
import { Sql, placeOf } from "./sql.js";

const PACKAGE = "@electric-sql/pglite";
const PLACES = { file: "dyno.pglite", ":memory:": "memory://" };
const INT8 = 20;
const NUMERIC = 1700;
/** Types whose values are wanted as PostgreSQL writes them: date, time, timestamp, timestamptz. */
const AS_TEXT = [1082, 1083, 1114, 1184];
const OPTIONS = { rowMode: "array", parsers: Object.fromEntries(AS_TEXT.map((type) => [type, (text) => text])) };
/** Rows that are read back at once. */
const READ = 4096;

export default class PgLite extends Sql {
  static variants = ["multirow", "insert"];

  constructor(job) {
    super(job);
    if (job.build !== "bundled") {
      throw new Failure("the package has its own PostgreSQL and takes no other: name the contender pglite");
    }
    this.place = placeOf(job, PLACES);
  }

  async connect() {
    const file = beside(`../node/node_modules/${PACKAGE}/dist/index.js`);
    const { PGlite } = await import(pathToFileURL(file)).catch((error) => {
      throw new Failure(
        `the package ${PACKAGE} of Node.js cannot be used (${oneLine(error.message)}): ` +
          "`sh scripts/build-node.sh` puts it into the runner's private folder",
      );
    });
    const name = PLACES[this.place];
    return PGlite.create(this.place === "file" ? join(this.job.directory, name) : name);
  }

  disconnect(connection) {
    return connection.close();
  }

  /** `exec` takes a text without parameters, by the simple protocol. */
  async run(connection, sql) {
    return (await connection.exec(sql, OPTIONS)).at(-1);
  }

  columns(result) {
    return result.fields.map(({ dataTypeID }) => dataTypeID);
  }

  changed(result) {
    return result.fields.length ? 0 : (result.affectedRows ?? 0);
  }

  placeholder(number) {
    return `$${number}`;
  }

  exact(rows, columns) {
    const isText = columns?.map((type) => type === INT8 || type === NUMERIC) ?? [];
    const exactly = (value, place) => (isText[place] && typeof value === "string" ? numberOf(value) : value);
    return isText.includes(true) ? rows.map((row) => row.map(exactly)) : rows;
  }

  inserter(sql) {
    return (...row) => this.connection.query(sql, row);
  }

  async each(sql, add) {
    await this.run(this.connection, "BEGIN");
    await this.run(this.connection, `DECLARE dyno NO SCROLL CURSOR FOR ${sql}`);
    for (let read = READ; read === READ; ) {
      const { rows } = await this.run(this.connection, `FETCH ${READ} FROM dyno`);
      rows.forEach(add);
      read = rows.length;
    }
    await this.run(this.connection, "COMMIT");
  }

  bulkLoad(load) {
    const insert = (start, stop) =>
      this.connection.query(this.blockText(load, stop - start), load.file.rows(start, stop).flat());
    return this.variant === "insert" ? this.insertRows(load) : this.inBlocks(load, 1000, insert);
  }

  code(error) {
    return error.severity !== undefined ? (error.code ?? "") : "";
  }

  words(error) {
    const parts = [error.message, error.detail, error.hint].filter(Boolean);
    return `${oneLine(parts.join(" "))}${this.code(error) ? ` (PostgreSQL error ${this.code(error)})` : ""}`;
  }

  /** Settings are read back by SHOW: one that PostgreSQL does not have is left out. */
  async hello() {
    const settings = [{ name: "database", value: this.place }];
    for (const { name } of this.job.readBack) {
      const rows = await this.query(`SELECT current_setting('${name.replaceAll("'", "''")}', true)`);
      if (rows[0][0] !== null) {
        settings.push({ name, value: rows[0][0] });
      }
    }
    const [[version]] = await this.query("SHOW server_version");
    return { settings, read_back: [], engine_version: version, driver_version: `pglite ${versionOf(PACKAGE)}`, build: {} };
  }

  /** It has one connection. */
  session(place) {
    if (place > 0) {
      throw new Failure("PGlite has one connection: take one client");
    }
    return new PgLiteSession(this, this.connection, false);
  }

  aside() {}

  back() {}
}

class PgLiteSession extends Session {
  prepare(pieces) {
    const text = this.text(pieces);
    return (...values) => this.connection.query(text, values, OPTIONS);
  }
}
