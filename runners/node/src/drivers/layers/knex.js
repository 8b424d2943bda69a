// Knex. https://knexjs.org/guide/query-builder.html

import { load as use } from "../../native.js";
import { callbackPool, pool } from "./pools.js";
import { text } from "./session.js";

const knex = use("knex");

const PARAMETER = /\$(\d+)\$/g;
/** SQLite takes as many terms in a compound SELECT, by which Knex inserts several rows
 *  (https://www.sqlite.org/limits.html). */
const TERMS = 500;

const OVER = {
  // Its queries are the same for every version; without one it would ask each client's server.
  postgres: (client) => knex({ client: "pg", version: "10", connectionPool: pool(client) }),
  mysql: ({ connection }) => knex({ client: "mysql2", connectionPool: callbackPool(connection) }),
  sqlite: overSqlite,
};

/** Its pool has one connection, which it would open for itself without the job's settings: it is given that of the driver.
 *  https://knexjs.org/guide/#configuration-options says of `useNullAsDefault` that SQLite has no DEFAULT in an INSERT. */
function overSqlite(connection) {
  class Client extends use("knex/lib/dialects/better-sqlite3") {
    async acquireRawConnection() {
      return connection;
    }
    async destroyRawConnection() {}
  }
  return knex({ client: Client, connection: { filename: connection.name }, useNullAsDefault: true });
}

/** The driver above one of another module in this folder. */
export default function driver({ engine, Driver, Session }) {
  const Client = clients(Session);

  return class extends Driver {
    static library = "knex";

    constructor(job) {
      super(job);
      this.many = engine === "sqlite" ? TERMS : this.many;
    }

    over(connection) {
      return OVER[engine](connection);
    }

    Session(connection, isOwn) {
      return new Client(this, connection, isOwn);
    }
  };
}

const clients = (Session) =>
  class extends Session {
    tools = {};

    /** https://knexjs.org/guide/transactions.html */
    async begin() {
      this.db = await this.all.transaction();
    }

    /** An error of `commit` is that of `executionPromise`. */
    async finish() {
      await this.db.commit();
      await this.db.executionPromise;
      this.db = this.all;
    }

    async undo() {
      const { db } = this;
      this.db = this.all;
      await db.rollback?.();
    }

    send() {
      return null;
    }

    async insertMany(table, rows) {
      await this.db(table).insert(rows);
    }

    select(table, items) {
      return `(${table}).select(${items.map((one) => this.item(one)).join(", ")})`;
    }

    insert(table, values) {
      return `(${table}).insert(${values})`;
    }

    update(table, values) {
      return `(${table}).update(${values})`;
    }

    delete(table) {
      return `(${table}).del()`;
    }

    /** `raw`, with `?` for values. */
    template(fragment) {
      const values = [...fragment.matchAll(PARAMETER)].map(([, place]) => `v${place}`);
      const sql = fragment.replaceAll("?", "\\?").replace(PARAMETER, "?");
      return `session.db.raw(${text(sql)}, [${values.join(", ")}])`;
    }

    named(fragment, as) {
      return this.template(`${fragment} as "${as}"`);
    }

    whole(statement) {
      return this.template(statement);
    }
  };
