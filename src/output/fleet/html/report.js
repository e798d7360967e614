// Sorts and filters tables, and switches between light and dark. The page is complete without it; it reads nothing but
// the page, and remembers nothing.
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("script");

  // Light and dark: that of the system, until somebody switches.
  const system = matchMedia("(prefers-color-scheme: dark)");
  const theme = document.getElementById("theme");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const showTheme = () => theme.setAttribute("aria-pressed", String(isDark()));
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    showTheme();
  });
  system.addEventListener("change", showTheme);
  showTheme();

  // What a cell is sorted by: its exact number, or its text. Cells without a number are null, and stay last.
  const texts = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const keyOf = (row, column, isNumber) => {
    const cell = row.cells[column];
    if (!isNumber) return cell.textContent;
    return "value" in cell.dataset ? Number(cell.dataset.value) : null;
  };
  const compare = (a, b, isNumber) => (isNumber ? a - b : texts.compare(a, b));

  const sort = (head) => {
    const isNumber = head.classList.contains("number");
    const body = head.closest("table").tBodies[0];
    const was = head.getAttribute("aria-sort");
    // Numbers start with the largest, names with the first.
    const isDown = was === "none" ? isNumber : was === "ascending";
    const rows = Array.from(body.rows, (row) => ({ row, key: keyOf(row, head.cellIndex, isNumber) }));
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
      const order = compare(a.key, b.key, isNumber);
      return isDown ? -order : order;
    });
    for (const other of head.parentElement.cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    body.append(...rows.map(({ row }) => row));
  };

  // Rows whose names hold the text, in every table of the section.
  const filter = (input) => {
    const wanted = input.value.trim().toLowerCase();
    const rows = document.querySelectorAll(`#${input.dataset.filter} tbody tr`);
    let shown = 0;
    for (const row of rows) {
      const names = row.querySelectorAll("th, td.text");
      row.hidden = !Array.from(names).some((name) => name.textContent.toLowerCase().includes(wanted));
      shown += !row.hidden;
    }
    // Tables are folded: open those with a match.
    for (const details of wanted ? document.querySelectorAll(`#${input.dataset.filter} details`) : []) {
      if (details.querySelector("tbody")) details.open = details.querySelector("tbody tr:not([hidden])") !== null;
    }
    const output = input.closest(".filter").querySelector("output");
    output.textContent = wanted ? `${shown} of ${rows.length} rows` : "";
  };

  // Paper cannot be unfolded.
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((details) => { details.open = true; }));

  document.addEventListener("click", (event) => {
    const button = event.target.closest("thead button");
    if (button) sort(button.parentElement);
  });
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-filter]")) filter(event.target);
  });
})();
