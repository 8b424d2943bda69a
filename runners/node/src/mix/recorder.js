// Records the operations of a client, by class. Within the clock each operation is only written down: 16 bytes, or 32
// where it is due at a time, in memory that is reserved in blocks, so that nothing is copied or collected.

const BLOCK = 1 << 14;

/** A list of numbers that grows without being copied. */
class Numbers {
  #full = [];
  #block = new Float64Array(BLOCK);
  #length = 0;

  push2(a, b) {
    this.#room();
    this.#block[this.#length++] = a;
    this.#block[this.#length++] = b;
  }

  push4(a, b, c, d) {
    this.push2(a, b);
    this.push2(c, d);
  }

  #room() {
    if (this.#length === BLOCK) {
      this.#full.push(this.#block);
      this.#block = new Float64Array(BLOCK);
      this.#length = 0;
    }
  }

  *blocks() {
    yield* this.#full;
    yield this.#block.subarray(0, this.#length);
  }
}

/** The records of one client. Moments are nanoseconds of the clock. */
export class Recorder {
  /** Of operations that were tried more than once: class, end, tries repeated, whether it failed. */
  tried = [];
  /** Of operations that were rolled back as planned: class, end. They are recorded as done too. */
  undone = [];
  /** Of these, those that ended with an error which the suite ignores: class, end. */
  ignored = [];
  /** Of operations that ended without success: class, moment since which they were due or under way, end. */
  givenUp = [];
  /** Of operations that were due and never begun: class, due. */
  left = [];
  /** The moment at which the client began to repeat the steps. */
  anew = Infinity;
  /** By class, the error of the first operation that failed other than for want of time. */
  failures = new Map();
  #moments;
  #executions = new Map();

  /** Operations are due at a time or not. With `connects` the client comes and goes, and a further class records its
   *  connecting, which is due at a time. */
  constructor(classes, isDue, connects) {
    this.isDue = [...new Array(classes).fill(isDue), ...(connects ? [true] : [])];
    this.#moments = this.isDue.map(() => new Numbers());
  }

  /** Records an operation that succeeded. In a mix with due times, one without is due when it is sent. */
  done(place, due, free, sent, ended) {
    if (this.isDue[place]) {
      this.#moments[place].push4(due || sent, free, sent, ended);
    } else {
      this.#moments[place].push2(sent, ended);
    }
  }

  /** Records an operation that never succeeded, and why, unless that was for want of time. */
  failed(place, since, ended, retried, why = "") {
    this.tried.push({ place, ended, retried, failed: true });
    this.givenUp.push({ place, since, ended });
    if (why && !this.failures.has(place)) {
      this.failures.set(place, why);
    }
  }

  retried(place, ended, retried) {
    this.tried.push({ place, ended, retried, failed: false });
  }

  /** Records how long the statements of an operation took: their positions and times in turn. */
  executed(place, ended, executions) {
    for (let one = 0; one < executions.length; one += 2) {
      const key = `${place}/${executions[one]}`;
      if (!this.#executions.has(key)) {
        this.#executions.set(key, new Numbers());
      }
      this.#executions.get(key).push2(ended, executions[one + 1]);
    }
  }

  /** Calls `take` with due, free, sent and done of each operation of a class. */
  each(place, take) {
    for (const block of this.#moments[place].blocks()) {
      if (this.isDue[place]) {
        for (let at = 0; at < block.length; at += 4) {
          take(block[at], block[at + 1], block[at + 2], block[at + 3]);
        }
      } else {
        for (let at = 0; at < block.length; at += 2) {
          take(block[at], block[at], block[at], block[at + 1]);
        }
      }
    }
  }

  /** Calls `take` with the end of the operation and the time of each execution of a statement. */
  eachExecution(place, statement, take) {
    for (const block of this.#executions.get(`${place}/${statement}`)?.blocks() ?? []) {
      for (let at = 0; at < block.length; at += 2) {
        take(block[at], block[at + 1]);
      }
    }
  }
}
