// Builds the report's chart library, and the accessibility checker of its test, from the pinned packages:
// `make report-assets`. The result is committed with its licences; assets.lock.json says what it must be.

import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const packages = "node_modules";
const version = (name) => JSON.parse(readFileSync(`${packages}/${name}/package.json`)).version;

const { metafile } = await build({
  entryPoints: ["library.mjs"],
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "Plot",
  target: ["chrome100", "firefox100", "safari15"],
  charset: "utf8",
  legalComments: "none",
  banner: { js: `/* Observable Plot ${version("@observablehq/plot")} and the parts of d3 it uses; licences: plot.LICENSE.txt */` },
  outfile: "vendor/plot.min.js",
  metafile: true,
});

// The licence of every package of which something is in the bundle.
const bundled = Object.entries(metafile.outputs["vendor/plot.min.js"].inputs)
  .filter(([, part]) => part.bytesInOutput > 0)
  .map(([path]) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1])
  .filter(Boolean);
const licence = (name) => readFileSync(`${packages}/${name}/LICENSE`, "utf8").trim();
const licences = [...new Set(bundled)].sort().map((name) => `${name} ${version(name)}\n\n${licence(name)}\n`);
writeFileSync("vendor/plot.LICENSE.txt", licences.join("\n----\n\n"));

copyFileSync(`${packages}/axe-core/axe.min.js`, "vendor/axe.min.js");
copyFileSync(`${packages}/axe-core/LICENSE`, "vendor/axe.LICENSE.txt");

const sha256 = (name) => createHash("sha256").update(readFileSync(`vendor/${name}`)).digest("hex");
const names = ["axe.LICENSE.txt", "axe.min.js", "plot.LICENSE.txt", "plot.min.js"];
writeFileSync("assets.lock.json", JSON.stringify(Object.fromEntries(names.map((n) => [n, sha256(n)])), null, 2) + "\n");
