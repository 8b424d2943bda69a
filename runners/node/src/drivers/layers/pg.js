// node-postgres, below layers.

import Pg from "../postgres/pg.js";
import { PostgresSession } from "../postgres/server.js";
import { numberOf } from "../../values.js";
import { layered } from "./layer.js";
import { layeredSession } from "./session.js";

/** The types of which a number of JavaScript does not hold all values: int8, numeric. */
const NUMBERS = [20, 1700];

export const engine = "postgres";

export class Driver extends layered(Pg) {
  catalogue =
    "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = current_schema() " +
    "ORDER BY table_name, ordinal_position";

  /** As their manuals advise: layers do not say of which type a column is. */
  parser(type, format) {
    return NUMBERS.includes(type) ? numberOf : super.parser(type, format);
  }
}

export const Session = layeredSession(PostgresSession);
