// Opens a flame graph in Chromium, does what it is told, and prints as JSON what the picture is after each step.
//
//     NODE_PATH=…/node_modules CHROMIUM=… node browser.cjs FILE.svg WIDTH light|dark '[["click", 3], ["key", "Escape"]]'
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");

// Playwright wants a path; a name alone is one of those on PATH.
const found = (name) => {
  if (name.includes("/")) return name;
  const paths = process.env.PATH.split(path.delimiter).map((folder) => path.join(folder, name));
  return paths.find((candidate) => fs.existsSync(candidate)) ?? name;
};

// Where things stand in the window. Runs in the page.
const places = () => {
  const place = (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return { left, top, right, bottom };
  };
  const wanted = { root: '[data-depth="0"] rect', legend: "#legend", title: "#title", search: "input", bar: "#bar", lines: "#lines" };
  const found = Object.entries(wanted).map(([name, selector]) => [name, place(document.querySelector(selector))]);
  const texts = Array.from(document.querySelectorAll("#title, .line, #details, #facts, #found"), place);
  return {
    places: Object.fromEntries(found), window: { width: innerWidth, height: innerHeight },
    scroll: { width: document.documentElement.scrollWidth, top: scrollY },
    textsEnd: Math.max(...texts.map((text) => text.right)),
  };
};

// What the picture shows. Runs in the page.
const state = () => {
  const frames = Array.from(document.querySelectorAll("[data-depth]"), (element, index) => {
    const [title, rect, text] = element.children;
    const isShown = getComputedStyle(element).display !== "none";
    const letters = text && text.textContent ? text.textContent : "";
    return {
      index, isShown, all: Number(element.dataset.all), isCompared: "beforeAll" in element.dataset, name: title.textContent.split("\n")[0], text: letters,
      x: Number(rect.getAttribute("x")), width: Number(rect.getAttribute("width")),
      textWidth: isShown && letters ? text.getComputedTextLength() : 0,
      isFound: element.classList.contains("found"), hasFocus: element === document.activeElement,
    };
  });
  return {
    frames, found: document.getElementById("found")?.textContent, hash: location.hash,
    details: document.getElementById("details").textContent, facts: document.getElementById("facts").textContent,
    ...places(),
    isSearching: document.activeElement === document.querySelector("input"),
    canReset: document.querySelector("button")?.disabled === false,
    hacked: String(window.hacked),
  };
};

// The least contrast of texts with what they stand on, as WCAG 2 defines it. Runs in the page.
const contrast = () => {
  const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [red, green, blue] = numbers(colour).slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ratio = (a, b) => {
    const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (light + 0.05) / (dark + 0.05);
  };
  // Frames that fade show the paper.
  const over = (colour, opacity, paper) => {
    const [top, bottom] = [numbers(colour), numbers(paper)];
    return `rgb(${[0, 1, 2].map((at) => top[at] * opacity + bottom[at] * (1 - opacity)).join(",")})`;
  };
  const paper = getComputedStyle(document.getElementById("paper")).fill;
  const least = { paper, frames: Infinity, lines: Infinity, tools: Infinity };
  for (const text of document.querySelectorAll("[data-depth] text")) {
    const rect = getComputedStyle(text.parentElement.querySelector("rect"));
    const ground = over(rect.fill, Number(rect.fillOpacity), paper);
    least.frames = Math.min(least.frames, ratio(getComputedStyle(text).fill, ground));
  }
  for (const text of document.querySelectorAll("#title, .line, #details, #facts, #found")) {
    least.lines = Math.min(least.lines, ratio(getComputedStyle(text).fill, paper));
  }
  for (const tool of document.querySelectorAll("input, button:enabled")) {
    const style = getComputedStyle(tool);
    least.tools = Math.min(least.tools, ratio(style.color, style.backgroundColor));
  }
  return least;
};

// The picture in an <img>: its size, and the colours of some of its points.
const asImage = async (context, file, points) => {
  const page = await context.newPage();
  const address = `data:image/svg+xml;base64,${fs.readFileSync(file).toString("base64")}`;
  await page.setContent(`<body style="margin:0"><img src="${address}">`);
  await page.waitForFunction(() => document.querySelector("img").complete);
  const size = await page.evaluate(() => [document.querySelector("img").naturalWidth, document.querySelector("img").naturalHeight]);
  const shot = (await page.screenshot({ fullPage: true })).toString("base64");
  const colours = await page.evaluate(async ([picture, wanted]) => {
    const image = new Image();
    image.src = `data:image/png;base64,${picture}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    const hex = ([red, green, blue]) => `#${[red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
    return wanted.map(([x, y]) => hex(pen.getImageData(x, y, 1, 1).data));
  }, [shot, points]);
  await page.close();
  return { size, colours };
};

(async () => {
  const [file, width, colorScheme, steps] = process.argv.slice(2);
  const browser = await chromium.launch({ executablePath: found(process.env.CHROMIUM), args: ["--no-sandbox", "--disable-gpu"] });
  try {
    // A narrow window is that of a phone.
    const isMobile = Number(width) < 500;
    const viewport = { width: Number(width), height: isMobile ? 844 : 800 };
    const context = await browser.newContext({ viewport, colorScheme, isMobile, hasTouch: isMobile });
    const page = await context.newPage();
    await page.addInitScript(`window.places = ${places}`);
    const errors = [];
    const requests = [];
    page.on("console", (message) => errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(`file://${file}`);
    const frame = (index) => page.locator("[data-depth]").nth(index).locator("rect");
    const states = [await page.evaluate(state)];
    for (const [what, value] of JSON.parse(steps)) {
      let told = null;
      // The left part of a frame is in sight, however wide it is.
      if (what === "click") await frame(value).click({ position: { x: 1, y: 5 }, force: true });
      else if (what === "hover") await frame(value).hover({ position: { x: 1, y: 5 }, force: true });
      else if (what === "reset") await page.locator("button").click();
      else if (what === "type") await page.keyboard.type(value);
      else if (what === "key") await page.keyboard.press(value);
      else if (what === "back") await page.goBack();
      else if (what === "open") await page.goto(`file://${file}${value}`);
      else if (what === "resize") {
        await page.setViewportSize({ width: value, height: viewport.height });
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      } else if (what === "scroll") {
        await page.evaluate((top) => scrollTo(0, top), value);
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      } else if (what === "pdf") told = (await page.pdf({ path: value, format: "A4" })).length;
      else if (what === "contrast") told = await page.evaluate(contrast);
      else if (what === "image") told = await asImage(context, file, value);
      else if (what === "print") await page.emulateMedia({ media: value ? "print" : "screen" });
      else if (what === "screenshot") await page.screenshot({ path: value });
      else throw new Error(`no step ${what}`);
      // A worker tries expressions.
      await page.waitForFunction(() => !document.getElementById("found")?.textContent.startsWith("searching"));
      states.push({ ...(await page.evaluate(state)), told });
    }
    console.log(JSON.stringify({ states, errors, requests }));
  } finally {
    await browser.close();
  }
})().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
