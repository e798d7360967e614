// The answer that a recording opens with: what is heavy in the program's own code, on which thread, called by what.
//
// System code is charged to the code that calls it, with the result of the operation `charge-system`, but without making other stacks:
// the samples of a node belong to the innermost function above it that is not of the system, or to the outermost one if all are.

import { type Amount, type Exact, NO_STACK, type View, cores, threads } from '../../engine/index.ts';
import { Sums } from '../../engine/exact.ts';
import type { Forest } from '../../engine/forest.ts';
import { byWeight } from './order.ts';
import type { OverviewAnswer, Place } from '../protocol.ts';
import { totalOf } from './tables.ts';

const TOP = 12;
const SYSTEM = ['system', 'runtime', 'kernel'];

export function answerOverview(view: View, { series }: Place): OverviewAnswer {
  const forest = view.prepared.byFunction;
  const ownerOf = ownersOf(view);
  const charged = chargedNodes(forest, (label) => SYSTEM.includes(ownerOf(label)));
  const sums = selfOf(view, series, (node) => forest.label[charged[node]!]!);
  const labels = countedLabels(sums);
  const own = labels.filter((label) => ownerOf(label) === 'own' && sums.weight(label + 1) > 0);
  const isOwn = own.length > 0;
  // Where no own code ran, functions of the system stand for themselves.
  const nodes = isOwn ? charged : null;
  const told = isOwn ? sums : selfOf(view, series, (node) => forest.label[node]!);
  const rows = isOwn ? own : countedLabels(told).filter((label) => label !== NO_STACK && told.weight(label + 1) > 0);
  const order = byWeight(view.profile, (label) => told.weight(label + 1));
  const top = rows.sort(order).slice(0, TOP);
  const sum = (isIn: (owner: string) => boolean): Amount => add(sums, labels.filter((label) => isIn(ownerOf(label))));
  return {
    kind: 'overview',
    total: totalOf(view, series),
    shares: {
      own: sum((owner) => owner === 'own'),
      system: sum((owner) => SYSTEM.includes(owner)),
      unknown: sum((owner) => !['own', 'none', ...SYSTEM].includes(owner)),
      noStack: sum((owner) => owner === 'none'),
    },
    isOwn,
    top: top.map((label) => ({ label, weight: told.weight(label + 1), samples: told.samples(label + 1) })),
    heaviest: top[0] === undefined ? null : placeOf(view, series, top[0], nodes, (label) => isOwn && SYSTEM.includes(ownerOf(label))),
    threads: threads(view, series).slice(0, TOP),
    cores: cores(view, series),
    span: spanOf(view, series),
  };
}

/** The owner of a function: own code, a category, or none of samples without stack. */
function ownersOf({ profile }: View): (label: number) => string {
  const ofBinaries = profile.binaries.map(({ is_own, category }) => (is_own ? 'own' : category));
  return (label) => {
    if (label < 0) return 'none';
    const binary = profile.functions.binary[label]!;
    return binary < 0 ? 'unknown' : ofBinaries[binary]!;
  };
}

/** By node: the node to which its own samples are charged. */
function chargedNodes(forest: Forest, isSystem: (label: number) => boolean): Int32Array {
  const found = new Int32Array(forest.count);
  // By node: true where all functions on the path are of the system; then it is charged to the outermost one.
  const isAll = new Uint8Array(forest.count);
  isAll[0] = 1;
  for (let node = 1; node < forest.count; node += 1) {
    const above = forest.parent[node]!;
    if (!isSystem(forest.label[node]!)) found[node] = node;
    else if (isAll[above] === 1) {
      found[node] = above === 0 ? node : found[above]!;
      isAll[node] = 1;
    } else found[node] = found[above]!;
  }
  return found;
}

/** Sums of own samples by label, one higher: without stack they are the first. */
function selfOf(view: View, series: number, labelOf: (node: number) => number): Sums {
  const { forest, own } = view.byFunction(series);
  const sums = new Sums(own.shape, view.profile.functions.count + 1);
  forest.knotNode.forEach((node, knot) => {
    if (node > 0 && own.isCounted(knot)) sums.add(labelOf(node) + 1, own, knot);
  });
  return sums;
}

function countedLabels(sums: Sums): number[] {
  const found: number[] = [];
  for (let place = 0; place < sums.size; place += 1) if (sums.isCounted(place)) found.push(place - 1);
  return found;
}

function add(sums: Sums, labels: readonly number[]): Amount {
  const sum = new Sums(sums.shape, 1);
  for (const label of labels) sum.add(0, sums, label + 1);
  return { weight: sum.weight(0), samples: sum.samples(0) };
}

/** The thread on which most of a function's samples are, and the callers on its heaviest path, but for those that are passed over. */
function placeOf(
  view: View,
  series: number,
  label: number,
  charged: Int32Array | null,
  isPassedOver: (label: number) => boolean,
): OverviewAnswer['heaviest'] {
  const { forest, own } = view.byFunction(series);
  const { thread } = view.profile.samples;
  const nodeOf = (node: number): number => (charged === null ? node : charged[node]!);
  const rows = view.counted(series).filter((row) => {
    const node = view.nodeOfRow(row);
    return node >= 0 && forest.label[nodeOf(node)] === label;
  });
  const byThread = view.sumRows(rows, view.profile.threads.length, (row) => thread[row]!);
  const most = largest(byThread.size, (id) => byThread.weight(id));
  if (most < 0) return null;
  const knot = largest(own.size, (id) => (forest.label[nodeOf(forest.knotNode[id]!)] === label ? own.weight(id) : 0));
  const callers: number[] = [];
  for (let node = knot < 0 ? 0 : forest.parent[nodeOf(forest.knotNode[knot]!)]!; node > 0; node = forest.parent[node]!) {
    if (!isPassedOver(forest.label[node]!)) callers.push(forest.label[node]!);
  }
  return { thread: most, onThread: { weight: byThread.weight(most), samples: byThread.samples(most) }, callers };
}

function largest(size: number, weightOf: (index: number) => Exact): number {
  let [found, most]: [number, Exact] = [-1, 0];
  for (let index = 0; index < size; index += 1) {
    const weight = weightOf(index);
    if (weight > most) [found, most] = [index, weight];
  }
  return found;
}

function spanOf(view: View, series: number): OverviewAnswer['span'] {
  const { profile } = view;
  if (profile.form === 'sums' || !profile.series[series]!.has_times) return null;
  const rows = view.ofAllStates(series);
  if (rows.length === 0) return null;
  const { time } = profile.samples;
  const last = rows[rows.length - 1]!;
  const isTime = profile.series[series]!.unit === 'ns';
  return { start: Number(time[rows[0]!]!), end: Number(time[last]!) + (isTime ? Number(view.recordedWeight(last)) : 0) };
}
