// Times of the engine on a large recording, in Node: decoding, the first view, selections of time, operations.
//
//   node bench/large.mjs PAGE.html

import { readFileSync } from 'node:fs';
import { loadEngine, payloadOf } from '../test/command.mjs';

const RUNS = 20;

const engine = await loadEngine();
const page = readFileSync(process.argv[2], 'utf8');
const payload = payloadOf(page);
const ms = (start) => performance.now() - start;
const show = (what, times, cpuTimes) => {
  const at = (times, share) => times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(0).padStart(6);
  console.log(`${what.padEnd(52)} median ${at(times, 0.5)} ms   p95 ${at(times, 0.95)} ms   cpu ${at(cpuTimes, 0.5)} ms, p95 ${at(cpuTimes, 0.95)} ms`);
};
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};
/** Times on the clock and, where others use the machine, of the processor: with the threads of the garbage collector. */
const time = (what, runs, work) => {
  const [times, cpuTimes] = [[], []];
  for (let run = 0; run < runs; run += 1) {
    const [start, cpuStart] = [performance.now(), cpu()];
    work(run);
    times.push(ms(start));
    cpuTimes.push(cpu() - cpuStart);
  }
  show(what, times, cpuTimes);
};

console.log(`page ${(page.length / 2 ** 20).toFixed(1)} MiB, payload in base64 ${(payload.length / 2 ** 20).toFixed(1)} MiB`);
let bytes;
time('base64', 1, () => (bytes = engine.fromBase64(payload)));
const [start, cpuStart] = [performance.now(), cpu()];
const inflated = await engine.inflate(bytes);
show(`inflate to ${(inflated.length / 2 ** 20).toFixed(1)} MiB`, [ms(start)], [cpu() - cpuStart]);
let profile;
time('columns', 1, () => (profile = engine.readPayload(inflated)));
const { samples, stacks, frames, functions } = profile;
console.log(`${samples.count} samples, ${stacks.count} stack entries, ${frames.count} frames, ${functions.count} functions`);
let workbench;
time('used stacks', 1, () => (workbench = new engine.Workbench(profile)));
let forest;
time('tree of functions', 1, () => (forest = workbench.prepare([]).byFunction));
console.log(`${workbench.used.stacks.length - 1} used stacks, ${forest.count} nodes, ${forest.knotNode.length} knots`);

const first = Number(samples.time[0]);
const length = Number(samples.time[samples.count - 1]) - first;
const selections = Array.from({ length: RUNS }, (_, run) => ({
  time: { start: Math.floor(first + (length * run) / (3 * RUNS)), end: Math.floor(first + length - (length * run) / (3 * RUNS)) },
}));
const whole = workbench.view();
time('all: weights of the tree', 1, () => whole.byFunction(0));
time('all: functions', 1, () => engine.functions(whole, 0));
time('all: binaries (and the tree of frames)', 1, () => engine.binaries(whole, 0));
time('all: categories', 1, () => engine.categories(whole, 0));
time('all: transitions', 1, () => engine.transitions(whole, 0));
time('all: lines', 1, () => engine.lines(whole, 0));
time('select a time: weights of the tree', RUNS, (run) => workbench.view(selections[run]).byFunction(0));
time('select a time: tree and functions', RUNS, (run) => engine.functions(workbench.view(selections[run]), 0));
time('select a time: threads', RUNS, (run) => engine.threads(workbench.view(selections[run]), 0));
time('select a time: binaries', RUNS, (run) => engine.binaries(workbench.view(selections[run]), 0));
time('select a thread: tree and functions', RUNS, (run) =>
  engine.functions(workbench.view({ threads: [run % profile.threads.length] }), 0),
);
const heaviest = engine.functions(whole, 0)[0];
const name = engine.functionName(profile, Math.max(0, heaviest.label));
for (const operations of [
  [{ kind: 'hide-system' }],
  [{ kind: 'prune', pattern: engine.exactPattern(name) }],
  [{ kind: 'flatten-recursion' }],
  [{ kind: 'invert' }],
]) {
  time(`${operations[0].kind}: stacks and weights`, 1, () => workbench.view({}, operations).byFunction(0));
}
time('callers and callees', RUNS, () => engine.sandwich(whole, 0, engine.ofName(profile, name)));
time('flame graph of 2,000 pixels', RUNS, (run) => {
  const weighed = workbench.view(selections[run]).byFunction(0);
  engine.flameGraph(profile, weighed, { least: Number(weighed.all.weight(0)) / 2_000 });
});
time('flame graph without selecting', RUNS, () => {
  const weighed = whole.byFunction(0);
  engine.flameGraph(profile, weighed, { least: Number(weighed.all.weight(0)) / 2_000 });
});
time('inverted flame graph without selecting', RUNS, () => {
  const weighed = whole.byFunction(0);
  engine.invertedGraph(profile, weighed, { least: Number(weighed.all.weight(0)) / 2_000 }, new engine.PathNumbers());
});
time('timeline by thread, 90 bins', 3, () => engine.timeline(whole, 0, Math.ceil(length / 90), 'thread'));
time('flame chart of the heaviest thread', 1, () => {
  const chart = engine.flameChart(whole, 0);
  engine.spansOf(whole, 0, chart, chart.threads[0].id);
});
console.log(`memory ${(process.memoryUsage().rss / 2 ** 20).toFixed(0)} MiB`);
