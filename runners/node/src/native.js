// Functions in C that Node.js has none of its own for: the library with which all runners measure, next to dyno's own
// program (crates/gauge/include/dyno_gauge.h describes it), and those of the C library that map a file and sleep.
//
// They are called by koffi, whose package has its compiled part for every platform: an addon of dyno's own would need a
// compiler and Node's headers wherever dyno is installed.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

import { Failure, oneLine } from "./failure.js";

const FILE = "libdyno_gauge.so";
/** The version of the library's interface that this code is written for. */
const VERSION = 4;
/** The functions of the library, as C declares them. */
const GAUGE = {
  version: "uint32_t dyno_gauge_version()",
  open: "void *dyno_gauge_open(uint32_t)",
  addNode: "void dyno_gauge_add_node(void *, uint32_t)",
  prepare: "void dyno_gauge_prepare(void *)",
  before: "void dyno_gauge_before(void *)",
  after: "int dyno_gauge_after(void *, _Out_ uint64_t *, _Out_ uint64_t *)",
  histogramNew: "void *dyno_gauge_histogram_new()",
  histogramRecord: "void dyno_gauge_histogram_record(void *, uint64_t)",
  histogramText: "size_t dyno_gauge_histogram_text(void *, uint8_t *, size_t)",
  histogramFree: "void dyno_gauge_histogram_free(void *)",
};
const C = {
  mmap: "void *mmap(void *, size_t, int, int, int, int64_t)",
  usleep: "int usleep(uint32_t)",
};

/** Packages that crash before this version of Node.js, whatever they say of themselves. */
const CRASHES = { sqlite3: 22 };

/** dyno's programs, by the runner's argument, and the packages next to them. */
let programs = ".";
let packages = createRequire(import.meta.url);
let known = null;

/** Says where dyno's programs are: once, before all else. */
export function programsAt(folder) {
  programs = resolve(folder);
  packages = createRequire(join(programs, "../node/package.json"));
  known = null;
}

/** dyno's own file of this name. */
export const beside = (name) => join(programs, name);

/** A package of the runner's private folder. One that is made for later versions of Node.js may crash, so it is not loaded. */
export function load(name) {
  try {
    const says = Number(/>=\s*(\d+)/.exec(packageOf(/^(@[^/]+\/)?[^/]+/.exec(name)[0]).engines?.node)?.[1] ?? 0);
    const needs = Math.max(says, CRASHES[name] ?? 0);
    if (Number.parseInt(process.versions.node) < needs) {
      throw new Error(`it needs Node.js ${needs} or later, and this is ${process.versions.node}`);
    }
    return packages(name);
  } catch (error) {
    throw new Failure(
      `the package ${name} of Node.js cannot be used (${oneLine(error.message).slice(0, 300)}): ` +
        "`sh scripts/build-node.sh` puts it into the runner's private folder, with a Node.js; DYNO_NODE names another one",
    );
  }
}

const packageOf = (name) =>
  JSON.parse(readFileSync(join(programs, "../node/node_modules", name, "package.json"), "utf8"));

/** The version of a package. */
export const versionOf = (name) => packageOf(name).version;

/** The functions, by the names above. */
export function native() {
  return (known ??= open());
}

function open() {
  const koffi = load("koffi");
  const functions = (library, declarations) =>
    Object.fromEntries(Object.entries(declarations).map(([name, text]) => [name, library.func(text)]));
  const file = beside(FILE);
  let gauge;
  try {
    gauge = functions(koffi.load(file), GAUGE);
  } catch (error) {
    throw new Failure(
      `cannot load ${file}, with which runners measure (\`cargo build --release -p dyno-gauge\`): ` +
        oneLine(error.message),
    );
  }
  if (gauge.version() !== VERSION) {
    throw new Failure(
      `${file} has version ${gauge.version()} of its interface, and this runner is for ${VERSION}: take both ` +
        "from the same source",
    );
  }
  return { ...gauge, ...functions(koffi.load(null), C), view: koffi.view, address: koffi.address };
}
