// Random selections and sequences of operations, as options of the command and as arguments of the engine.

import { escaped } from './escaped.mjs';

/** splitmix32, which produces the same numbers on every machine. */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  const below = (limit) => next() % limit;
  return { below, oneIn: (count) => below(count) === 0, pick: (list) => list[below(list.length)] };
}

/** Returns a random request: `options` for the command, `selection` and `operations` for the engine. */
export function randomRequest(engine, profile, random) {
  const request = { options: [], selection: {}, operations: [], canInvert: false };
  const name = (rows) => random.pick(rows.map(({ name }) => name).filter((name) => name !== '')) ?? 'nothing';
  if (random.oneIn(3)) addThreads(engine, profile, random, request, name);
  if (random.oneIn(5)) {
    const process = textOf(random, name(profile.processes));
    request.options.push('--process', process);
    request.selection.processes = engine.matchProcesses(profile, process);
  }
  if (random.oneIn(5)) {
    const number = random.pick(profile.runs).number;
    request.options.push('--run', String(number));
    request.selection.runs = profile.runs.flatMap((run, index) => (run.number === number ? [index] : []));
  }
  if (random.oneIn(6)) {
    const schema = random.pick(profile.series).schema;
    request.options.push('--schema', schema);
    request.selection.series = profile.series.flatMap((series, index) => (series.schema === schema ? [index] : []));
  }
  if (profile.form === 'samples' && profile.reduction === null) addTimes(profile, random, request);
  if (random.oneIn(4)) {
    const states = random.oneIn(2) ? 'all' : [random.pick(profile.states) ?? 'Running'];
    request.options.push('--state', states === 'all' ? 'all' : states[0].toUpperCase());
    request.selection.states = states;
  }
  if (random.oneIn(4)) {
    request.options.push('--metric', 'samples');
    request.selection.metric = 'samples';
  }
  const counters = profile.samples.counters;
  if (counters.length > 0 && random.oneIn(3)) addCounter(profile, random.pick(counters).number, random, request);
  addOperations(engine, profile, random, request, name);
  return request;
}

/** Weighs samples by the events of a counter. The command omits tables without the counter. */
function addCounter(profile, number, random, request) {
  const { options, selection } = request;
  const place = options.indexOf('--metric');
  if (place >= 0) options.splice(place, 2);
  const hasIt = (index) => profile.series[index].counters?.[number - 1]?.has_column ?? false;
  const names = [...new Set(profile.series.map((series) => series.counters?.[number - 1]?.name))].filter((name) => name != null);
  options.push('--metric', `counter:${names.length === 1 && random.oneIn(2) ? names[0] : number}`);
  selection.metric = `counter:${number}`;
  selection.series = (selection.series ?? profile.series.map((_, index) => index)).filter(hasIt);
}

/** Returns a complete name, a part of it, or a regular expression. */
function textOf(random, name) {
  const chars = Array.from(name);
  if (random.oneIn(3)) return `/${escaped(chars.slice(0, 1 + random.below(chars.length)).join(''))}/`;
  if (random.oneIn(2) && chars.length > 3) {
    const part = chars.slice(1, 3 + random.below(chars.length - 2)).join('').toUpperCase();
    // Other parts would not be read as names.
    if (!part.startsWith('/') && !part.startsWith('-') && !/^(0[xX])?[0-9a-fA-F]+$/.test(part)) return part;
  }
  return name;
}

function addThreads(engine, profile, random, request, name) {
  const threads = [];
  for (let count = 1 + random.below(2); count > 0; count -= 1) {
    if (random.oneIn(5)) {
      request.options.push('--only-main-thread');
      request.selection.mainOnly = true;
      break;
    }
    const text = random.oneIn(3) ? String(random.pick(profile.threads).tid ?? 1) : textOf(random, name(profile.threads));
    request.options.push('--thread', text);
    threads.push(...engine.matchThreads(profile, text));
  }
  if (request.options.includes('--thread')) request.selection.threads = threads;
}

function addTimes(profile, random, request) {
  const { time } = profile.samples;
  if (random.oneIn(3) && time.length > 0) {
    const moments = [0, 1].map(() => BigInt(time[random.below(time.length)]) + BigInt(random.below(2)));
    const [start, end] = moments.sort((a, b) => (a < b ? -1 : 1));
    if (start < end) {
      const isOpen = random.oneIn(4);
      request.options.push('--time', `${start}ns..${isOpen ? '' : `${end}ns`}`);
      request.selection.time = { start, end: isOpen ? null : end };
    }
  }
  const signposts = [...new Set(profile.intervals.filter((row) => row.kind !== 'hang' && row.name !== null).map((row) => row.name))];
  const hasHangs = profile.intervals.some((row) => row.kind === 'hang');
  if (random.oneIn(3) && (signposts.length > 0 || hasHangs)) {
    const names = signposts.filter(() => random.oneIn(2));
    const hangs = hasHangs && (names.length === 0 || random.oneIn(2));
    if (names.length === 0 && !hangs) return;
    const needsAll = random.oneIn(3);
    names.forEach((name) => request.options.push('--during', name));
    if (hangs) request.options.push('--during-hang');
    if (needsAll) request.options.push('--during-all');
    request.selection.during = { names, hangs, needsAll };
  }
}

const FLAGS = ['charge-system', 'hide-system', 'flatten-recursion', 'skip-idle'];
const PATTERNS = ['focus', 'root-at', 'prune', 'charge', 'collapse'];
const BINARIES = ['charge-binary', 'flatten-binary'];

function addOperations(engine, profile, random, request, name) {
  const { functions } = profile;
  const functionName = () => (functions.count === 0 ? 'main' : engine.functionName(profile, random.below(functions.count)));
  for (const option of ['binary', 'leaf-binary']) {
    if (!random.oneIn(8) || profile.binaries.length === 0) continue;
    const binary = random.pick(profile.binaries);
    const text = textOf(random, random.oneIn(3) ? binary.path || binary.name : binary.name);
    request.options.push(`--${option}`, text);
    // These options apply to stacks before all operations.
    request.operations.push({ kind: option, names: [text] });
  }
  const flags = new Set();
  for (let count = random.below(4); count > 0; count -= 1) {
    if (random.oneIn(2)) {
      const kind = random.pick(PATTERNS);
      const pattern = patternOf(random, functionName());
      request.options.push(`--${kind}=${pattern}`);
      request.operations.push({ kind, pattern });
    } else if (random.oneIn(2) && profile.binaries.length > 0) {
      const kind = random.pick(BINARIES);
      const binary = name(profile.binaries);
      request.options.push(`--${kind}=${binary}`);
      request.operations.push({ kind, binary });
    } else {
      const kind = random.pick(FLAGS);
      if (flags.has(kind)) continue;
      flags.add(kind);
      request.options.push(`--${kind}`);
      request.operations.push({ kind });
    }
  }
}

/** Returns a pattern that is derived from a name. */
function patternOf(random, name) {
  const chars = Array.from(name);
  const start = random.below(chars.length + 1);
  const part = chars.slice(start, start + 1 + random.below(6)).join('') || 'a';
  const other = escaped(chars.slice(0, 4).join('') || 'b');
  const shapes = [
    () => `^${escaped(name)}$`,
    () => escaped(part),
    () => `(?i)${escaped(part.toUpperCase())}`,
    () => `${escaped(part)}|${other}`,
    () => `\\b${other}`,
    () => '^\\w+$',
    () => '\\d{2,}',
    () => `[^\\w\\s]${'.'.repeat(random.below(3))}`,
    () => `^(?:${other}).*[a-f0-9_]$`,
    () => '(?i)[äöü<]|\\s',
    () => `(${escaped(part)}){1,2}?.?$`,
    () => '\\Bt\\b',
  ];
  return random.pick(shapes)();
}
