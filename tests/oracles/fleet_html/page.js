// What a browser is to do with a page: press every head of every table, filter, switch colours. Runs after the page's own
// script; `COHORTS` is how many cohorts there are.
const heads = (table) => [...table.tHead.rows[0].cells];
const rows = (table) => [...table.tBodies[0].rows];
const keys = (table, column, isNumber) => rows(table).map((row) => {
  const cell = row.cells[column];
  if (!isNumber) return cell.textContent || null;
  return cell.hasAttribute("data-value") ? parseFloat(cell.getAttribute("data-value")) : null;
});

// Whether numbers are in order, and cells without one behind them.
const isOrdered = (keys, isDown) => keys.every((key, index) => {
  if (index === 0 || key === null) return true;
  const before = keys[index - 1];
  return before !== null && (isDown ? before >= key : before <= key);
});

await opened(document);
let pressed = 0;
let changed = 0;
const tables = [...document.querySelectorAll("table")];
for (const table of tables) {
  const name = table.caption.textContent;
  const count = rows(table).length;
  check("rows are as wide as the head", rows(table).every((row) => row.cells.length === heads(table).length), name);
  for (const [column, head] of heads(table).entries()) {
    const button = head.querySelector("button");
    const isNumber = head.classList.contains("number");
    check("a button for the keyboard", button.tabIndex === 0 && button.type === "button", name);
    const orders = [];
    for (const round of [1, 2]) {
      button.click();
      await later(0);
      const sort = head.getAttribute("aria-sort");
      const found = keys(table, column, isNumber);
      orders.push([sort, found.join()]);
      if (isNumber) check("in order", isOrdered(found, sort === "descending"), name, column, round, sort, found);
      const sorted = heads(table).filter((other) => other.getAttribute("aria-sort") !== "none");
      check("one head is marked", sorted.length === 1 && sorted[0] === head, name, column);
      check("no row is lost", rows(table).length === count, name, column);
    }
    pressed += 1;
    check("both ways", orders[0][0] !== orders[1][0] && !orders.some(([sort]) => sort === "none"), name, column);
    const distinct = new Set(keys(table, column, isNumber).filter((key) => key !== null)).size;
    check("the order changes", distinct < 2 || orders[0][1] !== orders[1][1], name, column);
    changed += orders[0][1] !== orders[1][1];
  }
}

// Filters.
let filtered = 0;
for (const input of document.querySelectorAll(".filter input")) {
  const shown = () => [...input.closest("section").querySelectorAll("tbody tr")];
  const all = shown();
  const set = (text) => {
    input.value = text;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    return later(0);
  };
  if (all.length === 0) continue;
  const wanted = all[all.length - 1].cells[0].textContent;
  await set(` ${wanted.toUpperCase()} `);
  check("what is wanted stays", shown().length > 0 && shown().every((row) => row.cells[0].textContent.includes(wanted)), wanted);
  check("it says how many", input.closest("p").querySelector("output").textContent .startsWith(`${shown().length} of `));
  const kept = new Set(all.map((row) => row.cells[0].textContent)).size;
  check("others go", kept < 2 || shown().length < all.length, wanted);
  filtered += shown().length < all.length;
  await set("no such name");
  check("nothing is left", shown().length === 0);
  await set("");
  check("all come back", shown().length === all.length);
}

// Plots.
const across = document.querySelectorAll("#across-runs .plot").length;
const units = document.querySelectorAll("#across-runs figure.boxes").length;
const overTime = document.querySelectorAll("#over-time .plot").length;
check("a histogram a cohort, box plots a unit", across === COHORTS + units && (COHORTS === 0) === (units === 0), across, units);
check("a timeline a cohort", overTime === COHORTS, overTime);
for (const svg of document.querySelectorAll("svg:not([aria-hidden])")) {
  check("a plot says what it is", svg.getAttribute("aria-label").length > 20);
  const box = svg.getBoundingClientRect();
  check("a plot is seen", box.width > 200 && box.height > 50, box.width, box.height);
}

// Colours: every role has one, and one that can be read, in both themes.
const channels = (color) => color.match(/[\d.]+/g).map(Number);
const luminance = (color) => {
  const [r, g, b] = channels(color).map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};
const background = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const color = getComputedStyle(at).backgroundColor;
    if ((channels(color)[3] ?? 1) === 1) return color;
  }
  return "rgb(255, 255, 255)";
};
const readable = () => {
  for (const selector of ["p", "h1", "a", "small", "td", "td.none", "td.noise", "th", "dt", ".badge", "figcaption span", "li", "button"]) {
    for (const element of [...document.querySelectorAll(selector)].slice(0, 40)) {
      const ratio = contrast(getComputedStyle(element).color, background(element));
      check("text is read", ratio >= 4.5, selector, element.textContent.slice(0, 30), ratio);
    }
  }
  for (const text of [...document.querySelectorAll("svg text")].slice(0, 40)) {
    const ratio = contrast(getComputedStyle(text).fill, background(text.closest("svg")));
    check("labels are read", ratio >= 4.5, text.textContent, ratio);
  }
  for (const shape of [...document.querySelectorAll(".plot .bar, .plot .tail, .plot .middle")].slice(0, 80)) {
    const { fill, stroke } = getComputedStyle(shape);
    const ratio = contrast(fill === "none" ? stroke : fill, background(shape.closest("svg")));
    check("shapes are seen", ratio >= 3, shape.outerHTML, ratio);
  }
};
const page = () => getComputedStyle(document.body).backgroundColor;
const theme = document.querySelector("[data-part=theme]");
const press = async () => {
  theme.click();
  await later(200);
};
const light = page();
readable();
await press();
check("dark is dark", page() !== light && luminance(page()) < 0.05 && theme.dataset.choice === "dark", page());
readable();
await press();
check("and back", page() === light && luminance(light) > 0.9 && theme.dataset.choice === "light", page());
finish(`tables ${tables.length}, heads ${pressed}, changed ${changed}, filters ${filtered}, plots ${across + overTime}`);
