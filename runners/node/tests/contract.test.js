import assert from "node:assert/strict";
import { test } from "node:test";

import { parse, take } from "../src/contract.js";
import { numberOf, toJson } from "../src/values.js";

const JOB = { protocol: 3, engine: "sqlite", driver: "d", build: "bundled", settings: [], directory: "/", tests: [] };

test("a job is read, and what it leaves out has its default", () => {
  const job = parse(JSON.stringify({ ...JOB, on_connect: [{ name: "n", sql: "s" }], build: { path: "/lib" } }));
  assert.deepEqual(job.onConnect, [{ name: "n", sql: "s", ignores: [], each: false }]);
  assert.deepEqual(job.build, { path: "/lib" });
  assert.equal(job.server, null);
  assert.equal(job.slowdown, 0);
});

test("what is no job is refused by the name of what is wrong, and never by its value", () => {
  const fails = (text, message) => assert.throws(() => parse(text), { message });
  fails("", /standard input is empty/);
  fails('{"password": "secret', /not JSON at (position \d+|end of JSON input|some place)$/i);
  fails("[1]", /an object with `protocol` is expected/);
  fails(JSON.stringify({ ...JOB, protocol: 2 }), /version 2 .* speaks version 3/);
  fails(JSON.stringify({ ...JOB, tests: 1 }), /a value of another kind in `tests`/);
  fails(JSON.stringify({ ...JOB, engine: undefined }), /missing field `engine`/);
});

test("a field that is null is absent", () => {
  assert.equal(take({ a: null }, "a", "text", "b"), "b");
  assert.throws(() => take(null, "a", "text"), /another kind/);
});

test("values are JSON as the contract has them", () => {
  const pairs = [
    [null, "null"],
    [undefined, "null"],
    [true, "1"],
    [7, "7"],
    [0.5, "0.5"],
    [-9007199254740993n, "-9007199254740993"],
    // It may have been rounded: a real.
    [2 ** 53, "9007199254740992.0"],
    [1e300, "1e+300"],
    [NaN, '"NaN"'],
    [-Infinity, '"-inf"'],
    ["a\n", '"a\\n"'],
    [Buffer.from([0, 255]), '{"blob":"00ff"}'],
  ];
  for (const [value, text] of pairs) {
    assert.equal(toJson(value), text);
    JSON.parse(text);
  }
});

test("numbers that libraries give as text are exact", () => {
  assert.equal(numberOf("12"), 12);
  assert.equal(numberOf("9007199254740993"), 9007199254740993n);
  assert.equal(numberOf("1.50"), 1.5);
  assert.ok(Number.isNaN(numberOf("NaN")));
});
