// Drives Firefox with Puppeteer over WebDriver BiDi. Playwright supports only its patched Firefox.

import puppeteer from 'puppeteer-core';
import { drivenPage } from './page.mjs';

export async function launchFirefox({ width, height, isDark }) {
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: process.env.TRACEPARSE_FIREFOX ?? '/usr/bin/firefox-esr',
    headless: true,
    extraPrefsFirefox: { 'layout.css.prefers-color-scheme.content-override': isDark ? 0 : 1 },
  });
  const page = await browser.newPage();
  await page.setViewport({ width, height });
  const driven = drivenPage(page);
  return {
    ...driven,
    name: 'firefox',
    version: await browser.version(),
    click: (x, y, { button = 'left', count = 1, held = [] } = {}) => driven.holding(held, () => page.mouse.click(x, y, { button, count })),
    wheel: async (x, y, dx, dy, held = []) => {
      await page.mouse.move(x, y);
      await driven.holding(held, () => page.mouse.wheel({ deltaX: dx, deltaY: dy }));
    },
    choose: async (selector, paths) => (await page.$(selector)).uploadFile(...paths),
    resize: (width, height) => page.setViewport({ width, height }),
    close: () => browser.close(),
  };
}
