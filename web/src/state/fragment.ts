// The state as the fragment of the page's address, so that a link shows the sender's view.
//
//   #v=1&tab=tree&t=2s..3s&thread=1/4150/172289/Main Thread&op=focus:^main$
//
// Links come from anywhere, so invalid ones are rejected with an explanation.

import { type Operation, SIDES, type Side } from '../host/protocol.ts';
import { RefusedError } from '../host/refused.ts';
import { counterOf, countersOf } from './counters.ts';
import { duringName } from './intervals.ts';
import { binaryOf, nameOf, type Names } from './names.ts';
import { placeText, readPlace } from './path_text.ts';
import { runText } from './run_text.ts';
import { namesOfSide } from './sides.ts';
import { type State, type Tab, type TreeKind, TREES, freshState, isLeftOut, mainSeries } from './state.ts';
import { firstTab, tabsOf } from './tabs.ts';
import { readSpan, spanText } from './time.ts';

const VERSION = '1';
/** A link longer than this was not written by this page. */
const LONGEST = 20_000;
const PATTERNS = ['focus', 'focus-leaves', 'root-at', 'prune', 'prune-leaves', 'charge', 'collapse'] as const;
const OF_BINARY = ['charge-binary', 'flatten-binary'] as const;
const OF_BINARIES = ['binary', 'leaf-binary'] as const;
const PLAIN = ['charge-system', 'hide-system', 'flatten-recursion', 'skip-idle', 'invert'] as const;
const OF_PLACE = ['root-at-place', 'prune-place', 'charge-place'] as const;
/** Parts that may be repeated. */
const REPEATED: ReadonlySet<string> = new Set(['thread', 'process', 'state', 'during', 'op']);
const SCALES = ['none', 'duration', 'samples'] as const;
const BY = ['none', 'thread', 'process', 'state', 'core-kind'] as const;

/** The fragment of a state, without `#`. */
export function fragmentOf(state: State, names: Names): string {
  const { tables } = names;
  const pairs: [string, string][] = [['v', VERSION]];
  const add = (key: string, value: string | null): void => void (value !== null && pairs.push([key, value]));
  if (names.sides !== undefined && state.side !== 'compared') add('side', state.side);
  add('scale', state.normalize);
  if (state.series !== mainSeries(tables)) add('series', seriesText(names, state.series));
  if (state.tab !== firstTab(names)) add('tab', state.tab);
  if (state.tree !== 'down') add('tree', state.tree);
  if (state.flame !== 'down') add('flame', state.flame);
  if (state.by !== 'none') add('by', state.by);
  add('part', state.part === null ? null : partText(names, state));
  add('chart', state.chartThread === null ? null : threadText(names, state.chartThread));
  add('t', state.time === null ? null : spanText(state.time));
  for (const id of state.threads ?? []) add('thread', threadText(names, id));
  for (const id of state.processes ?? []) add('process', processText(names, id));
  if (state.mainOnly) add('main', 'only');
  if (state.states === 'all') add('state', 'all');
  else if (state.states !== 'running') for (const name of state.states) add('state', `=${name}`);
  for (const name of state.during?.names ?? []) add('during', name);
  if (state.during?.hangs) add('hangs', 'only');
  if (state.during?.needsAll) add('during-all', 'yes');
  if (state.list !== 'each') add('list', state.list);
  if (state.metric !== 'weight') add('metric', state.metric);
  for (const operation of state.operations) add('op', operationParts(operation));
  add('fn', state.chosen === null || state.chosen < 0 ? null : functionText(names, state.chosen));
  add('q', state.search === '' ? null : state.search);
  return pairs.map(([key, value]) => `${key}=${escape(value)}`).join('&');
}

/** The state that a fragment describes. Throws a `RefusedError` that explains what is wrong. */
export function readFragment(fragment: string, all: Names): State {
  const first: Side = all.sides === undefined ? 'after' : 'compared';
  const text = fragment.replace(/^#/, '');
  const fresh = (series: number, side: Side): State => ({ ...freshState(series, side), tab: firstTab(all) });
  if (text === '') return fresh(mainSeries(namesOfSide(all, first).tables), first);
  if (text.length > LONGEST) throw new RefusedError('this link is too long');
  const pairs = text.split('&').map((pair): [string, string] => {
    const at = pair.indexOf('=');
    if (at < 0) throw new RefusedError(`this link has a part without a value: ${shown(pair)}`);
    return [pair.slice(0, at), unescape(pair.slice(at + 1))];
  });
  if (pairs[0]![0] !== 'v') throw new RefusedError('this link does not contain its version');
  if (pairs[0]![1] !== VERSION) throw new RefusedError(`this link has version ${shown(pairs[0]![1])}; this page reads version ${VERSION}`);
  const repeated = pairs.map(([key]) => key).find((key, at, keys) => !REPEATED.has(key) && keys.indexOf(key) !== at);
  if (repeated !== undefined) throw new RefusedError(`this link contains a part twice: ${shown(repeated)}`);
  const series = pairs.find(([key]) => key === 'series');
  const told = pairs.find(([key]) => key === 'side');
  if (told !== undefined && all.sides === undefined) throw new RefusedError('this link is for a page that compares two recordings');
  const side = told === undefined ? first : oneOf(told[1], SIDES, 'side');
  // All other parts refer to the displayed recording.
  const names = namesOfSide(all, side);
  let state = fresh(series === undefined ? mainSeries(names.tables) : readSeries(names, series[1]), side);
  for (const [key, value] of pairs.slice(1)) state = { ...state, ...readPair(state, key, value, names) };
  return state;
}

function readPair(state: State, key: string, value: string, names: Names): Partial<State> {
  switch (key) {
    case 'series':
    case 'side':
      return {};
    case 'scale':
      if (names.sides === undefined) throw new RefusedError('this link is for a page that compares two recordings');
      return { normalize: oneOf(value, SCALES, 'scaling') };
    case 'tab':
      return { tab: oneOf<Tab>(value, tabsOf(names).map(({ id }) => id), 'view') };
    case 'tree':
      return { tree: oneOf<TreeKind>(value, TREES, 'kind of tree') };
    case 'flame':
      return { flame: oneOf(value, ['down', 'up'], 'direction of the flame graph') };
    case 'by':
      return { by: oneOf(value, BY, 'separation') };
    case 'part':
      return { part: readPart(names, state, value) };
    case 'chart':
      return { chartThread: find(names.tables.threads.length, (id) => threadText(names, id) === value, 'thread', value) };
    case 't':
      if (names.tables.form === 'sums') throw new RefusedError('these samples have no times');
      return { time: readSpan(value) };
    case 'thread': {
      const id = find(names.tables.threads.length, (id) => threadText(names, id) === value, 'thread', value);
      return { threads: [...(state.threads ?? []), id] };
    }
    case 'process': {
      const id = find(names.tables.processes.length, (id) => processText(names, id) === value, 'process', value);
      return { processes: [...(state.processes ?? []), id] };
    }
    case 'main':
      return { mainOnly: oneOf(value, ['only'], 'choice of main threads') === 'only' };
    case 'state':
      return { states: readState(state, value, names) };
    case 'during':
      if (!(names.tables.interval_labels ?? []).some((label) => duringName(label) === value)) throw new RefusedError(`no interval is named ${shown(value)}`);
      return { during: { hangs: false, needsAll: false, ...state.during, names: [...(state.during?.names ?? []), value] } };
    case 'hangs':
      return { during: { names: [], needsAll: false, ...state.during, hangs: oneOf(value, ['only'], 'choice of hangs') === 'only' } };
    case 'during-all':
      return { during: { names: [], hangs: false, ...state.during, needsAll: oneOf(value, ['yes'], 'choice') === 'yes' } };
    case 'list':
      return { list: oneOf(value, ['each', 'names'], 'list of intervals') };
    case 'metric':
      return { metric: readMetric(names, state, value) };
    case 'op':
      return { operations: [...state.operations, readOperation(value, names)] };
    case 'fn':
      return { chosen: find(names.tables.functions.count, (id) => functionText(names, id) === value, 'function', value) };
    case 'q':
      return { search: value };
    default:
      throw new RefusedError(`this link has an unknown part: ${shown(key)}`);
  }
}

function readMetric(names: Names, { series, side }: State, value: string): State['metric'] {
  const number = counterOf(value as State['metric']);
  if (number === null) return oneOf(value, ['weight', 'samples'], 'metric');
  const isThere = side !== 'compared' && countersOf(names.tables.series[series]!).some((counter) => counter.number === number);
  if (!isThere) throw new RefusedError(`the table in this link has no counter ${number}`);
  return `counter:${number}`;
}

function readState(state: State, value: string, names: Names): State['states'] {
  if (value === 'all') return 'all';
  const name = value.slice(1);
  if (!value.startsWith('=') || !names.tables.states.includes(name)) throw new RefusedError(`no thread was in the state ${shown(value)}`);
  return [...(Array.isArray(state.states) ? (state.states as readonly string[]) : []), name];
}

function operationParts(operation: Operation): string {
  if ('pattern' in operation) return `${operation.kind}:${operation.pattern}`;
  if ('binary' in operation) return `${operation.kind}:${operation.binary}`;
  if ('place' in operation) return `${operation.kind}:${placeText(operation.place)}`;
  if ('names' in operation) return `${operation.kind}:${operation.names.map(encodeURIComponent).join(',')}`;
  return operation.kind;
}

function readOperation(text: string, names: Names): Operation {
  const at = text.indexOf(':');
  const kind = at < 0 ? text : text.slice(0, at);
  const value = at < 0 ? null : text.slice(at + 1);
  const isOf = <T extends string>(kinds: readonly T[]): T | undefined => kinds.find((one) => one === kind);
  const [plain, pattern, ofBinary, ofBinaries, ofPlace] = [isOf(PLAIN), isOf(PATTERNS), isOf(OF_BINARY), isOf(OF_BINARIES), isOf(OF_PLACE)];
  if (plain !== undefined && value === null) return { kind: plain };
  if (value === null || value === '') throw new RefusedError(`this link contains an unknown operation: ${shown(text)}`);
  // The engine reads the pattern, and refuses it with a sentence if it is invalid.
  if (pattern !== undefined) return { kind: pattern, pattern: value };
  if (ofBinary !== undefined) return { kind: ofBinary, binary: value };
  if (ofPlace !== undefined) return { kind: ofPlace, place: readPlace(value, names) };
  if (ofBinaries !== undefined) return { kind: ofBinaries, names: value.split(',').map(unescape) };
  throw new RefusedError(`this link contains an unknown operation: ${shown(text)}`);
}

function seriesText({ tables }: Names, id: number): string {
  const { run, table, schema } = tables.series[id]!;
  return `${runText(tables, run)}/${table}/${schema}`;
}

function readSeries(names: Names, value: string): number {
  const series = find(names.tables.series.length, (id) => seriesText(names, id) === value, 'table', value);
  if (isLeftOut(names.tables, series)) throw new RefusedError(`this page was written without the samples of the table ${shown(value)}`);
  return series;
}

/** A process, identified in the same way in every page of the file: run, number and name. */
function processText({ tables }: Names, id: number): string {
  const { run, pid, name } = tables.processes[id]!;
  return `${runText(tables, run)}/${pid ?? ''}/${name}`;
}

function threadText({ tables }: Names, id: number): string {
  const { process, tid, name } = tables.threads[id]!;
  const { run, pid } = tables.processes[process]!;
  return `${runText(tables, run)}/${pid ?? ''}/${tid ?? ''}/${name}`;
}

function functionText(names: Names, id: number): string {
  const binary = binaryOf(names, id);
  return binary === null ? nameOf(names, id) : `${nameOf(names, id)}@${binary}`;
}

function partText(names: Names, { by, part }: State): string {
  if (part === null) return '';
  if (by === 'thread') return threadText(names, part);
  if (by === 'process') return processText(names, part);
  return String(part);
}

function readPart(names: Names, { by }: State, value: string): number {
  const { threads, processes, states, cores } = names.tables;
  if (by === 'thread') return find(threads.length, (id) => threadText(names, id) === value, 'thread', value);
  if (by === 'process') return find(processes.length, (id) => processText(names, id) === value, 'process', value);
  const most = by === 'state' ? states.length : by === 'core-kind' ? cores.length : 0;
  if (!/^(-1|[0-9]{1,6})$/.test(value) || Number(value) >= most) throw new RefusedError(`this link has an unknown part: ${shown(value)}`);
  return Number(value);
}

function find(count: number, isIt: (id: number) => boolean, what: string, value: string): number {
  for (let id = 0; id < count; id += 1) if (isIt(id)) return id;
  throw new RefusedError(`this recording has no ${what} ${shown(value)}`);
}

function oneOf<T extends string>(value: string, of: readonly T[], what: string): T {
  const found = of.find((one) => one === value);
  if (found === undefined) throw new RefusedError(`this link has an unknown ${what}: ${shown(value)}`);
  return found;
}

function shown(text: string): string {
  return `‘${text.length > 80 ? `${text.slice(0, 79)}…` : text}’`;
}

/** Characters that a fragment may contain stay readable. */
function escape(text: string): string {
  return encodeURIComponent(text).replace(/%(2F|3A|2C|40|24|3F|3D|5E|3B)/g, (found) => decodeURIComponent(found));
}

function unescape(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RefusedError('this link is damaged');
  }
}
