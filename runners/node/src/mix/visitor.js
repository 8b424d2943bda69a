// The loop of a client that comes and goes: it connects when a session is due, does the session's steps and leaves.

import { now } from "../clock.js";
import { Failure } from "../failure.js";
import { Client } from "./client.js";
import { CONNECT } from "./work.js";

/** By session, the classes of its steps: each prepares only the statements that it executes, like a program that connects
 *  for a short time. */
export function visits(work, steps) {
  const each = work.session;
  if (steps.count % each) {
    throw new Failure(`there are ${steps.count} steps in sessions of ${each}: this is an error in dyno`);
  }
  return Array.from({ length: steps.count / each }, (_, session) => {
    if (!steps.due(steps.at(session * each))) {
      throw new Failure(`session ${session} is due at no time: this is an error in dyno`);
    }
    return new Set(Array.from({ length: each }, (_, step) => steps.of(steps.at(session * each + step))));
  });
}

/** One client that comes and goes. `take` returns the place of its next session. */
export class Visitor extends Client {
  #visits;

  constructor(section, steps, take, recorder, visits) {
    super(section, steps, take, recorder);
    this.#visits = visits;
  }

  /** Does sessions, one after another, until the time is up or no session is left. */
  async run(began) {
    const { steps, recorder } = this;
    const { window, session: each, classes } = this.work;
    const end = window.stop === null ? Infinity : began + window.stop;
    let free = now();
    while (free < end && !this.stop) {
      const place = this.take();
      if (place >= this.#visits.length) {
        return;
      }
      const start = place * each;
      const due = began + steps.due(steps.at(start));
      if (Math.max(due, free) >= end) {
        return;
      }
      const sent = due > free ? await this.section.alarm.until(due) : free;
      const session = await this.#connect(this.#visits[place]);
      let done = now();
      recorder.done(classes.length, due, free, sent, done);
      try {
        for (let step = start; step < start + each && done < end && !this.stop; step++) {
          done = await this.step(steps.at(step), done);
        }
      } catch (error) {
        // That failure is the one to report.
        await Promise.resolve(session.close()).catch(() => {});
        throw error;
      }
      await session.close();
      free = now();
    }
    this.leave(began, each, classes.length);
  }

  async #connect(classes) {
    let session = null;
    try {
      session = await this.section.driver.visit();
      await this.enter(session, classes);
      return session;
    } catch (error) {
      await Promise.resolve(session?.close()).catch(() => {});
      const words = error instanceof Failure ? error.message : this.section.driver.words(error);
      throw new Failure(`${CONNECT}: ${words}`);
    }
  }
}
