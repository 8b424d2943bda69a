// node-postgres, below layers.

import Pg from "../postgres/pg.js";
import { PostgresSession } from "../postgres/server.js";
import { load as use } from "../../native.js";
import { numberOf } from "../../values.js";
import { layered } from "./layer.js";
import { layeredSession } from "./session.js";

/** The types whose values are given as text, because a number of JavaScript does not hold all of them. */
const AS_TEXT = ["INT8", "NUMERIC"];

export const engine = "postgres";

export class Driver extends layered(Pg) {
  catalogue =
    "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = current_schema() " +
    "ORDER BY table_name, ordinal_position";

  constructor(job) {
    super(job);
    const { types } = use("pg");
    // As their manuals advise: layers do not say of which type a column is.
    AS_TEXT.forEach((type) => types.setTypeParser(types.builtins[type], numberOf));
  }
}

export const Session = layeredSession(PostgresSession);
