// A browser that runs the engine. Queries and answers are strings.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundled } from '../command.mjs';
import { written } from '../tables.mjs';
import { launch } from './index.mjs';

/** Starts a browser with a script that answers queries. `load` opens a new page with the given contents of elements, by id. */
export async function browserPlace(name, entry) {
  const [browser, script] = [await launch(name), await bundled(entry, 'iife')];
  const folder = mkdtempSync(join(tmpdir(), 'place-'));
  const path = join(folder, 'page.html');
  return {
    name,
    async load(texts) {
      const elements = Object.entries(texts).map(([id, text]) => `<script id="${id}" type="application/octet-stream">${text}</script>`);
      writeFileSync(path, `<!doctype html><meta charset="utf-8">${elements.join('')}<script>${script}</script>`);
      await browser.open(path);
      return (query) => browser.run((query) => globalThis.answer(query), written(query));
    },
    async close() {
      const messages = await browser.messages;
      if (messages.length > 0) throw new Error(`${name}: ${messages.join('\n')}`);
      await browser.close();
      rmSync(folder, { recursive: true });
    },
  };
}
