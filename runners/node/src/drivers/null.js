// The null driver: it does nothing, and so measures the cost of dyno itself in Node.js.
//
// It makes of the input what drivers take, strings and arrays of them, because that is the part of every other figure
// that is neither driver nor engine.

import { VERSION } from "../contract.js";
import { Failure } from "../failure.js";
import { Session } from "./session.js";
import { SyncSql } from "./sql.js";

const NONE = [];

export default class Null extends SyncSql {
  constructor(job) {
    super(job);
    if (job.build !== "bundled") {
      throw new Failure("the null engine has no build other than its own");
    }
    for (const { name } of job.settings) {
      throw new Failure(`the null engine has no setting '${name}': it has none`);
    }
  }

  connect() {
    return {};
  }
  disconnect() {}
  run() {
    return NONE;
  }
  rows() {
    return NONE;
  }
  inserter() {
    return () => NONE;
  }
  each() {}
  identity() {
    return { engine_version: VERSION, driver_version: VERSION };
  }
  session() {
    return new NullSession(this, {}, false);
  }
  visit() {
    return this.session();
  }
  aside() {}
  back() {}
}

class NullSession extends Session {
  awaits = false;
  keeps = false;

  prepare() {
    return () => NONE;
  }
}
