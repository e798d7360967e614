// Zooms, searches, and fits texts anew. The picture is complete without it; it reads nothing but the picture, and keeps
// what is shown in the fragment of the address: #zoom=FRAME&search=EXPRESSION.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const HTML = "http://www.w3.org/1999/xhtml";
  const picture = document.currentScript.ownerSVGElement;
  const isAlone = document.documentElement === picture;
  const margin = Number(picture.dataset.margin);
  const padding = Number(picture.dataset.padding);
  const width = Number(picture.dataset.width);
  const thin = Number(picture.dataset.thin);
  const toolsRoom = Number(picture.dataset.tools);
  const room = width - 2 * margin;
  const isIcicle = picture.dataset.icicle === "true";
  const find = (id) => picture.querySelector(`[id="${id}"]`);
  const details = find("details");
  const make = (space, name, attributes, ...children) => {
    const element = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };

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
    if (isPlain(frame.name)) {
      const { name } = frame;
      frame.text.textContent = name.length <= count ? name : `${name.slice(0, count - 1)}…`;
      return;
    }
    const letters = Array.from(frame.name.slice(0, 4 * count));
    count = Math.min(count, letters.length);
    frame.text.textContent = cut(letters, count);
    for (let long = frame.text.getComputedTextLength(); long > pixels && count > 1; long = frame.text.getComputedTextLength()) {
      count = Math.max(1, Math.min(count - 1, Math.floor((count * pixels) / long)));
      frame.text.textContent = cut(letters, count);
    }
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

  // Search: an expression, in any case of letters unless it has capitals, for names of functions and of binaries.
  const expression = () => {
    try {
      // What a backslash stands before is no capital: \S, \W.
      const isExact = /[A-Z]/.test(search.replace(/\\./g, ""));
      return search ? new RegExp(search, isExact ? "" : "i") : null;
    } catch {
      return undefined;
    }
  };
  const mark = () => {
    const wanted = expression();
    input.setAttribute("aria-invalid", String(wanted === undefined));
    for (const frame of frames) {
      frame.isFound = Boolean(wanted) && (wanted.test(frame.name) || (frame.binary !== "" && wanted.test(frame.binary)));
      frame.element.classList.toggle("found", frame.isFound);
    }
    if (wanted === undefined) output.textContent = "no expression";
    else if (wanted === null) output.textContent = "";
    else output.textContent = found();
    tell(told);
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
    if (search) mark();
    remember(true);
  };
  const searchFor = (text) => {
    search = text;
    input.value = text;
    mark();
    remember(false);
  };

  // Tools, right of the title.
  const input = make(HTML, "input", { type: "search", placeholder: "Search", "aria-label": "Search by a regular expression", title: "A regular expression, for functions and binaries (/ or Ctrl-F)", spellcheck: "false", autocomplete: "off" });
  const output = make(SVG, "text", { id: "found", x: width - margin, y: details.getAttribute("y"), role: "status" });
  details.after(output);
  const reset = make(HTML, "button", { type: "button", title: "Show everything (Escape)" }, "Reset zoom");
  const form = make(HTML, "form", { role: "search" }, input, reset);
  const tools = make(SVG, "foreignObject", { id: "tools", x: width - margin - toolsRoom, y: 4, width: toolsRoom, height: 34 }, form);
  picture.insertBefore(tools, find("frames"));
  form.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("input", () => searchFor(input.value));
  reset.addEventListener("click", () => zoomTo(root));

  // What is known of one frame, left of what was found.
  const hint = "Click a frame to zoom; / searches; arrows, Enter and Escape work too.";
  let told = null;
  const tell = (frame) => {
    told = frame ?? null;
    const [name, ...facts] = told ? [told.name, told.binary, ...told.numbers].filter(Boolean) : [hint];
    const rest = facts.map((text) => `  ·  ${text}`).join("");
    const letters = Array.from(name.slice(0, 1000));
    const free = room - (output.textContent ? output.getComputedTextLength() + 16 : 0);
    // The name gives way first, and then all of it.
    const shorten = (text, end, fewest) => {
      details.textContent = text.join("") + end;
      for (let count = text.length; details.getComputedTextLength() > free && count > fewest;) {
        count = Math.max(fewest, Math.floor(count * 0.9));
        details.textContent = cut(text, count) + end;
      }
    };
    shorten(letters, rest, 8);
    if (details.getComputedTextLength() > free) shorten(Array.from(details.textContent), "", 1);
  };
  const frameOf = (target) => {
    const element = target instanceof Element ? target.closest("[data-depth]") : null;
    return element && picture.contains(element) ? frames[indexOf.get(element)] : undefined;
  };
  const indexOf = new Map(frames.map((frame) => [frame.element, frame.index]));
  const area = find("frames");
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
  restore();
})();
