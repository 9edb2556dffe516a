"use strict";
// Tables sort by the column whose title is pressed; what is not known stays last. Without scripts they stand in the order of the report.
for (const th of document.querySelectorAll("section thead th")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = th.textContent;
  th.replaceChildren(button);
  button.addEventListener("click", () => sort(th));
}
function sort(th) {
  const table = th.closest("table"), column = th.cellIndex;
  const down = th.getAttribute("aria-sort") === "ascending";
  for (const other of table.querySelectorAll("thead th")) other.removeAttribute("aria-sort");
  th.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = table.tBodies[0];
  const key = row => {
    const cell = row.cells[column];
    if (cell.classList.contains("unknown")) return null;
    return "value" in cell.dataset ? BigInt(cell.dataset.value) : cell.textContent;
  };
  const compare = (a, b) => {
    if (a === null || b === null) return (a === null) - (b === null);
    let order;
    if (typeof a === "bigint" && typeof b === "bigint") {
      order = a === b ? 0 : (a > b ? 1 : -1);
    } else {
      order = String(a).localeCompare(String(b), "en");
    }
    return down ? -order : order;
  };
  const rows = Array.from(body.rows, row => ({row, key: key(row)}));
  rows.sort((a, b) => compare(a.key, b.key));
  body.append(...rows.map(r => r.row));
}
const theme = document.getElementById("theme");
theme.hidden = false;
theme.addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
