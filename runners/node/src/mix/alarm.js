// Waits until a moment, for many clients on one event loop.
//
// Node.js's own timers end to the millisecond. So a thread of its pool sleeps until shortly before the first of the
// moments, and the loop, which goes on to serve connections meanwhile, then looks at the clock in each of its turns.

import { now } from "../clock.js";
import { native } from "../native.js";

/** The time by which a sleep ends earlier than due, in nanoseconds: about as late as the loop learns of its end. */
const EARLY = 150_000;
/** A sleep is this long at most, so that none outlives a mix that has failed by more. */
const LONGEST = 50_000_000;

export class Alarm {
  /** The sleepers, the first last: `{due, wake}`. */
  #waiting = [];
  #sleepsUntil = Infinity;
  #looks = false;

  /** The promise of the time at which a wait until `due` has ended. */
  until(due) {
    return new Promise((wake) => {
      const waiting = this.#waiting;
      let place = waiting.length;
      while (place > 0 && waiting[place - 1].due < due) {
        place--;
      }
      waiting.splice(place, 0, { due, wake });
      this.#arm();
    });
  }

  #arm() {
    if (this.#waiting.length === 0 || this.#looks) {
      return;
    }
    const { due } = this.#waiting.at(-1);
    const left = Math.min(due - now() - EARLY, LONGEST);
    if (left <= 0) {
      this.#looks = true;
      setImmediate(() => this.#look());
    } else if (due < this.#sleepsUntil) {
      this.#sleepsUntil = due;
      native().usleep.async(Math.ceil(left / 1000), () => {
        this.#sleepsUntil = Infinity;
        this.#arm();
      });
    }
  }

  #look() {
    this.#looks = false;
    const at = now();
    while (this.#waiting.length && this.#waiting.at(-1).due <= at) {
      this.#waiting.pop().wake(at);
    }
    this.#arm();
  }
}

const CELL = new Int32Array(new SharedArrayBuffer(4));

/** Waits for a number of nanoseconds without giving the loop a turn, as a program whose calls do not return before they
 *  are done has to. */
export function block(nanoseconds) {
  const until = now() + nanoseconds;
  for (let left = nanoseconds; left > 0; left = until - now()) {
    Atomics.wait(CELL, 0, 0, left / 1e6);
  }
}
