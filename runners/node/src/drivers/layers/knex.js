// Knex. https://knexjs.org/guide/query-builder.html

import { load as use } from "../../native.js";
import { Layer, LayerSession, pool, text } from "./layer.js";

const knex = use("knex");

const PARAMETER = /\$(\d+)\$/g;

export default class KnexLayer extends Layer {
  static library = "knex";

  Session(client, isOwn) {
    return new KnexSession(this, client, isOwn);
  }
}

class KnexSession extends LayerSession {
  tools = {};
  send = null;

  constructor(driver, client, isOwn) {
    super(driver, client, isOwn);
    // Its queries are the same for every version; without one it would ask each client's server.
    this.all = knex({ client: "pg", version: "10", connectionPool: pool(client) });
    this.db = this.all;
  }

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
}
