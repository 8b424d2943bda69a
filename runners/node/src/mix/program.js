// One try of an operation: the order of its statements, and the values of their parameters.
//
// A class becomes a function written for it, as a program that knows its statements would have it: without a loop over
// statements or parameters, and with `await` only where the driver's calls return promises. A try returns UNDEFINED where
// it is done, UNDONE where it was rolled back as planned, or the position of the statement that returned no row where
// there must be one.

import { written } from "../written.js";
import { Timing } from "./timing.js";

export const UNDONE = -1;
/** The end of an operation that met an error which the suite ignores. */
export const IGNORED = -3;

/** A function that tries one operation of a class, given the position of its step, and times its statements if it is to.
 *  `pause` waits for a number of nanoseconds. */
export async function operation(session, work, one, steps, recorder, pause) {
  const timing = work.timesStatements ? new Timing(recorder, work.classes.indexOf(one), one) : null;
  const timed = (place, call) => (timing ? timing.timed(place, call, session.awaits) : call);
  const first = one.transaction === null ? 0 : 1;
  const runs = [];
  for (const { text } of one.statements) {
    const call = one.isSimple ? session.simple(text) : await session.prepare(text);
    runs.push(timed(runs.length + first, call));
  }
  const tools = {
    steps,
    runs,
    pause,
    rows: (result) => session.rows(result),
    begin: timed(0, one.transaction === "write" ? session.beginWrite : session.beginRead),
    commit: timed(one.statements.length + 1, session.commit),
    rollback: timed(one.statements.length + 1, session.rollback),
    words: (error) => session.words(error),
    ended: (how) => timing.ended(how === undefined || how === UNDONE),
    restart: () => timing.restart(),
  };
  // In a source `await` stands before each call of the driver.
  const text = source(work, one, session.keeps, timing !== null);
  const body = session.awaits ? text : text.replaceAll("await ", "").replaceAll("async ", "");
  return written(Object.keys(tools), body)(...Object.values(tools));
}

/** The source of a class: exported so that tests can read it. */
export function source(work, one, keeps, isTimed = false) {
  const runs = one.statements.map((_, place) => `const run${place} = runs[${place}];`);
  const kept = one.statements.flatMap(({ keeps: shape }, place) => (shape ? [`let rows${place} = [];`] : []));
  const end = one.rollbackIf === null ? [] : [`if (${value(work, one.rollbackIf)} != 0) return ${UNDONE};`];
  const body = [...kept, ...parts(work, one, keeps), ...end];
  const attempt = ["const attempt = async (at) => {", ...body, "};"];
  const whole = one.transaction === null ? [] : ["const within = async (at) => {", ...TRANSACTION, "};"];
  const call = one.transaction === null ? "attempt" : "within";
  const timed = `return async (at) => { restart(); const how = await ${call}(at); ended(how); return how; };`;
  return [...runs, ...attempt, ...whole, isTimed ? timed : `return ${call};`].join("\n");
}

const TRANSACTION = [
  "await begin();",
  "let how;",
  "try {",
  "    how = await attempt(at);",
  "    if (how === undefined) await commit(); else await rollback();",
  "} catch (error) {",
  "    try {",
  "        await rollback();",
  "    } catch (second) {",
  // The first error is the cause.
  "        error.note = `and the rollback failed: ${words(second)}`;",
  "    }",
  "    throw error;",
  "}",
  "return how;",
];

/** The statements with the rows that they keep, some of them repeated, and the pauses between them. */
function parts(work, one, keeps) {
  const lines = [];
  const plain = (from, to) => {
    for (let place = from; place <= to; place++) {
      for (const { before, nanoseconds } of one.pauses) {
        if (before === place) {
          lines.push(`await pause(${nanoseconds});`);
        }
      }
      if (place < to) {
        lines.push(...statement(work, one, place, keeps, null));
      }
    }
  };
  let place = 0;
  for (const loop of one.loops) {
    plain(place, loop.first);
    lines.push(`for (let turn = 0; turn < ${turns(work, loop)}; turn++) {`);
    for (place = loop.first; place < loop.end; place++) {
      lines.push(...statement(work, one, place, keeps, loop));
    }
    lines.push("}");
  }
  plain(place, one.statements.length);
  return lines;
}

const turns = (work, { list, rows }) =>
  list === undefined ? `rows${rows}.length` : value(work, work.lists[list].count);

/** One execution of a statement. If a row that it needs may be missing, and is, the statement is left out. */
function statement(work, one, place, keeps, loop) {
  const { parameters, keeps: shape } = one.statements[place];
  const values = parameters.map((parameter) => value(work, parameter, loop));
  const run = `await run${place}(${values.join(", ")})`;
  const lines = [shape ? `rows${place} = rows(${run});` : `${run};`];
  if (shape && !shape.mayMiss && keeps) {
    lines.push(`if (rows${place}.length === 0) return ${place};`);
  }
  const needs = [...new Set(parameters.flatMap((one) => (one.statement === undefined ? [] : [one.statement])))];
  if (!keeps || needs.length === 0) {
    return lines;
  }
  const otherwise = shape ? ` else { rows${place} = []; }` : "";
  return [`if (${needs.map((need) => `rows${need}.length`).join(" && ")}) {`, ...lines, `}${otherwise}`];
}

/** The value of a parameter, as an expression. */
function value(work, parameter, loop = null) {
  if (typeof parameter === "number") {
    return field(work.fields[parameter], `at + ${work.fields[parameter].at}`);
  }
  if (parameter.item !== undefined) {
    const { first, columns } = work.lists[loop.list];
    const item = work.fields.slice(first, first + columns);
    const width = item.reduce((sum, { bytes }) => sum + bytes, 0);
    return field(item[parameter.item], `at + ${item[parameter.item].at} + turn * ${width}`);
  }
  const row = loop?.rows === parameter.statement ? "turn" : "0";
  // Only the null driver returns no rows.
  return `rows${parameter.statement}[${row}]?.[${parameter.column}] ?? null`;
}

function field({ kind, bytes }, at) {
  switch (kind) {
    case "integer":
      return `steps.integer(${at})`;
    case "real":
      return `steps.real(${at})`;
    case "text":
      return `steps.text(${at}, ${bytes})`;
    default:
      return `steps.varyingText(${at})`;
  }
}
