// The models: each loads its input, does the timed work, and returns the sample and the answer, which is asked for after
// the sample was sent.

import { Answer } from "./answer.js";
import { take } from "./contract.js";
import { TableDigest } from "./digest.js";
import { Failure, quote } from "./failure.js";
import { Load, RowFile, Statements } from "./inputs.js";
import { perform as performMix } from "./mix/perform.js";
import { parse as parseMix } from "./mix/work.js";

/** Does the work of a test. */
export function perform(test, driver, clock) {
  switch (test.model) {
    case "statements":
      return statements(test, driver, clock);
    case "insert-rows":
      return load(test, driver, clock, (rows) => driver.insertRows(rows));
    case "bulk-load":
      return load(test, driver, clock, (rows) => driver.bulkLoad(rows));
    case "scan":
      return scan(test, driver, clock);
    case "mix":
      return mix(test, driver, clock);
    default:
      throw unknown(test.model);
  }
}

/** The answer of a test that another job has done: what it left in the database. */
export function leftBy(test, driver) {
  switch (test.model) {
    case "insert-rows":
    case "bulk-load":
      return digest(new RowFile(take(test.input, "rows", "object")), take(test.input, "table", "text"), driver);
    default:
      throw unknown(test.model);
  }
}

/** Executes a statement outside the clock; a failure of it says what it was for. */
export async function asked(driver, sql, what) {
  try {
    return await driver.query(sql);
  } catch (error) {
    throw error instanceof Failure ? error.within(`${what} (${quote(sql)})`) : error;
  }
}

const unknown = (model) => new Failure(`this runner does not implement the model ${model}`);

async function statements(test, driver, clock) {
  const file = new Statements(take(test.input, "file", "text"), take(test.input, "count", "number"));
  const answer = new Answer(test.check === null);
  const before = await driver.changes();
  const [, section] = await naming(
    (place) => `statement ${place + 1} of ${file.length} (${quote(file.get(place))})`,
    () => clock.time(() => driver.statements(file, answer)),
  );
  const rows = answer.count + (await driver.changes()) - before;
  const sample = { section, operations: file.length, rows, bytes: file.bytes };
  return [sample, () => answer.rows((some, columns) => driver.exact(some, columns))];
}

async function load(test, driver, clock, way) {
  const table = take(test.input, "table", "text");
  const file = new RowFile(take(test.input, "rows", "object"));
  const timed = Math.min(take(test.input, "timed", "number", file.count), file.count);
  const rows = new Load(table, file, 0, timed, take(test.input, "per_commit", "number", null));
  const rest = new Load(table, file, timed, file.count, null);
  const name = (what) => (place) => `${what} ${place + 1} of ${file.count}`;
  const [, section] = await naming(name("row"), () => clock.time(() => way(rows)));
  if (rest.count) {
    await naming(name("row (after the clock)"), () => way(rest));
  }
  const sample = { section, operations: timed, rows: timed, bytes: file.bytesOf(timed) };
  return [sample, () => digest(file, table, driver)];
}

async function scan(test, driver, clock) {
  const sql = take(test.input, "sql", "text");
  const answer = new Answer(true);
  try {
    const [, section] = await clock.time(() => driver.scan(sql, answer));
    return [
      { section, operations: 1, rows: answer.count },
      () => answer.rows((some, columns) => driver.exact(some, columns)),
    ];
  } catch (error) {
    throw error instanceof Failure ? error.within("the scan") : error;
  }
}

async function mix(test, driver, clock) {
  return [await performMix(parseMix(test.input), driver, clock), () => []];
}

/** Does the work; a failure of it names the operation. */
async function naming(name, work) {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Failure && error.place !== null ? error.within(name(error.place)) : error;
  }
}

/** The table's digest, with some of its rows, selected by their first cell. */
async function digest(file, table, driver) {
  const found = new TableDigest(file.columns, file.shown());
  try {
    await driver.table(table, file.columns, (row) => found.add(row));
    return found.answer();
  } catch (error) {
    throw error instanceof Failure ? error.within("reading back what is stored") : error;
  }
}
