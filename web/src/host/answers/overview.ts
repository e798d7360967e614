// The answer that a recording opens with: what is heavy in the program's own code, on which thread, called by what.

import { type Amount, type Exact, NO_STACK, type Operation, type View, cores, functions, threads } from '../../engine/index.ts';
import type { OverviewAnswer, Place } from '../protocol.ts';
import { totalOf } from './tables.ts';

const TOP = 12;
const SYSTEM = ['system', 'runtime', 'kernel'];

/** `viewOf` gives the view of the same selection after other operations. */
export function answerOverview(view: View, place: Place, viewOf: (operations: readonly Operation[]) => View): OverviewAnswer {
  const { profile } = view;
  const { series } = place;
  const charged = viewOf([...place.operations.filter(({ kind }) => kind !== 'invert'), { kind: 'charge-system' }]);
  const all = functions(charged, series);
  const categoryOf = (label: number): string => {
    const binary = label < 0 ? -1 : profile.functions.binary[label]!;
    if (binary < 0) return 'unknown';
    return profile.binaries[binary]!.is_own ? 'own' : profile.binaries[binary]!.category;
  };
  const own = all.filter((row) => categoryOf(row.label) === 'own');
  const isOwn = own.length > 0;
  // Where no own code ran, system code is not charged to anything that would tell more.
  const told = isOwn ? charged : view;
  const rows = isOwn ? own : functions(view, series).filter((row) => row.label !== NO_STACK);
  const top = rows.slice(0, TOP).filter((row) => row.self_weight > 0);
  const sum = (isIn: (label: number) => boolean): Amount =>
    all.filter((row) => isIn(row.label)).reduce(add, { weight: 0, samples: 0 });
  return {
    kind: 'overview',
    total: totalOf(view, series),
    shares: {
      own: sum((label) => categoryOf(label) === 'own'),
      system: sum((label) => SYSTEM.includes(categoryOf(label))),
      unknown: sum((label) => label >= 0 && !['own', ...SYSTEM].includes(categoryOf(label))),
      noStack: sum((label) => label === NO_STACK),
    },
    isOwn,
    top: top.map((row) => ({ label: row.label, weight: row.self_weight, all: row.all_weight, samples: row.self_samples })),
    heaviest: top[0] === undefined ? null : placeOf(told, series, top[0].label),
    threads: threads(view, series).slice(0, TOP),
    cores: cores(view, series),
    span: spanOf(view, series),
  };
}

function add(sum: Amount, row: { self_weight: Exact; self_samples: Exact }): Amount {
  return { weight: plus(sum.weight, row.self_weight), samples: plus(sum.samples, row.self_samples) };
}

function plus(a: Exact, b: Exact): Exact {
  return typeof a === 'number' && typeof b === 'number' ? a + b : BigInt(a) + BigInt(b);
}

/** The thread on which most of a function's own samples are, and the callers on its heaviest path. */
function placeOf(view: View, series: number, label: number): OverviewAnswer['heaviest'] {
  const forest = view.prepared.byFunction;
  const { thread } = view.profile.samples;
  const rows = view.counted(series).filter((row) => {
    const node = view.nodeOfRow(row);
    return node >= 0 && forest.label[node] === label;
  });
  const byThread = view.sumRows(rows, view.profile.threads.length, (row) => thread[row]!);
  const most = largest(byThread.size, (id) => byThread.weight(id));
  if (most < 0) return null;
  const { own } = view.byFunction(series);
  const knot = largest(own.size, (id) => (forest.label[forest.knotNode[id]!] === label ? own.weight(id) : -1));
  const callers: number[] = [];
  for (let node = knot < 0 ? -1 : forest.parent[forest.knotNode[knot]!]!; node > 0; node = forest.parent[node]!) {
    callers.push(forest.label[node]!);
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
