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
  "mysql/mysql2": "./mysql/mysql2.js",
  "mysql/mariadb": "./mysql/mariadb.js",
};

/** The layers, and by what they reach, the driver below them. */
const LAYERS = ["kysely", "knex", "drizzle"];
const BELOW = { postgres: "pg", mysql: "mysql2", sqlite: "better" };

/** The driver that a job names. */
export async function find(job) {
  const reaches = job.speaks || job.engine;
  if (LAYERS.includes(job.driver) && Object.hasOwn(BELOW, reaches)) {
    return layer(job.driver, BELOW[reaches]);
  }
  const wanted = `${reaches}/${job.driver}`;
  if (!Object.hasOwn(DRIVERS, wanted)) {
    const layers = Object.keys(BELOW).flatMap((below) => LAYERS.map((name) => `${below}/${name}`));
    const served = [...Object.keys(DRIVERS), ...layers].join(", ");
    throw new Failure(`this runner serves ${served} and the job asks for ${wanted}`);
  }
  return (await import(DRIVERS[wanted])).default;
}

/** A layer above a driver, by their modules. */
export async function layer(name, below) {
  const { default: driver } = await import(`./layers/${name}.js`);
  return driver(await import(`./layers/${below}.js`));
}
