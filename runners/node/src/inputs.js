// The inputs of tests: files that dyno wrote, mapped, with every page touched before the clock starts.
//
// The files are bytes. Drivers take text: making a JavaScript string of the bytes is part of what the language costs, so
// it is timed, a statement or a cell at a time.

import { closeSync, fstatSync, openSync } from "node:fs";
import { freemem } from "node:os";

import { take } from "./contract.js";
import { Failure } from "./failure.js";
import { native } from "./native.js";

/** Of mmap(2) on Linux: pages that are read, of a file that others map too. */
const PROT_READ = 1;
const MAP_SHARED = 1;
const MAP_FAILED = 2n ** 64n - 1n;
/** The bytes of rows that become one text: large enough that what a block costs is small compared with its rows. */
const BLOCK = 1 << 16;
/** A page is this long or longer. */
const PAGE = 4096;

/** A file of texts, each ended by one NUL byte. */
export class Statements {
  #data;
  #ends = [];

  constructor(file, count) {
    const name = `statements file ${file}`;
    this.#data = map(file, name);
    // The search for the ends touches every page.
    for (let start = 0; start < this.#data.length; start = this.#ends.at(-1) + 1) {
      const end = this.#data.indexOf(0, start);
      const number = this.#ends.length + 1;
      if (end < 0) {
        const tail = JSON.stringify(this.#data.toString("utf8", start, start + 60));
        throw new Failure(`${name}: statement ${number} has no NUL byte at its end: the file is cut off (${tail})`);
      }
      if (end === start) {
        throw new Failure(`${name}: statement ${number} is empty`);
      }
      this.#ends.push(end);
    }
    if (this.length !== count) {
      throw new Failure(`${name} holds ${this.length} statements where the job says ${count}`);
    }
  }

  get length() {
    return this.#ends.length;
  }

  /** The length of all texts together in bytes, without the NUL bytes. */
  get bytes() {
    return this.#data.length - this.#ends.length;
  }

  /** The statement at a position counted from zero. */
  get(place) {
    return this.#data.utf8Slice(place ? this.#ends[place - 1] + 1 : 0, this.#ends[place]);
  }
}

/** A flat file of rows, each its cells one after another: all of them ASCII letters and digits. */
export class RowFile {
  #data;
  /** Returns the row at a position as an array of texts. */
  row = null;

  constructor(rows) {
    this.columns = take(rows, "columns", "list").map((each) => ({
      name: take(each, "name", "text"),
      bytes: take(each, "bytes", "number"),
    }));
    this.width = this.columns.reduce((sum, column) => sum + column.bytes, 0);
    this.count = take(rows, "count", "number");
    this.#data = mapCells(take(rows, "file", "text"), this.count, this.width);
    this.row = this.feeding((...cells) => cells);
  }

  /** A function that calls `call` with the cells of the row at a position, as texts: without a loop over columns, as a
   *  program for this one table would have it. */
  feeding(call) {
    let end = 0;
    const cells = this.columns.map(({ bytes }) => `data.latin1Slice(at + ${end}, at + ${(end += bytes)})`);
    const source = `return (place) => { const at = place * ${this.width}; return call(${cells.join(", ")}); };`;
    return new Function("data", "call", source)(this.#data, call);
  }

  /** The length of the first rows in bytes. */
  bytesOf(count) {
    return count * this.width;
  }

  /** The first cells of the rows that a digest returns whole: the first, the middle and the last. */
  shown() {
    const places = this.count ? [0, Math.floor(this.count / 2), this.count - 1] : [];
    return places.map((place) => this.row(place)[0]);
  }

  /** Rows from `start` up to `stop`, as arrays of text. */
  rows(start, stop) {
    const rows = new Array(stop - start);
    for (let place = start; place < stop; place++) {
      rows[place - start] = this.row(place);
    }
    return rows;
  }

  /** Rows as text with a tab between cells and a newline after each row, a block at a time: the input of COPY and LOAD
   *  DATA. Letters and digits need no escapes. */
  *lines(start, stop) {
    const step = Math.max(1, Math.floor(BLOCK / this.width));
    for (let first = start; first < stop; first += step) {
      let text = "";
      for (let place = first; place < Math.min(first + step, stop); place++) {
        text += this.row(place).join("\t") + "\n";
      }
      yield text;
    }
  }
}

/** Rows for a table, and how they commit. */
export class Load {
  constructor(table, file, start, stop, perCommit) {
    Object.assign(this, { table, file, start, stop, perCommit });
  }

  /** The number of rows. */
  get count() {
    return this.stop - this.start;
  }

  /** The ranges of rows that make a transaction each: a single one where the job names no size. */
  transactions() {
    const step = this.perCommit || Math.max(1, this.count);
    const ranges = [];
    for (let start = this.start; start < this.stop; start += step) {
      ranges.push([start, Math.min(start + step, this.stop)]);
    }
    return ranges;
  }

  /** True if transactions are begun and committed, where a statement loads up to `each` rows. A transaction of one
   *  statement commits on its own: BEGIN and COMMIT would cost an exchange with a server each. */
  begins(each = 1) {
    return Math.min(this.perCommit || this.count, this.count) > each;
  }

  /** Ranges of rows that are inserted one by one: transactions, or all rows where each commits on its own. */
  ranges() {
    return this.begins() ? this.transactions() : [[this.start, this.stop]];
  }
}

/** A flat file of cells, or of rows, of one width in bytes, mapped and touched. */
export function mapCells(file, count, width) {
  const name = `the input ${file}`;
  const data = map(file, name);
  if (data.length !== count * width) {
    throw new Failure(
      `${name} has ${data.length} bytes where ${count} rows of ${width} bytes are promised: it is cut off or of ` +
        "another shape",
    );
  }
  // A file larger than half of the free memory is not touched: that would evict its own beginning.
  for (let place = 0; data.length < freemem() / 2 && place < data.length; place += PAGE) {
    data[place];
  }
  return data;
}

function map(file, name) {
  let opened;
  try {
    opened = openSync(file);
    const { size } = fstatSync(opened);
    if (size === 0) {
      return Buffer.alloc(0); // nothing cannot be mapped
    }
    const { mmap, view } = native();
    const address = mmap(null, size, PROT_READ, MAP_SHARED, opened, 0);
    if (address === MAP_FAILED) {
      throw new Failure(`cannot map ${name}`);
    }
    return Buffer.from(view(address, size));
  } catch (error) {
    throw error instanceof Failure ? error : new Failure(`cannot open ${name}: ${error.message}`);
  } finally {
    if (opened !== undefined) {
      closeSync(opened);
    }
  }
}
