// The functions that are the same in Playwright and Puppeteer.

import { addressOf } from './address.mjs';
import { splitKeys } from './keys.mjs';

/** Wraps a page with its keyboard and mouse, and records console messages from now on. */
export function drivenPage(page) {
  const { keyboard, mouse } = page;
  const messages = [];
  page.on('console', (message) => messages.push(message.text()));
  page.on('pageerror', (error) => messages.push(String(error)));
  // The app asks before an unsaved recording is lost.
  page.on('dialog', (dialog) => void dialog.accept());
  const holding = async (held, work) => {
    for (const key of held) await keyboard.down(key);
    await work();
    for (const key of held) await keyboard.up(key);
  };
  return {
    page,
    messages,
    holding,
    open: (path, fragment) => page.goto(addressOf(path, fragment)),
    run: (work, argument) => page.evaluate(work, argument),
    press: (keys) => {
      const { held, key } = splitKeys(keys);
      return holding(held, () => keyboard.press(key));
    },
    type: (text) => keyboard.type(text),
    move: (x, y) => mouse.move(x, y),
    down: () => mouse.down(),
    up: () => mouse.up(),
    screenshot: (path) => page.screenshot({ path }),
  };
}
