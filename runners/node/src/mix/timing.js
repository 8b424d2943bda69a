// Times each statement of an operation, for mixes that ask for it. Operations of all others are compiled without a clock.

import { now } from "../clock.js";

/** The statements of a class that are timed, with the beginning and the end of its transaction. */
export function texts(one) {
  const own = one.statements.map(({ text }) => text.join("?").trim());
  return one.transaction === null ? own : ["BEGIN", ...own, "COMMIT"];
}

/** Times the statements of one class of one client. */
export class Timing {
  #recorder;
  #place;
  /** Of the operation under way: the position of the statement, and how long it took, in turn. */
  #executions = [];

  constructor(recorder, place) {
    this.#recorder = recorder;
    this.#place = place;
  }

  /** A call that is timed as an execution of a statement, by its position. */
  timed(statement, call, awaits) {
    const record = (began) => this.#executions.push(statement, now() - began);
    if (awaits) {
      return async (...values) => {
        const began = now();
        const result = await call(...values);
        record(began);
        return result;
      };
    }
    return (...values) => {
      const began = now();
      const result = call(...values);
      record(began);
      return result;
    };
  }

  restart() {
    this.#executions.length = 0;
  }

  /** Records the executions of an operation that is done, or ended as planned. */
  ended(isDone) {
    if (isDone) {
      this.#recorder.executed(this.#place, now(), this.#executions);
    }
  }
}
