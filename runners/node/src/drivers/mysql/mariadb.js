// MariaDB Connector/Node.js. https://mariadb.com/docs/connectors/mariadb-connector-nodejs

import { load as use, versionOf } from "../../native.js";
import { MySqlSession, MySqlSql } from "./server.js";

const mariadb = use("mariadb");

const MANY = 1000;
/** The types whose values come as text. */
const AS_TEXT = ["DECIMAL", "NEWDECIMAL", "OLDDECIMAL"];

export default class MariaDb extends MySqlSql {
  static variants = ["batch", "insert"];

  async attach(database) {
    const connection = await mariadb.createConnection({ ...this.address(database), foundRows: true });
    // The call that is under way reports it too.
    connection.on("error", () => {});
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

  rows(result) {
    return Array.isArray(result) ? result : [];
  }

  columns(result) {
    return result.meta?.map(({ type }) => AS_TEXT.includes(type)) ?? null;
  }

  changed(result) {
    return Array.isArray(result) ? 0 : (result.affectedRows ?? 0);
  }

  async inserter(sql) {
    const statement = await this.connection.prepare(sql);
    return (...row) => statement.execute(row);
  }

  async each(sql, add) {
    for await (const row of this.connection.queryStream(sql)) {
      add(row);
    }
  }

  bulkLoad(load) {
    if (this.variant === "insert") {
      return this.insertRows(load);
    }
    const sql = this.insertText(load);
    const batch = (start, stop) => this.connection.batch(sql, load.file.rows(start, stop));
    // Servers without bulk execution are sent a statement for each row.
    return this.inBlocks(load, MANY, batch, 1);
  }

  identity() {
    return { driver_version: `mariadb ${versionOf("mariadb")}` };
  }

  Session(connection, isOwn) {
    return new MariaDbSession(this, connection, isOwn);
  }
}

class MariaDbSession extends MySqlSession {
  async prepare(pieces) {
    const statement = await this.connection.prepare(this.text(pieces));
    return (...values) => statement.execute(values);
  }
}
