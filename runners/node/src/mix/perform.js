// Runs a mix: prepares all of its clients, starts them at one instant, and adds up what they did.
//
// The clients share one event loop, as in a Node.js program that serves many users at once: the time that an operation
// waits for its turn there is part of what it takes.

import { collect, now } from "../clock.js";
import { Failure } from "../failure.js";
import { Alarm } from "./alarm.js";
import { Client, Loop } from "./client.js";
import { Recorder } from "./recorder.js";
import { Steps } from "./steps.js";
import { sum } from "./sum.js";
import { Visitor, visits } from "./visitor.js";
import { shares } from "./work.js";

/** The time before the start at which clients are given the moment, so that all of them have it in time. */
const NOTICE = 5_000_000;

/** Runs a mix. Returns its sample. */
export async function perform(work, driver, clock) {
  const section = { work, driver, alarm: new Alarm(), loop: new Loop(work.clients) };
  // Only clients that come and go are connected.
  if (work.session !== null) {
    await driver.aside();
  }
  const sessions = [];
  let done;
  try {
    const clients = await enter(section, sessions);
    done = await together(section, clients, clock);
  } finally {
    for (const session of sessions) {
      await session.close();
    }
  }
  if (work.session !== null) {
    await driver.back();
  }
  const { operations, classes, ticks } = sum(work, done.began, done.recorders);
  if (!operations) {
    const why = classes.find(({ failure }) => failure)?.failure;
    throw new Failure(`no operation succeeded within the time${why ? `: ${why}` : ""}`);
  }
  // Operations that ended later do not count.
  const nanoseconds = work.window.stop === null ? Math.round(done.last - done.began) : work.window.duration;
  return { section: { ...done.section, nanoseconds }, operations, classes, ticks };
}

/** Connects all clients, and prepares their statements. */
async function enter(section, sessions) {
  const { work, driver } = section;
  const files = work.steps.map((file) => new Steps(file, work));
  const isDue = files[0].due(0) > 0;
  const next = counter();
  const those = work.session === null ? null : visits(work, files[0]);
  const clients = [];
  for (let place = 0; place < work.clients; place++) {
    const steps = files[shares(work) ? 0 : place];
    const take = shares(work) ? next : counter();
    const recorder = new Recorder(work.classes.length, those === null && isDue, those !== null);
    if (those !== null) {
      clients.push(new Visitor(section, steps, take, recorder, those));
      continue;
    }
    const client = new Client(section, steps, take, recorder);
    try {
      const session = await driver.session(place);
      sessions.push(session);
      await client.enter(session);
    } catch (error) {
      throw driver.failure(error).within(`client ${place + 1} of ${work.clients}`);
    }
    clients.push(client);
  }
  return clients;
}

/** Lets all clients go, and times them. When it returns, all have stopped. */
async function together(section, clients, clock) {
  const { work, driver, alarm } = section;
  const { start, stop } = work.window;
  // The first sleep takes longer than later ones: some 50 ms, for threads and what calls them.
  await alarm.until(now() + NOTICE);
  collect();
  clock.prepare();
  // The counters of clients that do not warm up are read before they begin.
  if (!start) {
    clock.count();
  }
  const began = now() + NOTICE;
  let last = began;
  let failure = null;
  const each = clients.map(async (client, place) => {
    try {
      await alarm.until(began);
      await client.run(began);
    } catch (error) {
      failure ??= driver.failure(error).within(`client ${place + 1}`);
      clients.forEach((other) => (other.stop = true));
    }
    last = Math.max(last, now());
  });
  const all = Promise.all(each);
  await Promise.race([alarm.until(began + start), all.then(() => failure ?? alarm.until(began + start))]);
  if (start) {
    clock.count();
  }
  clock.startAt(began + start);
  // Clients whose steps ran out early are idle for the rest of the time.
  const end = stop === null ? all : alarm.until(began + stop);
  await Promise.race([end, all.then(() => failure ?? end)]);
  const timed = clock.stop();
  await all;
  if (failure) {
    throw failure;
  }
  return { began, last, section: timed, recorders: clients.map(({ recorder }) => recorder) };
}

/** A function that counts from zero. */
function counter() {
  let count = 0;
  return () => count++;
}
