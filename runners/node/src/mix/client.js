// The loop of one client.

import { now } from "../clock.js";
import { Failure, quote } from "../failure.js";
import { block } from "./alarm.js";
import { IGNORED, UNDONE, operation } from "./program.js";
import { patienceOf, shortestPatience } from "./work.js";

/** The end of an operation that did not succeed in time; it is recorded already. */
const LATE = -2;
/** Clients whose calls do not wait give the event loop a whole turn this often, in nanoseconds, so that what else has to
 *  be done is done: moments that come, counters that are read. */
const BREATH = 4_000_000;

/** The state of the event loop that all clients of a section share. */
export class Loop {
  #last = now();

  constructor(clients) {
    this.isShared = clients > 1;
  }

  /** True if a client whose calls return when they are done should wait for the loop. */
  isDue(at) {
    return this.isShared || at - this.#last > BREATH;
  }

  /** Lets other clients go on, or all that is on the loop. */
  breathe(at) {
    if (at - this.#last <= BREATH) {
      return undefined;
    }
    this.#last = at;
    return new Promise((resolve) => setImmediate(resolve));
  }
}

/** One client at work. `take` returns the place of its next step. */
export class Client {
  /** By class, the function that does an operation; nothing where the session does none of the class. */
  #operations = [];
  #session = null;
  /** Of the step under way: when it was due, or 0, and the moment until which the client waits before it. */
  #due = 0;
  #until = 0;
  /** Set when the client is to end. */
  stop = false;

  constructor(section, steps, take, recorder) {
    this.section = section;
    this.work = section.work;
    this.steps = steps;
    this.take = take;
    this.recorder = recorder;
  }

  /** Uses a session from now on, which prepares the statements of all classes or of some. */
  async enter(session, classes = null) {
    const { work, steps, recorder } = this;
    const { alarm } = this.section;
    this.#session = session;
    await session.waitForLocks(shortestPatience(work));
    const pause = session.awaits ? (nanoseconds) => alarm.until(now() + nanoseconds) : block;
    this.#operations = [];
    for (const [place, one] of work.classes.entries()) {
      const isDone = classes === null || classes.has(place);
      this.#operations.push(isDone && (await operation(session, work, one, steps, recorder, pause)));
    }
  }

  /** Does steps until the time is up, or until all are done. `began` is the moment at which the clients began. V8 does not
   *  optimise a loop with `await` while it runs, so what it does for each step is in functions without. */
  async run(began) {
    const { steps } = this;
    const { alarm, loop } = this.section;
    const operations = this.#operations;
    const { awaits } = this.#session;
    const { stop } = this.work.window;
    const end = stop === null ? Infinity : began + stop;
    let free = now();
    while (free < end && !this.stop) {
      const at = this.#next(began, free);
      if (at < 0) {
        return;
      }
      const due = this.#due;
      let sent = free;
      if (this.#until > free) {
        if (this.#until >= end) {
          return;
        }
        sent = await alarm.until(this.#until);
      }
      let how;
      try {
        how = operations[steps.of(at)](at);
        if (awaits) {
          how = await how;
        }
      } catch (error) {
        how = await this.#again(at, due || sent, sent, error);
      }
      free = this.#finish(at, due, free, sent, how);
      if (!awaits && loop.isDue(free)) {
        await loop.breathe(free);
      }
    }
    this.leave(began, 1, null);
  }

  /** Takes the next step, and sets the moments at which it is due and until which to wait. Returns its position; -1 where
   *  none is left: steps with times are done once, others are repeated where the end is a time. */
  #next(began, free) {
    const { steps } = this;
    const { window, think, fields } = this.work;
    let place = this.take();
    if (place >= steps.count) {
      if (window.stop === null || steps.due(0) > 0) {
        return -1;
      }
      place %= steps.count;
      this.recorder.anew = Math.min(this.recorder.anew, free);
    }
    const at = steps.at(place);
    const due = steps.due(at);
    this.#due = due ? began + due : 0;
    this.#until = due || think === null ? this.#due : free + Number(steps.integer(at + fields[think].at));
    return at;
  }

  /** Records an operation that has ended, and how. Returns the moment. */
  #finish(at, due, free, sent, how) {
    const ended = now();
    const of = this.steps.of(at);
    if (how === undefined || this.#isDone(of, due || sent, ended, how)) {
      this.recorder.done(of, due, free, sent, ended);
    }
    return ended;
  }

  /** Does a step at once. Returns the moment at which it was done. */
  async step(at, sent) {
    let how;
    try {
      how = await this.#operations[this.steps.of(at)](at);
    } catch (error) {
      how = await this.#again(at, sent, sent, error);
    }
    return this.#finish(at, 0, sent, sent, how);
  }

  /** Once the time is up, records all steps that were due before its end and were never begun: the first of every
   *  `each` steps, as of a class, or each as of its own. */
  leave(began, each, as) {
    const { steps, take, recorder } = this;
    const { stop } = this.work.window;
    if (stop === null || !steps.due(0)) {
      return;
    }
    for (let place = take() * each; place < steps.count; place = take() * each) {
      const at = steps.at(place);
      if (steps.due(at) >= stop) {
        return;
      }
      recorder.left.push({ place: as ?? steps.of(at), due: began + steps.due(at) });
    }
  }

  /** Records an operation that did not end with its last statement. Returns true if it counts as done. */
  #isDone(place, since, ended, how) {
    if (how === UNDONE || how === IGNORED) {
      this.recorder.undone.push({ place, ended });
      if (how === IGNORED) {
        this.recorder.ignored.push({ place, ended });
      }
      return true;
    }
    if (how !== LATE) {
      const text = this.work.classes[place].statements[how].text.join("?");
      this.recorder.failed(place, since, ended, 0, `no row came of ${quote(text)}`);
    }
    return false;
  }

  /** Retries an operation that was due at `since`, for as long as that may help. Returns how it ended. */
  async #again(at, since, sent, error) {
    const session = this.#session;
    const place = this.steps.of(at);
    const { name, ignores } = this.work.classes[place];
    let retried = 0;
    for (;;) {
      if (error instanceof Failure) {
        throw error;
      }
      if (session.codes(error).some((code) => ignores.includes(code))) {
        this.#recordRetries(place, retried);
        return IGNORED;
      }
      if (!session.mayPass(error)) {
        const note = error.note ? ` (${error.note})` : "";
        throw new Failure(`class ${name}: ${session.words(error)}${note}`);
      }
      const ended = now();
      if (ended - sent > patienceOf(this.work, place)) {
        this.recorder.failed(place, since, ended, retried);
        return LATE;
      }
      retried += 1;
      try {
        const how = await this.#operations[place](at);
        this.#recordRetries(place, retried);
        return how;
      } catch (next) {
        error = next;
      }
    }
  }

  #recordRetries(place, retried) {
    if (retried) {
      this.recorder.retried(place, now(), retried);
    }
  }
}
