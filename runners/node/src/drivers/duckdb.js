// @duckdb/node-api, DuckDB's own client with the engine in its package. https://duckdb.org/docs/stable/clients/node_neo/overview

import { availableParallelism } from "node:os";
import { join } from "node:path";

import { Failure } from "../failure.js";
import { load, versionOf } from "../native.js";
import { Sql, identifier, placeOf } from "./sql.js";

const PLACES = { file: "dyno.duckdb", ":memory:": ":memory:" };
/** The return type of a statement that changes rows, by DuckDB's C API: it has their number in place of rows. */
const CHANGED_ROWS = 1;
const NONE = [];

export default class DuckDb extends Sql {
  static variants = ["appender", "insert"];

  #Instance = load("@duckdb/node-api").DuckDBInstance;

  constructor(job) {
    super(job);
    if (job.build !== "bundled") {
      throw new Failure("the package has its own DuckDB and takes no other: name the contender duckdb/node-api");
    }
    this.place = placeOf(job, PLACES);
  }

  async connect() {
    const { directory } = this.job;
    const file = PLACES[this.place];
    // Data that do not fit into memory belong on the measured file system, and nothing is fetched from a network.
    this.instance = await this.#Instance.create(this.place === "file" ? join(directory, file) : file, {
      temp_directory: join(directory, "temporary"),
      autoinstall_known_extensions: "false",
      // DuckDB would use all of the machine's processors even where it is given only some.
      threads: String(availableParallelism()),
    });
    return this.instance.connect();
  }

  disconnect(connection) {
    connection.closeSync();
    this.instance.closeSync();
  }

  async run(connection, sql) {
    const result = await connection.run(sql);
    const changed = result.returnType === CHANGED_ROWS;
    return { rows: changed ? NONE : await result.getRowsJS(), changed: changed ? result.rowsChanged : 0 };
  }

  changed({ changed }) {
    return changed;
  }

  async inserter(sql) {
    const statement = await this.connection.prepare(sql);
    return (...row) => {
      statement.bind(row);
      return statement.run();
    };
  }

  async each(sql, add) {
    const result = await this.connection.stream(sql);
    for await (const rows of result.yieldRowsJs()) {
      rows.forEach(add);
    }
  }

  bulkLoad(load) {
    const append = (start, stop) => this.#append(load, start, stop);
    // Outside of a transaction an appender commits whenever it is full.
    return this.variant === "insert" ? this.insertRows(load) : this.inBlocks(load, Infinity, append, 1);
  }

  async #append({ table, file }, start, stop) {
    const appender = await this.connection.createAppender(identifier(table));
    for (let place = start; place < stop; place++) {
      file.row(place).forEach((cell) => appender.appendVarchar(cell));
      appender.endRow();
    }
    appender.closeSync();
  }

  /** The kind of an error, as DuckDB begins its message; empty for one of the package. */
  code(error) {
    return /^([A-Z][\w ]*) Error: /.exec(error.message)?.[1] ?? "";
  }

  async identity() {
    const [[version, source]] = await this.query("SELECT library_version, source_id FROM pragma_version()");
    return {
      engine_version: version.replace(/^v/, ""),
      driver_version: `@duckdb/node-api ${versionOf("@duckdb/node-api")}`,
      build: { source_id: [source] },
    };
  }
}
