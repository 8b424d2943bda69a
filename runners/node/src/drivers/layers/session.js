// Shared by the clients of layers that build SQL: everything but their calls.
//
// A statement of a mix becomes a function with the chain of calls that a program would have for it, written for that
// statement: so each execution builds its query anew, as such programs do, and nothing else is done. A statement without
// a tree goes by the layer's own template for SQL.

import { written } from "../../written.js";
import { parse, textOf } from "./statement.js";

/** A client of a layer on top of one of the driver below. What differs between layers are its calls begin, finish, undo and
 *  insertMany, and pieces of sources. */
export const layeredSession = (Below) =>
  class extends Below {
    /** The name of the call that locks the rows of a SELECT. */
    lock = "forUpdate()";

    constructor(driver, connection, isOwn) {
      super(driver, connection, isOwn);
      this.all = driver.above(connection);
      this.db = this.all;
      // Transactions of a layer whose calls return when they are done are those of the driver below.
      if (this.awaits) {
        this.beginRead = this.beginWrite = () => this.begin();
        this.commit = () => this.finish();
        this.rollback = () => this.undo();
      }
    }

    /** The name of the call that sends a query of a kind; null where awaiting the query sends it. */
    send() {
      return "execute()";
    }

    /** Every execution is built and parsed anew. The source is that of a program, and is found once. */
    simple(pieces) {
      const { sources } = this.driver;
      const key = JSON.stringify(pieces);
      if (!sources.has(key)) {
        sources.set(key, this.source(pieces));
      }
      return this.compile(sources.get(key), pieces.length - 1);
    }

    prepare(pieces) {
      return this.simple(pieces);
    }

    tree(pieces) {
      return parse(pieces, (table) => Object.keys(this.driver.tables[table] ?? {}));
    }

    /** The source of what executes a statement. */
    source(pieces) {
      const tree = this.tree(pieces);
      return tree === null ? this.whole(textOf(pieces)) : this.chain(tree, this.send(tree.kind));
    }

    /** The chain of calls of a tree, the last of which sends the query. */
    chain({ kind, table, items, set = [], joins = [], where = [], order = [], limit, offset, locks }, send) {
      const calls = [
        this[kind](text(table), items ?? this.object(set)),
        ...joins.map((one) => `innerJoin(${this.join(one)})`),
        ...this.where(where),
        ...this.order(order),
        limit && `limit(${this.value(limit)})`,
        offset && `offset(${this.value(offset)})`,
        locks && this.lock,
        send,
      ];
      return `session.db${calls.filter(Boolean).join(".")}`;
    }

    /** A function of a statement's parameters that does what a source says. */
    compile(source, parameters) {
      const { tools } = this;
      const names = Array.from({ length: parameters }, (_, place) => `v${place}`);
      const make = written(["session", ...Object.keys(tools)], `return (${names.join(", ")}) => ${source};`);
      return make(this, ...Object.values(tools));
    }

    value({ parameter, number, fragment }) {
      return fragment ? this.template(fragment) : (number ?? `v${parameter}`);
    }

    /** An object with the values of columns. */
    object(set) {
      return `{ ${set.map(([name, value]) => `${name}: ${this.value(value)}`).join(", ")} }`;
    }

    /** Something that is selected, by its name or as what names it. */
    item({ as, fragment, ...rest }) {
      return fragment ? this.named(fragment, as) : text(as === rest.name ? path(rest) : `${path(rest)} as ${as}`);
    }

    join({ table, left, right }) {
      return [table, path(left), path(right)].map(text).join(", ");
    }

    where(conditions) {
      return conditions.map(({ left, comparison, right, fragment }) => {
        const three = () => `${text(path(left))}, ${text(comparison)}, ${this.value(right)}`;
        return `where(${fragment ? this.template(fragment) : three()})`;
      });
    }

    order(columns) {
      return columns.map((one) => `orderBy(${text(path(one))}, ${text(one.isDown ? "desc" : "asc")})`);
    }

    /** A fragment of SQL, by the tagged template that most layers have. */
    template(fragment) {
      const escaped = fragment.replace(/\$(\d+)\$|[\\`$]/g, (found, place) => (place ? `\${v${place}}` : `\\${found}`));
      return `sql\`${escaped}\``;
    }

    /** The rows of a builder, or those in the result of the driver below, such as the first of a pair: objects. */
    rows(result) {
      const rows = Array.isArray(result) ? (Array.isArray(result[0]) ? result[0] : result) : result.rows;
      return rows.map(Object.values);
    }
  };

/** The name of a column, after its table's where that is named. */
export const path = ({ table, name }) => (table ? `${table}.${name}` : name);

/** The source of a text. */
export const text = (value) => JSON.stringify(value);
