// Histograms of durations, by the library that all runners measure with. They are made after the clock has stopped.

import { native } from "./native.js";

/** A histogram that is taken in duration by duration. */
export class Histogram {
  #native = native();
  #handle = this.#native.histogramNew();
  count = 0;

  add(nanoseconds) {
    this.count += 1;
    this.#native.histogramRecord(this.#handle, Math.max(0, Math.round(nanoseconds)));
  }

  /** HdrHistogram's compressed encoding; empty where there are no durations. The histogram is of no use afterwards. */
  text() {
    const length = this.#native.histogramText(this.#handle, null, 0);
    const found = Buffer.alloc(length + 1);
    this.#native.histogramText(this.#handle, found, length + 1);
    this.#native.histogramFree(this.#handle);
    return found.latin1Slice(0, length);
  }
}
