// The time in which Chromium opens pages, and the memory that it needs for each.
//
//   node bench/opening.mjs PAGE.html …

import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { launch } from '../test/browsers/index.mjs';

for (const page of process.argv.slice(2)) {
  const browser = await launch('chromium');
  const start = performance.now();
  await browser.open(resolve(page));
  let state = 'busy';
  while (state === 'busy') {
    await new Promise((done) => setTimeout(done, 50));
    state = await browser.run(() => document.documentElement.dataset.state);
  }
  const seconds = (performance.now() - start) / 1_000;
  const { megabytes, cpu } = largestRenderer();
  console.log(`${page}: ${state} after ${seconds.toFixed(1)} s, ${cpu} of processor time, ${megabytes} MB`);
  await browser.close();
}

/** The process of the page and its worker: the largest renderer of the machine. */
function largestRenderer() {
  const lines = execFileSync('ps', ['-eo', 'rss=,time=,args='], { encoding: 'utf8', maxBuffer: 1 << 26 }).split('\n');
  const found = lines.filter((line) => line.includes('--type=renderer')).map((line) => line.trim().split(/\s+/, 2));
  const [rss, cpu] = found.sort(([a], [b]) => Number(b) - Number(a))[0];
  return { megabytes: Math.round(Number(rss) / 1_000), cpu };
}
