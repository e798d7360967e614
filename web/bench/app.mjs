// The time from a drop until the overview shows, and the peak memory of the tab, in Chromium. Build the app before: `npm run app`.
//
//   node bench/app.mjs FILE …

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { AppTab } from '../test/app/app_tab.mjs';
import { launch } from '../test/browsers/index.mjs';

const APP = fileURLToPath(new URL('../dist/traceparse.html', import.meta.url));

for (const file of process.argv.slice(2)) {
  const browser = await launch('chromium');
  const tab = new AppTab(browser);
  await tab.open(APP);
  const start = performance.now();
  await tab.drop([file]);
  let peak = 0;
  while ((await browser.run(() => document.querySelector('[data-part=overview] .answer, [data-part=drop-fault]') === null))) {
    peak = Math.max(peak, megabytes());
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const seconds = (performance.now() - start) / 1_000;
  const steps = await browser.run(() => performance.getEntriesByType('measure').map(({ name, startTime, duration }) => `${name} ${Math.round(startTime)}+${Math.round(duration)} ms`));
  console.log(`${file}: ${seconds.toFixed(1)} s, at most ${peak} MB, then ${megabytes()} MB; ${(await tab.text('[data-part=drop-fault]')) ?? steps.join(', ')}`);
  await browser.close();
}

/** The resident memory of the page and its workers: the largest renderer of the machine. */
function megabytes() {
  const lines = execFileSync('ps', ['-eo', 'rss=,args='], { encoding: 'utf8', maxBuffer: 1 << 26 }).split('\n');
  const sizes = lines.filter((line) => line.includes('--type=renderer')).map((line) => Number(line.trim().split(/\s+/, 1)[0]));
  return Math.round(Math.max(...sizes) / 1_000);
}
