// Charts of rows, a function for each kind; report/charts.rs describes their data. lines.js has the others.
"use strict";

const charts = {
  /** Every sample of each contender in a row, with median and interval. */
  samples({ log, count, rows }, width) {
    const [value, format] = measure(count);
    const at = layout(rows, width);
    const right = rightMargin(at.lines);
    const blocks = Math.max(1, ...at.lines.flatMap((row) => [...row.used, ...row.left_out].map(([block]) => block)));
    const dots = (kind) =>
      at.lines.flatMap((row) => row[kind].map(([block, ns]) => ({ ns, x: value(ns), y: row.y - 10 + (20 * (block - 0.5)) / blocks, row, block })));
    const all = [...dots("used"), ...dots("left_out")].map((dot) => dot.x);
    if (all.length === 0) return null;
    const domain = log ? [Math.min(...all) * 0.9, Math.max(...all) * 1.1] : [0, Math.max(...all) * 1.02];
    const inner = width - at.margin - right;
    const said = (dot) => `${dot.row.label}, block ${dot.block}: ${format(dot.x)}${count ? `, ${duration(dot.ns)}` : ""}`;
    const measured = at.lines.filter((row) => row.median !== null);
    const ticks = log ? logTicks(...domain, inner) : Math.max(2, Math.round(inner / 110));
    return plot({
      width, height: at.bottom + 30, marginLeft: at.margin, marginRight: right, marginTop: 0, marginBottom: 30,
      x: { type: log ? "log" : "linear", domain },
      marks: [
        Plot.gridX({ ticks, stroke: "var(--line)", strokeOpacity: 1 }),
        Plot.axisX({ ticks, tickFormat: format, label: null, tickSize: 0, color: "var(--quiet)" }),
        Plot.link(measured.filter((row) => row.interval), { x1: (d) => value(d.interval.low), x2: (d) => value(d.interval.high), y: "y", stroke: colour, strokeOpacity: 0.28, strokeWidth: 20, strokeLinecap: "butt" }),
        Plot.dot(dots("left_out"), { x: "x", y: "y", r: 1.9, stroke: (d) => colour(d.row), strokeOpacity: 0.8, strokeWidth: 0.8, title: (d) => `${said(d)}, disturbed` }),
        Plot.dot(dots("used"), { x: "x", y: "y", r: 2.1, fill: (d) => colour(d.row), fillOpacity: 0.75, title: said }),
        Plot.link(measured, { x: (d) => value(d.median), y1: (d) => d.y - 12, y2: (d) => d.y + 12, stroke: colour, strokeWidth: 2.5, strokeLinecap: "butt" }),
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

  /** Percentiles of durations in rows: a median, what few operations exceed, and the slowest. */
  latency({ series }, width, figure) {
    const { clock, rows } = series[chosen(figure)];
    const at = layout(rows, width);
    const right = rightMargin(at.lines);
    const places = ["p50", "p90", "p99", "p999", "max"];
    const reported = (row) => places.filter((place) => row.percentiles[place] != null);
    const dots = at.lines.flatMap((row) => reported(row).map((place) => ({ row, place, y: row.y, ns: row.percentiles[place] })));
    // The highest percentile that is shown: the rest is few operations.
    const most = (row) => row.percentiles.p99 ?? row.percentiles.p90 ?? row.percentiles.p50;
    const ends = [...dots.map((dot) => dot.ns), ...(clock ? [clock] : [])].map((ns) => Math.max(ns, 1));
    const domain = [Math.min(...ends) / 1.3, Math.max(...ends) * 1.3];
    const ticks = logTicks(...domain, width - at.margin - right);
    const names = { p50: "median", p90: "90 %", p99: "99 %", p999: "99.9 %", max: "slowest" };
    const of = (...wanted) => dots.filter((dot) => wanted.includes(dot.place));
    const shown = { x: "ns", y: "y", title: (d) => `${d.row.label}, ${names[d.place]}: ${duration(d.ns)}` };
    return plot({
      width, height: at.bottom + 30, marginLeft: at.margin, marginRight: right, marginTop: 0, marginBottom: 30,
      x: { type: "log", domain },
      marks: [
        Plot.gridX(ticks, { stroke: "var(--line)", strokeOpacity: 1 }),
        Plot.axisX(ticks, { tickFormat: duration, label: null, tickSize: 0, color: "var(--quiet)" }),
        ...(clock ? [Plot.ruleX([clock], { stroke: "var(--quiet)", strokeDasharray: "3 4" })] : []),
        Plot.link(at.lines, { x1: (d) => d.percentiles.p50, x2: most, y: "y", stroke: colour, strokeOpacity: 0.45, strokeWidth: 6, strokeLinecap: "butt" }),
        Plot.link(at.lines, { x1: most, x2: (d) => d.percentiles.max, y: "y", stroke: colour, strokeOpacity: 0.6, strokeWidth: 1.2 }),
        Plot.link(of("p90", "p99", "p999"), { x: "ns", y1: (d) => d.y - 6, y2: (d) => d.y + 6, stroke: (d) => colour(d.row), strokeWidth: 2, strokeLinecap: "butt", title: shown.title }),
        Plot.dot(of("p50"), { ...shown, r: 5, fill: (d) => colour(d.row) }),
        Plot.dot(of("max"), { ...shown, r: 4, fill: "var(--paper)", stroke: (d) => colour(d.row), strokeWidth: 1.8 }),
        ...rowTexts(at, width, right),
      ],
    });
  },

  /** The work of each second of each trial, as bars in rows. */
  timeline({ series }, width, figure) {
    const { rows } = series[chosen(figure)];
    const at = layout(rows, width);
    const right = rightMargin(at.lines);
    const GAP = 1;
    const bars = at.lines.flatMap((row) => {
      const most = Math.max(...row.trials.flat(), 1);
      let second = -GAP;
      return row.trials.flatMap((trial, place) => {
        second += GAP;
        return trial.map((done, i) => ({ row, done, stall: done < row.usual / 10, x: second++, high: Math.max((24 * done) / most, 1), busy: row.busy[place][i], made: row.made[place][i], beside: row.beside[place][i], name: `trial ${place + 1}, second ${i + 1}` }));
      });
    });
    if (bars.length === 0) return null;
    const said = (bar) => `${bar.row.label}, ${bar.name}: ${rate(bar.done)}${bar.beside && `; ${bar.beside}`}`;
    const domain = [0, Math.max(...bars.map((bar) => bar.x)) + 1];
    const wide = Math.max(1, (0.8 * (width - at.margin - right)) / domain[1]);
    const bar = { x: (bar) => bar.x + 0.5, y2: (bar) => bar.row.y + 12, strokeWidth: wide, strokeLinecap: "butt", title: said };
    return plot({
      width, height: at.bottom + 10, marginLeft: at.margin, marginRight: right, marginTop: 0, marginBottom: 10,
      x: { type: "linear", domain, axis: null },
      marks: [
        Plot.link(bars.filter((bar) => !bar.stall), { ...bar, y1: (bar) => bar.row.y + 12 - bar.high, stroke: (bar) => colour(bar.row), strokeOpacity: 0.65 }),
        Plot.link(bars.filter((bar) => bar.stall), { ...bar, y1: (bar) => bar.row.y - 12, stroke: "var(--ink)", strokeOpacity: 0.8 }),
        Plot.link(bars.filter((bar) => bar.busy !== null), { ...bar, ariaDescription: "How busy the disk was", y1: (bar) => bar.row.y + 13, y2: (bar) => bar.row.y + 15.5, stroke: "var(--ink)", strokeOpacity: (bar) => Math.min(bar.busy, 1) * 0.7 }),
        Plot.dot(bars.filter((bar) => bar.made > 0), { ariaDescription: "Checkpoints, compactions and flushes", x: bar.x, y: (bar) => bar.row.y + 14.3, r: 1.6, fill: "var(--ink)", title: said }),
        ...rowTexts(at, width, right),
      ],
    });
  },

  /** The rungs of a ladder as a waterfall: each bar from the rate of the rung that it changes to its own. */
  ladder({ series }, width, figure) {
    const LEVELS = [["survives power loss", 0], ["survives a crash of the process", 4], ["may lose commits in a crash", 1], ["keeps nothing, or unknown", 5]];
    const { rows } = series[chosen(figure)];
    const keys = LEVELS.map(([words, colour], place) => ({ words, colour, place })).filter((key) => rows.some((row) => row.level === key.place));
    if (rows.some((row) => row.published)) keys.push({ words: "published, other hardware", place: -1 });
    let [x, y] = [6, 12];
    for (const key of keys) {
      const long = key.words.length * 6.8 + 34;
      if (x + long > width && x > 6) [x, y] = [6, y + 20];
      Object.assign(key, { x, y });
      x += long;
    }
    // The words for the marks stand where headings would.
    const above = Math.ceil((y + 12) / 30);
    const at = layout([...Array(above).fill({ head: "" }), ...rows], width);
    const right = rightMargin(at.lines);
    const lines = at.lines.filter((row) => row.rate !== null).map((row) => ({ ...row, colour: LEVELS[row.level][1] }));
    const ends = lines.flatMap((row) => [row.rate, row.from, row.published, row.interval?.low, row.interval?.high].filter((x) => x > 0));
    if (ends.length === 0) return null;
    const domain = [Math.min(...ends) / 1.3, Math.max(...ends) * 1.25];
    const ticks = logTicks(...domain, width - at.margin - right);
    const steps = lines.filter((row) => row.from > 0);
    const gains = steps.filter((row) => row.rate >= row.from);
    const losses = steps.filter((row) => row.rate < row.from);
    const said = (row) => `${row.label}: ${row.text}, ${LEVELS[row.level][0]}`;
    const bar = { x1: "from", x2: "rate", y: "y", strokeLinecap: "butt", title: said };
    // A line down from each rung to the next one that begins there.
    const down = steps.filter((row) => row.next).map((row) => ({ ...row, above: lines[lines.indexOf(row) - 1]?.y ?? row.y }));
    const published = lines.filter((row) => row.published > 0);
    const legend = { frameAnchor: "left", y: "y" };
    return plot({
      width, height: at.bottom + 30, marginLeft: at.margin, marginRight: right, marginTop: 0, marginBottom: 30,
      x: { type: "log", domain },
      marks: [
        Plot.link(ticks, { x1: (d) => d, x2: (d) => d, y1: above * 30 + 4, y2: at.bottom, stroke: "var(--line)", strokeLinecap: "butt" }),
        Plot.axisX(ticks, { tickFormat: rate, label: null, tickSize: 0, color: "var(--quiet)" }),
        Plot.link(down, { x: "from", y1: "above", y2: (d) => d.y + 7, stroke: "var(--quiet)", strokeWidth: 1, strokeOpacity: 0.7, strokeLinecap: "butt" }),
        Plot.link(gains, { ...bar, stroke: colour, strokeOpacity: 0.55, strokeWidth: 14 }),
        Plot.link(losses, { ...bar, stroke: colour, strokeWidth: 14 }),
        Plot.link(losses, { ...bar, stroke: "var(--paper)", strokeWidth: 11 }),
        Plot.link(lines.filter((row) => row.interval), { x1: (d) => d.interval.low, x2: (d) => d.interval.high, y: "y", stroke: colour, strokeWidth: 2.5, strokeLinecap: "butt" }),
        Plot.dot(lines, { x: "rate", y: "y", r: 5, symbol: (d) => SYMBOLS[d.level], fill: colour, stroke: "var(--paper)", strokeWidth: 1, title: said }),
        Plot.dot(published, { x: "published", y: "y", r: 4.5, symbol: "times", stroke: "var(--ink)", strokeWidth: 1.6, title: (d) => `${d.label}: ${rate(d.published)} published` }),
        ...keys.map((key) => Plot.dot([key], { ...legend, r: 5, dx: key.x - at.margin + 4, ...(key.place < 0 ? { symbol: "times", stroke: "var(--ink)", strokeWidth: 1.6 } : { symbol: SYMBOLS[key.place], fill: colour(key) }) })),
        ...keys.map((key) => Plot.text([key], { ...legend, text: "words", textAnchor: "start", dx: key.x - at.margin + 14, fill: "var(--quiet)" })),
        ...rowTexts(at, width, right),
      ],
    });
  },

  /** The functions of two builds as blocks below their files, coloured by what each gained or lost. */
  functions({ series }, width, figure) {
    const [FILES, FUNCTIONS, HIGH] = [18, 60, 32];
    let all = 0;
    const blocks = series[chosen(figure)].rows.map((row) => {
      const x1 = all;
      all += Math.max(row.before, row.now);
      return { ...row, x1, x2: all, y: FUNCTIONS, gained: row.now - row.before };
    });
    if (all === 0) return null;
    const files = [];
    for (const { file, x1, x2, gained } of blocks) {
      const last = files.at(-1);
      if (last?.label === file) Object.assign(last, { x2, gained: last.gained + gained });
      else files.push({ label: file, x1, x2, y: FILES, gained });
    }
    const most = (blocks) => Math.max(...blocks.map((block) => Math.abs(block.gained)), 1);
    const [mostOfFunctions, mostOfFiles] = [most(blocks), most(files)];
    const strength = (block) => (block.gained === 0 ? 0.18 : 0.2 + (0.4 * Math.abs(block.gained)) / (block.y === FILES ? mostOfFiles : mostOfFunctions));
    const shade = (block) => (block.gained > 0 ? "var(--c1)" : block.gained < 0 ? "var(--c0)" : "var(--quiet)");
    const said = (block) => `${block.label}: ${block.text ?? `${block.gained > 0 ? "+" : ""}${block.gained.toLocaleString("en")}`} instructions`;
    const letters = (block) => Math.floor((((block.x2 - block.x1) / all) * (width - 2) - 8) / 7);
    const placed = [...files, ...blocks];
    return plot({
      width, height: FUNCTIONS + HIGH / 2 + 6, marginLeft: 1, marginRight: 1, marginTop: 0, marginBottom: 0,
      x: { type: "linear", domain: [0, all], axis: null },
      marks: [
        Plot.link(placed, { x1: "x1", x2: "x2", y: "y", stroke: shade, strokeOpacity: strength, strokeWidth: HIGH, strokeLinecap: "butt", title: said }),
        Plot.link(placed, { x: "x2", y1: (d) => d.y - HIGH / 2, y2: (d) => d.y + HIGH / 2, stroke: "var(--paper)", strokeWidth: 1, strokeLinecap: "butt" }),
        Plot.text(placed.filter((block) => letters(block) > 3), { x: "x1", y: "y", text: (block) => cut(block.label, letters(block)), textAnchor: "start", dx: 4, fill: "var(--ink)", pointerEvents: "none" }),
      ],
    });
  },
};
