// What was found is on the first screen, nothing scrolls sideways, and texts have contrast: in light and in dark.
const channels = (color) => color.match(/[\d.]+/g).map(Number);
const luminance = ([red, green, blue]) => {
  const linear = [red, green, blue].map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};
const ratio = (a, b) => { const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x); return (high + 0.05) / (low + 0.05); };
const look = (frame) => {
  const view = frame.contentWindow;
  const page = frame.contentDocument;
  const root = page.documentElement;
  const told = [];
  for (const theme of ["light", "dark"]) {
    root.dataset.theme = theme;
    const box = page.getElementById("findings").getBoundingClientRect();
    const width = view.innerWidth;
    check("it is on the first screen", box.top >= 0 && box.bottom <= view.innerHeight && box.height > 20, width, theme, box.top, box.bottom, view.innerHeight);
    check("it is the first thing", page.querySelector("header").children[1].id === "findings");
    check("nothing scrolls sideways", root.scrollWidth <= root.clientWidth, width, theme, root.scrollWidth, root.clientWidth);
    const ground = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const color = channels(view.getComputedStyle(at).backgroundColor);
        if (color.length === 3 || color[3] > 0) return color;
      }
      return [255, 255, 255];
    };
    const items = [...page.querySelectorAll("#findings li, .behind dt, .behind dd, .behind code, .legend, figcaption span")];
    let least = 21;
    for (const item of items) {
      const is = ratio(channels(view.getComputedStyle(item).color), ground(item));
      least = Math.min(least, is);
      check("contrast", is >= 4.5, width, theme, is, item.textContent.slice(0, 40));
    }
    check("there is something to read", items.length > 0 && page.querySelectorAll("#findings li").length <= 6);
    told.push(width + " " + theme + " " + Math.round(box.bottom) + " " + least.toFixed(1));
  }
  if (view.innerWidth === 360) told.push(narrow(page, root));
  return told;
};
// Tables scroll by themselves.
const narrow = (page, root) => {
  check("it fits", root.scrollWidth <= root.clientWidth, root.scrollWidth, root.clientWidth);
  const theme = page.querySelector("[data-part=theme]");
  check("the button is one line", theme.offsetHeight < 2 * parseFloat(getComputedStyle(theme).lineHeight), theme.offsetHeight);
  const wide = [...page.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth);
  return "wide tables " + wide.length;
};
await new Promise((done) => addEventListener("load", done));
const told = [];
for (const frame of document.querySelectorAll("iframe")) {
  await opened(frame.contentDocument);
  told.push(...look(frame));
}
finish(told.join(", "));
