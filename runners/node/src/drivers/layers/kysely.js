// Kysely. https://kysely.dev/docs/getting-started

import { load as use } from "../../native.js";
import { Layer, LayerSession, pool, text } from "./layer.js";

const { Kysely, PostgresDialect, sql } = use("kysely");

export default class KyselyLayer extends Layer {
  static library = "kysely";

  Session(client, isOwn) {
    return new KyselySession(this, client, isOwn);
  }
}

class KyselySession extends LayerSession {
  tools = { sql };

  constructor(driver, client, isOwn) {
    super(driver, client, isOwn);
    this.all = new Kysely({ dialect: new PostgresDialect({ pool: pool(client) }) });
    this.db = this.all;
  }

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
}
