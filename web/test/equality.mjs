// Compares the engine with the command: pages and JSON of the same recordings, with random selections and sequences of operations. All
// totals and the order of rows must be equal in every table.
//
//   node test/equality.mjs [--browser NAME]… [--requests N] [--seed N] [--reduced] [--random N FOLDER] [FILE …]
//
// Without files, the test uses all fixtures, and real recordings if `TRACEPARSE_CORPUS` is set. FOLDER contains `random-0.xml` …, written
// by the example `generate-random`. With `--reduced`, pages are limited to less than their size (`--max-size`), and everything that needs
// no times must still be equal. The engine runs in Node, and in each named browser (`chromium`, `firefox`, `webkit`).

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { browserPlace } from './browsers/place.mjs';
import { canonical } from './canonical.mjs';
import { ROOT, jsonOf, loadEngine, pageOf, payloadOf } from './command.mjs';
import { flatTrees, roundedEnds } from './expected.mjs';
import { forEach } from './pool.mjs';
import { randomNumbers, randomRequest } from './requests.mjs';
import { Tables } from './tables.mjs';

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
/** The maximum number of rows for which trees are compared completely. */
const LARGEST_TREES = 400_000;
/** The number of recordings that are compared in parallel. */
const WORKERS = 2;

const engine = await loadEngine();
const asked = argumentsOf(process.argv.slice(2));
const workers = await Promise.all(Array.from({ length: WORKERS }, () => Promise.all(asked.browsers.map((name) => browserPlace(name, 'test/browser_tables.mjs')))));
let [passed, failed, comparisons, empty, reductions] = [0, 0, 0, 0, 0];
await forEach(asked.files, WORKERS, async (file, number, worker) => {
  const faults = await compareFile(file, asked.seed + number, workers[worker]);
  if (number % 25 === 24) console.error(`${number + 1} of ${asked.files.length} recordings`);
  if (faults.length === 0) passed += 1;
  else {
    failed += 1;
    console.log(`${file}:\n  ${faults.slice(0, 4).join('\n  ')}`);
  }
});
await Promise.all(workers.flat().map((place) => place.close()));
console.log(`${comparisons} tables compared, ${empty} requests that select nothing`);
if (asked.isReduced) console.log(`${reductions} pages made smaller`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || (asked.isReduced && reductions === 0) ? 1 : 0;

function argumentsOf(words) {
  const asked = { browsers: [], files: [], requests: 2, seed: 1, isReduced: false };
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--browser') asked.browsers.push(words.shift());
    else if (word === '--requests') asked.requests = Number(words.shift());
    else if (word === '--seed') asked.seed = Number(words.shift());
    else if (word === '--reduced') asked.isReduced = true;
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

/** Returns the differences for one recording. */
async function compareFile(file, seed, places) {
  const { page, error } = asked.isReduced ? await reducedPageOf(file, seed) : await pageOf([file]);
  const summary = await jsonOf([file], ['--view', 'summary']);
  if (error !== undefined) return summary.error === undefined ? [`no page: ${error}`] : [];
  if (summary.error !== undefined) return [`a page, but no JSON: ${summary.error}`];
  const faults = policyFaults(page);
  const profile = await engine.decodePayload(payloadOf(page));
  const tables = new Tables(engine, profile);
  const answers = [{ name: 'node', answer: (query) => tables.answer(query) }];
  for (const place of places) {
    const answer = await place.load({ profile: payloadOf(page) });
    answers.push({ name: place.name, answer: async (query) => JSON.parse(await answer(query)) });
  }
  const random = randomNumbers(seed * 7_919);
  for (let count = 0; count < asked.requests; count += 1) {
    const request = count === 0 ? { options: [], selection: {}, operations: [] } : randomRequest(engine, profile, random);
    faults.push(...(await compareRequest(file, profile, answers, request, random)));
  }
  return faults;
}

/** Returns the page of a recording, reduced by a random part of its payload, or to the smallest possible size. */
async function reducedPageOf(file, seed) {
  const whole = await pageOf([file]);
  if (whole.error !== undefined) return whole;
  const less = [0.02, 0.1, 0.3, 0.5][seed % 4] * payloadOf(whole.page).length;
  for (const part of [1, 0.5, 0.1, 0.02]) {
    const size = Math.ceil(Buffer.byteLength(whole.page) - part * less) - 1;
    const reduced = await pageOf([file], ['--max-size', String(size)]);
    if (reduced.error !== undefined) continue;
    reductions += 1;
    return Buffer.byteLength(reduced.page) <= size ? reduced : { error: `the page is larger than ${size} bytes` };
  }
  return whole;
}

/** Checks that the content security policy matches the contents of the page. */
function policyFaults(page) {
  const scripts = [...page.matchAll(/<script>([^]*?)<\/script>/g)].map(([, text]) => text);
  const styles = [...page.matchAll(/<style>([^]*?)<\/style>/g)].map(([, text]) => text);
  const hashes = [...scripts, ...styles].map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`);
  const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page);
  return hashes.length === 2 && hashes.every((hash) => policy.includes(hash)) ? [] : ['the policy does not fit the page'];
}

async function compareRequest(file, profile, answers, request, random) {
  const { selection, operations, options } = request;
  const metric = selection.metric ?? 'weight';
  const wanted = selection.series ?? profile.series.map((_, index) => index);
  const asked = (view, more = {}) => ({ view, selection, operations, wanted, metric, ...more });
  const faults = [];
  const compare = async (what, options, query, of = (json) => json) => {
    const { json, error } = await jsonOf([file], options);
    if (error !== undefined) {
      const { rows } = await answers[0].answer(asked('counted'));
      if (/no sample passes the filters|no samples are left/.test(error) && rows.every((count) => count === '0')) empty += 1;
      else faults.push(`${what} ${options.join(' ')}: ${error.trim()}`);
      return false;
    }
    const theirs = of(json);
    // The command chooses the bins of a timeline.
    const whole = { ...query, bin: json.timeline?.[0]?.bin_ns ?? 1 };
    const found = await Promise.all(answers.map(async ({ name, answer }) => [name, await answer(whole)]));
    for (const [where, tables] of found) {
      comparisons += 1;
      for (const [name, rows] of Object.entries(tables)) {
        const difference = differenceOf(theirs[name], rows);
        if (difference !== null) faults.push(`${where}: ${what} ${options.join(' ')}: ${name}${difference}`);
      }
    }
    return true;
  };
  const isTimed = profile.form === 'samples' && profile.reduction === null;
  const names = ['functions', 'binaries', 'categories', 'lines', random.pick(['threads', 'processes']), isTimed ? random.pick(['states', 'cores']) : 'states'];
  for (const name of names) {
    const isSomething = await compare(name, ['--view', name, ...options], asked(name));
    if (!isSomething && faults.length > 0) return faults;
    if (!isSomething) break;
  }
  const { json: summary } = await jsonOf([file], ['--view', 'summary', ...options]);
  if (summary !== undefined) await compare('clock', ['--view', 'summary', ...options], asked('clock'), clockOf);
  if (summary !== undefined) await compare('operations', ['--view', 'summary', ...options], asked('operations'), withoutUnits);
  const by = random.pick(isTimed ? ['thread', 'process', 'state', 'core-kind', 'none'] : ['thread', 'process', 'none']);
  // If the command separates by state and no states are selected, it includes all states.
  const separated = by === 'state' && selection.states === undefined ? { ...selection, states: 'all' } : selection;
  const isInverted = random.oneIn(3);
  const treeOptions = ['--separate-by', by, ...options];
  const ofTree = (view, operations) => asked(view, { selection: separated, operations, by });
  const isSmall = profile.stacks.count < LARGEST_TREES;
  if (isSmall) {
    const [inverted, inverting] = isInverted ? [['--invert'], [{ kind: 'invert' }]] : [[], []];
    await compare('tree', ['--view', 'tree', ...treeOptions, ...inverted], ofTree('tree', [...operations, ...inverting]), (json) => flatTrees(json, by));
    for (const { name, answer } of answers) {
      comparisons += 1;
      const { differing } = await answer(asked('boxes'));
      if (differing.length > 0) faults.push(`${name}: ${options.join(' ')}: the boxes of the flame graph are not the tree`);
    }
  }
  if (isInverted && isSmall) {
    // The same tree, computed without inverting stacks.
    await compare('bottom up', ['--view', 'bottom-up', ...treeOptions], ofTree('bottom-up', operations), (json) => flatTrees(json, by));
  }
  await compare('heaviest', ['--view', 'heaviest', ...treeOptions], ofTree('heaviest', operations));
  if (isTimed) await compare('timeline', ['--view', 'timeline', ...treeOptions], ofTree('timeline', operations));
  // For the command, counter events are not a time, so the usual length of samples applies. The page uses the actual lengths.
  if (isTimed && !metric.startsWith('counter:')) await compare('chart', ['--view', 'flame-chart', ...options], asked('flame-chart'), roundedEnds);
  const name = profile.functions.count === 0 ? '' : engine.functionName(profile, random.below(profile.functions.count));
  if (name !== '' && !name.startsWith('/')) {
    await compare('callers', [`--function=${name}`, ...options], asked('callers', { of: name }));
  }
  return faults;
}

/** Returns the selected time of each series, and its CPU use. */
function clockOf(json) {
  return { clock: json.series.map(({ length_ns, length_source, cpu_percent }) => ({ length_ns: length_ns ?? 0, is_recorded: (length_source ?? 'samples') !== 'samples', cpu_percent })) };
}

/** Returns the effects of operations in the command's JSON, without units. */
function withoutUnits(json) {
  const operations = (json.operations ?? []).map(({ operation, series }) => ({
    operation,
    series: series.map(({ series, removed, changed_samples, moved }) => ({ series, removed, changed_samples, moved })),
  }));
  return { operations };
}

/** Returns the first row in which a list differs from a list of strings; null if they are equal. */
function differenceOf(theirs, ours) {
  if (theirs === undefined) return ' is not in the JSON';
  const rows = Math.max(theirs.length, ours.length);
  for (let row = 0; row < rows; row += 1) {
    const [a, b] = [row < theirs.length ? canonical(theirs[row]) : 'nothing', ours[row] ?? 'nothing'];
    if (a !== b) return `[${row}] of ${theirs.length} and ${ours.length}:\n    command ${around(a, b)}\n    engine  ${around(b, a)}`;
  }
  return null;
}

/** Returns the part of a long string around its first difference from another. */
function around(text, other) {
  let at = 0;
  while (at < text.length && text[at] === other[at]) at += 1;
  return text.length < 400 ? text : `…${text.slice(Math.max(0, at - 200), at + 200)}…`;
}
