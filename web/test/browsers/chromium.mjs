// Drives Chromium with Playwright.

import { chromium } from 'playwright-core';
import { drivenPage } from './page.mjs';

export async function launchChromium({ width, height, isDark }) {
  const browser = await chromium.launch({
    executablePath: process.env.TRACEPARSE_CHROMIUM ?? '/usr/bin/chromium',
    // Containers have no user namespaces, which the sandbox needs.
    args: ['--no-sandbox'],
  });
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: isDark ? 'dark' : 'light', permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await context.newPage();
  const driven = drivenPage(page);
  return {
    ...driven,
    name: 'chromium',
    version: browser.version(),
    click: (x, y, { button = 'left', count = 1, held = [] } = {}) => driven.holding(held, () => page.mouse.click(x, y, { button, clickCount: count })),
    wheel: async (x, y, dx, dy, held = []) => {
      await page.mouse.move(x, y);
      await driven.holding(held, () => page.mouse.wheel(dx, dy));
    },
    choose: (selector, paths) => page.setInputFiles(selector, paths),
    resize: (width, height) => page.setViewportSize({ width, height }),
    close: () => browser.close(),
  };
}
