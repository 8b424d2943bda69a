// Files of steps, mapped: the steps of one client, or those that all share.

import { Failure } from "../failure.js";
import { mapCells } from "../inputs.js";

/** The values of steps, at positions in bytes. Bytes become text when the step's turn comes, as for every input of a
 *  driver. */
export class Steps {
  #bytes;
  #view;
  #step;

  constructor({ file, count }, work) {
    this.count = count;
    this.#step = work.stepBytes;
    this.#bytes = mapCells(file, count, work.stepBytes);
    this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length);
    if (!count) {
      throw new Failure(`there are no steps in ${file}`);
    }
    for (let place = 0; place < count; place++) {
      if (!(this.of(this.at(place)) < work.classes.length)) {
        throw new Failure(`step ${place} names a class that is not there`);
      }
    }
  }

  /** The position of a step in bytes, by its place. */
  at(place) {
    return place * this.#step;
  }

  /** When the step at a position is due, in nanoseconds since the clients began; 0: at once. */
  due(at) {
    return this.integer(at);
  }

  /** The class of the step at a position. */
  of(at) {
    return this.#view.getUint32(at + 8, true);
  }

  /** A whole number: one beyond 2⁵³, which a number of JavaScript cannot hold, as a BigInt. */
  integer(at) {
    const value = this.#view.getInt32(at + 4, true) * 4294967296 + this.#view.getUint32(at, true);
    return Number.isSafeInteger(value) ? value : this.#view.getBigInt64(at, true);
  }

  real(at) {
    return this.#view.getFloat64(at, true);
  }

  text(at, bytes) {
    return this.#bytes.utf8Slice(at, at + bytes);
  }

  varyingText(at) {
    return this.#bytes.utf8Slice(at + 8, at + 8 + this.#view.getUint32(at, true));
  }
}
