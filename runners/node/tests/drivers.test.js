import assert from "node:assert/strict";
import { test } from "node:test";

import { find } from "../src/drivers/index.js";
import { codeOf, primary } from "../src/drivers/sqlite/codes.js";
import { tls } from "../src/drivers/server.js";
import { identifier } from "../src/drivers/sql.js";
import { Failure, ownFault } from "../src/failure.js";
import "./support.js";

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

test("an error in the runner names its place", () => {
  assert.match(
    ownFault(new TypeError("x is not\na function")),
    /TypeError: x is not a function at .*drivers.test.js:\d+/,
  );
});
