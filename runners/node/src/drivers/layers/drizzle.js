// Drizzle ORM. https://orm.drizzle.team/docs/overview

import { load as use } from "../../native.js";
import { written } from "../../written.js";
import { ENGINES } from "./schema.js";
import { text } from "./session.js";

const { eq, ne, lt, lte, gt, gte, and, asc, desc, sql } = use("drizzle-orm");

const COMPARE = { "=": "eq", "<>": "ne", "<": "lt", "<=": "lte", ">": "gt", ">=": "gte" };

/** Thrown within a transaction to roll it back. */
const UNDO = Symbol("undo");

/** The driver above one of another module in this folder. */
export default function driver({ engine, Driver, SyncDriver = Driver, Session, SyncLayerSession = Session }) {
  const own = ENGINES[engine]();
  const Client = clients(SyncLayerSession, own);

  return class extends SyncDriver {
    static library = "drizzle-orm";
    static variants = [...SyncDriver.variants, "prepared"];
    #schema = null;
    #of = null;

    /** The schema: made once for the tables that are known. */
    get schema() {
      if (this.#of !== this.tables) {
        this.#schema = mapped(this.tables, (columns, name) => own.table(name, mapped(columns, own.column)));
        this.#of = this.tables;
      }
      return this.#schema;
    }

    /** It wraps the errors of the driver below. */
    code(error) {
      return super.code(error.cause ?? error);
    }
    codes(error) {
      return super.codes(error.cause ?? error);
    }
    words(error) {
      return super.words(error.cause ?? error);
    }

    over(client) {
      return own.drizzle({ client });
    }

    Session(connection, isOwn) {
      return new Client(this, connection, isOwn);
    }
  };
}

const clients = (Session, own) =>
  class extends Session {
    lock = 'for("update")';
    /** Ends the transaction that is open, given an error to roll back with, or nothing. */
    #end = null;

    get tools() {
      return { t: this.driver.schema, eq, ne, lt, lte, gt, gte, and, asc, desc, sql };
    }

    mayPass(error) {
      return super.mayPass(error.cause ?? error);
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

    send(kind) {
      return own.send(kind === "select");
    }

    insertMany(table, rows) {
      return this.db.insert(this.driver.schema[table]).values(rows);
    }

    /** https://orm.drizzle.team/docs/perf-queries: the query is built once. PostgreSQL keeps what has a name, and
     *  better-sqlite3 what it has prepared. */
    prepare(pieces) {
      const tree = this.driver.variant === "prepared" ? this.tree(pieces) : null;
      if (tree === null) {
        return super.prepare(pieces);
      }
      const names = pieces.slice(1).map((_, place) => `v${place}`);
      const build = this.compile(this.chain(tree, null), names.length);
      const prepared = build(...names.map((name) => sql.placeholder(name))).prepare(this.driver.nameOf?.(pieces.join("?")));
      const call = (this.send(tree.kind) ?? "execute()").replace("()", `({ ${names} })`);
      return written(["prepared"], `return (${names}) => prepared.${call};`)(prepared);
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
      return own.whole(this.template(statement), this.returnsRows?.(statement));
    }
  };

/** The source of a table, by the source of its name. */
const of = (name) => `t.${JSON.parse(name)}`;
const column = ({ table, name }) => `t.${table}.${name}`;

/** An object with what a function makes of each value. */
const mapped = (object, make) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, make(value, name)]));
