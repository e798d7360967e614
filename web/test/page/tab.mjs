// A page in a browser, used as a person does: by the mouse at what is on the screen, and by keys.

import { until } from '../browsers/index.mjs';

export class Tab {
  constructor(browser) {
    this.browser = browser;
  }

  /** Opens a page, with a fragment; the messages of the console begin anew. */
  async open(path, fragment = '') {
    await this.browser.open(path);
    await this.ready();
    if (await this.browser.run(forget)) {
      await this.browser.open(path);
      await this.ready();
    }
    if (fragment !== '') await this.follow(fragment);
    await this.browser.run(keepDownloads);
  }

  /** Goes to a link of the open page, as one that is pasted into the address bar. */
  async follow(fragment) {
    await this.browser.run((fragment) => void (location.hash = fragment), fragment);
    await this.ready();
  }

  /** Waits until the page has computed everything that is on the screen. */
  async ready() {
    await until(this.browser, 'ready', () => document.documentElement.dataset.state === 'ready' || document.documentElement.dataset.state);
    // The state follows a change with the next frame.
    await this.browser.run(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(null)))));
    await until(this.browser, 'ready again', () => document.documentElement.dataset.state === 'ready' || document.documentElement.dataset.state);
  }

  /** The middle of the first element of a selector, whose text may be asked for; it is scrolled into sight. */
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

  /** Types into the search; an empty text clears it. */
  async search(text) {
    await this.click('#search');
    await this.browser.press('Control+a');
    await this.browser.press('Delete');
    await this.browser.type(text);
    // The search waits for a pause in typing.
    await new Promise((resolve) => setTimeout(resolve, 250));
    await this.ready();
  }

  show(tab) {
    return this.click(`#tab-${tab}`);
  }

  text(selector) {
    return this.browser.run((selector) => document.querySelector(selector)?.innerText ?? null, selector);
  }

  count(selector) {
    return this.browser.run((selector) => document.querySelectorAll(selector).length, selector);
  }

  fragment() {
    return this.browser.run(() => decodeURIComponent(location.hash.slice(1)));
  }

  /** The tables on the screen, as they are saved as JSON. */
  async tables() {
    const text = await this.saved(async () => {
      await this.browser.run(() => document.querySelector('[data-part=save]').click());
      await this.ready();
      await this.browser.run(() => document.querySelector('[data-part=menu] [data-action=save-json]').click());
      await this.ready();
    });
    return JSON.parse(text).tables;
  }

  /** The file that is saved by what `work` does. */
  async saved(work) {
    await this.browser.run(() => void (globalThis.savedFiles.length = 0));
    await work();
    const files = await this.browser.run(() => Promise.all(globalThis.savedFiles.map((blob) => blob.text())));
    if (files.length !== 1) throw new Error(`${files.length} files saved`);
    return files[0];
  }
}

/** Takes back what the browser remembers of pages before, such as their colours; true if there was something. */
function forget() {
  const remembered = localStorage.length > 0;
  localStorage.clear();
  return remembered;
}

/** Files that the page saves are kept in it, and go nowhere. */
function keepDownloads() {
  globalThis.savedFiles = [];
  const make = URL.createObjectURL;
  URL.createObjectURL = (blob) => {
    globalThis.savedFiles.push(blob);
    return make.call(URL, blob);
  };
  HTMLAnchorElement.prototype.click = () => {};
}
