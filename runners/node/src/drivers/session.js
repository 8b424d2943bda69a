// A client of a mix, for drivers that execute statements on a connection.

/** A client's session with the engine. Its calls throw whatever the library throws, and all but `prepare` and `close` are
 *  timed. */
export class Session {
  /** True if calls return promises. */
  awaits = true;
  /** True if stored rows can be read back. The null driver cannot, and reports no missing row. */
  keeps = true;

  /** `isOwn` is true if the connection was opened for this client. */
  constructor(driver, connection, isOwn) {
    this.driver = driver;
    this.connection = connection;
    this.isOwn = isOwn;
    this.beginRead = this.plain("BEGIN");
    this.beginWrite = this.plain("BEGIN");
    this.commit = this.plain("COMMIT");
    this.rollback = this.plain("ROLLBACK");
  }

  /** A function that executes a statement without parameters. */
  plain(sql) {
    return () => this.driver.run(this.connection, sql);
  }

  /** The text of a statement, of which these are the pieces around its parameters. */
  text(pieces) {
    return pieces.reduce((text, piece, place) => text + this.driver.placeholder(place) + piece);
  }

  // A driver's session also has prepare(pieces), a function that executes a statement, given the values of its parameters;
  // prepared as far as the library can before that.

  /** A function that executes a statement which is never prepared beforehand. */
  simple(pieces) {
    return this.prepare(pieces);
  }
  /** The rows of a result, as arrays. */
  rows(result) {
    return this.driver.rows(result);
  }
  /** Sets the engine's limit of waiting for a lock, in nanoseconds, where the client can set it. Not timed. */
  waitForLocks() {}
  /** True if an operation that failed with this error may succeed if it is tried again: the database was busy, it was
   *  the victim of a deadlock, or it could not be serialized with the others. */
  mayPass() {
    return false;
  }
  /** The codes of an error, as a suite names errors. */
  codes(error) {
    return this.driver.codes(error);
  }
  words(error) {
    return this.driver.words(error);
  }
  async close() {
    if (this.isOwn) {
      await this.driver.disconnect(this.connection);
    }
  }
}
