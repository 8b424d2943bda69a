// Shared by the layers that build SQL above node-postgres: everything but their calls.
//
// A statement of a mix becomes a function with the chain of calls that a program would have for it, written for that
// statement: so each execution builds its query anew, as such programs do, and nothing else is done. A statement without
// a tree goes by the layer's own template for SQL.

import Pg from "../postgres/pg.js";
import { PostgresSession } from "../postgres/server.js";
import { identifier } from "../sql.js";
import { load as use, versionOf } from "../../native.js";
import { numberOf } from "../../values.js";
import { parse, textOf } from "./statement.js";

const COLUMNS =
  "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = current_schema() " +
  "ORDER BY table_name, ordinal_position";
/** The types whose values are given as text, because a number of JavaScript does not hold all of them. */
const AS_TEXT = ["INT8", "NUMERIC"];

/** A driver, whose class has the name of its package as `library`. */
export class Layer extends Pg {
  static variants = ["multirow", "insert"];
  /** By table, its columns with their types: what a program's own description of its tables says. */
  tables = {};
  #loading = null;

  constructor(job) {
    super(job);
    const { types } = use("pg");
    // As their manuals advise: layers do not say of which type a column is.
    AS_TEXT.forEach((type) => types.setTypeParser(types.builtins[type], numberOf));
  }

  async session(place) {
    await (place || this.#learn());
    return super.session(place);
  }

  aside() {
    return this.#learn();
  }

  identity() {
    const { library } = this.constructor;
    return { driver_version: `${library} ${versionOf(library)} above ${super.identity().driver_version}` };
  }

  insertRows(load) {
    this.#describe(load);
    return super.insertRows(load);
  }

  bulkLoad(load) {
    this.#describe(load);
    return super.bulkLoad(load);
  }

  /** With the names of the columns, which builders need. */
  insertText({ table, file }) {
    const names = file.columns.map(({ name }) => identifier(name));
    const values = names.map((_, place) => this.placeholder(place + 1));
    return `INSERT INTO ${identifier(table)}(${names.join(", ")}) VALUES (${values.join(", ")})`;
  }

  inserter(text) {
    return this.#loader.prepare(text.split(/\$\d+/));
  }

  multirow({ table, file }, start, stop) {
    const names = file.columns.map(({ name }) => name);
    const object = (row) => Object.fromEntries(names.map((name, place) => [name, row[place]]));
    return this.#loader.insertMany(table, file.rows(start, stop).map(object));
  }

  /** The session that loads rows. */
  get #loader() {
    return (this.#loading ??= this.Session(this.connection, false));
  }

  #describe({ table, file }) {
    this.tables = { [table]: Object.fromEntries(file.columns.map(({ name }) => [name, "text"])) };
  }

  /** Outside the clock. */
  async #learn() {
    this.tables = {};
    for (const [table, name, type] of await this.query(COLUMNS)) {
      (this.tables[table] ??= {})[name] = type;
    }
  }
}

/** A client. What differs between layers are its calls begin, finish, undo and insertMany, and pieces of sources. */
export class LayerSession extends PostgresSession {
  /** The name of the call that locks the rows of a SELECT, and the one that sends a query. */
  lock = "forUpdate()";
  send = "execute()";

  constructor(driver, client, isOwn) {
    super(driver, client, isOwn);
    this.beginRead = this.beginWrite = () => this.begin();
    this.commit = () => this.finish();
    this.rollback = () => this.undo();
  }

  /** Every execution is built and parsed anew. */
  prepare(pieces) {
    return this.compile(this.source(pieces), pieces.length - 1);
  }

  tree(pieces) {
    return parse(pieces, (table) => Object.keys(this.driver.tables[table] ?? {}));
  }

  /** The source of what executes a statement. */
  source(pieces) {
    const tree = this.tree(pieces);
    if (tree === null) {
      return this.whole(textOf(pieces));
    }
    const { table, set, joins = [], where = [], order = [], limit, offset, locks } = tree;
    const calls = [
      this[tree.kind](text(table), tree.items ?? this.object(set ?? [])),
      ...joins.map((one) => `innerJoin(${this.join(one)})`),
      ...this.where(where),
      ...this.order(order),
      limit && `limit(${this.value(limit)})`,
      offset && `offset(${this.value(offset)})`,
      locks && this.lock,
      this.send,
    ];
    return `session.db${calls.filter(Boolean).join(".")}`;
  }

  /** A function of a statement's parameters that does what a source says. */
  compile(source, parameters) {
    const { tools } = this;
    const names = Array.from({ length: parameters }, (_, place) => `v${place}`);
    const make = new Function("session", ...Object.keys(tools), `return (${names.join(", ")}) => ${source};`);
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

  /** The rows of a builder, or of the result of node-postgres: objects. */
  rows(result) {
    return (Array.isArray(result) ? result : result.rows).map(Object.values);
  }
}

/** A pool of one connection, that of a client. */
export function pool(client) {
  client.release = () => {};
  return { connect: async () => client, end: async () => {} };
}

/** The name of a column, after its table's where that is named. */
export const path = ({ table, name }) => (table ? `${table}.${name}` : name);

/** The source of a text. */
export const text = (value) => JSON.stringify(value);
