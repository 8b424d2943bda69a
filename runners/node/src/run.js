// The whole of the runner: from standard input to exit code, whatever fails in between.

import { readFileSync } from "node:fs";

import { parse } from "./contract.js";
import { Closed, send } from "./events.js";
import { Failure, Refused, ownFault } from "./failure.js";
import { programsAt } from "./native.js";
import { Trial } from "./trial.js";

/** Reads a job from standard input, runs it and writes events to standard output. Returns 0 if `bye` was sent. Otherwise
 *  the failure, which may be a fault of the runner, has been reported in a `failed` event and on standard error; only on
 *  the latter where standard output is closed. */
export async function run(programs) {
  let trial = null;
  // Thrown by a library outside of any call that the runner waits for.
  process.on("uncaughtException", (error) => {
    report(error, trial?.current ?? null);
    process.exit(1);
  });
  try {
    programsAt(programs);
    trial = new Trial(parse(readFileSync(0, "utf8")));
    await trial.run();
    return 0;
  } catch (error) {
    report(error, trial?.current ?? null);
    return 1;
  }
}

function report(error, test) {
  if (error instanceof Closed) {
    process.stderr.write(`cannot write to standard output: ${error.message}\n`);
    return;
  }
  const message = error instanceof Failure ? error.message : ownFault(error);
  process.stderr.write(`${message}\n`);
  const about = error instanceof Refused ? { code: error.code, statement: error.statement } : {};
  try {
    send("failed", { ...(test === null ? {} : { test }), message, ...about });
  } catch {
    // The reader has gone, and standard error has the message.
  }
}
