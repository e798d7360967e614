// Tests operations at one place of the tree, which the command does not have. Every table of random recordings, with other operations
// before and after, is compared with the result of changing stacks one by one. If a function is in only one place, it is also compared with
// the operation on the complete function.
//
//   node test/places.mjs [--requests N] [--seed N] [--random N FOLDER] [FILE …]
//
// Without files, the test uses all fixtures. FOLDER contains `random-0.xml` …, written by the example `generate-random`.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, loadEngine, pageOf, payloadOf } from './command.mjs';
import { placesOf, stackedProfile } from './place_stacks.mjs';
import { randomNumbers, randomRequest } from './requests.mjs';
import { Tables } from './tables.mjs';

const KINDS = ['root-at-place', 'prune-place', 'charge-place'];
/** The corresponding operations on all places of a function. */
const EVERYWHERE = { 'root-at-place': 'root-at', 'prune-place': 'prune', 'charge-place': 'charge' };
const VIEWS = ['functions', 'binaries', 'categories', 'lines', 'threads', 'processes', 'states', 'cores', 'heaviest', 'timeline', 'flame-chart'];
/** The maximum number of rows for which all tables are compared completely. */
const LARGEST = 50_000;

const engine = await loadEngine();
const asked = argumentsOf(process.argv.slice(2));
const counts = { tables: 0, places: 0, unique: 0, shared: 0, nowhere: 0, recursive: 0 };
let [passed, failed] = [0, 0];
for (const [number, file] of asked.files.entries()) {
  const faults = await compareFile(file, randomNumbers((asked.seed + number) * 7_919));
  if (faults.length === 0) passed += 1;
  else {
    failed += 1;
    console.log(`${file}:\n  ${faults.slice(0, 4).join('\n  ')}`);
  }
}
console.log(`${counts.places} places, ${counts.nowhere} of them nowhere; ${counts.shared} functions told apart by their binaries; ${counts.tables} tables compared`);
console.log(`${counts.unique} places with the only calls of a function compared with the operation on the function`);
console.log(`${counts.recursive} series with samples in which a function is several times`);
console.log(`${passed} passed, ${failed} failed`);
const isIdle = counts.places === 0 || counts.tables === 0 || counts.unique === 0 || counts.recursive === 0;
process.exitCode = failed > 0 || isIdle ? 1 : 0;

function argumentsOf(words) {
  const asked = { files: [], requests: 6, seed: 1 };
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--requests') asked.requests = Number(words.shift());
    else if (word === '--seed') asked.seed = Number(words.shift());
    else if (word === '--random') {
      const [count, folder] = [Number(words.shift()), words.shift()];
      for (let index = 0; index < count; index += 1) asked.files.push(join(folder, `random-${index}.xml`));
    } else asked.files.push(word);
  }
  return asked.files.length > 0 ? asked : { ...asked, files: fixtures() };
}

function fixtures() {
  const found = readdirSync(join(ROOT, 'fixtures'), { recursive: true }).map((path) => join(ROOT, 'fixtures', path));
  return found.filter((path) => statSync(path).isFile() && /input\.xml$|\.sample\.txt$|\.trace\.zip$/.test(path)).sort();
}

async function compareFile(file, random) {
  const { page } = await pageOf([file]);
  if (page === undefined) return [];
  const profile = await engine.decodePayload(payloadOf(page));
  if (profile.stacks.count === 0 || profile.stacks.count > LARGEST) return [];
  const faults = [];
  for (let count = 0; count < asked.requests; count += 1) faults.push(...compareRequest(profile, random));
  return faults;
}

/** Tests one place, after some operations and followed by others. */
function compareRequest(profile, random) {
  const request = randomRequest(engine, profile, random);
  const cut = random.below(request.operations.length + 1);
  const [before, behind] = [request.operations.slice(0, cut), request.operations.slice(cut)];
  // Names of binaries refer to stacks as they were recorded.
  if (random.oneIn(4)) before.push({ kind: 'invert' });
  const workbench = new engine.Workbench(profile);
  const stacks = placesOf(workbench, before);
  const found = randomPlace(profile, stacks, random);
  if (found === null) return [];
  counts.places += 1;
  if (found.place.path.some(({ which }) => which !== undefined)) counts.shared += 1;
  const operation = { kind: random.pick(KINDS), place: found.place };
  const done = stacks.lists.map((list) => (list === null ? null : doneAlone(operation, list, stacks.functionOf, found.ids)));
  if (stacks.lists.every((list, place) => list === null || done[place] === list)) counts.nowhere += 1;
  const alone = stackedProfile(profile, workbench.used, done);
  const { selection } = request;
  const what = `${JSON.stringify(before)} ${JSON.stringify(operation)} ${JSON.stringify(behind)}`;
  const faults = differences(profile, [selection, [...before, operation, ...behind]], alone, [selection, behind], random, what);
  faults.push(...effectFaults(workbench, before, operation, stacks, done, what));
  faults.push(...recursionFaults(workbench, before, stacks, found.ids.at(-1), what));
  if (!isOnlyThere(profile, stacks, found)) return faults;
  counts.unique += 1;
  const { name } = found.place.path.at(-1);
  const everywhere = { kind: EVERYWHERE[operation.kind], pattern: engine.exactPattern(name) };
  const same = [...before, everywhere, ...behind];
  return [...faults, ...differences(profile, [selection, [...before, operation, ...behind]], profile, [selection, same], random, `everywhere: ${what}`)];
}

/** Returns a place in an existing stack with its functions; occasionally one that does not exist. */
function randomPlace(profile, { lists, functionOf }, random) {
  const there = lists.filter((list) => list !== null && list.length > 0);
  if (there.length === 0) return null;
  const list = random.pick(there);
  const direction = random.pick(['down', 'up']);
  const ordered = direction === 'down' ? list : [...list].reverse();
  const ids = ordered.slice(0, 1 + random.below(ordered.length)).map((frame) => functionOf[frame]);
  if (random.oneIn(8)) ids[random.below(ids.length)] = random.below(profile.functions.count);
  return { place: { direction, path: ids.map((id) => engine.stepOf(profile, id, false)) }, ids };
}

/** Returns one stack after the operation: null if it is removed, and the same list if it is unchanged. */
function doneAlone({ kind, place: { direction } }, list, functionOf, ids) {
  const ordered = direction === 'down' ? list : [...list].reverse();
  const isThere = ids.every((id, level) => level < ordered.length && functionOf[ordered[level]] === id);
  if (!isThere) return kind === 'root-at-place' ? null : list;
  if (kind === 'prune-place') return null;
  if (kind === 'charge-place' && list.length === 1) return list;
  const last = ids.length - 1;
  const changed = kind === 'root-at-place' ? ordered.slice(last) : ordered.filter((_, level) => level !== last);
  return direction === 'down' ? changed : changed.reverse();
}

/** True if functions with this name occur only at the place, which must be given from the root. */
function isOnlyThere(profile, { lists, functionOf }, { place, ids }) {
  if (place.direction !== 'down') return false;
  const name = place.path.at(-1).name;
  return lists.every((list) => {
    if (list === null) return true;
    const levels = list.flatMap((frame, level) => (engine.functionName(profile, functionOf[frame]) === name ? [level] : []));
    const isThere = ids.every((id, level) => functionOf[list[level]] === id);
    return levels.length === 0 || (isThere && levels.length === 1 && levels[0] === ids.length - 1);
  });
}

function differences(profile, [selection, operations], other, [otherSelection, others], random, what) {
  const [ours, theirs] = [new Tables(engine, profile), new Tables(engine, other)];
  const wanted = selection.series ?? profile.series.map((_, index) => index);
  const by = random.pick(['none', 'thread', 'process']);
  const metric = selection.metric ?? 'weight';
  const of = profile.functions.count === 0 ? '' : engine.functionName(profile, random.below(profile.functions.count));
  const faults = [];
  for (const view of [...VIEWS, 'tree', 'bottom-up', 'boxes', 'callers']) {
    if (profile.form === 'sums' && ['timeline', 'flame-chart', 'cores'].includes(view)) continue;
    counts.tables += 1;
    const query = { view, wanted, metric, by, of };
    const [mine, expected] = [ours.answer({ ...query, selection, operations }), theirs.answer({ ...query, selection: otherSelection, operations: others })].map((rows) => JSON.stringify(rows));
    if (view === 'boxes' && mine !== '{"differing":[]}') faults.push(`${what}: the boxes of a flame graph are not the tree`);
    if (mine !== expected) faults.push(`${view}: ${what}:\n    ${mine.slice(0, 400)}\n    ${expected.slice(0, 400)}`);
  }
  return faults;
}

/** Compares the effect that the operation reports with the stacks. */
function effectFaults(workbench, before, operation, { lists, functionOf }, done, what) {
  const { profile, used } = workbench;
  const view = workbench.view({ states: 'all' }, [...before, operation]);
  return profile.series.flatMap((_, series) => {
    const effect = view.effects(series).at(-1);
    const expected = { removed: 0, changed: 0, moved: 0 };
    for (const row of workbench.view({ states: 'all' }, before).counted(series)) {
      const [list, now] = [lists[used.ofRow[row]], done[used.ofRow[row]]];
      const samples = Number(view.rows.samples(row));
      if (now === null) expected.removed += samples;
      if (now === null) continue;
      if (now.length < list.length) expected.changed += samples;
      if (functionOf[now.at(-1)] !== functionOf[list.at(-1)]) expected.moved += samples;
    }
    const found = { removed: Number(effect.removed.samples), changed: Number(effect.changed_samples), moved: Number(effect.moved.samples) };
    return JSON.stringify(found) === JSON.stringify(expected) ? [] : [`effect on series ${series}: ${what}: ${JSON.stringify(found)} and not ${JSON.stringify(expected)}`];
  });
}

/** Compares the weight of samples that contain a function several times with the stacks. */
function recursionFaults(workbench, before, { lists, functionOf }, id, what) {
  const { profile, used } = workbench;
  const view = workbench.view({ metric: 'samples' }, before);
  const chosen = new Uint8Array(profile.functions.count);
  chosen[id] = 1;
  return profile.series.flatMap((_, series) => {
    const isSeveralTimes = (row) => lists[used.ofRow[row]].filter((frame) => functionOf[frame] === id).length > 1;
    const expected = view.total(view.counted(series).filter(isSeveralTimes)).weight;
    const { recursive } = engine.sandwich(view, series, chosen);
    if (Number(expected) > 0) counts.recursive += 1;
    return recursive.weight === expected ? [] : [`recursion in series ${series}: ${what}: ${recursive.weight} and not ${expected}`];
  });
}
