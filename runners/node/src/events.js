// Sends events: one JSON object a line, each written before the next thing happens.

import { writeSync } from "node:fs";

import { toJson } from "./values.js";

/** Most rows that one `answer` event holds. */
const ROWS = 1000;
/** An `answer` event ends after the row with which its values reach this many characters, so that a reader's memory
 *  depends on the largest row and not on how many there are. */
const CHARACTERS = 1 << 18;

/** The reader of the events has gone. */
export class Closed extends Error {}

/** Sends one event. */
export function send(event, fields = {}) {
  writeLine(JSON.stringify({ event, ...fields }));
}

/** Sends the rows of an answer in as many events as they need; sends nothing where there is no row. */
export function sendAnswer(test, rows) {
  let part = [];
  let size = 0;
  const sendPart = () => {
    writeLine(`{"event":"answer","test":${JSON.stringify(test)},"rows":[${part.join(",")}]}`);
    part = [];
    size = 0;
  };
  for (const row of rows) {
    const text = `[${row.map(toJson).join(",")}]`;
    part.push(text);
    size += text.length;
    if (part.length === ROWS || size >= CHARACTERS) {
      sendPart();
    }
  }
  if (part.length) {
    sendPart();
  }
}

function writeLine(line) {
  const bytes = Buffer.from(`${line}\n`);
  try {
    for (let done = 0; done < bytes.length;) {
      done += writeSome(bytes, done);
    }
  } catch (error) {
    throw new Closed(error.message);
  }
}

/** Bun's pipes do not wait where they are full. */
function writeSome(bytes, from) {
  try {
    return writeSync(1, bytes, from);
  } catch (error) {
    if (error.code !== "EAGAIN") {
      throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    return 0;
  }
}
