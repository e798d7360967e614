// Firefox, by Puppeteer over WebDriver BiDi. Playwright drives only a Firefox of its own.

import { pathToFileURL } from 'node:url';
import puppeteer from 'puppeteer-core';
import { splitKeys } from './keys.mjs';

export async function launchFirefox({ width, height, isDark }) {
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: process.env.TRACEPARSE_FIREFOX ?? '/usr/bin/firefox-esr',
    headless: true,
    extraPrefsFirefox: { 'layout.css.prefers-color-scheme.content-override': isDark ? 0 : 1 },
  });
  const page = await browser.newPage();
  await page.setViewport({ width, height });
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
    name: 'firefox',
    version: await browser.version(),
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
    click: (x, y, { button = 'left', count = 1, held = [] } = {}) => holding(held, () => mouse.click(x, y, { button, count })),
    wheel: async (x, y, dx, dy, held = []) => {
      await mouse.move(x, y);
      await holding(held, () => mouse.wheel({ deltaX: dx, deltaY: dy }));
    },
    resize: (width, height) => page.setViewport({ width, height }),
    screenshot: (path) => page.screenshot({ path }),
    close: () => browser.close(),
  };
}
