// Fits the picture to the window, zooms and searches. The picture is complete without it; it reads nothing but the picture, and
// keeps what is shown in the fragment of the address: #zoom=FRAME&search=EXPRESSION.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const HTML = "http://www.w3.org/1999/xhtml";
  const picture = document.currentScript.ownerSVGElement;
  const isAlone = document.documentElement === picture;
  const margin = Number(picture.dataset.margin);
  const padding = Number(picture.dataset.padding);
  const thin = Number(picture.dataset.thin);
  const roomForShare = Number(picture.dataset.share);
  const rowHeight = Number(picture.dataset.row);
  const fitsWindow = isAlone && picture.dataset.fixed !== "true";
  let width = Number(picture.dataset.width);
  let room = width - 2 * margin;
  const isIcicle = picture.dataset.icicle === "true";
  const find = (id) => picture.querySelector(`[id="${id}"]`);
  const make = (space, name, attributes, ...children) => {
    const element = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };

  // A phone takes a page that does not say otherwise for one that was made for a large screen.
  if (fitsWindow) picture.append(make(HTML, "meta", { name: "viewport", content: "width=device-width, initial-scale=1" }));

  // The frames, each with the one it stands on, and the index behind the last that stands on it.
  const open = [];
  const frames = Array.from(find("frames").children, (element, index) => {
    const [title, rect, text] = element.children;
    const { depth, start, all } = element.dataset;
    const [name, binary, ...numbers] = title.textContent.split("\n");
    const frame = {
      element, rect, text, index, name, binary, numbers, end: index + 1, isFound: false,
      depth: Number(depth), start: Number(start), all: Number(all),
    };
    open.length = frame.depth;
    for (const below of open) below.end = index + 1;
    frame.below = open[frame.depth - 1] ?? null;
    open.push(frame);
    return frame;
  });
  const area = find("frames");
  const root = frames[0];
  if (!root) return;
  let zoomed = root;
  let search = "";

  // Texts: how many letters fit, and what of a name they show. Only letters of ASCII are known to be as wide as others.
  const letterWidth = (() => {
    const probe = make(SVG, "text", { visibility: "hidden" }, "m".repeat(100));
    find("frames").append(probe);
    const measured = probe.getComputedTextLength() / 100;
    probe.remove();
    return measured > 0 ? measured : 7.45;
  })();
  const isPlain = (name) => /^[\x20-\x7e]*$/.test(name);
  const cut = (letters, count) => (letters.length <= count ? letters.join("") : `${letters.slice(0, Math.max(0, count - 1)).join("")}…`);
  const fit = (frame, frameX, frameWidth) => {
    const pixels = frameWidth - 2 * padding;
    let count = Math.floor(pixels / letterWidth);
    if (count < 3) {
      if (frame.text) frame.text.textContent = "";
      return;
    }
    if (!frame.text) {
      frame.text = make(SVG, "text", { y: Number(frame.rect.getAttribute("y")) + 12 });
      frame.element.append(frame.text);
    }
    frame.text.setAttribute("x", frameX + padding);
    // The share of the root stands behind a name of which enough is left. A comparison has none.
    const known = /^[^(]*(\([\d.]+ %\)), self/.exec(frame.numbers[0])?.[1];
    let share = known ? `  ${known.slice(1, -1)}` : "";
    if (count < Math.min(frame.name.length + share.length, roomForShare)) share = "";
    count -= share.length;
    if (isPlain(frame.name)) {
      const { name } = frame;
      frame.text.textContent = (name.length <= count ? name : `${name.slice(0, count - 1)}…`) + share;
      return;
    }
    const letters = Array.from(frame.name.slice(0, 4 * count));
    count = Math.min(count, letters.length);
    frame.text.textContent = cut(letters, count) + share;
    for (let long = frame.text.getComputedTextLength(); long > pixels && count > 1; long = frame.text.getComputedTextLength()) {
      count = Math.max(1, Math.min(count - 1, Math.floor((count * pixels) / long)));
      frame.text.textContent = cut(letters, count) + share;
    }
  };

  // Tools: the search, and a line about one frame and what was found. Above the frames, the line stays in sight.
  const input = make(HTML, "input", { type: "search", placeholder: "Search", "aria-label": "Search by a regular expression", title: "A regular expression, for functions and binaries (/ or Ctrl-F)", spellcheck: "false", autocomplete: "off" });
  const reset = make(HTML, "button", { type: "button", title: "Show everything (Escape)" }, "Reset zoom");
  const form = make(HTML, "form", { role: "search" }, input, reset);
  const tools = make(SVG, "foreignObject", { id: "tools" }, form);
  picture.insertBefore(tools, area);
  const details = make(SVG, "text", { id: "details", x: margin, y: 13 });
  const facts = make(SVG, "text", { id: "facts", x: margin, y: 30 });
  const output = make(SVG, "text", { id: "found", y: 13, role: "status" });
  const paper = make(SVG, "rect", { class: "paper", width: "100%" });
  const bar = make(SVG, "g", { id: "bar" }, paper, details, facts, output);
  area.after(bar);

  // Places of all that is above the frames, for the width of the window.
  const narrow = 700;
  const lineHeight = 17;
  const swatch = 18;
  const title = { element: find("title"), text: picture.querySelector("title").textContent };
  const sentences = picture.querySelector("desc").textContent.split("\n").filter(Boolean);
  const entries = Array.from(find("legend").children);
  const levels = frames.reduce((deepest, frame) => Math.max(deepest, frame.depth), 0) + 1;
  // The start of a text that fits, and what always stands behind it.
  const shorten = (element, text, end, free, fewest) => {
    const letters = Array.from(text);
    element.textContent = text + end;
    for (let count = letters.length; element.getComputedTextLength() > free && count > fewest;) {
      count = Math.max(fewest, Math.floor(count * 0.9));
      element.textContent = cut(letters, count) + end;
    }
  };
  const layLines = (top) => {
    const rows = find("lines");
    let y = top;
    const add = (text) => {
      const row = make(SVG, "text", { class: "line", x: margin, y: (y += lineHeight) });
      rows.append(row);
      shorten(row, text, "", room, 1);
      return row;
    };
    rows.replaceChildren();
    for (const sentence of sentences) {
      let [first, ...words] = sentence.split(" ");
      let row = add(first);
      for (const word of words) {
        const before = row.textContent;
        row.textContent = `${before} ${word}`;
        if (row.getComputedTextLength() <= room) continue;
        row.textContent = before;
        row = add(word);
      }
    }
    return y;
  };
  const layLegend = (top) => {
    let [x, y] = [margin, entries.length > 0 ? top + lineHeight + 2 : top];
    for (const entry of entries) {
      const long = swatch + entry.lastElementChild.getComputedTextLength();
      if (x + long > width - margin && x > margin) [x, y] = [margin, y + lineHeight + 1];
      entry.setAttribute("transform", `translate(${x} ${y})`);
      x += long + 14;
    }
    return y;
  };
  let barTop = 0;
  const stick = () => {
    const above = isAlone ? scrollY - barTop : 0;
    bar.setAttribute("transform", `translate(0 ${barTop + Math.max(0, above)})`);
  };
  const layOut = () => {
    if (fitsWindow) width = Math.max(320, document.documentElement.clientWidth);
    room = width - 2 * margin;
    const isNarrow = width < narrow;
    picture.classList.toggle("narrow", isNarrow);
    const toolsWidth = isNarrow ? room : 310;
    const toolsPlace = { x: width - margin - toolsWidth, y: isNarrow ? 36 : 4, width: toolsWidth, height: isNarrow ? 44 : 34 };
    for (const [key, value] of Object.entries(toolsPlace)) tools.setAttribute(key, value);
    shorten(title.element, title.text, "", isNarrow ? room : room - toolsWidth - margin, 1);
    barTop = layLegend(layLines(isNarrow ? 74 : 30)) + 6;
    const barHeight = isNarrow ? 37 : 20;
    paper.setAttribute("height", barHeight);
    output.setAttribute("x", width - margin);
    area.setAttribute("transform", `translate(0 ${barTop + barHeight})`);
    const height = barTop + barHeight + rowHeight * levels + margin;
    for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) picture.setAttribute(key, value);
    stick();
  };

  // Places: the zoomed frame is as wide as the picture, and so are those it stands on.
  const place = () => {
    const scale = zoomed.all > 0 ? room / zoomed.all : 0;
    for (const frame of frames) {
      const isBelow = frame.index < zoomed.index && zoomed.index < frame.end;
      const isOn = zoomed.index <= frame.index && frame.index < zoomed.end;
      frame.element.style.display = isBelow || isOn ? "" : "none";
      frame.element.classList.toggle("below", isBelow);
      if (!isBelow && !isOn) continue;
      const isWhole = isBelow || frame === zoomed;
      const x = isWhole ? margin : margin + (frame.start - zoomed.start) * scale;
      const frameWidth = isWhole ? room : frame.all * scale;
      frame.rect.setAttribute("x", x);
      frame.rect.setAttribute("width", frameWidth);
      frame.rect.classList.toggle("thin", frameWidth < thin);
      fit(frame, x, frameWidth);
    }
    reset.disabled = zoomed === root;
  };

  // Search: an expression, in any case of letters unless it has capitals, for names of functions and of binaries. A link may bring any
  // expression, and one such as (\w+)+! takes years: a worker tries it for a limited time. Plain text needs none.
  const longestSearch = 1500;
  const names = Array.from(new Set(frames.flatMap(({ name, binary }) => [name, binary])));
  const seeker = `onmessage = ({ data: [source, flags, names] }) => {
    const wanted = new RegExp(source, flags);
    postMessage(names.filter((name) => wanted.test(name)));
  }`;
  let stopSeeking = () => {};
  const seek = (flags) => {
    const worker = new Worker(URL.createObjectURL(new Blob([seeker], { type: "text/javascript" })));
    const fail = (why) => show([], () => `${why}; search for plain text`);
    const timer = setTimeout(() => fail("too slow"), longestSearch);
    stopSeeking = () => {
      clearTimeout(timer);
      worker.terminate();
    };
    worker.onmessage = ({ data }) => show(data, found);
    worker.onerror = () => fail("no expressions here");
    worker.postMessage([search, flags, names]);
  };
  let answer = () => "";
  const tellAnswer = () => {
    output.textContent = answer();
    tell(told);
  };
  // Ends a search: with these names, and what is written about them.
  const show = (matching, text) => {
    stopSeeking();
    const wanted = new Set(matching);
    for (const frame of frames) {
      frame.isFound = wanted.has(frame.name) || (frame.binary !== "" && wanted.has(frame.binary));
      frame.element.classList.toggle("found", frame.isFound);
    }
    answer = text;
    tellAnswer();
  };
  const isExpression = () => {
    try {
      return Boolean(new RegExp(search));
    } catch {
      return false;
    }
  };
  const mark = () => {
    // What a backslash stands before is no capital: \S, \W.
    const isExact = /[A-Z]/.test(search.replace(/\\./g, ""));
    const fold = (text) => (isExact ? text : text.toLowerCase());
    const isRead = isExpression();
    input.setAttribute("aria-invalid", String(!isRead));
    if (!search) return show([], () => "");
    if (!isRead) return show([], () => "no expression");
    if (!/[\\^$.*+?()[\]{}|]/.test(search)) return show(names.filter((name) => fold(name).includes(fold(search))), found);
    show([], () => "searching …");
    try {
      seek(isExact ? "" : "i");
    } catch {
      show([], () => "no expressions here; search for plain text");
    }
  };
  // What was found below and on the zoomed frame. A frame that stands on one that was found adds nothing.
  const found = () => {
    const count = frames.filter((frame) => frame.isFound).length;
    const percent = (part, whole) => `${(whole > 0 ? (part * 100) / whole : 0).toFixed(2)} %`;
    const weight = (from) => {
      let sum = 0;
      for (let index = from.index; index < from.end;) {
        const frame = frames[index];
        sum += frame.isFound ? frame.all : 0;
        index = frame.isFound ? frame.end : index + 1;
      }
      return sum;
    };
    const isBelow = (frame) => frame.below !== null && (frame.below.isFound || isBelow(frame.below));
    const inZoomed = isBelow(zoomed) ? zoomed.all : weight(zoomed);
    const of = zoomed === root ? "" : `, ${percent(inZoomed, zoomed.all)} of zoom`;
    return count === 0 ? "none found" : `found ${percent(weight(root), root.all)}${of}`;
  };

  // The address.
  const fragment = () => {
    const parts = new URLSearchParams();
    if (zoomed !== root) parts.set("zoom", String(zoomed.index));
    if (search) parts.set("search", search);
    return parts.toString();
  };
  const remember = (isStep) => {
    if (!isAlone) return;
    const text = fragment();
    if (text === location.hash.slice(1)) return;
    try {
      if (isStep) history.pushState(null, "", `#${text}`);
      else history.replaceState(null, "", `#${text}`);
    } catch {
      // Where the address may not change, it stays.
    }
  };
  const restore = () => {
    const parts = new URLSearchParams(isAlone ? location.hash.slice(1) : "");
    zoomed = frames[Number(parts.get("zoom") ?? 0)] ?? root;
    search = parts.get("search") ?? "";
    input.value = search;
    reach(zoomed);
    place();
    mark();
  };
  // One frame can be reached with Tab at a time.
  let current = root;
  const reach = (frame) => {
    const { element, name, binary, numbers } = frame;
    current.element.setAttribute("tabindex", "-1");
    current = frame;
    element.setAttribute("role", "button");
    element.setAttribute("aria-label", [name, binary, ...numbers].filter(Boolean).join(", "));
    element.setAttribute("tabindex", "0");
  };
  const zoomTo = (frame) => {
    zoomed = frame;
    reach(frame);
    place();
    tellAnswer();
    remember(true);
  };
  const searchFor = (text) => {
    search = text;
    input.value = text;
    mark();
    remember(false);
  };

  // What is known of one frame, left of what was found.
  const hint = matchMedia("(hover: none)").matches
    ? "Tap a frame to zoom in."
    : "Click a frame to zoom; / searches; arrows, Enter and Escape work too.";
  let told = null;
  const tell = (frame) => {
    told = frame ?? null;
    const isNarrow = width < narrow;
    // What comes last is cut first.
    const known = told && (isNarrow ? [...told.numbers, told.binary] : [told.binary, ...told.numbers]);
    const [name, ...numbers] = told ? [told.name, ...known.filter(Boolean)] : [hint];
    const rest = numbers.map((text) => `  ·  ${text}`).join("");
    const free = room - (output.textContent ? output.getComputedTextLength() + 16 : 0);
    // The name gives way first, and then all of it.
    shorten(details, name.slice(0, 1000), isNarrow ? "" : rest, free, 8);
    if (details.getComputedTextLength() > free) shorten(details, details.textContent, "", free, 1);
    shorten(facts, isNarrow ? numbers.join("  ·  ") : "", "", room, 1);
  };
  const frameOf = (target) => {
    const element = target instanceof Element ? target.closest("[data-depth]") : null;
    return element && picture.contains(element) ? frames[indexOf.get(element)] : undefined;
  };
  const indexOf = new Map(frames.map((frame) => [frame.element, frame.index]));
  area.addEventListener("click", (event) => {
    const frame = frameOf(event.target);
    if (!frame) return;
    zoomTo(frame);
    focus(frame);
  });
  area.addEventListener("mouseover", (event) => tell(frameOf(event.target)));
  area.addEventListener("mouseleave", () => tell(null));
  // Chromium takes elements that listen to these for ones that Tab should reach.
  document.addEventListener("focusin", (event) => tell(frameOf(event.target)));
  document.addEventListener("focusout", () => tell(null));

  // Keys: arrows go from frame to frame.
  const focus = (frame) => {
    if (!frame) return;
    reach(frame);
    frame.element.focus();
  };
  const isShown = (frame) => Boolean(frame) && frame.element.style.display !== "none";
  const neighbour = (frame, step) => {
    let index = frame.index + step;
    while (frames[index] && frames[index].depth !== frame.depth) index += step;
    return isShown(frames[index]) ? frames[index] : null;
  };
  const callee = (frame) => (frame.end > frame.index + 1 ? frames.slice(frame.index + 1, frame.end).find(isShown) : null);
  const moves = {
    ArrowUp: (frame) => (isIcicle ? frame.below : callee(frame)),
    ArrowDown: (frame) => (isIcicle ? callee(frame) : frame.below),
    ArrowLeft: (frame) => neighbour(frame, -1),
    ArrowRight: (frame) => neighbour(frame, 1),
    Home: () => root,
  };
  area.addEventListener("keydown", (event) => {
    const frame = frameOf(event.target);
    if (!frame || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      zoomTo(frame);
    } else if (event.key in moves) {
      event.preventDefault();
      focus(moves[event.key](frame));
    }
  });
  const escape = () => {
    if (document.activeElement === input) {
      if (search) searchFor("");
      else input.blur();
    } else if (zoomed !== root) {
      zoomTo(root);
    } else if (search) {
      searchFor("");
    }
  };
  document.addEventListener("keydown", (event) => {
    const isTyping = document.activeElement === input;
    const isFind = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f";
    const isSlash = event.key === "/" && !(event.ctrlKey || event.metaKey || event.altKey);
    if (event.key === "Escape") {
      event.preventDefault();
      escape();
    } else if (isAlone && !isTyping && (isFind || isSlash)) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });
  area.setAttribute("role", "group");
  area.setAttribute("aria-label", "Frames");
  addEventListener("hashchange", restore);
  addEventListener("scroll", stick, { passive: true });
  const fitWindow = () => {
    if (width === document.documentElement.clientWidth) return;
    layOut();
    place();
    tell(told);
  };
  if (fitsWindow) addEventListener("resize", () => requestAnimationFrame(fitWindow));
  form.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("input", () => searchFor(input.value));
  reset.addEventListener("click", () => zoomTo(root));
  layOut();
  restore();
  // A picture that is higher than the window may have got a bar to scroll it, which takes from its width.
  if (fitsWindow) fitWindow();
})();
