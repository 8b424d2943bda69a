// What Drizzle has for each engine: its driver, the columns of a program's schema, and the calls that send a query.

import { load as use } from "../../native.js";

const asText = { mode: "string" };
const asNumber = { mode: "number" };

export const ENGINES = {
  /** https://orm.drizzle.team/docs/get-started-postgresql */
  postgres() {
    const { drizzle } = use("drizzle-orm/node-postgres");
    const pg = use("drizzle-orm/pg-core");
    const columns = {
      smallint: () => pg.smallint(),
      integer: () => pg.integer(),
      bigint: () => pg.bigint(asNumber),
      real: () => pg.real(),
      "double precision": () => pg.doublePrecision(),
      numeric: () => pg.numeric(),
      boolean: () => pg.boolean(),
      character: () => pg.char(),
      "character varying": () => pg.varchar(),
      "timestamp without time zone": () => pg.timestamp(asText),
      "timestamp with time zone": () => pg.timestamp({ ...asText, withTimezone: true }),
    };
    return { drizzle, table: pg.pgTable, column: (type) => columns[type]?.() ?? pg.text(), ...PROMISES };
  },

  /** https://orm.drizzle.team/docs/get-started-mysql */
  mysql() {
    const { drizzle } = use("drizzle-orm/mysql2");
    const mysql = use("drizzle-orm/mysql-core");
    const columns = {
      smallint: () => mysql.smallint(),
      int: () => mysql.int(),
      bigint: () => mysql.bigint(asNumber),
      float: () => mysql.float(),
      double: () => mysql.double(),
      decimal: () => mysql.decimal(),
      datetime: () => mysql.datetime(asText),
      timestamp: () => mysql.timestamp(asText),
    };
    return { drizzle, table: mysql.mysqlTable, column: (type) => columns[type]?.() ?? mysql.text(), ...PROMISES };
  },

  /** https://orm.drizzle.team/docs/get-started-sqlite */
  sqlite() {
    const { drizzle } = use("drizzle-orm/better-sqlite3");
    const sqlite = use("drizzle-orm/sqlite-core");
    const columns = {
      integer: () => sqlite.integer(),
      bigint: () => sqlite.integer(),
      real: () => sqlite.real(),
      "double precision": () => sqlite.real(),
      numeric: () => sqlite.numeric(),
    };
    return { drizzle, table: sqlite.sqliteTable, column: (type) => columns[type]?.() ?? sqlite.text(), ...CALLS };
  },
};

/** A query is sent where it is awaited. `whole` is the source of a statement of which this is the template. */
const PROMISES = { send: () => null, whole: (template) => `session.db.execute(${template})` };

/** A call that returns rows, and one that returns none. */
const CALLS = {
  send: (returnsRows) => (returnsRows ? "all()" : "run()"),
  whole: (template, returnsRows) => `session.db.${returnsRows ? "all" : "run"}(${template})`,
};
