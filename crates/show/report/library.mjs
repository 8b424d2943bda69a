// The parts of Observable Plot that the report uses, and nothing else: esbuild leaves the rest out.
export { plot, axisX, axisY, barX, dot, gridX, gridY, line, link, ruleX, ruleY, text, tickX } from "@observablehq/plot";
