// The container into which a driver puts the rows that it fetches.
//
// A client that asks for rows reads their values, and in JavaScript that means having them as values: so fetching belongs
// to the timed section. Making JSON of them does not.

/** The rows of one test, in the order in which they were fetched. */
export class Answer {
  #keep;
  #parts = [];
  #columns = [];
  count = 0;

  /** Without `keep`, rows are counted and dropped, so a test whose answer comes from a check query may return any
   *  number of them. */
  constructor(keep) {
    this.#keep = keep;
  }

  /** Adds the rows that a statement has returned, and what the driver says of their columns. */
  take(rows, columns) {
    this.count += rows.length;
    if (this.#keep && rows.length) {
      this.#parts.push(rows);
      this.#columns.push(columns);
    }
  }

  /** All rows, with the values that `exact` makes of what the driver gave. */
  rows(exact) {
    return this.#parts.flatMap((rows, place) => exact(rows, this.#columns[place]));
  }
}
