// Answers that canvases draw: flame graphs, flame charts, and the lines of time.

import { PathNumbers, type Profile, type View, flameChart, flameGraph, invertedGraph, lengthsOf, spansOf, threads } from '../../engine/index.ts';
import type { Weighed } from '../../engine/forest.ts';
import { type BinGrid, type Known, binsBy, chartModel, graphModel, gridFor, invertedModel } from '../../canvas/from_engine.ts';
import type { FlameModel, Labels } from '../../canvas/types.ts';
import type { ChartAnswer, ChartAsk, FlameAnswer, FlameAsk, TracksAnswer, TracksAsk } from '../protocol.ts';
import { totalOf } from './tables.ts';
import { partAndTree } from './trees.ts';

/** The page has all names itself. */
const NO_LABELS: Labels = { names: [], binaries: [], kinds: new Uint8Array(0) };
/** The maximum number of threads, processes and cores with separate lines. */
const MOST_LINES = 200;

export function answerFlame(view: View, series: number, ask: FlameAsk): FlameAnswer {
  const { all, part, trees } = partAndTree(view, series, ask.by, ask.part);
  const weighed = trees?.tree.weighed ?? view.byFunction(series);
  const total = Number(weighed.all.weight(0));
  const least = ask.least === null ? total / Math.max(1, ask.pixels) : ask.least;
  const [from, to] = [ask.from ?? 0, ask.to ?? total];
  const unit = ask.unit;
  const known = { key: ask.key, tree: ask.tree, unit, detail: { from, to, least }, labels: NO_LABELS, title: '' };
  return {
    kind: 'flame',
    total: totalOf(view, series),
    parts: all,
    part: part?.id ?? null,
    model: modelOf(view.profile, weighed, ask, known),
  };
}

function modelOf(profile: Profile, weighed: Weighed, ask: FlameAsk, known: Known<'range' | 'total'>): FlameModel {
  const { least, from, to } = known.detail;
  if (ask.direction === 'down') return graphModel(profile, weighed, flameGraph(profile, weighed, { root: 0, least, from, to }), known);
  return invertedModel(profile, weighed, invertedGraph(profile, weighed, { least, from, to }, numbersOf(profile, ask.tree)), known);
}

/** Inverted trees whose paths keep their numbers: the current one, and the one before. */
const KEPT = 2;
const numbered = new WeakMap<Profile, Map<string, PathNumbers>>();

function numbersOf(profile: Profile, tree: string): PathNumbers {
  const ofProfile = numbered.get(profile) ?? new Map<string, PathNumbers>();
  numbered.set(profile, ofProfile);
  const numbers = ofProfile.get(tree) ?? new PathNumbers();
  ofProfile.delete(tree);
  ofProfile.set(tree, numbers);
  for (const oldest of ofProfile.keys()) {
    if (ofProfile.size <= KEPT) break;
    ofProfile.delete(oldest);
  }
  return numbers;
}

export function answerChart(view: View, series: number, ask: ChartAsk): ChartAnswer {
  const all = threads(view, series);
  const thread = (ask.thread === null ? undefined : all.find(({ id }) => id === ask.thread)) ?? all[0] ?? null;
  const total = totalOf(view, series);
  if (thread === null || view.profile.form === 'sums') return { kind: 'chart', total, threads: all, thread: null, typicalGap: null, model: null };
  const chart = flameChart(view, series);
  const spans = spansOf(view, series, chart, thread.id);
  const known = { key: ask.key, tree: ask.key, unit: ask.unit, labels: NO_LABELS, title: '', range: ask.range };
  const model = chartModel(view, spans, Number(thread.weight), known);
  return { kind: 'chart', total, threads: all, thread: thread.id, typicalGap: chart.typicalGap, model };
}

export function answerTracks(view: View, series: number, ask: TracksAsk): TracksAnswer {
  const grid = gridFor(ask.range, ask.pixels);
  const { profile } = view;
  // A counter is not read at every sample, so its events may belong to a longer time.
  const lengths = ask.unit === 'events' ? null : lengthsOf(profile, series);
  const rows = view.ofAllStates(series);
  const { thread: threadOf, state, core } = profile.samples;
  const running = rows.filter((row) => view.scope.isStateCounted(state[row]!));
  const sumOf = (which: Int32Array, keys: number, keyOf: (row: number) => number): Float64Array => binsBy(view, which, keys, keyOf, grid, lengths);
  const ofThreads = linesOf(view, rows, running, profile.threads.length, (row) => threadOf[row]!, grid, sumOf);
  const processOf = Int32Array.from(profile.threads, ({ process }) => process);
  const hasProcesses = new Set(ofThreads.map(({ id }) => processOf[id])).size > 1;
  const ofProcesses = hasProcesses
    ? linesOf(view, rows, running, profile.processes.length, (row) => processOf[threadOf[row]!]!, grid, sumOf)
    : ofThreads.slice(0, 1).map(({ id }) => ({
        id: processOf[id]!,
        weight: view.total(running).weight,
        bins: sumOfLines(ofThreads, grid.count),
        waiting: null,
      }));
  const hasCores = profile.cores.length > 0;
  const ofCores = hasCores ? linesOf(view, running, running, profile.cores.length + 1, (row) => core[row]! + 1, grid, sumOf) : [];
  const hasStates = profile.states.length > 1;
  const ofStates = hasStates ? sumOf(rows, profile.states.length + 1, (row) => state[row]! + 1) : new Float64Array(0);
  return {
    kind: 'tracks',
    start: grid.start,
    bin: grid.bin,
    overall: ofThreads.length < MOST_LINES ? sumOfLines(ofThreads, grid.count) : sumOf(running, 1, () => 0),
    threads: ofThreads,
    processes: ofProcesses,
    cores: ofCores.map((line) => ({ ...line, id: line.id - 1 })).filter(({ id }) => id >= 0),
    states: hasStates ? split(ofStates, profile.states.length + 1).map((bins, place) => ({ id: place - 1, bins })) : [],
  };
}

type SumOf = (rows: Int32Array, keys: number, keyOf: (row: number) => number) => Float64Array;

/** The heaviest lines: bins of selected samples, and of other samples. */
function linesOf(
  view: View,
  rows: Int32Array,
  running: Int32Array,
  keys: number,
  keyOf: (row: number) => number,
  grid: BinGrid,
  sumOf: SumOf,
): TracksAnswer['threads'] {
  const counted = view.sumRows(running, keys, keyOf);
  const all = rows.length === running.length ? counted : view.sumRows(rows, keys, keyOf);
  const ids = Array.from({ length: keys }, (_, key) => key)
    .filter((key) => all.isCounted(key))
    .sort((a, b) => Number(counted.weight(b)) - Number(counted.weight(a)) || Number(all.weight(b)) - Number(all.weight(a)))
    .slice(0, MOST_LINES);
  const places = new Int32Array(keys).fill(ids.length);
  ids.forEach((id, place) => (places[id] = place));
  const placeOf = (row: number): number => places[keyOf(row)]!;
  const bins = split(sumOf(running, ids.length + 1, placeOf), ids.length + 1);
  const others = rows.length === running.length ? null : split(sumOf(notIn(rows, running), ids.length + 1, placeOf), ids.length + 1);
  return ids.map((id, place) => ({
    id,
    weight: counted.weight(id),
    bins: bins[place]!.slice(0, grid.count),
    waiting: others === null ? null : others[place]!.slice(0, grid.count),
  }));
}

function sumOfLines(lines: TracksAnswer['threads'], count: number): Float64Array {
  const sum = new Float64Array(count);
  for (const { bins } of lines) for (let place = 0; place < count; place += 1) sum[place]! += bins[place]!;
  return sum;
}

/** The rows of one sorted list that are not in another. */
function notIn(rows: Int32Array, others: Int32Array): Int32Array {
  let at = 0;
  return rows.filter((row) => {
    if (others[at] !== row) return true;
    at += 1;
    return false;
  });
}

function split(bins: Float64Array, keys: number): Float64Array[] {
  const count = bins.length / keys;
  return Array.from({ length: keys }, (_, key) => bins.slice(key * count, (key + 1) * count));
}
