import assert from "node:assert/strict";
import { test } from "node:test";

import { now } from "../src/clock.js";
import { Alarm } from "../src/mix/alarm.js";
import { UNDONE, operation, source } from "../src/mix/program.js";
import { Recorder } from "../src/mix/recorder.js";
import { Steps } from "../src/mix/steps.js";
import { sum } from "../src/mix/sum.js";
import { parse } from "../src/mix/work.js";
import { file, numbers } from "./support.js";

const FIELDS = [
  { name: "id", kind: "integer", bytes: 8 },
  { name: "undo", kind: "integer", bytes: 8 },
  { name: "items", kind: "integer", bytes: 8 },
  { name: "item 1", kind: "integer", bytes: 8 },
  { name: "item 2", kind: "integer", bytes: 8 },
  { name: "note", kind: "varying-text", bytes: 13 },
];
const LISTS = [{ name: "items", count: 2, first: 3, columns: 1, most: 2 }];

/** A step: due, class, id, undo, two items, and a text of three bytes. */
const step = (due, id, undo, items, note) =>
  Buffer.concat([numbers(due, 0, id, undo, items, 10, 20, note.length), Buffer.from(note.padEnd(5, "?"))]);

const mix = (statements, more = {}) =>
  parse({
    classes: [{ name: "c", statements, ...more }],
    fields: FIELDS,
    lists: LISTS,
    clients: 1,
    steps: [{ file: file("steps", step(0, 2n ** 60n, 1, 2, "abc")), count: 1 }],
    patience_ns: 1e9,
  });

/** Tries the only step of a mix with a session whose statements return what `rows` says, and lists what it did. */
async function attempt(work, awaits, rows = {}) {
  const did = [];
  const call = (name, result) => {
    const note = (...values) => {
      did.push([name, ...values]);
      return result;
    };
    return awaits ? async (...values) => note(...values) : note;
  };
  const session = {
    awaits,
    keeps: true,
    prepare: (text) => call(text.join("?"), rows[text.join("?")] ?? []),
    rows: (result) => result,
    beginRead: call("BEGIN"),
    beginWrite: call("BEGIN WRITE"),
    commit: call("COMMIT"),
    rollback: call("ROLLBACK"),
  };
  const steps = new Steps(work.steps[0], work);
  const recorder = new Recorder(1, false, false);
  const tries = await operation(session, work, work.classes[0], steps, recorder, () => did.push(["pause"]));
  const how = tries(0);
  assert.equal(how instanceof Promise, awaits);
  return [await how, did];
}

test("the parameters of a step reach its statements, with and without promises", async () => {
  const work = mix([{ text: ["a ", " b ", ""], parameters: [0, 5] }], { transaction: "write" });
  for (const awaits of [true, false]) {
    const [how, did] = await attempt(work, awaits);
    assert.equal(how, undefined);
    assert.deepEqual(did, [["BEGIN WRITE"], ["a ? b ?", 2n ** 60n, "abc"], ["COMMIT"]]);
  }
});

test("statements are repeated for items and rows, and get the values of rows", async () => {
  const statements = [
    { text: ["rows"], parameters: [], keeps: { columns: 2, may_miss: false } },
    { text: ["item ", ""], parameters: [{ item: 0 }] },
    { text: ["row ", ""], parameters: [{ statement: 0, column: 1 }] },
  ];
  const loops = [
    { first: 1, count: 1, over: { list: 0 } },
    { first: 2, count: 1, over: { rows: 0 } },
  ];
  const rows = {
    rows: [
      [1, "x"],
      [2, null],
    ],
  };
  const [, did] = await attempt(mix(statements, { loops }), false, rows);
  assert.deepEqual(did, [["rows"], ["item ?", 10], ["item ?", 20], ["row ?", "x"], ["row ?", null]]);
});

test("a row that is missing ends an operation, unless it may", async () => {
  const statements = (may_miss) => [
    { text: ["find"], parameters: [], keeps: { columns: 1, may_miss } },
    { text: ["use ", ""], parameters: [{ statement: 0, column: 0 }] },
    { text: ["last"], parameters: [] },
  ];
  const write = { transaction: "read" };
  assert.deepEqual(await attempt(mix(statements(false), write), false), [0, [["BEGIN"], ["find"], ["ROLLBACK"]]]);
  const skips = [["BEGIN"], ["find"], ["last"], ["COMMIT"]];
  assert.deepEqual(await attempt(mix(statements(true), write), true), [undefined, skips]);
});

test("an operation is undone where its step says so, and pauses where its class does", async () => {
  const more = { transaction: "write", rollback_if: 1, pauses: [{ before: 1, nanoseconds: 5 }] };
  const [how, did] = await attempt(mix([{ text: ["a"], parameters: [] }], more), false);
  assert.equal(how, UNDONE);
  assert.deepEqual(did, [["BEGIN WRITE"], ["a"], ["pause"], ["ROLLBACK"]]);
});

test("a program has neither a loop nor a promise that its class does not need", () => {
  const work = mix([{ text: ["a ", ""], parameters: [0] }]);
  const text = source(work, work.classes[0], true);
  assert.match(text, /await run0\(steps\.integer\(at \+ 16\)\)/);
  assert.doesNotMatch(text, /for|begin|rows0/);
});

test("a step of a class that is not there is refused", () => {
  const work = mix([]);
  const read = (bytes) => new Steps({ file: file("bad", bytes), count: 1 }, work);
  const noClass = step(0, 1, 0, 0, "abc");
  noClass.writeUInt32LE(1, 8);
  assert.throws(() => read(noClass), /names a class that is not there/);
});

test("operations count in the second in which they ended, and what was due and not done is unfinished", () => {
  const lasts = { duration_ns: 1_500_000_000, warm_up_ns: 100 };
  const work = { ...mix([]), window: parse({ ...INPUT, lasts }).window };
  const recorder = new Recorder(1, true, false);
  const began = 1_000;
  const at = began + 100;
  recorder.done(0, began, began, began, began + 50); // in the warm-up
  recorder.done(0, at, at, at + 1_000, at + 10_000);
  recorder.done(0, at, at, at, at + 1_200_000_000);
  recorder.done(0, at, at, at, at + 1_600_000_000); // after the end
  recorder.left.push({ place: 0, due: at });
  const { classes, ticks, operations } = sum(work, began, [recorder]);
  assert.equal(operations, 2);
  assert.deepEqual([classes[0].done, classes[0].acknowledged], [2, 4]);
  assert.ok(classes[0].unfinished && classes[0].late && classes[0].wait && classes[0].service);
  const parts = ticks.map(({ ended_ns, classes: [one], succeeded }) => [ended_ns, one.done, succeeded]);
  assert.deepEqual(parts, [
    [1_000_000_000, 1, "1"],
    [1_500_000_000, 1, (1n << 20n).toString(16)],
  ]);
});

const INPUT = { classes: [], fields: [], clients: 1, steps: [{ file: "", count: 1 }], patience_ns: 1 };

test("moments are waited for in their order, and none ends early", async () => {
  const alarm = new Alarm();
  const began = now();
  const order = [];
  const wait = async (milliseconds) => {
    const due = began + milliseconds * 1e6;
    assert.ok((await alarm.until(due)) >= due);
    order.push(milliseconds);
  };
  await Promise.all([5, 1, 3, 2, 0].map(wait));
  assert.deepEqual(order, [0, 1, 2, 3, 5]);
});
