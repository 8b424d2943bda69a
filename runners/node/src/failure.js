// Errors of the runner.

import { basename } from "node:path";

/** The number of characters of a statement that a message quotes. */
const QUOTED = 200;

/** A message that says what happened, where, and what to do next: the text of a `failed` event, so never a secret. */
export class Failure extends Error {
  /** `place` is the position of the operation in its input, counted from zero, where that is known. */
  constructor(message, place = null) {
    super(message);
    this.place = place;
  }

  /** The same failure with a prefix that says where it happened. */
  within(context) {
    return new Failure(`${context}: ${this.message}`);
  }
}

/** A statement of the job that the engine refused, by its name, with the engine's code. */
export class Refused extends Failure {
  constructor(message, code, statement) {
    super(message);
    this.code = code;
    this.statement = statement;
  }
}

/** An engine's message on one line. */
export const oneLine = (text) => String(text).split(/\s+/).join(" ").trim();

/** The beginning of a statement, for a message. */
export const quote = (sql) => (sql.length <= QUOTED ? sql : `${sql.slice(0, QUOTED)}…`);

/** An unexpected exception in one line, with the line of code that threw it. */
export function ownFault(error) {
  const line = /\n\s+at (.*)/.exec(error?.stack ?? "");
  const place = line ? ` at ${basename(line[1].replace(/\)$/, ""))}` : "";
  return `the runner itself failed, which is an error in the runner: ${oneLine(error)}${place}`;
}
