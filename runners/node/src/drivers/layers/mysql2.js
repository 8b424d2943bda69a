// MySQL2, below layers.

import MySql2 from "../mysql/mysql2.js";
import { MySqlSession } from "../mysql/server.js";
import { layered } from "./layer.js";
import { layeredSession } from "./session.js";

export const engine = "mysql";

/** Layers take rows as objects, and their names are those of the connection's options: only what dyno itself sends asks for
 *  arrays. */
export class Driver extends layered(MySql2) {
  catalogue =
    "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = database() " +
    "ORDER BY table_name, ordinal_position";

  address(database) {
    return { ...super.address(database), rowsAsArray: false };
  }

  run(connection, sql) {
    return super.run(connection, { sql, rowsAsArray: true });
  }

  each(sql, add) {
    return super.each({ sql, rowsAsArray: true }, add);
  }
}

export const Session = layeredSession(MySqlSession);
