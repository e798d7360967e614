// The parts of the page of a fleet that need no browser: numbers, axes, and the percentiles that plots draw.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './command.mjs';

const { cut, measure, measureWithUnit, measuresOf, weightText } = await load('fleet/measure.ts');
const { axisTo, besideLabels, countAxis, place } = await load('fleet/axis.tsx');
const { linesOf, neededRuns, stretches } = await load('fleet/lines.ts');
const { stretchesOf } = await load('fleet/over_time.tsx');
const { shortNames } = await load('fleet/trends.tsx');

const PERCENT = 'percent-of-one-core';

test('measures are the same as in the command', () => {
  const percent = [0, 0.004, 0.005, 1.98, 1250, 10.125, 10.375].map((value) => measure(value, measuresOf(PERCENT, 1250)));
  assert.deepEqual(percent, ['0', '<0.01', '0.01', '1.98', '1,250.00', '10.12', '10.38']);
  assert.deepEqual([0.0004, 0.0625, 0.1875].map((value) => measure(value, measuresOf(PERCENT, 0.5))), ['<0.001', '0.062', '0.188']);
  const own = (value, unit) => measureWithUnit(value, measuresOf(unit, value));
  assert.deepEqual([own(83.2, PERCENT), own(999, 'cycles/s'), own(343_230, 'cycles/s'), own(3.2e9, 'events/s')], ['83.20 %', '999.00 cycles/s', '343.23 kcycles/s', '3.20 Gevents/s']);
  assert.deepEqual([own(401_000, 'ms/hang'), own(0.002, 'MB/report'), own(1_600, 'MB/day'), own(705.92, 'ms/s'), own(2e9, 'elapsed ns/s')], ['401.00 s', '2.00 kB', '1.60 GB', '705.92 ms/s', '2.00 s/s']);
  assert.deepEqual([own(3, 'exits/day'), own(12, 'samples/s'), own(10_000, 'ms')], ['3.00 exits/day', '12.00 samples/s', '10.00 s']);
  assert.equal(measure(2_756.67, measuresOf('MB/report', 8_100)), '2.76', 'all numbers of a table have the unit of the largest');
});

test('weights have a unit each', () => {
  assert.deepEqual([22, 343_230, 2_500_000_000].map((weight) => weightText(weight, 'cycles')), ['22 cycles', '343.23 kcycles', '2.50 Gcycles']);
  assert.deepEqual([weightText(343_230, 'events'), weightText(642e6, 'ns'), weightText(1_200, 'exits')], ['343.23 kevents', '642.00 ms', '1,200 exits']);
  assert.deepEqual([weightText(999_996, 'cycles'), weightText(5e6, 'ns'), weightText(11.95e6, 'hang_ns'), weightText(9.00719925474e15, 'ns'), weightText(2_000, 'written_bytes')], ['1.00 Mcycles', '5.00 ms', '11.95 ms', '9,007,199.25 s', '2.00 kB']);
});

test('long names keep their ends', () => {
  assert.deepEqual([cut('abcdefghij', 10), cut('abcdefghijk', 9)], ['abcdefghij', 'abcde…ijk']);
  assert.equal([...cut('é'.repeat(1_000))].length, 240);
});

test('an axis has its largest value', () => {
  const axis = axisTo(99, PERCENT);
  assert.deepEqual([axis.high, axis.ticks.at(-1)], [100, 100]);
  assert.deepEqual([0, 50, 500].map((value) => place(axis, value, 10, 110)), [10, 60, 110]);
  const cycles = axisTo(3.1e9, 'cycles/s');
  assert.deepEqual([cycles.measures.unit, ...cycles.ticks.map((tick) => tick / cycles.measures.divisor)], ['Gcycles/s', 0, 1, 2, 3, 4]);
  for (const odd of [0, NaN, Infinity, -1]) assert.ok(axisTo(odd, PERCENT).high > 0);
  assert.deepEqual(countAxis(1).ticks, [0, 1]);
  for (const high of [1e-6, 0.5, 1, 7.7, 123.4, 9.99e5, 3.3e9, 1.8e13]) assert.ok(axisTo(high, PERCENT).ticks.length <= 8, `${high}`);
  const area = { left: 60, top: 0, right: 496, bottom: 100 };
  assert.deepEqual([area, besideLabels(area, axis), besideLabels(area, axisTo(9e8, PERCENT))].map(({ left }) => left), [60, 60, 140], 'room for long labels');
});

test('only percentiles that runs support are lines', () => {
  const lines = (names, runs) => linesOf(names.map((name) => `p${name}`), runs).map(({ style, at }) => `${style} ${at}`);
  const usual = [50, 90, 95, 99, 99.9];
  assert.deepEqual(['p0', 'p1', 'p50', 'p75', 'p99.9', 'p99.7', 'p100'].map(neededRuns), [1, 100, 2, 4, 1_000, 334, 1]);
  assert.deepEqual([1_000, 999, 10, 9, 1].map((runs) => lines(usual, runs).join()), ['middle 0,upper 1,tail 4', 'middle 0,upper 1,tail 3', 'middle 0,upper 1', 'middle 0', '']);
  assert.deepEqual(lines([25, 75, 99], 100), ['middle 0', 'upper 1', 'tail 2']);
  assert.deepEqual(lines([10, 50, 75, 90, 99], 100), ['middle 1', 'upper 3', 'tail 4']);
  assert.deepEqual([lines([90], 100), lines([], 100)], [['middle 0'], []]);
});

test('a line has gaps where few runs recorded', () => {
  const points = [[0, 100], [1, 99], [2, 100], [3, 100], [7, 1]].map(([second, runs]) => ({ second, seconds: 1, runs, values: {}, max: 0 }));
  assert.deepEqual([100, 1, 101].map((needed) => stretchesOf(points, needed).map(({ length }) => length)), [[1, 2], [4, 1], []]);
  assert.deepEqual(stretches([null, 1, 2, null, 3]), [[1, 2], [3]]);
});

test('names of points differ', () => {
  const versions = [0, 1, 10].map((version) => `long-version-name-${version}-beta`);
  assert.deepEqual(shortNames(versions), ['…0…', '…1…', '…10…']);
  assert.deepEqual(shortNames(['5.10', '5.11']), ['5.10', '5.11']);
  assert.deepEqual(shortNames(['build 2026.11.1', 'build 2026.11.12']), ['…2026.11.1', '…2026.11.12']);
  assert.deepEqual(shortNames(['one-very-long-version']), ['one-ver…sion']);
});
