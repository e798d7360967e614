// The state of the page, without a browser: links are written and strictly read, undo reverts one choice at a time, and numbers are
// formatted like the command's.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, load, openPage, pageOf } from './command.mjs';

const { fragmentOf, readFragment } = await load('state/fragment.ts');
const { freshState, selectionOf, mainSeries } = await load('state/state.ts');
const { Store } = await load('state/store.ts');
const { inScale, percent, scaleOf, withUnit } = await load('ui/format.ts');
const { inert } = await load('state/inert.ts');
const { pairNames, stateOnSide } = await load('state/sides.ts');
const { exampleSpan, readTyped } = await load('ui/time_field.tsx');
const { spanText } = await load('state/time.ts');
const { functionsOfSteps, stepOf } = await load('state/steps.ts');
const { Texts } = await load('state/texts.ts');

async function namesOf(file) {
  const { page } = await pageOf([join(ROOT, file)]);
  const { engine, opened } = await openPage(page);
  // Everything sent to a page must be cloneable.
  const crossed = structuredClone(opened.tables);
  return { engine, names: { tables: crossed, texts: new Texts(crossed) } };
}

const { names, engine } = await namesOf('fixtures/27/signposts/input.xml');
const counted = await namesOf('fixtures/14.3/counters-profile/input.xml');
const waiting = await namesOf('fixtures/27/time-profile-waiting/input.xml');

test('a link shows what its sender saw', () => {
  const states = [
    freshState(0),
    { ...freshState(1), tab: 'tree', tree: 'up', flame: 'up', by: 'thread', part: 0 },
    { ...freshState(0), time: { start: 1, end: 3_600_000_000_001 }, threads: [0, 1], mainOnly: true, chosen: 3, search: 'a&b=c#d %' },
    { ...freshState(0), during: { names: ['Layout'], hangs: true, needsAll: true }, states: 'all', metric: 'samples', list: 'names' },
    { ...freshState(0), processes: [0], operations: [{ kind: 'root-at', pattern: '^a\\$b|(c&d)=é$' }, { kind: 'leaf-binary', names: ['Grove & Co, Ltd', '100%'] }] },
    { ...freshState(0), operations: [{ kind: 'charge-binary', binary: 'a:b/c' }, { kind: 'hide-system' }] },
  ];
  for (const state of states) {
    const fragment = fragmentOf(state, names);
    assert.match(fragment, /^[\x21-\x7e]*$/, 'a link has no blanks and no letters that a mail would break');
    assert.deepEqual(readFragment(`#${fragment}`, names), state, fragment);
  }
});

test('a link tells the runs of several documents and files apart', async () => {
  const inputs = ['14.3/concatenated', '27/orchard'].map((name) => join(ROOT, 'fixtures', name, 'input.xml'));
  const { page } = await pageOf(inputs);
  const { opened } = await openPage(page);
  const names = { tables: opened.tables, texts: new Texts(opened.tables) };
  const { series, threads } = opened.tables;
  assert.ok(new Set(series.map(({ table, schema }) => `${table} ${schema}`)).size < series.length, 'some tables differ by their run alone');
  for (const id of series.keys()) {
    for (const thread of threads.keys()) {
      const state = { ...freshState(id), threads: [thread] };
      const read = readFragment(fragmentOf(state, names), names);
      assert.deepEqual([read.series, read.threads], [id, [thread]], fragmentOf(state, names));
    }
  }
});

test('a link holds places of the tree, and long paths are short in it', () => {
  const all = Array.from({ length: names.tables.functions.count }, (_, id) => stepOf(names, id, false));
  const odd = renamed(names, all.slice(0, 4), ['~Press', 'a;b@c#d\\', 'operator()(int, char)', 'é %25&=;']);
  const oddSteps = odd.ids.map((id) => stepOf(odd.names, id, false));
  for (const direction of ['down', 'up']) {
    for (const [known, path] of [[names, all.slice(0, 3)], [odd.names, oddSteps], [names, Array.from({ length: 1_500 }, (_, at) => all[at % all.length])]]) {
      const state = { ...freshState(0), operations: [{ kind: 'charge-place', place: { direction, path } }] };
      const fragment = fragmentOf(state, known);
      assert.deepEqual(readFragment(fragment, known), state);
      assert.ok(fragment.length < 100 + 80 * Math.min(path.length, 10) + 10 * path.length, `${fragment.length} characters for ${path.length} functions`);
    }
  }
});

test('binaries of one name are told apart on a path', () => {
  const { tables, texts } = names;
  const { functions, binaries } = tables;
  const id = functions.binary.findIndex((binary) => binary >= 0);
  const twin = { ...binaries[functions.binary[id]], uuid: '01234567-89AB-CDEF-0123-456789ABCDEF' };
  const grown = (column, value) => Int32Array.from([...column, value]);
  const twins = {
    tables: { ...tables, binaries: [...binaries, twin], functions: { count: functions.count + 1, name: grown(functions.name, functions.name[id]), binary: grown(functions.binary, binaries.length), flags: grown(functions.flags, functions.flags[id]) } },
    texts,
  };
  const steps = [id, functions.count].map((one) => stepOf(twins, one, false));
  assert.deepEqual(functionsOfSteps(twins, steps).map((found) => [...found]), [[id], [functions.count]]);
  assert.deepEqual([...functionsOfSteps(twins, [stepOf(twins, id, true)])[0]], [id, functions.count], 'comparisons match both');
  for (const length of [1, 400]) {
    const place = { direction: 'down', path: Array.from({ length }, (_, at) => steps[at % 2]) };
    const state = { ...freshState(0), operations: [{ kind: 'prune-place', place }] };
    assert.deepEqual(readFragment(fragmentOf(state, twins), twins), state);
    // The same path in a recording with a different binary.
    const other = { ...twins, tables: { ...twins.tables, binaries: [...binaries, { ...twin, uuid: null }] } };
    if (length > 1) assert.throws(() => readFragment(fragmentOf(state, twins), other), /no function/);
  }
});

/** Returns the names, with some functions renamed. */
test('a link does not open a table that the page was written without', () => {
  const [series] = names.tables.series;
  const written = (samples) => ({
    ...names,
    tables: {
      ...names.tables,
      series: [series, { ...series, schema: 'other', rows: 0 }],
      summary: { series: [{ filtered_out: { samples: 0 } }, { filtered_out: { samples } }] },
    },
  });
  const link = fragmentOf(freshState(1), written(0));
  assert.throws(() => readFragment(link, written(1)), { name: 'RefusedError', message: /written without the samples of the table/ });
  // An empty table that nothing was left out of is one without samples.
  assert.equal(readFragment(link, written(0)).series, 1);
});

function renamed({ tables, texts }, steps, called) {
  const ids = steps.map((_, place) => place);
  const all = Array.from({ length: tables.textEnds.length }, (_, at) => texts.at(at));
  const name = tables.functions.name.slice();
  ids.forEach((id, place) => (name[id] = all.push(called[place]) - 1));
  const functions = { ...tables.functions, name };
  return { ids, names: { tables: { ...tables, functions }, texts: { at: (index) => all[index] } } };
}

test('samples weigh what a counter counted', () => {
  const state = { ...freshState(0), metric: 'counter:2' };
  const fragment = fragmentOf(state, counted.names);
  assert.match(fragment, /metric=counter:2/);
  assert.deepEqual(readFragment(fragment, counted.names), state);
  for (const link of ['v=1&metric=counter:3', 'v=1&metric=counter:0', 'v=1&metric=counter:1e0', 'v=1&metric=counter:']) {
    assert.throws(() => readFragment(link, counted.names), { name: 'RefusedError' }, link);
  }
  assert.throws(() => readFragment('v=1&metric=counter:1', names), { name: 'RefusedError', message: /no counter 1/ });
  // These sums were computed by hand from the fixture.
  const ask = (selection) => counted.engine.ask({ series: 0, selection, operations: [], side: 'after' }, { kind: 'overview' });
  assert.deepEqual(ask({}).counters.map(({ number, name, events }) => [number, name, events]), [[1, null, 2_520_686], [2, null, 1_214_983]]);
  assert.deepEqual(ask({ time: { start: 105e6, end: 107e6 } }).counters.map(({ events }) => events), [2_400_100, 980]);
  const { total } = ask({ metric: 'counter:2' });
  assert.deepEqual(total, { weight: 1_214_983, samples: 5 });
});

test('times are read as people type them', () => {
  const read = { '2s..3s': [2e9, 3e9], '2..3 ms': [2e6, 3e6], '120ms - 1.5s': [120e6, 1.5e9], '0–1': [0, 1e9], '1.000000001s..2s': [1_000_000_001, 2e9] };
  Object.assign(read, { '2s..': [2e9, 8_000_000_001], '.. 500 ms': [1e9 / 4, 500e6], '300ms -': [300e6, 8_000_000_001] });
  const whole = { start: 1e9 / 4, end: 8e9 };
  for (const [text, [start, end]] of Object.entries(read)) assert.deepEqual(readTyped(text, whole), { start, end }, text);
  const examples = [[[0, 10e9], '4s..6s'], [[311e6, 571e6], '0.4s..0.5s'], [[0, 0], '0s..0.000000001s'], [[5e9, 5.000001e9], '5.0000004s..5.0000006s']];
  for (const [[start, end], text] of examples) assert.equal(spanText(exampleSpan({ start, end })), text);
  for (const text of ['3s..2s', '2s', '..', '9s..', 'x..y', '-1s..2s', '1s..9e9s', '0..99999999s']) assert.equal(readTyped(text, whole), undefined, text);
});

test('states of threads are named', () => {
  const state = { ...freshState(0), states: ['Blocked'] };
  assert.deepEqual(readFragment(fragmentOf(state, waiting.names), waiting.names), state);
});

test('a link that cannot be read is refused with a sentence', () => {
  const refused = {
    'v=1&t=2s..2s': /length zero/,
    'v=1&tab=tree&tab=flame': /twice: ‘tab’/,
    'v=1&v=1': /twice: ‘v’/,
    'tab=tree': /version/,
    'v=2': /version/,
    'v=1&tab=nothing': /unknown view/,
    'v=1&other=1': /unknown part/,
    'v=1&tab': /without a value/,
    'v=1&t=3s..2s': /before it begins/,
    'v=1&t=1e9s..2s': /time range that cannot be read/,
    'v=1&op=focus': /unknown operation/,
    'v=1&op=shred:x': /unknown operation/,
    'v=1&op=hide-system:x': /unknown operation/,
    'v=1&op=prune-place:main': /path of functions/,
    'v=1&op=prune-place:down:nothing@nowhere': /no function/,
    'v=1&op=charge-place:up:~AAAAAAAA': /no function/,
    'v=1&op=prune-place': /unknown operation/,
    'v=1&thread=1/1/1/Nobody': /no thread/,
    'v=1&fn=nothing': /no function/,
    'v=1&during=Nothing': /no interval/,
    'v=1&state=Asleep': /no thread was in the state/,
    'v=1&series=9/9/x': /no table/,
    'v=1&part=../..': /unknown part/,
    'v=1&q=%E0%A4%A': /damaged/,
    [`v=1&q=${'x'.repeat(30_000)}`]: /too long/,
  };
  for (const [fragment, message] of Object.entries(refused)) {
    assert.throws(() => readFragment(fragment, names), { name: 'RefusedError', message }, fragment);
  }
});

test('undo goes from one selection to the one before, and leaves what is looked at', () => {
  const store = new Store(freshState(0));
  store.set({ tab: 'tree', chosen: 1 });
  assert.equal(store.canUndo, false, 'looking is nothing to undo');
  store.set({ mainOnly: true });
  for (const end of [10, 20, 30]) store.set({ time: { start: 0, end } }, 'brush 1');
  store.set({ time: { start: 0, end: 40 } }, 'brush 2');
  store.set({ tab: 'flame' });
  store.undo();
  assert.deepEqual(store.state.time, { start: 0, end: 30 }, 'one movement of the brush is one step');
  store.undo();
  assert.deepEqual([store.state.time, store.state.mainOnly, store.state.tab], [null, true, 'flame']);
  store.redo();
  assert.deepEqual(store.state.time, { start: 0, end: 30 });
  store.set({ mainOnly: false });
  assert.equal(store.canRedo, false);
  // The displayed function is kept as well, unless it belongs to another recording.
  store.set({ chosen: 2 });
  store.undo();
  assert.deepEqual([store.state.mainOnly, store.state.chosen], [true, 2]);
  store.set({ side: 'before', chosen: 7 });
  store.undo();
  assert.deepEqual([store.state.side, store.state.chosen], ['after', 2]);
});

test('selections are of one run, and main threads narrow chosen threads', () => {
  const main = names.tables.threads.flatMap(({ is_main }, id) => (is_main ? [id] : []));
  assert.ok(main.length > 0 && main.length < names.tables.threads.length);
  const everyThread = names.tables.threads.map((_, id) => id);
  const selection = selectionOf({ ...freshState(0), threads: everyThread, mainOnly: true }, names.tables);
  assert.deepEqual([selection.threads, selection.mainOnly, selection.runs, selection.series], [everyThread, true, [0], [0]]);
  const { threads } = engine.ask({ series: 0, selection, operations: [] }, { kind: 'threads' });
  assert.deepEqual(threads.map(({ id }) => id).sort(), main.filter((id) => threads.some((row) => row.id === id)));
  assert.ok(threads.length > 0);
  assert.equal(mainSeries(names.tables), 0);
});

test('answers can cross to a page, and say what they are of', () => {
  const place = { series: 0, selection: selectionOf(freshState(0), names.tables), operations: [] };
  const part = { by: 'none', part: null };
  const flame = { key: '', tree: '', unit: 'ns', pixels: 100, least: null, from: null, to: null };
  const range = names.tables.spans[0];
  const asks = [
    ...['totals', 'overview', 'functions', 'binaries', 'categories', 'lines', 'threads', 'states', 'cores'].map((kind) => ({ kind })),
    ...['down', 'up'].flatMap((direction) => [{ kind: 'tree', direction, open: null, expand: null, find: null, ...part }, { kind: 'flame', direction, ...part, ...flame }]),
    { kind: 'heaviest', ...part },
    { kind: 'sandwich', label: 0 },
    { kind: 'search', text: 'a' },
    { kind: 'chart', thread: null, range, ...flame },
    { kind: 'tracks', unit: 'ns', range, pixels: 100 },
  ];
  for (const ask of asks) {
    const answer = structuredClone(engine.ask(place, ask));
    assert.equal(answer.kind, ask.kind);
    if ('total' in answer) assert.deepEqual(answer.total, { weight: 3_000_000, samples: 3 }, ask.kind);
  }
});

test('rows that were opened stay open over another selection', () => {
  const place = { series: 0, selection: selectionOf(freshState(0), names.tables), operations: [] };
  const ask = { kind: 'tree', direction: 'down', by: 'none', part: null, open: { depth: [], label: [] }, expand: null, find: null };
  const closed = engine.ask(place, ask);
  const all = engine.ask(place, { ...ask, expand: { path: [closed.label[0]], onlyChain: false } });
  assert.ok(all.label.length > closed.label.length);
  const rows = [...all.flags.keys()].filter((row) => (all.flags[row] & 2) !== 0);
  const open = { depth: rows.map((row) => all.depth[row]), label: rows.map((row) => all.label[row]) };
  assert.deepEqual(engine.ask(place, { ...ask, open }).label, all.label);
  const samples = engine.ask({ ...place, selection: { ...place.selection, metric: 'samples' } }, { ...ask, open });
  assert.deepEqual([...samples.label].sort(), [...all.label].sort());
});

test('texts turn nothing around and hide nothing, and letters of all scripts stay', () => {
  for (const text of ['plain', 'é ä Ж 漢', 'نام\u200cها', '👩\u200d🚀', '❤\ufe0f']) assert.equal(inert(text), text);
  const acting = { '\u202e': '\\u{202e}', '\n': '\\n', '\u0000': '\\u{0}', '\u{e0041}': '\\u{e0041}', '\u200b': '\\u{200b}', '\u0085': '\\u{85}' };
  for (const [text, shown] of Object.entries(acting)) assert.equal(inert(`a${text}b`), `a${shown}b`);
});

test('numbers are written as the command writes them', () => {
  const seconds = scaleOf(9_581_000_000, 'ns');
  assert.deepEqual([seconds.unit, inScale(1_000_000, seconds), inScale(9_581_499_999, seconds)], ['s', '0.001', '9.581']);
  assert.equal(inScale(500_000n, seconds), '0.001', 'halves go up');
  assert.equal(withUnit(999, 'cycles'), '999 cycles');
  assert.equal(withUnit(2n ** 64n, 'ns'), `18,446,744,073.71 s`);
  assert.deepEqual([withUnit(1, 'samples'), withUnit(2, 'samples'), withUnit(1, 'cycles', 5000), withUnit(1, 'ns')], ['1 sample', '2 samples', '0.00 kcycles', '1 ns']);
  assert.deepEqual([percent(1, 3), percent(1, 300), percent(0, 3), percent(1, 1_000_000), percent(1, 0)], ['33.3%', '0.33%', '0.0%', '<0.01%', '–']);
});

async function pairOf(first, second) {
  const { page } = await pageOf(['diff', join(ROOT, first), join(ROOT, second)], ['--force']);
  const { opened } = await openPage(page);
  const { tables, pair } = structuredClone(opened);
  return pairNames({ tables, texts: new Texts(tables) }, { tables: pair.before, texts: new Texts(pair.before) }, pair);
}

const compared = await pairOf('fixtures/27/orchard/input.xml', 'fixtures/27/time-profile-waiting/input.xml');
const { sides } = compared;

test('a link to a comparison holds its side, and names what it selects in the recording of that side', () => {
  for (const [side, names] of [['compared', sides.compared], ['after', sides.after], ['before', sides.before]]) {
    const last = names.tables.threads.length - 1;
    const state = { ...freshState(0, side), threads: [last], chosen: names.tables.functions.count - 1, normalize: 'duration', tab: 'functions' };
    const fragment = fragmentOf(state, names);
    assert.equal(fragment.includes('side='), side !== 'compared');
    assert.deepEqual(readFragment(`#${fragment}`, compared), state);
  }
  assert.equal(readFragment('', compared).side, 'compared');
  assert.throws(() => readFragment('#v=1&side=both', compared), /unknown side/);
  assert.throws(() => readFragment('#v=1&scale=none', names), /compares two recordings/);
});

test('another side has the same thread by its name, and none in place of one that it lacks', () => {
  const named = (side, name) => sides[side].tables.threads.findIndex((thread) => thread.name === name);
  const [main, worker] = [named('before', 'Main Thread'), named('before', 'press worker #1 (pool)')];
  assert.ok(main >= 0 && worker >= 0 && named('after', 'Main Thread') >= 0);
  const same = stateOnSide({ ...freshState(0, 'before'), threads: [main] }, sides, 'after');
  assert.deepEqual([same.state.threads, same.lost], [[named('after', 'Main Thread')], []]);
  const lost = stateOnSide({ ...freshState(0, 'before'), threads: [worker] }, sides, 'compared');
  assert.deepEqual([lost.state.threads, lost.lost], [null, ['thread']]);
});

test('another side has the same function, and none in place of one that it lacks', () => {
  const { matching } = sides;
  matching.name.forEach((name, number) => {
    if (number === 0) return;
    const state = { ...freshState(0, 'compared'), chosen: number };
    for (const side of ['before', 'after']) {
      const { chosen } = stateOnSide(state, sides, side).state;
      assert.equal(chosen, matching[side][number] < 0 ? null : matching[side][number]);
      if (chosen === null) continue;
      const { tables, texts } = sides[side];
      if (matching.isNamed[number] === 1) assert.equal(texts.at(tables.functions.name[chosen]), name);
      assert.equal(stateOnSide({ ...freshState(0, side), chosen }, sides, 'compared').state.chosen, number);
    }
  });
});
