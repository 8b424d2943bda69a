// The page's behaviour: draws a chart when it comes near the window, sorts tables, unpacks the raw data, and
// keeps a choice of light or dark.
"use strict";

function draw(figure) {
  const drawing = figure.querySelector(".drawing");
  const width = Math.max(260, Math.floor(drawing.clientWidth));
  if (figure.drawn === width) return;
  figure.drawn = width;
  figure.chart ??= JSON.parse(figure.querySelector("script").textContent);
  const svg = charts[figure.chart.kind](figure.chart, width, figure);
  if (!svg) return drawing.replaceChildren("There is no sample to draw.");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", figure.dataset.label);
  drawing.replaceChildren(svg);
  drawing.style.minHeight = "";
}

function drawLazily() {
  const figures = [...document.querySelectorAll("figure.chart")];
  const near = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)),
    { rootMargin: "600px" },
  );
  for (const figure of figures) {
    const drawing = figure.querySelector(".drawing");
    drawing.style.minHeight = `${Number(drawing.dataset.lines) * ROW + 34}px`;
    near.observe(figure);
  }
  const redraw = () => figures.filter((figure) => figure.drawn).forEach(draw);
  new ResizeObserver(redraw).observe(document.querySelector("main"));
  addEventListener("beforeprint", () => figures.forEach(draw));
  for (const select of document.querySelectorAll("select.series")) {
    select.addEventListener("change", () => {
      const figure = select.closest("section").querySelector("figure");
      figure.drawn = 0;
      draw(figure);
    });
  }
}

/** The key by which a cell is sorted: its number, else its text; cells without a figure come last. */
function key(row, column) {
  const cell = row.cells[column];
  const value = cell.dataset.value ?? cell.textContent.trim();
  if (value === "–") return null;
  return value !== "" && !Number.isNaN(Number(value)) ? Number(value) : value;
}

function compare(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

function sort(button) {
  const header = button.closest("th");
  const table = header.closest("table");
  const ascending = header.getAttribute("aria-sort") !== "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  const rows = [...table.tBodies[0].rows].map((row) => [key(row, header.cellIndex), row]);
  // Cells without a figure stay at the end either way.
  rows.sort(([a], [b]) => (a === null || b === null || ascending ? compare(a, b) : compare(b, a)));
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

/** Offers a run file unpacked, where the browser can. */
async function unpack(event) {
  const link = event.currentTarget;
  if (link.href.startsWith("blob:") || typeof DecompressionStream === "undefined") return;
  event.preventDefault();
  const packed = Uint8Array.from(atob(link.href.slice(link.href.indexOf(",") + 1)), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const blob = await new Response(stream).blob();
  link.href = URL.createObjectURL(new Blob([blob], { type: "application/json" }));
  link.download = link.dataset.name;
  link.click();
}

function offerTheme() {
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const name = () => (button.textContent = isDark() ? "Light" : "Dark");
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  name();
}

offerTheme();
document.querySelectorAll("button.sort").forEach((button) => button.addEventListener("click", () => sort(button)));
document.querySelectorAll("a.download").forEach((link) => link.addEventListener("click", unpack));
drawLazily();
