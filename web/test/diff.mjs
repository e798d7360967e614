// Compares the engine's comparisons with `traceparse diff`: pages and JSON of the same pairs of recordings, with random selections,
// sequences of operations and ways of scaling. All numbers and the order of functions, binaries and tree nodes must be equal. Noise is
// compared to nine digits, since squares are summed as doubles.
//
//   node test/diff.mjs [--browser NAME]… [--requests N] [--seed N] [--random N FOLDER] [BEFORE AFTER …]
//
// The engine runs in Node, and in each named browser (`chromium`, `firefox`, `webkit`). Without files, the test uses pairs of fixtures, and
// pairs of real recordings if `TRACEPARSE_CORPUS` is set. `--random N` uses N pairs of `random-0.xml` … .

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { browserPlace } from './browsers/place.mjs';
import { canonical } from './canonical.mjs';
import { answerOf } from './changes.mjs';
import { ROOT, factsOf, factsTextOf, jsonOf, loadEngine, pageOf, payloadOf } from './command.mjs';
import { forEach } from './pool.mjs';
import { randomNumbers, randomRequest } from './requests.mjs';
import { selectionOf } from './asked_selection.mjs';
import { read } from './tables.mjs';

const CORPUS = [
  ['xctrace/26.2/finder_cpu_profile.xml', 'xctrace/27/cpu-profile.xml'],
  ['xctrace/26.5/cpu-profile.xml', 'xctrace/27/cpu-profile.xml'],
  ['xctrace/26.2/finder.trace.zip', 'xctrace/26.2/finder_cpu_profile.xml'],
  ['xctrace/14.3.1/time-profile.xml', 'xctrace/26.4.1/time-profile.xml'],
  ['xctrace/12.5/time-profile.xml', 'xctrace/14-16/time-profile.xml'],
  ['xctrace/26.4/time-sample.xml', 'xctrace/26.4/time-sample.xml'],
  ['other/sample/inferno_sample.txt', 'other/sample/inferno_sample.txt'],
];
/** Requests that the command refuses and that need no comparison. The engine also refuses the first kind. */
const CANNOT_BE_SUMMED = /several measurements|weights are in/;
const REFUSED = /no sample|no thread|no process|no run|no table|no binary|matches (no|nothing)|is not in|samples show|no (signpost )?interval|no potential hang|no time|which has none|when .* were taken/;
const NOISE = 1e-9;
/** The number of pairs that are compared in parallel. */
const WORKERS = 2;
/** The field of the command's JSON for each view. */
const FIELDS = { functions: 'functions', overview: 'own_functions', binaries: 'binaries', tree: 'nodes' };

const engine = await loadEngine();
const asked = argumentsOf(process.argv.slice(2));
const workers = await Promise.all(Array.from({ length: WORKERS }, () => Promise.all(asked.browsers.map((name) => browserPlace(name, 'test/browser_changes.mjs')))));
const counts = { passed: 0, failed: 0, tables: 0, refused: 0 };
await forEach(asked.pairs, WORKERS, async (pair, number, worker) => {
  const faults = await comparePair(pair, asked.seed + number, workers[worker]);
  if (number % 25 === 24) console.error(`${number + 1} of ${asked.pairs.length} pairs`);
  counts[faults.length === 0 ? 'passed' : 'failed'] += 1;
  if (faults.length > 0) console.log(`${pair.join(' ')}:\n  ${faults.slice(0, 4).join('\n  ')}`);
});
await Promise.all(workers.flat().map((place) => place.close()));
console.log(`${counts.tables} tables compared, ${counts.refused} requests refused by the command`);
console.log(`${counts.passed} pairs passed, ${counts.failed} failed`);
process.exitCode = counts.failed > 0 || counts.tables === 0 ? 1 : 0;

function argumentsOf(words) {
  const asked = { browsers: [], pairs: [], requests: 3, seed: 1 };
  const files = [];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--requests') asked.requests = Number(words.shift());
    else if (word === '--browser') asked.browsers.push(words.shift());
    else if (word === '--seed') asked.seed = Number(words.shift());
    else if (word === '--random') {
      const [count, folder] = [Number(words.shift()), words.shift()];
      for (let index = 0; index < count; index += 1) asked.pairs.push(randomPair(index, folder));
    } else files.push(word);
  }
  for (let index = 0; index + 1 < files.length; index += 2) asked.pairs.push(files.slice(index, index + 2));
  return asked.pairs.length > 0 ? asked : { ...asked, pairs: [...fixtures(), ...corpus()] };
}

/** Pairs a recording with the next, and every third one with itself. */
function randomPair(index, folder) {
  const other = index % 3 === 0 ? index : index + 1;
  const file = (number) => join(folder, `random-${number}.xml`);
  return [file(index), existsSync(file(other)) ? file(other) : file(0)];
}

/** Pairs each fixture with the next. */
function fixtures() {
  const found = readdirSync(join(ROOT, 'fixtures'), { recursive: true }).map((path) => join(ROOT, 'fixtures', path));
  const files = found.filter((path) => statSync(path).isFile() && /input\.xml$|\.sample\.txt$/.test(path)).sort();
  const pairs = files.flatMap((file, index) => [[file, file], [file, files[(index + 1) % files.length]]]);
  // Tables of contents contain the lengths of recordings.
  const [recording, toc] = ['27/orchard', 'toc/two-runs'].map((name) => join(ROOT, 'fixtures', name, 'input.xml'));
  return [...pairs, [recording, recording, '--before-toc', toc, '--after-toc', toc], [recording, recording, '--after-toc', toc]];
}

function corpus() {
  const folder = process.env.TRACEPARSE_CORPUS;
  if (folder === undefined) return [];
  return CORPUS.map((pair) => pair.map((path) => join(folder, path))).filter((pair) => pair.every((path) => existsSync(path)));
}

/** Returns the differences for one pair. */
async function comparePair(pair, seed, places) {
  const [files, force] = [['diff', ...pair], ['--force']];
  const { page, error } = await pageOf(files, force);
  const whole = await jsonOf(files, [...force, '--view', 'overview']);
  if (error !== undefined) {
    counts.refused += 1;
    return whole.error === undefined ? [`no page: ${error}`] : [];
  }
  if (whole.error !== undefined) return [`a page, but no JSON: ${whole.error}`];
  const facts = factsOf(page);
  const faults = Object.entries(whole.json).flatMap(([name, value]) =>
    canonical(facts[name]) === canonical(value) ? [] : [`${name} in the page is not that of the JSON`],
  );
  const [before, after] = await Promise.all(['before', 'profile'].map((id) => engine.decodePayload(payloadOf(page, id))));
  const comparison = new engine.Comparison(before, after, facts);
  const answers = [{ where: 'node', answer: (query) => answerOf(engine, comparison, query) }];
  for (const place of places) {
    const answer = await place.load({ profile: payloadOf(page), before: payloadOf(page, 'before'), diff: factsTextOf(page) });
    answers.push({ where: place.name, answer: async (query) => read(await answer(query)) });
  }
  const random = randomNumbers(seed * 7_919);
  for (let count = 0; count < asked.requests; count += 1) {
    const own = random.oneIn(2) ? before : after;
    const request = count === 0 ? { options: [], operations: [] } : randomRequest(engine, own, random);
    const normalize = random.pick(['none', 'duration', 'samples']);
    const selections = { before: selectionOf(engine, before, request.options), after: selectionOf(engine, after, request.options) };
    faults.push(...(await compareRequest(files, comparison, answers, { ...request, selections }, normalize, force)));
  }
  faults.push(...(await compareRequest(files, comparison, answers, mainThreadsRequest(before, after, random), 'none', force)));
  return faults;
}

/** Selects main threads as the page does: those of the second recording, and their counterparts in the first. */
function mainThreadsRequest(before, after, random) {
  const process = random.below(after.processes.length + 1);
  const name = after.processes[process]?.name ?? '';
  const isNamed = /^[A-Za-z][\w ]*$/.test(name);
  const selection = { mainOnly: true, ...(isNamed ? { processes: after.processes.flatMap((row, id) => (row.name === name ? [id] : [])) } : {}) };
  return {
    options: ['--only-main-thread', ...(isNamed ? ['--process', `/^${name}$/`] : [])],
    operations: [],
    selections: { before: engine.counterpart(after, before, selection), after: selection },
  };
}

async function compareRequest(files, comparison, answers, { options, operations, selections }, normalize, force) {
  const all = [...force, '--normalize', normalize, ...options];
  const faults = [];
  for (const view of Object.keys(FIELDS)) {
    const { json, error } = await jsonOf(files, [...all, '--view', view]);
    if (error !== undefined) {
      counts.refused += 1;
      const fault = refusalFault(comparison, selections, operations, error);
      return fault === null ? [] : [`${options.join(' ')}: ${fault}`];
    }
    const query = { selections, operations, normalize, view };
    const found = await Promise.all(answers.map(async ({ where, answer }) => ({ where, ...(await answer(query)) })));
    for (const { where, factor, total, rows, boxFaults } of found) {
      counts.tables += 1;
      const difference = differenceOf([json.factor], [factor]) ?? differenceOf([json.total], [total]) ?? differenceOf(json[FIELDS[view]], rows);
      if (difference !== null) faults.push(`${where}: ${all.join(' ')}: ${view}${difference}`);
      faults.push(...boxFaults.map((fault) => `${where}: ${all.join(' ')}: ${fault}`));
    }
  }
  return faults;
}

/** Explains what is wrong with a refusal of the command; null if it is correct. */
function refusalFault(comparison, selections, operations, error) {
  if (REFUSED.test(error)) return null;
  if (!CANNOT_BE_SUMMED.test(error)) return error.trim();
  try {
    comparison.changes(selections, operations);
  } catch (refusal) {
    return refusal instanceof engine.RefusedError ? null : String(refusal);
  }
  return `the engine compares what the command refuses: ${error.trim()}`;
}

/** Returns the first row in which two lists differ; null if they are equal. */
function differenceOf(theirs, ours) {
  for (let row = 0; row < Math.max(theirs.length, ours.length); row += 1) {
    const [a, b] = [theirs, ours].map((rows) => (row < rows.length ? canonical(withoutNoise(rows[row])) : 'nothing'));
    if (a === b && isNear(theirs[row], ours[row])) continue;
    const noise = a === b ? ` (noise ${JSON.stringify([noiseOf(theirs[row]), noiseOf(ours[row])])})` : '';
    return `[${row}] of ${theirs.length} and ${ours.length}${noise}:\n    command ${a}\n    engine  ${b}`;
  }
  return null;
}

function withoutNoise(row) {
  if (row === null || typeof row !== 'object') return row;
  const of = ({ noise: _, ...rest }) => rest;
  return { ...row, self_change: of(row.self_change), all_change: of(row.all_change) };
}

function noiseOf(row) {
  return typeof row === 'object' && row !== null ? [row.self_change.noise, row.all_change.noise] : [];
}

function isNear(a, b) {
  const [one, other] = [noiseOf(a), noiseOf(b)];
  return one.every((noise, index) => Math.abs(Number(noise) - other[index]) <= NOISE * Math.max(1, other[index]));
}
