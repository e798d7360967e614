// Times of the engine on a large recording, in Node: opening, then the answers to questions about everything and about selected times.
//
//   node bench/large.mjs PAGE.html

import { readFileSync } from 'node:fs';
import { openPage } from '../test/command.mjs';

const RUNS = 20;
const PART = { by: 'none', part: null };
const BOXES = { unit: 'ns', key: '', tree: '', pixels: 2_000, least: null, from: null, to: null };

const start = performance.now();
const { engine, opened } = await openPage(readFileSync(process.argv[2], 'utf8'));
console.log(`opened after ${(performance.now() - start).toFixed(0)} ms`);
const range = opened.tables.spans[0];
const asks = {
  totals: {},
  functions: {},
  binaries: {},
  categories: {},
  lines: {},
  threads: {},
  overview: {},
  tree: { direction: 'down', ...PART, open: null, expand: null, find: null },
  'tree ': { direction: 'up', ...PART, open: null, expand: null, find: null },
  flame: { direction: 'down', ...PART, ...BOXES },
  'flame ': { direction: 'up', ...PART, ...BOXES },
  sandwich: { label: 0 },
  chart: { thread: null, range, ...BOXES },
  tracks: { unit: 'ns', range, pixels: 2_000 },
};
for (const operations of [[], [{ kind: 'hide-system' }], [{ kind: 'flatten-recursion' }]]) {
  console.log(`operations: ${operations.map(({ kind }) => kind).join() || 'none'}`);
  for (const [name, more] of Object.entries(asks)) {
    const ask = { kind: name.trim(), ...more };
    const answer = (selection) => engine.ask({ series: 0, selection, operations }, ask);
    const first = timed(() => answer({}));
    const times = Array.from({ length: RUNS }, (_, run) => timed(() => answer({ time: narrowed(run) })));
    const at = (share) => times.toSorted((a, b) => a - b)[Math.floor((RUNS - 1) * share)].toFixed(0).padStart(6);
    console.log(`${ask.kind.padEnd(12)}${(more.direction ?? '').padEnd(6)} all ${first.toFixed(0).padStart(6)} ms   a time: median ${at(0.5)} ms   p95 ${at(0.95)} ms`);
  }
}
console.log(`memory ${(process.memoryUsage().rss / 2 ** 20).toFixed(0)} MiB`);

function timed(work) {
  const start = performance.now();
  work();
  return performance.now() - start;
}

/** A part of the recording, smaller with each run. */
function narrowed(run) {
  const by = Math.floor(((range.end - range.start) * run) / (3 * RUNS));
  return { start: Math.floor(range.start) + by, end: Math.floor(range.end) - by };
}
