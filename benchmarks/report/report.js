// Filters of the report. Everything is drawn already; this hides rows and moves what is left to a new axis.
"use strict";
const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
const FACETS = ["graph", "plan", "engine", "device", "measure"];
const FEW = 24; // rows of a chart that are shown at first
const EDGE = 2; // percent that stay free at either end, as in drawing.py

const charts = all(".chart").map((section) => ({
  section,
  measure: section.dataset.measure,
  grid: section.querySelector(".grid"),
  more: section.querySelector("button"),
  link: document.querySelector(`#charts a[href="#${section.id}"]`).parentElement,
  whole: false,
  rows: all(".row", section).map((row) => {
    const marks = all("use[y]", row.querySelector(".s")).reverse(); // the first point is drawn last, on top
    const points = all(".v > span", row).map((text, i) => {
      const [plan, engine, device] = text.dataset.a.split(" ");
      return { text, mark: marks[i], value: +text.dataset.v, plan, engine, device };
    });
    return { row, graph: row.dataset.g, points, span: row.querySelector(".span") };
  }),
}));

const axisOf = (values) => {
  const first = Math.min(...values), last = Math.max(...values);
  return last > first * 1.05 ? { first, last } : { first: first / 2, last: last * 2 };
};
const place = (axis, value) =>
  EDGE + (Math.log(value / axis.first) / Math.log(axis.last / axis.first)) * (100 - 2 * EDGE);
const ticks = ({ first, last }) => {
  const tens = [], within = (tick) => first <= tick && tick <= last;
  for (let e = Math.floor(Math.log10(first)); e <= Math.ceil(Math.log10(last)); e++) tens.push(Number(`1e${e}`));
  const inside = tens.filter(within), step = Math.ceil(inside.length / 6);
  if (inside.length >= 3) return inside.filter((_, i) => i % step === 0);
  return tens.flatMap((ten) => [ten, 2 * ten, 5 * ten]).map((tick) => +tick.toPrecision(3)).filter(within);
};
const shown = (tick) => tick.toLocaleString("en", { maximumSignificantDigits: 3 });
const percent = (x) => `${x.toFixed(2)}%`;

const wanted = () => Object.fromEntries(FACETS.map((facet) =>
  [facet, new Set(all(`input[name="${facet}"]:checked`).map((box) => box.value))]));
const allows = (set, value) => set.size === 0 || set.has(value);

// A row is shown if one of its points has all that is wanted. Points without a plan (other programs) stay beside it.
function draw(chart, want) {
  const values = [];
  let matching = 0;
  for (const { row, graph, points, span } of chart.rows) {
    const here = allows(want.measure, chart.measure) && allows(want.graph, graph);
    const passes = (p) => here && allows(want.engine, p.engine) && allows(want.device, p.device);
    const any = points.some((p) => passes(p) && allows(want.plan, p.plan));
    row.hidden = !any;
    if (!any) continue;
    matching += 1;
    row.classList.toggle("more", matching > FEW);
    const seen = points.filter((p) => {
      const shown = passes(p) && (allows(want.plan, p.plan) || p.plan === "");
      p.text.hidden = !shown;
      p.mark.style.display = shown && p.value > 0 ? "" : "none";
      return shown && p.value > 0;
    });
    if (matching <= FEW || chart.whole) values.push(...seen.map((p) => p.value));
    if (span) span.style.display = seen.length ? "" : "none";
  }
  chart.section.hidden = chart.link.hidden = matching === 0;
  chart.section.classList.toggle("short", !chart.whole);
  chart.more.hidden = matching <= FEW;
  chart.more.textContent = chart.whole ? `Show the first ${FEW} rows` : `Show all ${matching} rows`;
  chart.more.setAttribute("aria-expanded", chart.whole);
  if (values.length) rescale(chart, axisOf(values));
  return matching;
}

function rescale(chart, axis) {
  chart.grid.innerHTML = ticks(axis).map((tick) => {
    const x = percent(place(axis, tick));
    return `<line x1="${x}" x2="${x}" y1="18" y2="100%"/><text x="${x}" y="12">${shown(tick)}</text>`;
  }).join("");
  for (const { row, points, span } of chart.rows) {
    if (row.hidden) continue;
    const xs = points.filter((p) => p.mark.style.display !== "none").map((p) => {
      const x = place(axis, p.value);
      p.mark.setAttribute("x", percent(x));
      return x;
    });
    if (span && xs.length) {
      span.setAttribute("x1", percent(Math.min(...xs)));
      span.setAttribute("x2", percent(Math.max(...xs)));
    }
  }
}

function drawAll() {
  const want = wanted();
  const rows = charts.map((chart) => draw(chart, want));
  const total = rows.reduce((sum, count) => sum + count, 0);
  const left = rows.filter((count) => count).length;
  document.querySelector("output").textContent = left
    ? `${total.toLocaleString("en")} rows in ${left} charts` : "Nothing matches; uncheck a filter";
  for (const facet of FACETS) {
    const chosen = all(`input[name="${facet}"]:checked`).length;
    document.querySelector(`#${facet} summary`).textContent = facet + (chosen ? ` (${chosen})` : "");
  }
  const chosen = all("form input:checked").map((box) => [box.name, box.dataset.name]);
  const hash = new URLSearchParams(chosen).toString();
  if (hash || filtered()) history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
}

const filtered = () => location.hash.includes("=");
function fromAddress() {
  if (!filtered()) return;
  const chosen = new Set([...new URLSearchParams(location.hash.slice(1))].map(String));
  for (const box of all("form input")) box.checked = chosen.has(`${box.name},${box.dataset.name}`);
}

for (const chart of charts) {
  chart.more.addEventListener("click", () => {
    chart.whole = !chart.whole;
    draw(chart, wanted());
  });
}
document.querySelector("form").addEventListener("change", drawAll);
document.querySelector("form").addEventListener("reset", () => setTimeout(drawAll));
document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
document.querySelector("#theme").addEventListener("click", () => {
  const style = document.documentElement.dataset;
  const dark = style.theme ? style.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  style.theme = dark ? "light" : "dark";
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const open of all("form details[open]")) {
    open.open = false;
    open.querySelector("summary").focus();
  }
});
document.addEventListener("click", (event) => {
  for (const open of all("form details[open]")) if (!open.contains(event.target)) open.open = false;
});
addEventListener("hashchange", () => { if (filtered()) { fromAddress(); drawAll(); } });
fromAddress();
drawAll();
document.documentElement.dataset.ready = "yes";
