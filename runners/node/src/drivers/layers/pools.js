// Pools of one connection, that of a client: layers connect by a pool and by nothing else.

/** A pool as node-postgres has. */
export function pool(client) {
  client.release = () => {};
  return { connect: async () => client, end: async () => {} };
}

/** A pool as MySQL2 has. */
export function callbackPool(connection) {
  connection.release = () => {};
  return { getConnection: (done) => done(null, connection), end: (done) => done(null) };
}
