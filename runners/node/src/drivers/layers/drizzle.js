// Drizzle ORM. https://orm.drizzle.team/docs/get-started-postgresql

import { load as use } from "../../native.js";
import { Layer, LayerSession, text } from "./layer.js";

const { drizzle } = use("drizzle-orm/node-postgres");
const { eq, ne, lt, lte, gt, gte, and, asc, desc, sql } = use("drizzle-orm");
const pg = use("drizzle-orm/pg-core");

const COMPARE = { "=": "eq", "<>": "ne", "<": "lt", "<=": "lte", ">": "gt", ">=": "gte" };
/** By type, the column of a program's schema. */
const COLUMNS = {
  smallint: () => pg.smallint(),
  integer: () => pg.integer(),
  bigint: () => pg.bigint({ mode: "number" }),
  real: () => pg.real(),
  "double precision": () => pg.doublePrecision(),
  numeric: () => pg.numeric(),
  boolean: () => pg.boolean(),
  character: () => pg.char(),
  "character varying": () => pg.varchar(),
  "timestamp without time zone": () => pg.timestamp({ mode: "string" }),
  "timestamp with time zone": () => pg.timestamp({ mode: "string", withTimezone: true }),
};

/** Thrown within a transaction to roll it back. */
const UNDO = Symbol("undo");

export default class DrizzleLayer extends Layer {
  static library = "drizzle-orm";
  static variants = [...Layer.variants, "prepared"];
  #schema = null;
  #of = null;

  /** The schema: made once for the tables that are known. */
  get schema() {
    if (this.#of !== this.tables) {
      const column = (type) => COLUMNS[type]?.() ?? pg.text();
      this.#schema = mapped(this.tables, (columns, name) => pg.pgTable(name, mapped(columns, column)));
      this.#of = this.tables;
    }
    return this.#schema;
  }

  /** It wraps the errors of node-postgres. */
  code(error) {
    return super.code(error.cause ?? error);
  }
  words(error) {
    return super.words(error.cause ?? error);
  }

  Session(client, isOwn) {
    return new DrizzleSession(this, client, isOwn);
  }
}

class DrizzleSession extends LayerSession {
  lock = 'for("update")';
  send = null;
  /** Ends the transaction that is open, given an error to roll back with, or nothing. */
  #end = null;

  constructor(driver, client, isOwn) {
    super(driver, client, isOwn);
    this.all = drizzle({ client });
    this.db = this.all;
  }

  get tools() {
    return { t: this.driver.schema, eq, ne, lt, lte, gt, gte, and, asc, desc, sql };
  }

  /** https://orm.drizzle.team/docs/transactions: it is open for as long as its function has not returned. */
  begin() {
    return new Promise((opened, failed) => {
      const whole = this.all.transaction((transaction) => {
        this.db = transaction;
        opened();
        return new Promise((resolve, reject) => {
          this.#end = (error) => (error ? reject(error) : resolve(), whole);
        });
      });
      whole.catch(failed);
    });
  }

  finish() {
    const end = this.#end;
    this.#end = null;
    this.db = this.all;
    return end();
  }

  /** It has rolled a transaction back already whose COMMIT failed. */
  undo() {
    const end = this.#end;
    this.#end = null;
    this.db = this.all;
    return end?.(UNDO).catch((error) => {
      if (error !== UNDO) {
        throw error;
      }
    });
  }

  insertMany(table, rows) {
    return this.db.insert(this.driver.schema[table]).values(rows);
  }

  /** https://orm.drizzle.team/docs/perf-queries: the query is built once, and its name lets the server keep it. */
  prepare(pieces) {
    if (this.driver.variant !== "prepared" || this.tree(pieces) === null) {
      return super.prepare(pieces);
    }
    const names = pieces.slice(1).map((_, place) => `v${place}`);
    const build = this.compile(this.source(pieces), names.length);
    const prepared = build(...names.map((name) => sql.placeholder(name))).prepare(this.driver.nameOf(pieces.join("?")));
    return new Function("prepared", `return (${names}) => prepared.execute({ ${names} });`)(prepared);
  }

  simple(pieces) {
    return super.prepare(pieces);
  }

  /** With the table of each column; null where a column is not in the schema, as the result of a call. */
  tree(pieces) {
    const tree = super.tree(pieces);
    if (tree === null) {
      return null;
    }
    const { schema } = this.driver;
    const { table, joins = [], items = [], set = [], where = [], order = [] } = tree;
    const among = [table, ...joins.map((one) => one.table)];
    const sides = [...joins.flatMap((one) => [one.left, one.right]), ...where.map((one) => one.left)];
    const named = [...items, ...order, ...sides].filter((one) => one?.name !== undefined);
    for (const one of named) {
      one.table ??= among.find((name) => schema[name]?.[one.name]);
    }
    const all = [...named, ...set.map(([name]) => ({ table, name }))];
    return all.every((one) => schema[one.table]?.[one.name]) && among.every((name) => schema[name]) ? tree : null;
  }

  select(table, items) {
    const one = ({ as, fragment, ...rest }) => `${as}: ${fragment ? this.template(fragment) : column(rest)}`;
    return `.select({ ${items.map(one).join(", ")} }).from(${of(table)})`;
  }

  insert(table, values) {
    return `.insert(${of(table)}).values(${values})`;
  }

  update(table, values) {
    return `.update(${of(table)}).set(${values})`;
  }

  delete(table) {
    return `.delete(${of(table)})`;
  }

  join({ table, left, right }) {
    return `${of(text(table))}, eq(${column(left)}, ${column(right)})`;
  }

  where(conditions) {
    const one = ({ left, comparison, right, fragment }) =>
      fragment ? this.template(fragment) : `${COMPARE[comparison]}(${column(left)}, ${this.value(right)})`;
    const all = conditions.map(one).join(", ");
    return all ? [`where(${conditions.length > 1 ? `and(${all})` : all})`] : [];
  }

  order(columns) {
    const all = columns.map((one) => `${one.isDown ? "desc" : "asc"}(${column(one)})`);
    return all.length ? [`orderBy(${all.join(", ")})`] : [];
  }

  whole(statement) {
    return `session.db.execute(${this.template(statement)})`;
  }
}

/** The source of a table, by the source of its name. */
const of = (name) => `t.${JSON.parse(name)}`;
const column = ({ table, name }) => `t.${table}.${name}`;

/** An object with what a function makes of each value. */
const mapped = (object, make) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, make(value, name)]));
