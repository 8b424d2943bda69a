// One trial: the tests of a job in order, each between two readings of the clock.

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { Clock } from "./clock.js";
import { PROTOCOL, VERSION, take } from "./contract.js";
import { find } from "./drivers/index.js";
import { send, sendAnswer } from "./events.js";
import { asked, leftBy, perform } from "./models.js";

/** The unit in which the kernel counts the blocks of files, in bytes. */
const BLOCK = 512;

/** A job that is being run. `current` names the test at work, also where something throws. */
export class Trial {
  #job;
  current = null;

  constructor(job) {
    this.#job = job;
  }

  /** Goes through the job, from `hello` to `bye`. */
  async run() {
    const Driver = await find(this.#job);
    const driver = new Driver(this.#job);
    try {
      const hello = await driver.open();
      send("hello", {
        protocol: PROTOCOL,
        runner: `node ${VERSION} on Node.js ${process.versions.node}, V8 ${process.versions.v8}`,
        ...hello,
      });
      const clock = new Clock(this.#job.server, this.#job.slowdown);
      for (const test of this.#job.tests) {
        this.current = test.id;
        await (this.#job.answersOnly ? this.#answerOnly(test, driver) : this.#test(test, driver, clock));
      }
      this.current = null;
    } catch (error) {
      await driver.abandon();
      throw error;
    }
    try {
      await driver.close();
    } catch (error) {
      throw driver.failure(error).within("closing the database");
    }
    send("bye");
  }

  async #test(test, driver, clock) {
    // The process that reads this may be busy for a moment, perhaps on the same processor: so it is sent before the
    // input is loaded and not just before the clock starts.
    send("progress", { test: test.id });
    for (const sql of test.setup) {
      await asked(driver, sql, "the setup");
    }
    const [sample, answer] = await perform(test, driver, clock);
    const size = (await driver.databaseBytes()) ?? folderBytes(this.#job.directory);
    send("sample", { test: test.id, ...sample, database_bytes: size });
    sendAnswer(test.id, await (test.check === null ? answer() : checked(driver, test)));
  }

  /** Asks what a test of another job has left. */
  async #answerOnly(test, driver) {
    send("progress", { test: test.id });
    sendAnswer(test.id, await (test.check === null ? leftBy(test, driver) : checked(driver, test)));
  }
}

/** The rows of a check. If it fails and consists of several invariants, the failure names the first whose own query
 *  fails. */
async function checked(driver, test) {
  try {
    return await asked(driver, test.check, "the check query");
  } catch (error) {
    for (const one of take(test.input, "queries", "list", [])) {
      await asked(driver, take(one, "query", "text"), `the invariant ${take(one, "says", "text")}`);
    }
    throw error;
  }
}

/** The sizes of all files in a folder and below, without holes: engines make files longer than their content. A file that
 *  disappears meanwhile counts as zero. */
function folderBytes(folder) {
  let total = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      total += folderBytes(path);
    } else {
      const found = lstatSync(path, { throwIfNoEntry: false });
      total += found ? Math.min(found.size, found.blocks * BLOCK) : 0;
    }
  }
  return total;
}
