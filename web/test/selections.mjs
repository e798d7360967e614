// Dragged time ranges: updating the previous sums must give the same result as computing them anew.
//
//   node --test test/selections.mjs
//
// The test uses the pages of all fixtures that have samples with times. `TRACEPARSE_RANDOM` is a folder with more recordings.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, loadEngine, pageOf, payloadOf } from './command.mjs';
import { randomNumbers } from './requests.mjs';

const engine = await loadEngine();
const STEPS = 80;

const fixtures = readdirSync(join(ROOT, 'fixtures'), { recursive: true }).filter((path) => path.endsWith('input.xml'));
const random = process.env.TRACEPARSE_RANDOM;
const files = fixtures.map((path) => join(ROOT, 'fixtures', path));
if (random !== undefined && existsSync(random)) files.push(...readdirSync(random).map((name) => join(random, name)));

let [compared, threePlanes] = [0, 0];

for (const [number, file] of files.entries()) {
  const { page, error } = await pageOf([file]);
  if (error !== undefined) continue;
  const profile = engine.readPayload(await engine.inflate(engine.fromBase64(payloadOf(page))));
  if (profile.form !== 'samples' || profile.samples.count === 0) continue;
  test(file.replace(ROOT, ''), () => drag(profile, shares(number + 1)));
}

test('times were dragged at all', () => {
  assert.ok(compared > 1_000, `${compared} selections`);
  if (random !== undefined) assert.ok(threePlanes > 0, 'also above 2^53');
});

/** Selects one range after the other, most of them close to the previous one. */
function drag(profile, next) {
  const dragged = new engine.Workbench(profile);
  const { time, shape } = profile.samples;
  const times = Array.from(time, BigInt).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const [first, length] = [times[0], times[times.length - 1] - times[0] + 1n];
  const place = () => first + (length * BigInt(Math.floor(next() * 1_000))) / 1_000n;
  let range = [place(), place()];
  let others = {};
  let operations = [];
  for (let step = 0; step < STEPS; step += 1) {
    const dice = next();
    if (dice < 0.7) {
      const by = (length * BigInt(Math.floor(next() * 100) - 50)) / 600n;
      range = next() < 0.5 ? [range[0] + by, range[1]] : [range[0], range[1] + by];
    } else if (dice < 0.85) range = [place(), place()];
    else if (dice < 0.9) others = next() < 0.5 ? {} : { threads: [Math.floor(next() * profile.threads.length)] };
    else if (dice < 0.95) others = next() < 0.5 ? { states: 'all' } : { metric: 'samples' };
    else operations = next() < 0.5 ? [] : [{ kind: 'hide-system' }];
    const [start, end] = range[0] < range[1] ? range : [range[1], range[0]];
    const selection = { ...others, time: { start, end } };
    for (const series of profile.series.keys()) {
      const view = dragged.view(selection, operations);
      const fresh = new engine.Workbench(profile).view(selection, operations);
      assert.deepEqual(view.byFunction(series).own.planes, fresh.byFunction(series).own.planes, `${step}: ${start}-${end}`);
      assert.deepEqual(engine.functions(view, series), engine.functions(fresh, series));
      compared += 1;
      if (shape.weight === 3) threePlanes += 1;
    }
  }
}

/** Returns random numbers in [0, 1). */
function shares(seed) {
  const { below } = randomNumbers(seed);
  return () => below(1 << 20) / (1 << 20);
}
