// Makes the README's pictures of the page, in light and dark: the page of the invented app in fixtures/27/orchard.
//
//   cargo build && (cd web && npm ci) && node docs/pictures/page.mjs target/debug/traceparse
//
// The machine's fonts are used, so pictures from two machines differ by some pixels.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from '../../web/test/browsers/index.mjs';
import { Tab } from '../../web/test/page/tab.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SHOWN = 'v=1&tab=flame&t=0.4s..0.48s&fn=orchard%3A%3APress%3A%3Afilter(float*%2C%20unsigned%20long%2C%20float)%40Orchard';

const folder = mkdtempSync(join(tmpdir(), 'page-'));
const page = join(folder, 'report.html');
execFileSync(process.argv[2], [join(ROOT, 'fixtures/27/orchard/input.xml'), '-o', page]);
for (const [name, isDark] of [['page.png', false], ['page-dark.png', true]]) {
  const browser = await launch('chromium', { width: 1200, height: 740, isDark });
  const tab = new Tab(browser);
  await tab.open(page, SHOWN);
  await browser.screenshot(join(ROOT, 'docs/pictures', name));
  await browser.close();
}
rmSync(folder, { recursive: true });
