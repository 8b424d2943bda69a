// The records of all clients, counted after the clock, as the protocol has them.

import { Histogram } from "../histogram.js";
import { texts } from "./timing.js";
import { CONNECT } from "./work.js";

/** The length of a tick, in nanoseconds. */
const TICK = 1e9;

/** The classes, the ticks and the number of operations of a mix that began at a moment. */
export function sum(work, began, recorders) {
  const { duration } = work.window;
  const start = began + work.window.start;
  const stop = work.window.stop === null ? Infinity : began + work.window.stop;
  const ticks = Array.from({ length: Math.ceil(duration / TICK) }, (_, tick) => ({
    ended_ns: Math.min((tick + 1) * TICK, duration),
    classes: [],
    hundredths: 0n,
  }));
  const all = { work, recorders, start, stop, ticks };
  const names = [...work.classes.map(({ name }) => name), ...(work.session === null ? [] : [CONNECT])];
  const classes = names.map((name, place) => countClass(all, name, place));
  if (work.timesStatements) {
    work.classes.forEach((one, place) => (classes[place].statements = countStatements(all, one, place)));
  }
  return {
    classes,
    ticks: ticks.map(({ hundredths, ...tick }) =>
      hundredths ? { ...tick, succeeded: hundredths.toString(16) } : tick,
    ),
    // Connecting is no operation of the suite.
    operations: classes.slice(0, work.classes.length).reduce((total, one) => total + one.done, 0),
  };
}

/** One class; adds what it has to each tick. */
function countClass({ recorders, start, stop, ticks }, name, place) {
  const counts = (ended) => ended >= start && ended < stop;
  const times = { response: new Histogram(), service: new Histogram(), wait: new Histogram() };
  times.late = new Histogram();
  const unfinished = new Histogram();
  const inTicks = ticks.map(() => new Histogram());
  let acknowledged = 0;
  for (const recorder of recorders) {
    recorder.each(place, (due, free, sent, ended) => {
      acknowledged += ended <= recorder.anew;
      if (counts(ended)) {
        times.response.add(ended - due);
        addToTick(ticks, inTicks, ended - start, ended - due);
        if (recorder.isDue[place]) {
          times.service.add(ended - sent);
          // A client that was free only after the operation was due kept it waiting until then.
          times.wait.add(Math.max(0, free - due));
          times.late.add(sent - Math.max(free, due));
        }
      }
      addUnfinished(unfinished, stop, due, ended);
    });
    const own = (list) => list.filter((one) => one.place === place);
    own(recorder.givenUp).forEach(({ since, ended }) => addUnfinished(unfinished, stop, since, ended));
    own(recorder.left).forEach(({ due }) => addUnfinished(unfinished, stop, due, stop));
    acknowledged -= own(recorder.undone).filter(({ ended }) => ended <= recorder.anew).length;
  }
  const own = (list) =>
    recorders.flatMap((recorder) => recorder[list]).filter((one) => one.place === place && counts(one.ended));
  const tried = own("tried");
  ticks.forEach((tick, number) => {
    const within = tried.filter(({ ended }) => Math.floor((ended - start) / TICK) === number);
    tick.classes.push(counted(name, inTicks[number], within));
  });
  return {
    ...counted(name, times.response, tried),
    failure: recorders.find(({ failures }) => failures.has(place))?.failures.get(place) ?? "",
    undone: own("undone").length,
    ignored: own("ignored").length,
    unfinished: unfinished.text(),
    acknowledged,
    service: times.service.text(),
    wait: times.wait.text(),
    late: times.late.text(),
  };
}

function addToTick(ticks, inTicks, since, response) {
  const tick = Math.floor(since / TICK);
  if (tick < ticks.length) {
    inTicks[tick].add(response);
    ticks[tick].hundredths |= 1n << BigInt(Math.floor(((since - tick * TICK) * 100) / TICK));
  }
}

/** Adds an operation that was due or under way at the end, and not done. */
function addUnfinished(unfinished, stop, since, ended) {
  if (stop !== Infinity && since < stop && stop <= ended) {
    unfinished.add(stop - since);
  }
}

const counted = (name, response, tried) => ({
  class: name,
  done: response.count,
  failed: tried.filter(({ failed }) => failed).length,
  retried: tried.reduce((total, { retried }) => total + retried, 0),
  response: response.text(),
});

/** The executions of each statement of a class. */
function countStatements({ recorders, start, stop }, one, place) {
  return texts(one).map((text, statement) => {
    const response = new Histogram();
    for (const recorder of recorders) {
      recorder.eachExecution(place, statement, (ended, took) => {
        if (ended >= start && ended < stop) {
          response.add(took);
        }
      });
    }
    return { text, response: response.text() };
  });
}
