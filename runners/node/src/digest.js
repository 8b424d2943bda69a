// The content of a table in a few numbers that every language can compute: a count, and sums of zlib's CRC-32. Sums do
// not depend on the order of rows, which tables do not promise.

import { Failure } from "./failure.js";

const TABLE = Uint32Array.from({ length: 256 }, (_, place) => {
  let value = place;
  for (let bit = 0; bit < 8; bit++) {
    value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  }
  return value;
});

/** The CRC-32 of bytes, after those of `before`. Node.js has had one since version 22 only. */
export function crc32(bytes, before = 0) {
  let value = ~before;
  for (let place = 0; place < bytes.length; place++) {
    value = TABLE[(value ^ bytes[place]) & 0xff] ^ (value >>> 8);
  }
  return ~value >>> 0;
}

/** The digest of a table of columns of text, taken in row by row. */
export class TableDigest {
  #columns;
  #count = 0;
  #sums;
  // The sum over whole rows detects cells that were swapped between rows.
  #rows = 0n;
  #found = new Map();
  #shown;

  /** `shown` are the first cells of the rows that are returned whole. */
  constructor(columns, shown) {
    this.#columns = columns;
    this.#sums = columns.map(() => 0n);
    this.#shown = shown;
  }

  /** Adds a row. A cell that is not stored as text is a failure. */
  add(row) {
    if (row.length !== this.#columns.length) {
      throw new Failure(`row ${this.#count + 1} has ${row.length} columns and not ${this.#columns.length}`);
    }
    let whole = 0;
    row.forEach((cell, place) => {
      if (typeof cell !== "string") {
        const name = this.#columns[place].name;
        throw new Failure(`a cell of the column ${name} is stored as ${typeof cell} and not as text`);
      }
      const bytes = Buffer.from(cell);
      this.#sums[place] += BigInt(crc32(bytes));
      whole = crc32(bytes, whole);
    });
    this.#rows += BigInt(whole);
    this.#count += 1;
    if (this.#shown.includes(row[0])) {
      this.#found.set(row[0], row);
    }
  }

  /** The rows of the answer: the count and the sums, then each wanted row or one NULL. */
  answer() {
    const sums = [this.#count, ...this.#sums, this.#rows];
    return [sums, ...this.#shown.map((first) => this.#found.get(first) ?? [null])];
  }
}
