// The model of the timeline: processes with their threads, cores, states, and lanes of intervals.

import type { BinLayer, Bins, Range, TimelineModel, Tone, Track } from '../canvas/index.ts';
import type { IntervalsAnswer, Line, Tracks } from '../host/protocol.ts';
import { inert } from '../state/inert.ts';
import { type Names, processName, threadName } from '../state/names.ts';
import type { State } from '../state/state.ts';
import { rateText } from '../canvas/amounts.ts';
import { type Unit, withUnit } from './format.ts';
import { laneTracks } from './timeline_lanes.ts';

/** Threads below this share of the busiest one are left out of the initial height of the timeline. */
const NEARLY_EMPTY = 0.05;

/** The weight that fills the height of a track, and its meaning. */
type Height = Pick<Bins, 'full' | 'fullText'>;

/** One of two timelines, one above the other: its name, and the largest weight per nanosecond of both, so that they have the same scale. */
export interface OneOfTwo {
  readonly name: string;
  readonly rate: number;
}

/** The largest weight per nanosecond of a timeline. */
export function largestRate({ overall, bin }: Tracks): number {
  return overall.reduce((most, value) => Math.max(most, value), 0) / bin;
}

/** The tracks for the visible time, and for the complete time. */
interface Shown {
  readonly answer: Tracks;
  readonly overall: Tracks;
  readonly unit: Unit;
}

export function timelineModel(names: Names, state: State, { answer, overall, unit }: Shown, whole: Range, closed: ReadonlySet<string>, cpu: IntervalsAnswer | null, one?: OneOfTwo): Omit<TimelineModel, 'brush'> {
  const { tables } = names;
  const series = tables.series[state.series]!;
  const duration = tables.runs[series.run]!.duration_ns;
  const isTime = unit === 'ns';
  // Threads that wait use no core.
  const what = series.meaning === 'presence' || state.states !== 'running' ? 'thread' : 'core';
  // A counter is not read at every sample, so its events may belong to a longer time than the bin: they are not a rate.
  const isCounter = unit === 'events';
  const full = (values: readonly Float64Array[], { bin } = answer): Height => (isCounter ? mostOf(values, unit) : fullOf(values, bin, unit, what));
  const bins = (line: Line, height: Height): Bins => ({ start: answer.start, bin: answer.bin, layers: layersOf(line), ...height });
  const weight = (line: Line): string => withUnit(line.weight, unit);
  const isOff = (thread: number): boolean => isThreadOff(names, state, thread);
  const ofThread = full([...answer.threads.map((line) => line.bins)]);
  const [leastThread, leastProcess] = [overall.threads, overall.processes].map((lines) => lines.reduce((most, { weight }) => Math.max(most, NEARLY_EMPTY * Number(weight)), 0));
  const threadTrack = (line: Line, indent: number): Track => ({
    id: `thread:${line.id}`,
    label: inert(threadName(names, line.id)),
    detail: weight(line),
    kind: 'thread',
    indent,
    isSelected: state.threads?.includes(line.id) ?? false,
    isDim: isOff(line.id),
    isMinor: Number(line.weight) < leastThread!,
    bins: bins(line, isTime ? { full: answer.bin, fullText: `one ${what}` } : ofThread),
  });
  const name = one?.name;
  const overallFull = full([overall.overall, Float64Array.of((one?.rate ?? 0) * overall.bin)], overall);
  const lanes = laneTracks(names, state, cpu);
  const tracks: Track[] = [...lanes.above];
  const ofProcess = full(answer.processes.map((line) => line.bins));
  const hasProcesses = answer.processes.length > 1;
  for (const process of answer.processes) {
    const id = `process:${process.id}`;
    const threads = answer.threads.filter((line) => tables.threads[line.id]!.process === process.id);
    const isOpen = !closed.has(id);
    if (hasProcesses) {
      const isSelected = state.processes?.includes(process.id) ?? false;
      const isDim = state.processes !== null && !isSelected;
      const own = { id, label: inert(processName(names, process.id)), detail: weight(process), kind: 'process' as const, isSelected, isDim, isOpen, isMinor: Number(process.weight) < leastProcess! };
      tracks.push({ ...own, bins: bins(process, ofProcess) });
    }
    if (isOpen || !hasProcesses) tracks.push(...threads.map((line) => threadTrack(line, hasProcesses ? 1 : 0)));
  }
  tracks.push(...lanes.below, ...groupTracks(names, answer, closed, bins));
  return {
    unit,
    range: whole,
    recorded: duration === undefined ? null : Number(duration),
    overview: {
      id: 'overview',
      label: `${name === undefined ? '' : `${name}: `}${what === 'thread' ? 'all threads' : 'all CPU'}`.replace(/^a/, 'A'),
      kind: 'overview',
      bins: { start: overall.start, bin: overall.bin, layers: [{ name: what === 'thread' ? 'threads' : 'CPU', tone: 'cpu', values: overall.overall }], ...overallFull },
    },
    tracks,
    title: name === undefined ? 'CPU over time' : `CPU over time, ${name.toLowerCase()}`,
  };
}

/** Cores and states, each below a track that opens them. */
function groupTracks(
  names: Names,
  answer: Tracks,
  closed: ReadonlySet<string>,
  bins: (line: Line, height: Height) => Bins,
): Track[] {
  const { cores, states } = names.tables;
  const tracks: Track[] = [];
  // Groups are closed until they are opened.
  const isOpen = (id: string): boolean => closed.has(id);
  if (answer.cores.length > 1) {
    tracks.push({ id: 'cores', label: 'Cores', detail: String(answer.cores.length), kind: 'core', isOpen: isOpen('cores') });
    const kinds = [...new Set(cores.map(({ kind }) => kind))];
    for (const line of isOpen('cores') ? [...answer.cores].sort((a, b) => cores[a.id]!.index - cores[b.id]!.index) : []) {
      const core = cores[line.id]!;
      const tone: Tone = core.kind !== null && kinds.length > 1 && /eff/i.test(core.kind) ? 'efficiency' : 'performance';
      const drawn = bins(line, { full: answer.bin, fullText: 'one core' });
      const layers = drawn.layers.map((layer) => ({ ...layer, tone }));
      tracks.push({ id: `core:${line.id}`, label: `Core ${core.index}`, detail: core.kind ?? '', kind: 'core', indent: 1, bins: { ...drawn, layers } });
    }
  }
  if (answer.states.length > 1) {
    const layers = answer.states
      .filter(({ bins }) => bins.some((value) => value > 0))
      .map(({ id, bins }): BinLayer => ({ name: states[id] ?? 'no state recorded', tone: toneOf(states[id] ?? ''), values: bins }));
    const height = fullOf([sumOf(layers.map(({ values }) => values))], answer.bin, 'samples', 'thread');
    if (layers.length > 1) {
      tracks.push({ id: 'states', label: 'Thread states', kind: 'states', bins: { start: answer.start, bin: answer.bin, layers, ...height, fullText: 'all threads' } });
    }
  }
  return tracks;
}

function layersOf({ bins, waiting }: Line): BinLayer[] {
  const layers: BinLayer[] = [{ name: 'selected', tone: 'cpu', values: bins }];
  if (waiting !== null) layers.push({ name: 'not selected', tone: 'cpu-dim', values: waiting });
  return layers;
}

/** The height of a track: the largest bin. */
function mostOf(values: readonly Float64Array[], unit: Unit): Height {
  const most = values.reduce((most, bins) => bins.reduce((most, value) => Math.max(most, value), most), 0);
  return { full: Math.max(most, 1), fullText: withUnit(Math.round(most), unit) };
}

/** The height of a track: a number of whole cores; for other units, the largest bin. */
function fullOf(values: readonly Float64Array[], bin: number, unit: Unit, what: string): Height {
  let most = 0;
  for (const bins of values) for (const value of bins) if (value > most) most = value;
  if (unit !== 'ns') return { full: Math.max(most, 1), fullText: rateText(most / bin, unit) };
  const cores = Math.max(1, Math.ceil(most / bin - 1e-6));
  return { full: cores * bin, fullText: cores === 1 ? `one ${what}` : `${cores} ${what}s` };
}

function sumOf(all: readonly Float64Array[]): Float64Array {
  const sum = new Float64Array(all[0]?.length ?? 0);
  for (const values of all) values.forEach((value, place) => (sum[place]! += value));
  return sum;
}

function isThreadOff({ tables }: Names, state: State, id: number): boolean {
  const { process, is_main } = tables.threads[id]!;
  if (state.threads !== null && !state.threads.includes(id)) return true;
  if (state.processes !== null && !state.processes.includes(process)) return true;
  return state.mainOnly && !is_main;
}

function toneOf(state: string): Tone {
  const name = state.toLowerCase();
  if (name.includes('running')) return 'running';
  if (name.includes('runnable') || name.includes('preempt')) return 'runnable';
  if (name.includes('block') || name.includes('wait') || name.includes('idle')) return 'blocked';
  return name.includes('interrupt') ? 'interrupted' : 'other';
}
