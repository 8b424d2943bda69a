// Kysely. https://kysely.dev/docs/getting-started

import { load as use } from "../../native.js";
import { callbackPool, pool } from "./pools.js";
import { text } from "./session.js";

const { Kysely, MysqlDialect, PostgresDialect, SqliteDialect, sql } = use("kysely");

const DIALECTS = {
  postgres: (client) => new PostgresDialect({ pool: pool(client) }),
  mysql: ({ connection }) => new MysqlDialect({ pool: callbackPool(connection) }),
  sqlite: (database) => new SqliteDialect({ database }),
};

/** The driver above one of another module in this folder. */
export default function driver({ engine, Driver, Session }) {
  const Client = clients(Session);

  return class extends Driver {
    static library = "kysely";

    over(connection) {
      return new Kysely({ dialect: DIALECTS[engine](connection) });
    }

    Session(connection, isOwn) {
      return new Client(this, connection, isOwn);
    }
  };
}

const clients = (Session) =>
  class extends Session {
    tools = { sql };

    /** https://kysely.dev/docs/examples/transactions/controlled-transaction */
    async begin() {
      this.db = await this.all.startTransaction().execute();
    }

    async finish() {
      await this.db.commit().execute();
      this.db = this.all;
    }

    async undo() {
      const { db } = this;
      this.db = this.all;
      await db.rollback?.().execute();
    }

    insertMany(table, rows) {
      return this.db.insertInto(table).values(rows).execute();
    }

    select(table, items) {
      return `.selectFrom(${table}).select([${items.map((one) => this.item(one)).join(", ")}])`;
    }

    insert(table, values) {
      return `.insertInto(${table}).values(${values})`;
    }

    update(table, values) {
      return `.updateTable(${table}).set(${values})`;
    }

    delete(table) {
      return `.deleteFrom(${table})`;
    }

    named(fragment, as) {
      return `${this.template(fragment)}.as(${text(as)})`;
    }

    whole(statement) {
      return `${this.template(statement)}.execute(session.db)`;
    }
  };
