// Shared by the drivers of servers: connections to the database of a trial, which the job's maintenance makes and
// removes.

import { readFileSync } from "node:fs";
import { checkServerIdentity } from "node:tls";

import { Failure } from "../failure.js";
import { firstNumber, maintain } from "./listed.js";
import { Sql } from "./sql.js";

/** Seconds to wait for an answer to a connection, where the URL does not say. */
export const PATIENCE = 10;

export class ServerSql extends Sql {
  /** True if something is to be done at the end. */
  #made = false;

  constructor(job) {
    super(job);
    if (job.server === null) {
      throw new Failure(`the job says no server, and ${job.engine} is reached through one: this is an error in dyno`);
    }
    if (job.build === "bundled") {
      throw new Failure(`${job.engine} is a server and has no bundled build`);
    }
  }

  // A driver also has attach(database), which connects by the library and throws whatever that throws, and
  // encryption(), which says how the connection is encrypted, or `none`.

  /** Advice on a connection that failed. */
  advice() {
    return "";
  }

  async connect(database = this.job.server.database) {
    try {
      return await this.attach(database);
    } catch (error) {
      if (error instanceof Failure) {
        throw error;
      }
      const { host } = this.job.server;
      const where = database ? `the database '${database}' of ${host}` : host;
      throw new Failure(`cannot connect to ${where}: ${this.words(error)}${this.advice(error)}`);
    }
  }

  async begin() {
    if (this.job.maintenance) {
      await this.#maintain(this.job.maintenance.before);
      this.#made = true;
    }
    await super.begin();
  }

  async hello() {
    const encryption = [await this.encryption()];
    const hello = await super.hello();
    return { engine_version: "", ...hello, build: { encryption } };
  }

  async session(place) {
    return this.Session(place === 0 ? this.connection : await this.another(), place > 0);
  }
  async visit() {
    return this.Session(await this.another(), true);
  }
  /** A connection to a server does not concern others. */
  aside() {}
  back() {}

  databaseBytes() {
    return firstNumber(this, this.connection, this.job.databaseBytes);
  }

  async close() {
    // By a new connection, because the old one may be lost or within a transaction, and because some servers remove
    // no database to which a client is connected. Uncommitted work is rolled back.
    await super.close();
    if (this.#made && this.job.maintenance.after.length) {
      this.#made = false;
      await this.#maintain(this.job.maintenance.after);
    }
  }

  async abandon() {
    await Sql.prototype.close.call(this).catch(() => {});
    await super.abandon();
  }

  async #maintain(statements) {
    const connection = await this.connect(this.job.maintenance.database);
    try {
      await maintain(this, connection, statements);
    } finally {
      await this.disconnect(connection);
    }
  }
}

/** The options of TLS that Node.js takes, by a mode of libpq's or MySQL's; nothing for a connection in plain text.
 *  `files` are the paths of `ca`, `cert` and `key`, as far as the URL names them, and `host` is the URL's. */
export function tls(mode, files, host) {
  if (mode === "disable") {
    return undefined;
  }
  const read = ([name, file]) => {
    try {
      return [name, readFileSync(file)];
    } catch (error) {
      throw new Failure(`the file of the option for ${name} cannot be used: ${error.message}`);
    }
  };
  const options = Object.fromEntries(Object.entries(files).map(read));
  switch (mode) {
    case "require":
      return { ...options, rejectUnauthorized: false };
    case "verify-ca":
      return { ...options, rejectUnauthorized: true, checkServerIdentity: () => undefined };
    default:
      return {
        ...options,
        rejectUnauthorized: true,
        // Where the host is an address, two drivers do not pass it on, and Node.js would compare "localhost".
        checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
        // MySQL2 calls no such function, and compares nothing without this.
        verifyIdentity: true,
      };
  }
}

/** The failure for a mode in which the server says whether a connection is encrypted, where the driver has none such. */
export const untried = (option, mode, others) =>
  new Failure(
    `${option}=${mode} leaves it to the server whether the connection is encrypted, and this driver has no such mode: ` +
      `write ${others.map((other) => `${option}=${other}`).join(" or ")}`,
  );

/** A whole number of seconds. */
export function seconds(name, value) {
  if (!/^\d+$/.test(value)) {
    throw new Failure(`the option ${name} is in seconds, not '${value}'`);
  }
  return Number(value);
}
