import assert from "node:assert/strict";
import { test } from "node:test";

import { find } from "../src/drivers/index.js";
import { maintain } from "../src/drivers/listed.js";
import { codeOf, primary } from "../src/drivers/sqlite/codes.js";
import { tls } from "../src/drivers/server.js";
import { Sql, SyncSql, identifier } from "../src/drivers/sql.js";
import { Failure, ownFault } from "../src/failure.js";
import { Load, RowFile } from "../src/inputs.js";
import { file } from "./support.js";

/** A driver of a server, which is not reached. */
async function driverOf(speaks, driver) {
  const Driver = await find({ speaks, driver });
  return new Driver({ engine: "e", driver, build: "system", tests: [], server: { host: "h", user: "u", options: {} } });
}

test("names of SQLite's errors have their codes", () => {
  assert.equal(codeOf("SQLITE_BUSY"), 5);
  assert.equal(codeOf("SQLITE_BUSY_SNAPSHOT"), 517);
  assert.equal(codeOf("SQLITE_CONSTRAINT_UNIQUE"), 2067);
  // One that is not in the list has its primary code.
  assert.equal(codeOf("SQLITE_IOERR_FSYNC"), 10);
  assert.equal(codeOf("nonsense"), 0);
  assert.equal(primary(2067), 19);
});

test("only names of tables stand in statements", () => {
  assert.equal(identifier("t_1"), "t_1");
  assert.throws(() => identifier("t; DROP TABLE t"), Failure);
});

test("modes of TLS are those of Node.js", () => {
  assert.equal(tls("disable", {}), undefined);
  assert.equal(tls("require", {}).rejectUnauthorized, false);
  assert.equal(tls("verify-ca", {}).checkServerIdentity(), undefined);
  const { checkServerIdentity } = tls("verify-full", {}, "127.0.0.1");
  const certificate = (subjectaltname) => ({ subject: { CN: "127.0.0.1" }, subjectaltname });
  assert.equal(checkServerIdentity("localhost", certificate("IP Address:127.0.0.1")), undefined);
  assert.match(checkServerIdentity("localhost", certificate("DNS:localhost")).message, /127\.0\.0\.1/);
  assert.throws(() => tls("verify-ca", { ca: "/nowhere/ca" }), /the file of the option for ca cannot be used/);
});

test("options of a URL that a driver does not have are refused", async () => {
  const server = (options) => ({ host: "h", user: "u", options });
  const job = (options) => ({ engine: "e", driver: "d", build: "system", tests: [], server: server(options) });
  const modules = [
    ["postgres/pg", "sslmode", "require"],
    ["postgres/kysely", "sslmode", "require"],
    ["postgres/knex", "sslmode", "require"],
    ["postgres/drizzle", "sslmode", "require"],
    ["mysql/mysql2", "ssl-mode", "REQUIRED"],
    ["mysql/kysely", "ssl-mode", "REQUIRED"],
    ["mysql/knex", "ssl-mode", "REQUIRED"],
    ["mysql/drizzle", "ssl-mode", "REQUIRED"],
  ];
  for (const [name, known, mode] of modules) {
    const [speaks, driver] = name.split("/");
    const Driver = await find({ speaks, driver });
    assert.throws(() => new Driver(job({ nonsense: "1" })), new RegExp(`option 'nonsense'.*${known}`));
    assert.throws(() => new Driver(job({ [known]: "maybe" })), /maybe/i);
    assert.equal(new Driver(job({ [known]: mode })).options.ssl.rejectUnauthorized, false);
  }
});

test("a mode that leaves encryption to the server is kept or refused, and never plain text unasked", async () => {
  const options = async (speaks, driver, host, given) => {
    const Driver = await find({ speaks, driver });
    const server = { host, user: "u", options: given };
    return new Driver({ engine: "e", driver, build: "system", tests: [], server }).options;
  };
  for (const driver of ["pg", "postgres", "kysely", "knex", "drizzle"]) {
    const preferred = await options("postgres", driver, "h", { sslmode: "prefer" });
    assert.deepEqual([preferred.isPreferred, preferred.ssl.rejectUnauthorized], [true, false]);
    assert.equal((await options("postgres", driver, "/run", { sslmode: "prefer" })).ssl, undefined);
    assert.equal((await options("postgres", driver, "h", {})).ssl, undefined);
    await assert.rejects(options("postgres", driver, "h", { sslmode: "allow" }), /write sslmode=disable or sslmode=require/);
  }
  for (const driver of ["mysql2", "mariadb", "kysely", "knex", "drizzle"]) {
    assert.equal((await options("mysql", driver, "h", {})).ssl, undefined);
    await assert.rejects(
      options("mysql", driver, "h", { "ssl-mode": "preferred" }),
      /write ssl-mode=DISABLED or ssl-mode=REQUIRED/,
    );
  }
});

/** A driver that lists what is sent to its engine. */
const hearing = (Base) =>
  class extends Base {
    sent = [];

    run(connection, sql) {
      this.sent.push(sql);
    }
    inserter() {
      return (...row) => void this.sent.push(row.join());
    }
  };

/** Five rows, some of which make a transaction. */
function rows(perCommit) {
  const five = new RowFile({ file: file("five", "abcde"), count: 5, columns: [{ name: "a", bytes: 1 }] });
  return new Load("t", five, 0, 5, perCommit);
}

test("rows that commit each on their own have no BEGIN and COMMIT around them", async () => {
  for (const Base of [Sql, SyncSql]) {
    const sent = async (perCommit) => {
      const driver = new (hearing(Base))({ engine: "e", driver: "d", onConnect: [] });
      await driver.insertRows(rows(perCommit));
      return driver.sent.join(" ");
    };
    assert.equal(await sent(1), "a b c d e");
    assert.equal(await sent(2), "BEGIN a b COMMIT BEGIN c d COMMIT BEGIN e COMMIT");
    assert.equal(await sent(null), "BEGIN a b c d e COMMIT");
  }
});

test("a transaction has BEGIN and COMMIT around it where it takes more than one statement", async () => {
  const sent = async (perCommit, most, each) => {
    const driver = new (hearing(Sql))({ engine: "e", driver: "d", onConnect: [] });
    await driver.inBlocks(rows(perCommit), most, (start, stop) => driver.sent.push(`${start}-${stop}`), each);
    return driver.sent.join(" ");
  };
  assert.equal(await sent(null, Infinity), "0-5");
  assert.equal(await sent(2, 1000), "0-2 2-4 4-5");
  assert.equal(await sent(4, 3), "BEGIN 0-3 3-4 COMMIT BEGIN 4-5 COMMIT");
  assert.equal(await sent(1, 1000, 1), "0-1 1-2 2-3 3-4 4-5");
  assert.equal(await sent(null, 1000, 1), "BEGIN 0-5 COMMIT");
});

test("a statement of a mix is prepared before it is executed, where the library can", async () => {
  const heard = [];
  const call = (name) => async (...values) => void heard.push([name, ...values]);
  const mysql = await driverOf("mysql", "mysql2");
  const connection = { prepare: call("prepare"), execute: call("execute") };
  const found = await mysql.Session(connection, false).prepare(["SELECT ", " + ", ""]);
  assert.deepEqual(heard.splice(0), [["prepare", "SELECT ? + ?"]]);
  await found(1, "a");
  assert.deepEqual(heard.splice(0), [["execute", "SELECT ? + ?", [1, "a"]]]);

  const postgres = await driverOf("postgres", "postgres");
  const sql = (strings, ...values) => {
    heard.push([strings.raw.join("?"), ...values]);
    return { describe: call("describe"), values: call("values") };
  };
  const read = await postgres.Session({ sql }, false).prepare(["SELECT ", " + ", ""]);
  assert.deepEqual(heard.splice(0), [["SELECT ? + ?", null, null], ["describe"]]);
  await read(1, "a");
  assert.deepEqual(heard.splice(0), [["SELECT ? + ?", 1, "a"], ["values"]]);
  // So does a client that comes and goes, while it connects.
  postgres.another = async () => ({ sql });
  await (await postgres.visit()).prepare(["SELECT ", " + ", ""]);
  assert.deepEqual(heard.splice(0), [["SELECT ? + ?", null, null], ["describe"]]);
});

test("an error of MySQL is named by its number and by its SQLSTATE", async () => {
  const error = Object.assign(new Error("there already"), { errno: 1062, sqlState: "23000" });
  for (const name of ["mysql2", "mariadb"]) {
    const driver = await driverOf("mysql", name);
    assert.deepEqual(driver.codes(error), ["1062", "23000"]);
    assert.deepEqual(driver.Session({}, false).codes(error), ["1062", "23000"]);
    assert.deepEqual(driver.codes({ errno: 2013, sqlState: "HY000" }), []);
  }
  const drizzle = await driverOf("mysql", "drizzle");
  assert.deepEqual(drizzle.codes(new Error("query failed", { cause: error })), ["1062", "23000"]);
});

test("a statement that the job lists may be refused for what the job ignores", async () => {
  const driver = await driverOf("mysql", "mysql2");
  const refused = (codes) => {
    driver.run = async () => {
      throw Object.assign(new Error("no"), codes);
    };
    return (ignored) => maintain(driver, null, [{ name: "do it", sql: "s", ignores: [ignored], each: false }]);
  };
  const duplicate = refused({ errno: 1062, sqlState: "23000" });
  for (const ignored of ["1062", "*"]) {
    await duplicate(ignored);
  }
  // By the number alone.
  for (const other of ["1205", "23000"]) {
    await assert.rejects(duplicate(other), /cannot do it: no \(error 1062\)/);
  }
  // A lost connection always matters.
  await assert.rejects(refused({ errno: 2013, sqlState: "HY000" })("*"), /cannot do it: no/);
});

test("an error in the runner names its place", () => {
  assert.match(
    ownFault(new TypeError("x is not\na function")),
    /TypeError: x is not a function at .*drivers.test.js:\d+/,
  );
});
