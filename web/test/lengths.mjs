// Bars over time: their sum equals the weights for every length of bins, and no bar of cycles exceeds a core's clock rate.
//
//   node --test test/lengths.mjs
//
// The test uses all fixtures that have samples with times, and real recordings if `TRACEPARSE_CORPUS` is set.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, bundled, loadEngine, pageOf, payloadOf } from './command.mjs';

const engine = await loadEngine();
const text = await bundled('src/canvas/from_engine.ts', 'esm');
const { binsBy, gridFor } = await import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`);

const corpus = process.env.TRACEPARSE_CORPUS;
const fixtures = readdirSync(join(ROOT, 'fixtures'), { recursive: true }).filter((path) => path.endsWith('input.xml'));
const files = fixtures.map((path) => join(ROOT, 'fixtures', path));
let cycles = 0;

async function profileOf(file) {
  const { page } = await pageOf([file]);
  if (page === undefined) return null;
  const profile = await engine.decodePayload(payloadOf(page));
  return profile.form === 'samples' && profile.samples.count > 0 ? profile : null;
}

/** Returns one thread's largest weight per nanosecond, in bins of about this many nanoseconds. */
function largestRate(profile, series, thread, bin) {
  const { start, end } = profile.series[series];
  const { time } = profile.samples;
  const range = { start: Number(time[start]), end: Number(time[end - 1]) };
  const grid = gridFor(range, Math.ceil((range.end - range.start) / bin));
  const view = new engine.Workbench(profile).view();
  const rows = view.counted(series).filter((row) => profile.samples.thread[row] === thread);
  const bins = binsBy(view, rows, 1, () => 0, grid, engine.lengthsOf(profile, series));
  return bins.reduce((most, value) => Math.max(most, value), 0) / grid.bin;
}

for (const file of files) {
  const profile = await profileOf(file);
  if (profile === null) continue;
  test(`bins of ${file.replace(ROOT, '')} add up to its weights`, () => {
    for (const metric of ['weight', 'samples']) {
      const view = new engine.Workbench(profile).view({ metric });
      for (const [series, { unit }] of profile.series.entries()) {
        const rows = view.ofAllStates(series);
        if (rows.length === 0) continue;
        if (unit === 'cycles') cycles += 1;
        const lengths = engine.lengthsOf(profile, series);
        const times = Array.from(rows, (row) => Number(profile.samples.time[row]));
        const longest = lengths.length.reduce((most, length) => Math.max(most, length), 0);
        const range = { start: times.reduce((a, b) => Math.min(a, b)) - longest, end: times.reduce((a, b) => Math.max(a, b)) + longest };
        const total = Number(view.total(rows).weight);
        for (const pixels of [1, 7, 90, 1_440]) {
          const grid = gridFor(range, pixels);
          const bins = binsBy(view, rows, profile.threads.length, (row) => profile.samples.thread[row], grid, lengths);
          const sum = bins.reduce((sum, value) => sum + value, 0);
          assert.ok(Math.abs(sum - total) <= 1e-9 * total, `${metric}, ${pixels} pixels: ${sum}, and not ${total}`);
        }
      }
    }
  });
}

test('cycles were among them', () => assert.ok(cycles > 0));

test('cycles are of the time since the last sample of the thread, if the thread ran all of it', async () => {
  const thread = [0, 0, 1, 0, 0, 0, 1];
  const time = [100, 200, 250, 300, 1_300, 1_400, 1_450];
  const weight = [90, 100, 30, 120, 100, 51, 480];
  const count = time.length;
  const samples = { count, thread, time, kind: new Int32Array(count), shape: { weight: 1, count: 1 }, weight: [Float64Array.from(weight)], samples: [new Float64Array(count).fill(1)] };
  const profile = { samples, threads: [{}, {}], series: [{ start: 0, end: count, unit: 'cycles' }] };
  const { first, length, isBefore } = engine.lengthsOf(profile, 0);
  // The rates are 1, 1.2, 0.1, 0.51 and 0.4, of which 0.51 is the usual rate. The first samples of threads, and a sample after a pause, use
  // it.
  assert.deepEqual([first, isBefore], [0, true]);
  assert.deepEqual(Array.from(length), [90 / 0.51, 100, 30 / 0.51, 100, 100 / 0.51, 100, 1_200]);
});

// The fastest cores are an M1's (3.2 GHz) in the first recording, and have 3.75 GHz in the second. The third was recorded on fast and slow
// cores.
const CLOCKS = { 'xctrace/14.0.1/cpu-profile.xml': 3.23, 'xctrace/14.3.1/cpu-profile.xml': 3.75, 'xctrace/26.2/finder.trace.zip': 3.23 };

for (const [path, clock] of Object.entries(CLOCKS)) {
  test(`no thread of ${path} is faster than its core`, { skip: corpus === undefined }, async () => {
    const profile = await profileOf(join(corpus, path));
    const rates = profile.threads.map((_, thread) => largestRate(profile, 0, thread, 50_000));
    const most = Math.max(...rates);
    assert.ok(most <= clock && most > 0.6 * clock, `${most} GHz`);
  });
}
