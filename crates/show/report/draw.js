// The tools of the charts: sizes, text and marks they have in common. Draws what stands in the page, computes
// no statistic.
"use strict";

const NARROW = 560;
const ROW = 30;

/** A duration in nanoseconds as the axis says it: 20 ms. */
function duration(ns) {
  if (ns === 0) return "0";
  const units = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
  const [unit, size] = units.find(([, size]) => ns >= size * 0.9995) ?? units[3];
  return `${+(ns / size).toPrecision(3)} ${unit}`;
}

/** A rate in a second, as the axis says it: 20k/s. */
function rate(x) {
  const units = [["G", 1e9], ["M", 1e6], ["k", 1e3], ["", 1]];
  const [unit, size] = units.find(([, size]) => x >= size * 0.9995) ?? units[3];
  return `${+(x / size).toPrecision(3)}${unit}/s`;
}

/** The form in which a test's nanoseconds are shown: as they are, or as rates of the `count` that was done in them. */
function measure(count) {
  return count ? [(ns) => (count / ns) * 1e9, rate] : [(ns) => ns, duration];
}

/** The label of a row, cut where the chart is too narrow for it. */
function cut(label, longest) {
  return label.length > longest ? `${label.slice(0, longest - 1)}…` : label;
}

/** The same cut in its middle, where names differ at their ends. */
function squeeze(label, longest) {
  const tail = Math.floor(longest * 0.55);
  return label.length > longest ? `${label.slice(0, longest - 1 - tail)}…${label.slice(-tail)}` : label;
}

/** Places rows under each other: each gets its middle `y`; in a narrow chart the label has a separate line. */
function layout(rows, width) {
  const narrow = width < NARROW;
  let top = 4;
  const placed = rows.map((row) => {
    if (row.head !== undefined) {
      top += 30;
      return { ...row, y: top - 11 };
    }
    const label = narrow ? 18 : 0;
    top += ROW + label;
    return { ...row, y: top - ROW / 2, labelY: narrow ? top - ROW - 4 : top - ROW / 2 };
  });
  const longest = Math.max(0, ...rows.filter((row) => row.label).map((row) => row.label.length));
  const margin = narrow ? 4 : Math.min(Math.max(longest * 7.2 + 16, 90), width * 0.36);
  return { narrow, lines: placed.filter((row) => row.head === undefined), heads: placed.filter((row) => row.head !== undefined), bottom: top, margin };
}

/** Headings, labels and the texts at the right, which all charts of rows share. */
function rowTexts({ narrow, lines, heads, margin }, width, right) {
  const longest = Math.floor((narrow ? width - 20 : margin - 12) / 7);
  return [
    // A halo of paper as wide as a gap between words, so that no line of the axis crosses them.
    Plot.text(heads, { y: "y", text: (d) => cut(d.head, Math.floor((width - 8) / 7.6)), title: "head", frameAnchor: "left", textAnchor: "start", dx: -margin + 4, fontWeight: 600, fill: "var(--quiet)", stroke: "var(--paper)", strokeWidth: 9 }),
    Plot.text(lines, {
      y: "labelY", text: (d) => cut(d.label, longest), title: (d) => (d.label.length > longest ? d.label : null), frameAnchor: "left", fill: "var(--ink)", stroke: "var(--paper)", strokeWidth: 3,
      ...(narrow ? { textAnchor: "start", dx: 0 } : { textAnchor: "end", dx: -10 }),
    }),
    Plot.text(lines, { y: "y", text: "text", frameAnchor: "right", textAnchor: "start", dx: 8, fill: "var(--ink)", fontVariant: "tabular-nums" }),
  ];
}

/** The series that a chart shows, as chosen above it. */
function chosen(figure) {
  return Number(figure.closest("section").querySelector("select.series")?.value ?? 0);
}

/** A number of rows or pairs: 50k. */
function count(x) {
  return rate(x).slice(0, -2);
}

/** A shape for each colour, so that lines differ without it. */
const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "wye", "cross", "hexagon"];

const colour = (row) => `var(--c${row.colour})`;

/** The width that the texts at the right need. */
function rightMargin(lines) {
  return Math.max(40, ...lines.map((line) => line.text.length * 7 + 18));
}

/** A plot of rows. The style element that the library adds is taken out before the browser sees it: the page's
 *  policy allows no style but its own, which has the same rules. So are the names it gives to groups of marks:
 *  the drawing as a whole has a label. */
function plot(options) {
  const drawing = Plot.plot({ className: "plot", y: { type: "identity", axis: null }, ...options });
  drawing.querySelectorAll("style").forEach((style) => style.remove());
  drawing.querySelectorAll("g[aria-label]").forEach((group) => group.removeAttribute("aria-label"));
  return drawing;
}

/** Ticks of a logarithmic axis: whole powers of ten, and between them 2 and 5 where there is room. */
function logTicks(low, high, width) {
  const ticks = [];
  const decades = Math.log10(high / low);
  const steps = decades * 110 < width ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil((decades * 60) / width));
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += every) {
    for (const step of steps) {
      const tick = +`${step}e${power}`;
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  return ticks;
}
