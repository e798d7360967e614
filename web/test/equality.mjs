// Compares the engine with the command: pages and JSON of the same recordings, with random selections and sequences of operations. Every
// total of every table must be equal, and stand in the same order.
//
//   node test/equality.mjs [--requests N] [--seed N] [--random N FOLDER] [FILE …]
//
// Without files it takes all fixtures; `TRACEPARSE_CORPUS` adds real recordings. FOLDER holds `random-0.xml` …, as the example
// `generate-random` writes them.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ROOT, jsonOf, loadEngine, pageOf, payloadOf, plain } from './command.mjs';
import { flameChartOf, flatTrees, heaviestOf, roundedEnds, sandwichOf, timelineOf, treesOf, viewsOf } from './expected.mjs';
import { randomNumbers, randomRequest } from './requests.mjs';

const CORPUS = [
  'xctrace/12.5/time-profile.xml',
  'xctrace/14.0.1/cpu-profile.xml',
  'xctrace/14.3.1/time-profile.xml',
  'xctrace/14.3.1/counters-time-profile.xml',
  'xctrace/14-16/time-profile.xml',
  'xctrace/26.2/finder_cpu_profile.xml',
  'xctrace/26.2/finder.trace.zip',
  'xctrace/26.4/time-sample.xml',
  'xctrace/26.4.1/time-profile.xml',
  'xctrace/26.5/cpu-profile.xml',
  'xctrace/27/cpu-profile.xml',
  'other/sample/inferno_sample.txt',
];
/** Rows of trees that are compared whole. */
const LARGEST_TREES = 400_000;

const engine = await loadEngine();
const asked = argumentsOf(process.argv.slice(2));
let [passed, failed, comparisons, empty] = [0, 0, 0, 0];
for (const [number, file] of asked.files.entries()) {
  const faults = await compareFile(file, asked.seed + number);
  if (number % 25 === 24) console.error(`${number + 1} of ${asked.files.length} recordings`);
  if (faults.length === 0) passed += 1;
  else {
    failed += 1;
    console.log(`${file}:\n  ${faults.slice(0, 4).join('\n  ')}`);
  }
}
console.log(`${comparisons} tables compared, ${empty} requests that select nothing`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

function argumentsOf(words) {
  const asked = { files: [], requests: 2, seed: 1 };
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--requests') asked.requests = Number(words.shift());
    else if (word === '--seed') asked.seed = Number(words.shift());
    else if (word === '--random') {
      const [count, folder] = [Number(words.shift()), words.shift()];
      for (let index = 0; index < count; index += 1) asked.files.push(join(folder, `random-${index}.xml`));
    } else asked.files.push(word);
  }
  return asked.files.length > 0 ? asked : { ...asked, files: [...fixtures(), ...corpus()] };
}

function fixtures() {
  const found = readdirSync(join(ROOT, 'fixtures'), { recursive: true }).map((path) => join(ROOT, 'fixtures', path));
  return found.filter((path) => statSync(path).isFile() && /input\.xml$|\.sample\.txt$|\.trace\.zip$/.test(path)).sort();
}

function corpus() {
  const folder = process.env.TRACEPARSE_CORPUS;
  if (folder === undefined) return [];
  return CORPUS.map((path) => join(folder, path)).filter((path) => existsSync(path));
}

/** The differences of one recording. */
async function compareFile(file, seed) {
  const { page, error } = pageOf([file]);
  const summary = jsonOf([file], ['--view', 'summary']);
  if (error !== undefined) return summary.error === undefined ? [`no page: ${error}`] : [];
  if (summary.error !== undefined) return [`a page, but no JSON: ${summary.error}`];
  const faults = policyFaults(page);
  const profile = await engine.decodePayload(payloadOf(page));
  const workbench = new engine.Workbench(profile);
  const random = randomNumbers(seed * 7_919);
  for (let count = 0; count < asked.requests; count += 1) {
    const request = count === 0 ? { options: [], selection: {}, operations: [] } : randomRequest(engine, profile, random);
    faults.push(...compareRequest(file, profile, workbench, request, random));
  }
  return faults;
}

/** The content security policy names what stands in the page. */
function policyFaults(page) {
  const scripts = [...page.matchAll(/<script>([^]*?)<\/script>/g)].map(([, text]) => text);
  const styles = [...page.matchAll(/<style>([^]*?)<\/style>/g)].map(([, text]) => text);
  const hashes = [...scripts, ...styles].map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`);
  const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page);
  return hashes.length === 2 && hashes.every((hash) => policy.includes(hash)) ? [] : ['the policy does not fit the page'];
}

function compareRequest(file, profile, workbench, request, random) {
  const { selection, operations, options } = request;
  const metric = selection.metric ?? 'weight';
  const wanted = selection.series ?? profile.series.map((_, index) => index);
  const view = workbench.view(selection, operations);
  const all = viewsOf(engine, profile);
  const faults = [];
  const compare = (what, options, expected, of = (json) => json) => {
    const { json, error } = jsonOf([file], options);
    if (error !== undefined) {
      const counted = wanted.map((index) => view.counted(index).length).reduce((sum, count) => sum + count, 0);
      if (/no sample passes the filters|no samples are left/.test(error) && counted === 0) empty += 1;
      else faults.push(`${what} ${options.join(' ')}: ${error.trim()}`);
      return false;
    }
    comparisons += 1;
    const [theirs, ours] = [of(json), expected()];
    for (const [name, rows] of Object.entries(ours)) {
      const difference = differenceOf(theirs[name], rows);
      if (difference !== null) faults.push(`${what} ${options.join(' ')}: ${name}${difference}`);
    }
    return true;
  };
  const isTimed = profile.form === 'samples';
  const names = ['functions', 'binaries', 'categories', 'lines', random.pick(['threads', 'processes']), isTimed ? random.pick(['states', 'cores']) : 'states'];
  for (const name of names) {
    const isSomething = compare(name, ['--view', name, ...options], () => all[name](view, wanted, metric));
    if (!isSomething && faults.length > 0) return faults;
    if (!isSomething) break;
  }
  compareOperations(file, view, wanted, options, faults);
  const by = random.pick(isTimed ? ['thread', 'process', 'state', 'core-kind', 'none'] : ['thread', 'process', 'none']);
  // The command counts all states where it separates by state and none were named.
  const separated = by === 'state' && selection.states === undefined ? { ...selection, states: 'all' } : selection;
  const isInverted = random.oneIn(3);
  const treeOperations = isInverted ? [...operations, { kind: 'invert' }] : operations;
  const treeOptions = ['--separate-by', by, ...options];
  const treeView = () => workbench.view(separated, treeOperations);
  if (profile.stacks.count < LARGEST_TREES) {
    const inverted = isInverted ? ['--invert'] : [];
    compare('tree', ['--view', 'tree', ...treeOptions, ...inverted], () => treesOf(engine, profile, treeView(), wanted, by, metric), (json) => flatTrees(json, by));
  }
  wanted.forEach((index) => faults.push(...boxFaults(profile, view, index)));
  const straight = () => workbench.view(separated, operations);
  if (isInverted && profile.stacks.count < LARGEST_TREES) {
    // The same tree, made without turning stacks round.
    compare('bottom up', ['--view', 'bottom-up', ...treeOptions], () => treesOf(engine, profile, straight(), wanted, by, metric, true), (json) => flatTrees(json, by));
  }
  compare('heaviest', ['--view', 'heaviest', ...treeOptions], () => heaviestOf(engine, profile, straight(), wanted, by, metric));
  if (isTimed) compare('timeline', ['--view', 'timeline', ...treeOptions], () => timelineOf(engine, profile, straight(), wanted, by, metric));
  if (isTimed) compare('chart', ['--view', 'flame-chart', ...options], () => flameChartOf(engine, profile, view, wanted, metric), roundedEnds);
  const name = profile.functions.count === 0 ? '' : engine.functionName(profile, random.below(profile.functions.count));
  if (name !== '' && !name.startsWith('/')) {
    compare('callers', [`--function=${name}`, ...options], () => sandwichOf(engine, profile, view, wanted, name, metric));
  }
  return faults;
}

/** The boxes of the flame graph are the nodes of the tree, in its order, each beside the heavier ones of its parent. */
function boxFaults(profile, view, series) {
  const [part] = engine.parts(view, series, 'none');
  if (part === undefined || profile.stacks.count >= LARGEST_TREES) return [];
  const tree = engine.treeOfPart(view, series, 'none', part);
  const boxes = engine.flameGraph(profile, tree.weighed, { least: 0 });
  const expected = [];
  const open = [{ node: tree.root, start: 0 }];
  while (open.length > 0) {
    const { node, start } = open.pop();
    expected.push([node.node, node.depth, start, Number(node.all_weight)]);
    let next = start;
    const below = tree.children(node.node).map((child) => {
      const place = { node: child, start: next };
      next += Number(child.all_weight);
      return place;
    });
    open.push(...below.reverse());
  }
  const found = Array.from({ length: boxes.count }, (_, box) => [boxes.node[box], boxes.depth[box], boxes.start[box], boxes.width[box]]);
  comparisons += 1;
  return JSON.stringify(found) === JSON.stringify(expected) ? [] : ['the boxes of the flame graph are not the tree'];
}

/** What operations removed, changed and moved. */
function compareOperations(file, view, wanted, options, faults) {
  const { json } = jsonOf([file], ['--view', 'summary', ...options]);
  if (json === undefined) return;
  const effects = wanted.map((index) => view.effects(index));
  const ours = (effects[0] ?? []).map(({ operation }, place) => ({
    operation,
    series: effects.flatMap((ofSeries, series) => {
      const { removed, changed_samples, moved } = ofSeries[place];
      const isNothing = [removed.weight, removed.samples, changed_samples, moved.weight, moved.samples].every((value) => Number(value) === 0);
      return isNothing ? [] : [{ series, removed, changed_samples, moved }];
    }),
  }));
  const theirs = (json.operations ?? []).map(({ operation, series }) => ({
    operation,
    series: series.map(({ series, removed, changed_samples, moved }) => ({ series, removed, changed_samples, moved })),
  }));
  comparisons += 1;
  const difference = differenceOf(theirs, ours);
  if (difference !== null) faults.push(`operations ${options.join(' ')}: ${difference}`);
}

/** The first row in which two lists differ; null if they are equal. */
function differenceOf(theirs, ours) {
  if (theirs === undefined) return ' is not in the JSON';
  const rows = Math.max(theirs.length, ours.length);
  for (let row = 0; row < rows; row += 1) {
    const [a, b] = [theirs[row], ours[row]].map((value) => (value === undefined ? 'nothing' : canonical(value)));
    if (a !== b) return `[${row}] of ${theirs.length} and ${ours.length}:\n    command ${around(a, b)}\n    engine  ${around(b, a)}`;
  }
  return null;
}

/** The part of a long text in which it differs from another. */
function around(text, other) {
  let at = 0;
  while (at < text.length && text[at] === other[at]) at += 1;
  return text.length < 400 ? text : `…${text.slice(Math.max(0, at - 200), at + 200)}…`;
}

/** JSON whose fields stand in the order of their names. An empty text is nothing: tables of the command write it so. */
function canonical(value) {
  return plain(sorted(value));
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value === '' ? null : value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

