"use strict";
// Hides the rows whose text has not all the words of the filter, and the charts without rows. Works from file:.
const input = document.querySelector("input"), output = document.querySelector("output");
const charts = [...document.querySelectorAll(".chart")].map((chart) => ({
  chart,
  title: chart.querySelector("h2").textContent.toLowerCase(),
  rows: [...chart.querySelectorAll(".row")].map((row) => [row, row.textContent.toLowerCase()]),
}));
function filter() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const { chart, title, rows } of charts) {
    let shown = 0;
    for (const [row, text] of rows) {
      row.hidden = !words.every((word) => text.includes(word) || title.includes(word));
      shown += !row.hidden;
    }
    chart.hidden = !shown;
    count += shown;
  }
  output.textContent = count ? `${count} rows` : "Nothing matches";
}
input.addEventListener("input", filter);
document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
filter();
document.documentElement.dataset.ready = "yes";
