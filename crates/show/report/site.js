// Shows the suites, machines and contenders that the address asks for: index.html#suite=kv&machine=…&contender=lmdb.
// Without a script everything is shown.
(() => {
  "use strict";
  const form = document.querySelector("form.choose");
  const cited = document.getElementById("cited");
  const fields = ["suite", "machine", "contender"].map((id) => document.getElementById(id));
  const [suite, machine, contender] = fields;
  const values = (name) => [...new Set([...document.querySelectorAll(`[data-${name}]`)].map((e) => e.dataset[name]))].sort();
  for (const [field, name] of [[suite, "suite"], [machine, "machine"]]) {
    for (const value of values(name)) field.add(new Option(value, value));
  }

  function show() {
    for (const part of document.querySelectorAll("[data-suite]")) {
      part.hidden = suite.value !== "" && part.dataset.suite !== suite.value;
    }
    for (const row of document.querySelectorAll("[data-contender]")) {
      row.hidden = !row.dataset.contender.includes(contender.value);
    }
    for (const table of document.querySelectorAll("table.matrix")) {
      [...table.tHead.rows[0].cells].forEach((head, place) => {
        const hidden = machine.value !== "" && head.dataset.machine !== undefined && head.dataset.machine !== machine.value;
        for (const row of table.rows) row.cells[place].hidden = hidden;
      });
    }
  }

  // The sentence with which the figure is cited that the address names.
  function cite() {
    const figure = document.querySelector("td:target a[title]");
    cited.hidden = !figure;
    cited.textContent = figure ? `To cite the figure: ${figure.title} ${location.href}` : "";
  }

  // An address names a cell or filters (#suite=kv); a cell's own address leaves the filters as they are.
  function read() {
    cite();
    const asked = new URLSearchParams(location.hash.slice(1));
    if (location.hash.length > 1 && !fields.some((field) => asked.has(field.id))) return;
    for (const field of fields) field.value = asked.get(field.id) ?? "";
    show();
  }

  function write() {
    const asked = new URLSearchParams();
    for (const field of fields) if (field.value !== "") asked.set(field.id, field.value);
    history.replaceState(null, "", `#${asked}`);
    show();
  }

  for (const field of fields) field.addEventListener("input", write);
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", read);
  form.hidden = false;
  read();
})();
