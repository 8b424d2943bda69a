// MySQL2. https://sidorares.github.io/node-mysql2/docs

import { isIP } from "node:net";
import { Readable } from "node:stream";

import { Failure } from "../../failure.js";
import { load as use, versionOf } from "../../native.js";
import { identifier } from "../sql.js";
import { MySqlSession, MySqlSql } from "./server.js";

const mysql = use("mysql2/promise");

/** The codes of types whose values come as text: decimals, and whole numbers beyond 2⁵³. */
const AS_TEXT = [0, 8, 246];
const MANY = 1000;

export default class MySql2 extends MySqlSql {
  static variants = ["load-data", "multirow", "insert"];

  constructor(job) {
    super(job);
    const { host } = job.server;
    if (this.options.ssl?.verifyIdentity && isIP(host)) {
      throw new Failure(
        `MySQL2 compares a certificate with the names of hosts only: name the host in place of ${host}, or say ` +
          "ssl-mode=VERIFY_CA",
      );
    }
  }

  async attach(database) {
    const connection = await mysql.createConnection({
      ...this.address(database),
      // Without it a whole number beyond 2⁵³ would be another one.
      supportBigNumbers: true,
      // An UPDATE counts the rows that it finds.
      flags: ["FOUND_ROWS"],
    });
    // The call that is under way reports it too.
    connection.connection.on("error", () => {});
    // The server's own choice of collation for it, which the driver's may not be.
    await connection.query("SET NAMES utf8mb4");
    return connection;
  }

  disconnect(connection) {
    return connection.end();
  }

  run(connection, sql) {
    return connection.query(sql);
  }

  rows([rows]) {
    return Array.isArray(rows) ? rows : [];
  }

  columns([, fields]) {
    return fields?.map((field) => AS_TEXT.includes(field?.columnType)) ?? null;
  }

  changed([result]) {
    return Array.isArray(result) ? 0 : (result.affectedRows ?? 0);
  }

  /** `execute` prepares a statement and keeps it. */
  inserter(sql) {
    return (...row) => this.connection.execute(sql, row);
  }

  async each(sql, add) {
    for await (const row of this.connection.connection.query(sql).stream()) {
      add(row);
    }
  }

  bulkLoad(load) {
    const { table, file } = load;
    const into = `INTO ${identifier(table)}`;
    switch (this.variant) {
      case "multirow":
        return this.inBlocks(load, MANY, (start, stop) =>
          this.connection.query(`INSERT ${into} VALUES ?`, [file.rows(start, stop)]),
        );
      case "insert":
        return this.insertRows(load);
      default:
        return this.inBlocks(load, Infinity, (start, stop) => this.#loadData(table, file.lines(start, stop)));
    }
  }

  async #loadData(table, lines) {
    const sql = `LOAD DATA LOCAL INFILE 'rows' INTO TABLE ${identifier(table)} CHARACTER SET utf8mb4`;
    const infileStreamFactory = () => Readable.from(lines, { objectMode: false });
    const [{ warningStatus }] = await this.connection.query({ sql, infileStreamFactory });
    // The server turns an error of an INSERT into a warning here.
    if (warningStatus) {
      const [[level, number, words]] = await this.query("SHOW WARNINGS");
      throw new Failure(`LOAD DATA changed what it was given: ${words} (${level.toLowerCase()} ${number})`);
    }
  }

  identity() {
    return { driver_version: `mysql2 ${versionOf("mysql2")}` };
  }

  Session(connection, isOwn) {
    return new MySql2Session(this, connection, isOwn);
  }
}

class MySql2Session extends MySqlSession {
  /** What `prepare` has prepared is kept for `execute`. */
  async prepare(pieces) {
    const { connection } = this;
    const sql = this.text(pieces);
    await connection.prepare(sql);
    return (...values) => connection.execute(sql, values);
  }
}
