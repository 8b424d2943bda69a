// Helpers of several tests.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

import { programsAt } from "../src/native.js";

/** The folder of dyno's programs: libdyno_gauge.so is there, and the packages are in ../node next to it. */
export const PROGRAMS = process.env.DYNO_PROGRAMS ?? "target/release";

programsAt(PROGRAMS);
const folder = mkdtempSync(join(tmpdir(), "dyno-node-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A file with this content. */
export function file(name, content) {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** The 8 bytes of whole numbers. */
export function numbers(...values) {
  const bytes = Buffer.alloc(8 * values.length);
  values.forEach((value, place) => bytes.writeBigInt64LE(BigInt(value), 8 * place));
  return bytes;
}
