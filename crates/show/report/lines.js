// Charts with two axes: figures over years, and over sizes. report/charts.rs describes their data.
"use strict";

/** Labels of one column, from the top down: each pushes the next out of its way. */
function spread(points, gap, bottom) {
  let last = -Infinity;
  const placed = points.sort((a, b) => a.y - b.y).map((point) => ({ ...point, labelY: (last = Math.max(point.y, last + gap)) }));
  // Those that were pushed over the edge push the others back up.
  let next = bottom;
  for (const point of placed.toReversed()) next = (point.labelY = Math.min(point.labelY, next)) - gap;
  return placed;
}

/** The logarithm of a size; 0, which has none, stands to the left of the smallest of the others. */
function logSize(sizes, size) {
  return Math.log(size > 0 ? size : (sizes.find((other) => other > 0) ?? 1) / 5);
}

/** The place of a value on a logarithmic axis from `top` to `bottom`. */
function logScale([low, high], top, bottom) {
  return (value) => top + ((bottom - top) * (Math.log(high) - Math.log(value))) / (Math.log(high) - Math.log(low));
}

Object.assign(charts, {
  /** Seconds, or rates in a second, over years: what others published, and this run. */
  years({ series }, width, figure) {
    const { rate: isRate, points } = series[chosen(figure)];
    if (points.length === 0) return null;
    const narrow = width < NARROW;
    const height = narrow ? 420 : 380;
    const values = points.map((point) => point.value);
    const domain = [Math.min(...values) / 1.5, Math.max(...values) * 1.5];
    const scale = logScale(domain, 16, height - 36);
    const years = [...new Set(points.map((point) => point.year))].sort((a, b) => a - b);
    const placed = years.flatMap((year) => {
      const column = points.filter((point) => point.year === year).map((point) => ({ ...point, y: scale(point.value) }));
      return spread(column, 14, height - 30);
    });
    const families = [...new Set(placed.map((point) => point.family).filter(Boolean))];
    const lines = families.map((family) => placed.filter((point) => point.family === family).sort((a, b) => a.year - b.year)).filter((line) => line.length > 1);
    const ticks = logTicks(...domain, height);
    const said = isRate ? rate : (x) => duration(x * 1e9);
    const longest = narrow ? 13 : 26;
    // A column's labels stand to its right; to its left where the next column is too near for them.
    const span = years.at(-1) - years[0] + 1.4;
    const gap = (a, b) => ((b - a) * (width - 260)) / span;
    const leftward = new Set(years.filter((year, i) => i + 1 < years.length && gap(year, years[i + 1]) < 150 && (i === 0 || years[i] - years[i - 1] > years[i + 1] - years[i])));
    const near = years.some((year, i) => i > 0 && gap(years[i - 1], year) < 44);
    const room = (year) => Math.max(...placed.filter((point) => point.year === year).map((point) => squeeze(point.label, longest).length)) * 6.6 + 14;
    const label = (points, dx, textAnchor) =>
      Plot.text(points, { x: "year", y: "labelY", text: (d) => squeeze(d.label, longest), dx, textAnchor, fill: "var(--ink)", stroke: "var(--paper)", strokeWidth: 3 });
    const marginLeft = 56 + (leftward.has(years[0]) ? room(years[0]) : 0);
    return plot({
      width, height, marginLeft, marginRight: room(years.at(-1)), marginTop: 16, marginBottom: 36,
      x: { domain: [years[0] - 0.8, years.at(-1) + 0.6] },
      marks: [
        Plot.gridY(ticks.map(scale), { stroke: "var(--line)", strokeOpacity: 1 }),
        Plot.text(ticks, { y: scale, text: said, frameAnchor: "left", textAnchor: "end", dx: 48 - marginLeft, fill: "var(--quiet)" }),
        Plot.axisX(years, { tickFormat: (year) => (near ? `’${String(year).slice(2)}` : `${year}`), label: null, tickSize: 0, color: "var(--quiet)" }),
        ...lines.map((line) => Plot.line(line, { x: "year", y: "y", stroke: colour(line[0]), strokeOpacity: 0.4, strokeDasharray: "4 4" })),
        Plot.dot(placed, { x: "year", y: "y", r: 4.5, fill: (d) => (d.today ? colour(d) : "var(--paper)"), stroke: colour, strokeWidth: 1.8, title: "text" }),
        label(placed.filter((point) => !leftward.has(point.year)), 11, "start"),
        label(placed.filter((point) => leftward.has(point.year)), -11, "end"),
      ],
    });
  },

  /** Figures over sizes, both axes logarithmic, in panels that share the upright one: two abreast where there is room. */
  scaling({ parameter, sizes, series }, width, figure) {
    const { panels, rate: isRate } = series[chosen(figure)];
    const all = panels.flatMap((panel) => panel.lines.flatMap((line) => line.points));
    if (all.length === 0) return null;
    const abreast = width < 760 || panels.length === 1 ? 1 : 2;
    const [gap, high, foot] = [28, 300, 40];
    const wide = (width - gap * (abreast - 1)) / abreast;
    const ends = all.flatMap((point) => [point.value, point.interval?.low ?? point.value, point.interval?.high ?? point.value]);
    const domain = [Math.min(...ends) / 1.4, Math.max(...ends) * 1.4];
    const ticks = logTicks(...domain, high);
    const said = isRate ? rate : duration;
    const longest = Math.floor(wide * 0.045);
    const room = Math.max(...panels.flatMap((panel) => panel.lines.map((line) => cut(line.label, longest).length))) * 7 + 18;
    const marks = [];
    panels.forEach((panel, place) => {
      const [left, top] = [(place % abreast) * (wide + gap) + 62, Math.floor(place / abreast) * (high + foot + 40) + 34];
      const right = left - 62 + wide - room;
      const y = logScale(domain, top, top + high);
      const [first, last] = [logSize(sizes, sizes[0]), logSize(sizes, sizes.at(-1))];
      const x = (size) => left + 12 + ((right - left - 12) * (logSize(sizes, size) - first)) / (last - first);
      const lines = panel.lines.map((line) => ({ ...line, points: line.points.map((point) => ({ ...point, x: x(point.size), y: y(point.value), colour: line.colour })) }));
      const drawn = lines.filter((line) => line.points.length > 0);
      const names = spread(drawn.map((line) => ({ ...line, x: line.points.at(-1).x, y: line.points.at(-1).y })), 15, top + high);
      marks.push(
        Plot.text([panel.head], { x: left - 58, y: top - 18, text: (d) => d, textAnchor: "start", fontWeight: 600, fill: "var(--quiet)" }),
        Plot.link(ticks, { x1: left, x2: right, y: y, stroke: "var(--line)", strokeLinecap: "butt" }),
        Plot.text(ticks, { x: left - 8, y, text: said, textAnchor: "end", fill: "var(--quiet)" }),
        Plot.text(sizes, { x, y: top + high + 14, text: (size) => `${size === sizes[0] ? `${parameter} = ` : ""}${count(size)}`, fill: "var(--quiet)" }),
        ...drawn.map((line) => Plot.line(line.points, { x: "x", y: "y", stroke: colour(line), strokeWidth: 1.8 })),
        Plot.link(drawn.flatMap((line) => line.points.filter((point) => point.interval)), { x: "x", y1: (d) => y(d.interval.low), y2: (d) => y(d.interval.high), stroke: colour, strokeOpacity: 0.45, strokeWidth: 5, strokeLinecap: "butt" }),
        ...drawn.map((line) => Plot.dot(line.points, { x: "x", y: "y", r: 4, symbol: SYMBOLS[line.colour], fill: colour(line), title: "text" })),
        Plot.text(drawn.flatMap((line) => line.points.filter((point) => point.at_least)), { x: "x", y: "y", text: () => "≥", dy: -12, fill: "var(--ink)", stroke: "var(--paper)", strokeWidth: 3, title: "text" }),
        Plot.link(names, { x1: (d) => d.x + 6, y1: "y", x2: (d) => d.x + 13, y2: "labelY", stroke: colour, strokeOpacity: 0.6 }),
        Plot.text(names, { x: (d) => d.x + 16, y: "labelY", text: (d) => cut(d.label, longest), textAnchor: "start", fill: "var(--ink)", stroke: "var(--paper)", strokeWidth: 3 }),
      );
    });
    const height = Math.ceil(panels.length / abreast) * (high + foot + 40) + 4;
    const identity = { type: "identity", axis: null };
    return plot({ width, height, margin: 0, x: identity, y: identity, marks });
  },
});
