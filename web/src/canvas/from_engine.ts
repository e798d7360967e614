// Models of what the engine computed. This runs where the engine runs, in a worker or in the page, and touches no page.

import { type Boxes, type InvertedBoxes, type Lengths, NO_STACK, type Profile, ROOT, type Spans, type View, functionName } from '../engine/index.ts';
import type { Exact, Sums } from '../engine/exact.ts';
import { IS_IDLE } from '../engine/profile.ts';
import { type Weighed, ownKnot } from '../engine/forest.ts';
import { binNumber, grouped } from './amounts.ts';
import { type FlameModel, KINDS, type Kind, type Labels, type Range } from './types.ts';

/** All functions as labels, then samples without stack, then the root. Made once for a recording. */
export function labelsOf(profile: Profile): Labels {
  const { count, binary, flags } = profile.functions;
  const names = Array.from({ length: count }, (_, id) => functionName(profile, id));
  const binaries = Array.from(binary, (binary) => (binary < 0 ? '' : profile.binaries[binary]!.name));
  const ofBinaries = profile.binaries.map(({ category, is_own }): Kind => (is_own || category === 'user' ? 'own' : category));
  const kinds = Uint8Array.from(binary, (binary, id) => {
    const kind = (flags[id]! & IS_IDLE) !== 0 ? 'idle' : binary < 0 ? 'unknown' : ofBinaries[binary]!;
    return KINDS.indexOf(kind);
  });
  const none = KINDS.indexOf('unknown');
  return {
    names: [...names, '[no stack recorded]', 'all'],
    binaries: [...binaries, '', ''],
    kinds: Uint8Array.from([...kinds, none, none]),
  };
}

/** The place among labels of what nodes of the engine are called. */
export function labelPlace(profile: Profile, label: number): number {
  return label === NO_STACK ? profile.functions.count : label === ROOT ? profile.functions.count + 1 : label;
}

/** What the caller knows about a model: everything except the engine's data. */
export type Known<T extends keyof FlameModel> = Omit<FlameModel, T | Computed>;
type Computed = 'count' | 'node' | 'depth' | 'start' | 'width' | 'weight' | 'self' | 'texts' | 'label';

/** The model of boxes below the root. */
export function graphModel(profile: Profile, weighed: Weighed, boxes: Boxes, known: Known<'range' | 'total'>): FlameModel {
  const { forest, own, all } = weighed;
  const total = Number(all.weight(0));
  const self = Float64Array.from(boxes.node, (node) => {
    const knot = ownKnot(forest, node);
    return knot < 0 ? 0 : Number(own.weight(knot));
  });
  const label = boxes.node.map((node) => labelPlace(profile, forest.label[node]!));
  const texts = all.shape.weight === 1 ? {} : { texts: exactTexts(boxes.node, weighed, known.unit) };
  const { count, node, depth, start, width } = boxes;
  return { ...known, total, range: { start: 0, end: total }, count, node, depth, start, width, self, label, ...texts };
}

/** The model of an inverted graph. */
export function invertedModel(profile: Profile, { all }: Weighed, boxes: InvertedBoxes, known: Known<'range' | 'total' | 'isInverted'>): FlameModel {
  const total = Number(all.weight(0));
  const { count, node, depth, start, width, weight, self } = boxes;
  const label = boxes.label.map((label) => labelPlace(profile, label));
  const exact = (values: readonly Exact[]): string[] => values.map((value) => exactText(value, known.unit));
  const texts = all.shape.weight === 1 ? {} : { texts: { weight: exact(weight), self: exact(self) } };
  return { ...known, isInverted: true, total, range: { start: 0, end: total }, count, node, depth, start, width, self: Float64Array.from(self, Number), label, ...texts };
}

/** The model of the spans of a thread. */
export function chartModel(view: View, spans: Spans, total: number, known: Known<'total' | 'detail'>): FlameModel {
  const forest = view.prepared.byFunction;
  const { count, node, start, end, all, own } = spans;
  const depth = node.map((node) => forest.depth[node]! - 1);
  const width = start.map((start, span) => end[span]! - start);
  const label = node.map((node) => labelPlace(view.profile, forest.label[node]!));
  const [weight, self] = [doublesOf(all), doublesOf(own)];
  const detail = { from: known.range.start, to: known.range.end, least: 0 };
  return { ...known, total, detail, count, node, depth, start, width, weight, self, label };
}

/** Weights as doubles, which are near enough for places on a screen. */
function doublesOf({ shape, planes }: Sums): Float64Array {
  const found = planes[0]!.slice();
  for (let plane = 1; plane < shape.weight; plane += 1) {
    const factor = 2 ** (22 * plane);
    for (let index = 0; index < found.length; index += 1) found[index]! += factor * planes[plane]![index]!;
  }
  return found;
}

function exactTexts(nodes: Int32Array, { forest, own, all }: Weighed, unit: FlameModel['unit']): { weight: string[]; self: string[] } {
  const text = (value: Exact): string => exactText(value, unit);
  return {
    weight: Array.from(nodes, (node) => text(all.weight(forest.knotOf[node]!))),
    self: Array.from(nodes, (node) => text(ownKnot(forest, node) < 0 ? 0 : own.weight(ownKnot(forest, node)))),
  };
}

/** A weight of any size with all its digits. */
export function exactText(value: Exact, unit: FlameModel['unit']): string {
  if (unit !== 'ns') return `${grouped(String(value))} ${unit}`;
  const digits = String(value).padStart(7, '0');
  const decimals = digits.slice(-6).replace(/0{1,4}$/, '');
  return `${grouped(digits.slice(0, -6))}.${decimals} ms`;
}

/** Bins of one length from `start` on. */
export interface BinGrid {
  readonly start: number;
  readonly bin: number;
  readonly count: number;
}

/**
 * Weights by key and bin: key k starts at `k * count`. With `lengths`, a weight is spread evenly over the time of its sample; otherwise it
 * is in the bin of its sample. The numbers are doubles for drawing.
 */
export function binsBy(
  view: View,
  rows: Int32Array,
  keys: number,
  keyOf: (row: number) => number,
  grid: BinGrid,
  lengths: Lengths | null,
): Float64Array {
  const { start, bin, count } = grid;
  const { time } = view.profile.samples;
  const [weight, ...higher] = view.rows.planes.slice(0, view.rows.shape.weight);
  const bins = new Float64Array(keys * count);
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at]!;
    let value = weight![row]!;
    for (let plane = 0; plane < higher.length; plane += 1) value += higher[plane]![row]! * 2 ** (22 * (plane + 1));
    const length = lengths === null ? 0 : lengths.length[row - lengths.first]!;
    const from = (Number(time[row]!) - start - (lengths?.isBefore ? length : 0)) / bin;
    const first = keyOf(row) * count;
    let place = Math.floor(from);
    if (length <= bin / 4) {
      if (place >= 0 && place < count) bins[first + place]! += value;
      continue;
    }
    const end = from + length / bin;
    const ofBin = bin * (value / length);
    for (place = Math.max(place, 0); place < end && place < count; place += 1) {
      bins[first + place]! += (Math.min(end, place + 1) - Math.max(from, place)) * ofBin;
    }
  }
  return bins;
}

/** Bins for this many pixels, with a round length so that they do not move when time is panned. */
export function gridFor(range: Range, pixels: number): BinGrid {
  const bin = Math.max(1, binNumber((range.end - range.start) / Math.max(1, pixels)));
  const start = Math.floor(range.start / bin) * bin;
  return { start, bin, count: Math.ceil((range.end - start) / bin) + 1 };
}
