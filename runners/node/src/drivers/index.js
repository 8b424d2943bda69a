// The drivers, each imported when a job names it, so that a missing package affects only its own driver.

import { Failure } from "../failure.js";

/** By the two names in a job (an engine or the protocol that it speaks, and a driver): the module that implements it. */
const DRIVERS = {
  "null/node": "./null.js",
  "sqlite/better-sqlite3": "./sqlite/better.js",
  "sqlite/node-sqlite": "./sqlite/builtin.js",
  "sqlite/node-sqlite3": "./sqlite/callbacks.js",
  "sqlite/bun-sqlite": "./sqlite/bun.js",
  "sqlite/libsql": "./sqlite/libsql.js",
  "duckdb/node-api": "./duckdb.js",
  "pglite/node": "./pglite.js",
  "postgres/pg": "./postgres/pg.js",
  "postgres/postgres": "./postgres/postgres.js",
  "postgres/kysely": "./layers/kysely.js",
  "postgres/knex": "./layers/knex.js",
  "postgres/drizzle": "./layers/drizzle.js",
  "mysql/mysql2": "./mysql/mysql2.js",
  "mysql/mariadb": "./mysql/mariadb.js",
};

/** The driver that a job names. */
export async function find(job) {
  const wanted = `${job.speaks || job.engine}/${job.driver}`;
  if (!Object.hasOwn(DRIVERS, wanted)) {
    const served = Object.keys(DRIVERS).join(", ");
    throw new Failure(`this runner serves ${served} and the job asks for ${wanted}`);
  }
  return (await import(DRIVERS[wanted])).default;
}
