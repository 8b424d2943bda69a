// One function for each kind of chart; report/charts.rs describes their data.
"use strict";

const charts = {
  /** Every sample of each contender in a row, with median and interval. */
  samples({ log, rows }, width) {
    const at = layout(rows, width);
    const right = rightMargin(at.lines);
    const blocks = Math.max(1, ...at.lines.flatMap((row) => [...row.used, ...row.left_out].map(([block]) => block)));
    const dots = (kind) =>
      at.lines.flatMap((row) => row[kind].map(([block, ns]) => ({ ns, y: row.y - 10 + (20 * (block - 0.5)) / blocks, row, block })));
    const all = [...dots("used"), ...dots("left_out")].map((dot) => dot.ns);
    if (all.length === 0) return null;
    const domain = log ? [Math.min(...all) * 0.9, Math.max(...all) * 1.1] : [0, Math.max(...all) * 1.02];
    const inner = width - at.margin - right;
    const said = (dot) => `${dot.row.label}, block ${dot.block}: ${duration(dot.ns)}`;
    const measured = at.lines.filter((row) => row.median !== null);
    const ticks = log ? logTicks(...domain, inner) : Math.max(2, Math.round(inner / 110));
    return plot({
      width, height: at.bottom + 30, marginLeft: at.margin, marginRight: right, marginTop: 0, marginBottom: 30,
      x: { type: log ? "log" : "linear", domain },
      marks: [
        Plot.gridX({ ticks, stroke: "var(--line)", strokeOpacity: 1 }),
        Plot.axisX({ ticks, tickFormat: duration, label: null, tickSize: 0, color: "var(--quiet)" }),
        Plot.link(measured.filter((row) => row.interval), { x1: (d) => d.interval.low, x2: (d) => d.interval.high, y: "y", stroke: colour, strokeOpacity: 0.28, strokeWidth: 20, strokeLinecap: "butt" }),
        Plot.dot(dots("left_out"), { x: "ns", y: "y", r: 1.9, stroke: (d) => colour(d.row), strokeOpacity: 0.8, strokeWidth: 0.8, title: (d) => `${said(d)}, disturbed` }),
        Plot.dot(dots("used"), { x: "ns", y: "y", r: 2.1, fill: (d) => colour(d.row), fillOpacity: 0.75, title: said }),
        Plot.link(measured, { x: "median", y1: (d) => d.y - 12, y2: (d) => d.y + 12, stroke: colour, strokeWidth: 2.5, strokeLinecap: "butt" }),
        ...rowTexts(at, width, right),
      ],
    });
  },

  /** Ratios with their intervals in rows, around one. */
  ratios({ log, percent, rows }, width) {
    const at = layout(rows, width);
    const right = rightMargin(at.lines);
    const ends = at.lines.flatMap((row) => [1, row.ratio, ...(row.interval ? [row.interval.low, row.interval.high] : [])]);
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const pad = (high - low) * 0.04 || 0.05;
    const domain = log ? [low / 1.08, high * 1.08] : [low - pad, high + pad];
    const inner = width - at.margin - right;
    const format = percent ? (x) => `${x > 1 ? "+" : x < 1 ? "−" : ""}${+Math.abs((x - 1) * 100).toPrecision(3)} %` : (x) => `${+x.toPrecision(3)}×`;
    const ticks = log ? logTicks(...domain, inner) : Math.max(2, Math.round(inner / 110));
    return plot({
      width, height: at.bottom + 30, marginLeft: at.margin, marginRight: right, marginTop: 0, marginBottom: 30,
      x: { type: log ? "log" : "linear", domain },
      marks: [
        Plot.gridX({ ticks, stroke: "var(--line)", strokeOpacity: 1 }),
        Plot.axisX({ ticks, tickFormat: format, label: null, tickSize: 0, color: "var(--quiet)" }),
        Plot.ruleX([1], { stroke: "var(--quiet)" }),
        Plot.link(at.lines, { x1: 1, x2: "ratio", y: "y", stroke: colour, strokeOpacity: 0.35, strokeWidth: 2, strokeLinecap: "butt" }),
        Plot.link(at.lines.filter((row) => row.interval), { x1: (d) => d.interval.low, x2: (d) => d.interval.high, y: "y", stroke: colour, strokeOpacity: 0.3, strokeWidth: 14, strokeLinecap: "butt" }),
        Plot.dot(at.lines, { x: "ratio", y: "y", r: 4.5, fill: colour, title: (d) => `${d.label}: ${d.text}` }),
        ...rowTexts(at, width, right),
      ],
    });
  },

  /** Seconds over years: what others published, and this run. */
  years({ series }, width, figure) {
    const chosen = figure.closest("section").querySelector("select.series");
    const points = series[Number(chosen?.value ?? 0)].points;
    if (points.length === 0) return null;
    const narrow = width < NARROW;
    const height = narrow ? 420 : 380;
    const seconds = points.map((point) => point.seconds);
    const domain = [Math.min(...seconds) / 1.5, Math.max(...seconds) * 1.5];
    const scale = (value) => 16 + ((height - 52) * (Math.log(domain[1]) - Math.log(value))) / (Math.log(domain[1]) - Math.log(domain[0]));
    const years = [...new Set(points.map((point) => point.year))].sort((a, b) => a - b);
    // Labels of one year push each other apart, from the top down.
    const placed = years.flatMap((year) => {
      let last = -Infinity;
      const column = points.filter((point) => point.year === year).sort((a, b) => b.seconds - a.seconds);
      return column.map((point) => {
        const y = scale(point.seconds);
        last = Math.max(y, last + 14);
        return { ...point, y, labelY: last };
      });
    });
    const families = [...new Set(placed.map((point) => point.family).filter(Boolean))];
    const lines = families.map((family) => placed.filter((point) => point.family === family).sort((a, b) => a.year - b.year)).filter((line) => line.length > 1);
    const ticks = logTicks(...domain, height);
    const second = (x) => duration(x * 1e9);
    const longest = narrow ? 12 : 26;
    // A column's labels stand to its right; to its left where the next column is too near for them.
    const span = years.at(-1) - years[0] + 1.4;
    const gap = (a, b) => ((b - a) * (width - 260)) / span;
    const leftward = new Set(years.filter((year, i) => i + 1 < years.length && gap(year, years[i + 1]) < 150 && (i === 0 || years[i] - years[i - 1] > years[i + 1] - years[i])));
    const near = years.some((year, i) => i > 0 && gap(years[i - 1], year) < 44);
    const room = (year) => Math.max(...placed.filter((point) => point.year === year).map((point) => cut(point.label, longest).length)) * 6.6 + 14;
    const label = (points, dx, textAnchor) =>
      Plot.text(points, { x: "year", y: "labelY", text: (d) => cut(d.label, longest), dx, textAnchor, fill: "var(--ink)", stroke: "var(--paper)", strokeWidth: 3 });
    const marginLeft = 56 + (leftward.has(years[0]) ? room(years[0]) : 0);
    return plot({
      width, height, marginLeft, marginRight: room(years.at(-1)), marginTop: 16, marginBottom: 36,
      x: { domain: [years[0] - 0.8, years.at(-1) + 0.6] },
      marks: [
        Plot.gridY(ticks.map(scale), { stroke: "var(--line)", strokeOpacity: 1 }),
        Plot.text(ticks, { y: scale, text: second, frameAnchor: "left", textAnchor: "end", dx: 48 - marginLeft, fill: "var(--quiet)" }),
        Plot.axisX(years, { tickFormat: (year) => (near ? `’${String(year).slice(2)}` : `${year}`), label: null, tickSize: 0, color: "var(--quiet)" }),
        ...lines.map((line) => Plot.line(line, { x: "year", y: "y", stroke: colour(line[0]), strokeOpacity: 0.4, strokeDasharray: "4 4" })),
        Plot.dot(placed, { x: "year", y: "y", r: 4.5, fill: (d) => (d.today ? colour(d) : "var(--paper)"), stroke: colour, strokeWidth: 1.8, title: "text" }),
        label(placed.filter((point) => !leftward.has(point.year)), 11, "start"),
        label(placed.filter((point) => leftward.has(point.year)), -11, "end"),
      ],
    });
  },
};
