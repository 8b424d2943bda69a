// better-sqlite3, below layers.

import Better from "../sqlite/better.js";
import { SqliteSession, SyncSession } from "../sqlite/database.js";
import { layered, shared } from "./layer.js";
import { layeredSession } from "./session.js";

export const engine = "sqlite";

const CATALOGUE =
  "SELECT m.name, c.name, c.type FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' " +
  "ORDER BY m.name, c.cid";

/** Below layers that return promises. SQLite would wait for the lock of another connection within a call, and with it the
 *  event loop on which that one goes on. So all clients share one connection, and the layer has them wait for it. */
export class Driver extends layered(shared(Better)) {
  catalogue = CATALOGUE;
}

export const Session = layeredSession(SqliteSession);

/** Below a layer whose calls return when SQLite is done. */
export class SyncDriver extends layered(Better) {
  catalogue = CATALOGUE;
}

export class SyncLayerSession extends layeredSession(SyncSession) {
  returnsRows(statement) {
    return this.connection.prepare(statement.replace(/\$\d+\$/g, "?")).reader;
  }
}
