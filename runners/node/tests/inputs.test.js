import assert from "node:assert/strict";
import { test } from "node:test";

import { TableDigest, crc32 } from "../src/digest.js";
import { Load, RowFile, Statements } from "../src/inputs.js";
import { file } from "./support.js";

test("statements are found, and a file that is cut off is not taken", () => {
  const found = new Statements(file("s", "SELECT 1\0SELECT 'ü'\0"), 2);
  assert.deepEqual([found.get(0), found.get(1), found.bytes], ["SELECT 1", "SELECT 'ü'", 19]);
  assert.throws(() => new Statements(file("s", "SELECT 1\0SEL"), 2), /statement 2 has no NUL byte .* \("SEL"\)/);
  assert.throws(() => new Statements(file("s", "a\0\0"), 2), /statement 2 is empty/);
  assert.throws(() => new Statements(file("s", "a\0"), 2), /holds 1 statements where the job says 2/);
  assert.throws(() => new Statements("/nowhere/s", 1), /cannot open statements file \/nowhere\/s/);
  assert.equal(new Statements(file("s", ""), 0).length, 0);
});

const COLUMNS = [
  { name: "a", bytes: 2 },
  { name: "b", bytes: 3 },
];

test("rows are cut where their cells end", () => {
  const rows = new RowFile({ file: file("r", "aabbbccdddeefff"), count: 3, columns: COLUMNS });
  assert.deepEqual(rows.row(1), ["cc", "ddd"]);
  assert.deepEqual(rows.rows(1, 3), [
    ["cc", "ddd"],
    ["ee", "fff"],
  ]);
  assert.deepEqual([...rows.lines(0, 2)], ["aa\tbbb\ncc\tddd\n"]);
  assert.deepEqual(rows.shown(), ["aa", "cc", "ee"]);
  const short = { file: file("r", "aab"), count: 1, columns: COLUMNS };
  assert.throws(() => new RowFile(short), /has 3 bytes where 1 rows of 5 bytes are promised/);
});

test("blocks of lines hold every row once", () => {
  const count = 100_000;
  const rows = new RowFile({ file: file("r", "aabbb".repeat(count)), count, columns: COLUMNS });
  const blocks = [...rows.lines(7, count)];
  assert.ok(blocks.length > 1);
  assert.equal(blocks.join("").split("\n").length - 1, count - 7);
});

test("transactions are as long as the job says", () => {
  assert.deepEqual(new Load("t", null, 2, 7, 2).transactions(), [
    [2, 4],
    [4, 6],
    [6, 7],
  ]);
  assert.deepEqual(new Load("t", null, 0, 7, null).transactions(), [[0, 7]]);
  assert.deepEqual(new Load("t", null, 7, 7, null).transactions(), []);
});

test("a transaction of one statement is not begun, and rows that commit each on their own are one range", () => {
  // Rows of a transaction, rows of a statement, whether it is begun.
  const begins = [
    [1, 1, false],
    [2, 1, true],
    [2, 2, false],
    [3, 2, true],
    [null, 1, true],
    [1000, 5, false],
    [null, Infinity, false],
  ];
  for (const [perCommit, each, wanted] of begins) {
    assert.equal(new Load("t", null, 2, 7, perCommit).begins(each), wanted, `${perCommit}, ${each}`);
  }
  assert.deepEqual(new Load("t", null, 2, 7, 1).ranges(), [[2, 7]]);
  assert.deepEqual(new Load("t", null, 2, 7, 3).ranges(), [
    [2, 5],
    [5, 7],
  ]);
});

test("the digest of a table is that of zlib's CRC-32", () => {
  // python3 -c 'import zlib; print(zlib.crc32(b"key"), zlib.crc32(b"value"), zlib.crc32(b"keyvalue"))'
  assert.equal(crc32(Buffer.from("key")), 2324736937);
  const digest = new TableDigest(COLUMNS, ["key", "none"]);
  digest.add(["key", "value"]);
  digest.add(["key", "value"]);
  const sums = [2, 2n * 2324736937n, 2n * BigInt(crc32(Buffer.from("value")))];
  const whole = 2n * BigInt(crc32(Buffer.from("keyvalue")));
  assert.deepEqual(digest.answer(), [[...sums, whole], ["key", "value"], [null]]);
  assert.equal(crc32(Buffer.from("value"), crc32(Buffer.from("key"))), crc32(Buffer.from("keyvalue")));
  assert.throws(() => digest.add(["key", 1]), /a cell of the column b is stored as number and not as text/);
  assert.throws(() => digest.add(["key"]), /row 3 has 1 columns and not 2/);
});
