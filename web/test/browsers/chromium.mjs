// Chromium, by Playwright.

import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { splitKeys } from './keys.mjs';

export async function launchChromium({ width, height, isDark }) {
  const browser = await chromium.launch({
    executablePath: process.env.TRACEPARSE_CHROMIUM ?? '/usr/bin/chromium',
    // Containers have no user namespaces to make a sandbox of.
    args: ['--no-sandbox'],
  });
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: isDark ? 'dark' : 'light', permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await context.newPage();
  const messages = [];
  page.on('console', (message) => messages.push(message.text()));
  page.on('pageerror', (error) => messages.push(String(error)));
  const { keyboard, mouse } = page;
  const holding = async (held, work) => {
    for (const key of held) await keyboard.down(key);
    await work();
    for (const key of held) await keyboard.up(key);
  };
  return {
    name: 'chromium',
    version: browser.version(),
    messages,
    page,
    open: (path) => page.goto(pathToFileURL(path).href),
    run: (work, argument) => page.evaluate(work, argument),
    press: (keys) => {
      const { held, key } = splitKeys(keys);
      return holding(held, () => keyboard.press(key));
    },
    type: (text) => keyboard.type(text),
    move: (x, y) => mouse.move(x, y),
    down: () => mouse.down(),
    up: () => mouse.up(),
    click: (x, y, { button = 'left', count = 1, held = [] } = {}) => holding(held, () => mouse.click(x, y, { button, clickCount: count })),
    wheel: async (x, y, dx, dy, held = []) => {
      await mouse.move(x, y);
      await holding(held, () => mouse.wheel(dx, dy));
    },
    resize: (width, height) => page.setViewportSize({ width, height }),
    screenshot: (path) => page.screenshot({ path }),
    close: () => browser.close(),
  };
}
