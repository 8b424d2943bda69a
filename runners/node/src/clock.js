// Starts and stops the clock, and reads the counters just outside it.
//
// The garbage collector stays on, because a program that uses a driver has it on: its pauses are part of what the
// driver costs. The runner's own garbage is collected before the clock starts.

import { performance } from "node:perf_hooks";

import { native } from "./native.js";

/** The fields of `dyno_gauge_cost`, by the names of the protocol. */
const FIELDS = ["user_ns", "system_ns", "wait_ns", "device_read_bytes", "device_written_bytes", "peak_memory_bytes"];

/** Nanoseconds of the monotonic clock, from a moment at which this process began: a reading makes no garbage. */
export const now = () => performance.now() * 1e6;
/** That moment by CLOCK_MONOTONIC, which `hrtime` reads. */
const origin = Number(process.hrtime.bigint()) - now();

/** Times sections of one trial. */
export class Clock {
  #gauge;
  #native = native();
  #process = new BigUint64Array(FIELDS.length);
  #server = new BigUint64Array(FIELDS.length);
  #slowdown;
  #began = 0;

  /** `server` may be null; the counters of its processes are read. */
  constructor(server, slowdown) {
    this.#gauge = this.#native.open(server?.process ?? 0);
    for (const node of server?.furtherProcesses ?? []) this.#native.addNode(this.#gauge, node);
    this.#slowdown = slowdown;
    // The first calls of functions take longer than later ones: they are not to be those next to the clock.
    this.start();
    this.stop();
  }

  /** Does the work of a test, and returns what it returned and the section. */
  async time(work) {
    collect();
    this.prepare();
    this.start();
    const result = await work();
    return [result, this.stop()];
  }

  /** Does the slow part of the next reading of the counters. */
  prepare() {
    this.#native.prepare(this.#gauge);
  }

  /** Reads the counters: just before the clock starts. */
  count() {
    this.#native.before(this.#gauge);
  }

  /** Reads the counters and starts the clock. */
  start() {
    this.count();
    this.#began = now();
  }

  /** Starts the clock, for clients that are at work since a moment; the counters were read. */
  startAt(moment) {
    this.#began = moment;
  }

  /** Stops the clock and returns the section since it was started. */
  stop() {
    let end = now();
    if (this.#slowdown) {
      end = spin(end + (end - this.#began) * this.#slowdown);
    }
    const hasServer = this.#native.after(this.#gauge, this.#process, this.#server);
    const section = {
      nanoseconds: Math.round(end - this.#began),
      began_ns: Math.round(origin + this.#began),
      client: cost(this.#process),
    };
    return hasServer ? { ...section, server: cost(this.#server) } : section;
  }
}

/** Collects garbage, where the runner was started with `--expose-gc`. */
export const collect = () => globalThis.gc?.();

const cost = (values) => Object.fromEntries(FIELDS.map((name, place) => [name, Number(values[place])]));

function spin(until) {
  let at;
  do {
    at = now();
  } while (at < until);
  return at;
}
