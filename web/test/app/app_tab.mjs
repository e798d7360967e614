// The app in a browser: files are dropped in Chromium, and chosen by the inputs in other browsers.

import { statSync } from 'node:fs';
import { Tab, waitFor } from '../page/tab.mjs';

export class AppTab extends Tab {
  /** Drops files and folders, as a person does from a file manager. Only Chromium can do this. */
  async drop(paths, { x = 300, y = 300 } = {}) {
    for (const type of ['dragEnter', 'dragOver', 'drop']) await this.drag(type, paths, { x, y });
  }

  async drag(type, paths, { x = 300, y = 300 } = {}) {
    const { page } = this.browser;
    page.devtools ??= await page.context().newCDPSession(page);
    await page.devtools.send('Input.dispatchDragEvent', { type, x, y, data: { items: [], files: [paths].flat(), dragOperationsMask: 1 } });
  }

  /** Chooses files, or a folder. */
  choose(paths) {
    const isFolder = statSync(paths[0]).isDirectory();
    return this.browser.choose(`[data-part=input-${isFolder ? 'folder' : 'files'}]`, paths);
  }

  /** Passes files to the page in the way that a person would use in this browser. */
  give(paths) {
    return this.browser.name === 'chromium' ? this.drop(paths) : this.choose(paths);
  }

  /** Waits until a reading has ended, and returns its fault; null if there is none. */
  async read() {
    await waitFor(async () => (await this.count('[data-reading]')) === 0, 'the end of the reading', 60_000);
    if ((await this.count('[data-part=start]')) === 0) await this.ready();
    return this.text('[data-part=drop-fault] p');
  }

  /** Opens the app, and a recording in it. */
  async openWith(app, paths, fragment = '') {
    await this.open(app, fragment);
    await this.give(paths);
    const fault = await this.read();
    if (fault !== null) throw new Error(fault);
  }
}
