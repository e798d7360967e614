// Loads what `traceparse INPUT --format firefox` writes with the code of the Firefox Profiler, as it stands in Firefox's
// profiler-cli, and asks for what its stack chart draws: no function may be drawn over a time in which its thread did not run. Its
// markers must be those of the file.
//
//   node stack_timing.mjs TRACEPARSE PROFILER-CLI FOLDER INPUT [OPTION...]
//
// So that the test is known to be one, the file without the rows that say so is loaded, too: there the functions must be drawn.
import { createRequire } from 'node:module';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Comparison, Ours } from './ours.mjs';

const [traceparse, profilerCli, folder, input, ...options] = process.argv.slice(2);
/** Nanoseconds that no sampling interval is longer than, where samples do not weigh time. */
const LONG = 50e6;
/** Of a sample's own time: later than this, the thread waited. */
const LATE = 2;

const comparison = new Comparison();
const ours = new Ours(traceparse, input, options);
const file = JSON.parse(ours.run('--format', 'firefox'));
const viewer = loadViewer();
// It says on standard output what it does.
const log = console.log;
console.log = () => {};
const [drawn, markers] = await shown('with.json', file);
const without = structuredClone(file);
for (const thread of without.threads) dropIdleRows(thread.samples);
const [drawnWithout] = await shown('without.json', without);
console.log = log;

let gaps = 0;
for (const [index, thread] of ours.threads.entries()) {
  const samples = ours.samplesOf(thread).sort((a, b) => a.time_ns - b.time_ns);
  const isTime = ours.units.get(thread.series) === 'ns';
  for (const [place, sample] of samples.entries()) {
    const length = samples[place + 1] === undefined ? Infinity : samples[place + 1].time_ns - sample.time_ns;
    const covered = isTime && sample.weight > 0 ? sample.weight : LONG / LATE;
    comparison.ensure(isDrawn(drawn[index], sample.time_ns), `${thread.thread}: nothing at ${sample.time_ns}`);
    if (length <= LATE * covered) continue;
    const middle = sample.time_ns + Math.min(length, 1e12) / 2;
    comparison.ensure(!isDrawn(drawn[index], middle), `${thread.thread}: a function is drawn at ${middle}`);
    if (length === Infinity) continue;
    comparison.ensure(isDrawn(drawnWithout[index], middle), `${thread.thread}: nothing at ${middle} without idle rows`);
    gaps += 1;
  }
  const used = (rows) => (rows.threadCPUDelta ?? []).reduce((sum, delta) => sum + delta, 0);
  const weight = samples.reduce((sum, sample) => sum + sample.weight, 0);
  const rows = file.threads[index].samples;
  comparison.ensure(rows.threadCPUDelta === undefined || used(rows) === weight, `${thread.thread}: ${used(rows)} used, ${weight} sampled`);
  // The first row of a thread has no previous row to which its CPU time could be relative.
  const isLost = rows.threadCPUDelta?.[0] > 0 && rows.time[0] > 0;
  comparison.ensure(!isLost, `${thread.thread}: what its first sample used is not shown`);
}
for (const [index, thread] of file.threads.entries()) {
  const { name, startTime, endTime, length } = thread.markers;
  const nanos = (millis) => (millis === null ? null : Math.round(millis * 1e6));
  const row = (_, row) => [file.shared.stringArray[name[row]], nanos(startTime[row]), nanos(endTime[row])];
  const expected = Array.from({ length }, row).sort();
  const [here, there] = [expected, markers[index]].map((list) => JSON.stringify(list));
  comparison.ensure(here === there, `${thread.name}: markers ${there} there, ${here} here`);
}
comparison.finish(`${input} ${options.join(' ')}: ${gaps} gaps`);

/** The program's code without its last statement, which would run it. */
function loadViewer() {
  const text = readFileSync(profilerCli, 'utf8').replace(/^#!.*/, '');
  const main = text.lastIndexOf('().catch(');
  const start = text.lastIndexOf('}', main) + 1;
  const [, querier] = text.match(/([\w$]+)=class [\w$]+\{_store;_processIndexMap/);
  const [, selectors] = text.match(/[=,]([\w$]+)\([\w$]+\),[\w$]+=[\w$]+\.getFullMarkerList\(/);
  const code = `${text.slice(0, start)};return {querier: ${querier}, selectors: ${selectors}};`;
  const path = resolve(profilerCli);
  return new Function('require', 'module', 'exports', '__filename', '__dirname', code)(
    createRequire(path), { exports: {} }, {}, path, join(path, '..'));
}

/**
 * By thread: what the stack chart draws of outermost functions, as [start, end] in nanoseconds; and the markers, as
 * [name, start, end] of which the end may be null.
 */
async function shown(name, profile) {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(profile));
  const { _store: store } = await viewer.querier.load(path);
  const nanos = (millis) => Math.round(millis * 1e6);
  const threads = profile.threads.map((thread, index) => viewer.selectors(index));
  const drawn = threads.map((thread) => {
    const [outermost] = thread.getStackTimingByDepth(store.getState());
    return Array.from(outermost?.start ?? [], (start, row) => [nanos(start), nanos(outermost.end[row])]);
  });
  const ended = (marker) => (marker.end === null || marker.incomplete ? null : nanos(marker.end));
  const markers = threads.map((thread) => {
    const all = thread.getFullMarkerList(store.getState());
    return all.map((marker) => [marker.name, nanos(marker.start), ended(marker)]).sort();
  });
  return [drawn, markers];
}

function isDrawn(stacks, time) {
  return stacks.some(([start, end]) => start <= time && time < end);
}

function dropIdleRows(samples) {
  const kept = samples.stack.map((stack) => stack !== null);
  for (const [name, column] of Object.entries(samples)) {
    if (Array.isArray(column)) samples[name] = column.filter((_, row) => kept[row]);
  }
  samples.length = samples.stack.length;
}
