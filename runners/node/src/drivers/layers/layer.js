// Shared by the drivers that build SQL by a layer above another driver: everything but their calls.

import { Sql, identifier } from "../sql.js";
import { versionOf } from "../../native.js";

/** Rows of a load that go in one statement. */
const MANY = 1000;
/** Most parameters of a statement in SQLite, of the engines the one that takes fewest. */
const PARAMETERS = 32_766;

/** A driver on top of the one below, whose `catalogue` is a query for the columns of all tables with their types. The class
 *  of a layer has the name of its package as `library`; its calls are those of its session, and `over`, which makes what
 *  the layer has for a connection. */
export const layered = (Below) =>
  class extends Below {
    static variants = ["multirow", "insert"];
    /** By table, its columns with their types: what a program's own description of its tables says. */
    tables = {};
    /** The sources of the statements of mixes, by their pieces, for these tables. */
    sources = new Map();
    /** Rows of a load in one statement. */
    many = MANY;
    #above = new WeakMap();

    /** What the layer has for a connection: one for all clients that share the connection. */
    above(connection) {
      if (!this.#above.has(connection)) {
        this.#above.set(connection, this.over(connection));
      }
      return this.#above.get(connection);
    }

    async session(place) {
      await (place || this.#learn());
      return super.session(place);
    }

    async aside() {
      await this.#learn();
      return super.aside();
    }

    async identity() {
      const { library } = this.constructor;
      const below = await super.identity();
      return { ...below, driver_version: `${library} ${versionOf(library)} above ${below.driver_version}` };
    }

    insertRows(load) {
      this.#describe(load);
      return super.insertRows(load);
    }

    bulkLoad(load) {
      if (this.variant !== "multirow") {
        return this.insertRows(load);
      }
      this.#describe(load);
      const { table, file } = load;
      const names = file.columns.map(({ name }) => name);
      // An object as a program writes it; one from pairs of names and values takes many times as long.
      const fields = names.map((name, place) => `${JSON.stringify(name)}: row[${place}]`);
      const object = new Function("row", `return { ${fields.join(", ")} };`);
      const many = Math.min(this.many, Math.floor(PARAMETERS / names.length));
      const session = this.Session(this.connection, false);
      return this.inBlocks(load, many, (start, stop) => session.insertMany(table, file.rows(start, stop).map(object)));
    }

    /** With the names of the columns, which builders need. */
    insertText({ table, file }) {
      const names = file.columns.map(({ name }) => identifier(name));
      const values = names.map((_, place) => this.placeholder(place + 1));
      return `INSERT INTO ${identifier(table)}(${names.join(", ")}) VALUES (${values.join(", ")})`;
    }

    inserter(text) {
      return this.Session(this.connection, false).prepare(text.split(/\$\d+|\?/));
    }

    #describe({ table, file }) {
      this.tables = { [table]: Object.fromEntries(file.columns.map(({ name }) => [name, "text"])) };
    }

    /** Outside the clock. */
    async #learn() {
      this.tables = {};
      this.sources.clear();
      for (const [table, name, type] of await this.query(this.catalogue)) {
        (this.tables[table] ??= {})[name] = type.toLowerCase().replace(/ *\(.*/, "");
      }
    }
  };

/** A driver whose clients share its one connection, and wait for its promises. */
export const shared = (Below) =>
  class extends Below {
    session() {
      return this.visit();
    }
    visit() {
      return this.Session(this.connection, false);
    }
    aside() {}
    back() {}

    insertRows(load) {
      return Sql.prototype.insertRows.call(this, load);
    }
  };
