// What was found is on the first screen, nothing scrolls sideways, and texts have contrast: in light and in dark.
const channels = (color) => color.match(/[\d.]+/g).map(Number);
const luminance = ([red, green, blue]) => {
  const linear = [red, green, blue].map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};
const ratio = (a, b) => { const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x); return (high + 0.05) / (low + 0.05); };
addEventListener("load", () => {
  const frame = document.querySelector("iframe");
  const view = frame.contentWindow;
  const page = frame.contentDocument;
  const root = page.documentElement;
  const told = [];
  for (const theme of ["light", "dark"]) {
    root.dataset.theme = theme;
    const box = page.getElementById("findings").getBoundingClientRect();
    check("it is on the first screen", box.top >= 0 && box.bottom <= view.innerHeight && box.height > 20, theme, box.top, box.bottom, view.innerHeight);
    check("it is the first thing", page.querySelector("header").children[1].id === "findings");
    check("nothing scrolls sideways", root.scrollWidth <= root.clientWidth, theme, root.scrollWidth, root.clientWidth);
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
      check("contrast", is >= 4.5, theme, is, item.textContent.slice(0, 40));
    }
    check("there is something to read", items.length > 0 && page.querySelectorAll("#findings li").length <= 6);
    told.push(theme + " " + Math.round(box.bottom) + " " + least.toFixed(1));
  }
  finish(told.join(", "));
});
