// A page in a browser, used like a person would: with the mouse on visible elements, and with keys.

/** In milliseconds. */
const READY_WITHIN = 30_000;

export const TABS = ['overview', 'flame', 'tree', 'functions', 'callers', 'chart', 'binaries', 'categories', 'source', 'threads', 'states', 'cores', 'intervals'];

/** Waits for a condition, and throws if it does not become true. */
export async function waitFor(condition, what, milliseconds = 10_000) {
  const end = performance.now() + milliseconds;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`${what}: not within ${milliseconds / 1_000} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export class Tab {
  constructor(browser) {
    this.browser = browser;
  }

  /** Opens a page with a fragment. Nothing stored by previous pages is left. */
  async open(path, fragment = '') {
    const isClean = await this.#openOnce(path, fragment);
    if (!isClean && !(await this.#openOnce(path, fragment))) throw new Error('the page stores what no one chose');
  }

  /** Opens a page once. Returns true if nothing was stored. */
  async #openOnce(path, fragment) {
    await this.browser.open(path, fragment);
    await this.ready();
    return !(await this.browser.run(forget));
  }

  /** Follows a link to the open page, as if it were pasted into the address bar. */
  async follow(fragment) {
    await this.browser.run((fragment) => void (location.hash = fragment), fragment);
    await this.ready();
  }

  /** Waits until the page has computed everything on the screen. */
  async ready() {
    const end = performance.now() + READY_WITHIN;
    for (;;) {
      const state = await this.browser.run(settled, 1_000);
      if (state === 'ready') return;
      if (performance.now() > end) throw new Error(`ready: not within ${READY_WITHIN / 1_000} s: ${state}`);
    }
  }

  /** Scrolls the first element that matches a selector (and a text, if given) into view, and returns its centre. */
  async place(selector, text = null) {
    const found = await this.browser.run(
      ([selector, text]) => {
        const all = [...document.querySelectorAll(selector)];
        const element = all.find((element) => text === null || element.textContent.includes(text));
        if (element === undefined) return `${selector} ${text ?? ''}: none of ${all.length}`;
        element.scrollIntoView({ block: 'nearest', inline: 'nearest' });
        const { left, top, width, height } = element.getBoundingClientRect();
        return { x: left + width / 2, y: top + height / 2, left, top, width, height };
      },
      [selector, text],
    );
    if (typeof found === 'string') throw new Error(found);
    return found;
  }

  async click(selector, text = null, options = {}) {
    const { x, y } = await this.place(selector, text);
    await this.browser.click(x, y, options);
    await this.ready();
  }

  async press(keys) {
    await this.browser.press(keys);
    await this.ready();
  }

  /** Types into the search field; an empty string clears it. */
  async search(text) {
    await this.click('#search');
    await this.browser.press('Control+a');
    await this.browser.press('Delete');
    await this.browser.type(text);
    // The search waits for a pause in typing, which is longer on a busy machine.
    const end = performance.now() + READY_WITHIN;
    while ((await this.browser.run(searched)) !== text) {
      if (performance.now() > end) throw new Error(`${text}: not searched for within ${READY_WITHIN / 1_000} s`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await this.ready();
  }

  show(tab) {
    return this.click(`#tab-${tab}`);
  }

  /** WebKit adds a line break after the last block. */
  text(selector) {
    return this.browser.run((selector) => document.querySelector(selector)?.innerText.trimEnd() ?? null, selector);
  }

  count(selector) {
    return this.browser.run((selector) => document.querySelectorAll(selector).length, selector);
  }

  fragment() {
    return this.browser.run(() => decodeURIComponent(location.hash.slice(1)));
  }

  /** Returns the tables on the screen, in the form in which they are saved as JSON. */
  async tables() {
    return JSON.parse(await this.savedTables('json')).tables;
  }

  /** Returns the saved file of the tables on the screen: `tsv` or `json`. */
  async savedTables(kind) {
    const [files, isOpen] = await this.browser.run(saveTables, kind);
    if (files.length !== 1) throw new Error(`${files.length} files saved${isOpen ? '' : ', no menu opened'}`);
    await this.ready();
    return files[0];
  }

  /** Returns the text of the file that `work` saves. */
  async saved(work) {
    return (await this.savedFile(work)).text;
  }

  /** Returns the type, the size and the text of the file that `work` saves. A browser beside other programs takes seconds to encode a picture. */
  async savedFile(work) {
    await this.browser.run(() => void (globalThis.savedFiles.length = 0));
    await work();
    const files = await this.browser.run(async () => {
      for (const end = performance.now() + 10_000; globalThis.savedFiles.length === 0 && performance.now() < end; ) await new Promise((resolve) => setTimeout(resolve, 5));
      return Promise.all(globalThis.savedFiles.map(async (blob) => ({ type: blob.type, size: blob.size, text: await blob.text() })));
    });
    if (files.length !== 1) throw new Error(`${files.length} files saved`);
    return files[0];
  }
}

/**
 * Saves the tables on the screen by the menu. Runs in the page, since cases do it often. Returns the saved file, and whether the menu
 * opened.
 */
async function saveTables(kind) {
  globalThis.savedFiles.length = 0;
  const until = async (condition) => {
    for (const end = performance.now() + 10_000; !condition() && performance.now() < end; ) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const item = () => document.querySelector(`[data-part=menu] [data-action=save-${kind}]`);
  document.querySelector('[data-part=save]').click();
  await until(() => item() !== null);
  const isOpen = item() !== null;
  item()?.click();
  await until(() => globalThis.savedFiles.length > 0);
  return [await Promise.all(globalThis.savedFiles.map((blob) => blob.text())), isOpen];
}

/** Returns the search text in the link to the page. */
function searched() {
  return new URLSearchParams(location.hash.slice(1)).get('q') ?? '';
}

/** Returns the state of the page as soon as it is `ready`, or another state after this many milliseconds. */
async function settled(milliseconds) {
  const end = performance.now() + milliseconds;
  const { dataset } = document.documentElement;
  const isReady = async () => {
    while (dataset.state !== 'ready' && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
    return dataset.state === 'ready';
  };
  if (!(await isReady())) return dataset.state ?? null;
  // The state follows a change in the next frame.
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  await isReady();
  return dataset.state ?? null;
}

/**
 * Removes data that the browser stored for previous pages, such as their colours. Returns true if there was any. Files that the page saves
 * are kept in memory.
 */
function forget() {
  const remembered = localStorage.length > 0;
  localStorage.clear();
  globalThis.savedFiles = [];
  const make = URL.createObjectURL;
  URL.createObjectURL = (blob) => {
    globalThis.savedFiles.push(blob);
    return make.call(URL, blob);
  };
  HTMLAnchorElement.prototype.click = () => {};
  return remembered;
}
