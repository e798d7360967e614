// The command's main answer: the heaviest functions in app code, including the system code they call, each with its thread, its callers,
// and what called those. The rules are the same as in `src/report/overview/`.

import { type Exact, Sums, compareExact } from '../exact.ts';
import { NO_STACK, labelOrder } from '../order.ts';
import { functionName } from '../profile.ts';
import type { Amount, View } from '../view.ts';
import { type Origin, isEntryPoint, originOf } from './origins.ts';
import { OWN, OwnCode, SYSTEM, UNKNOWN } from './owners.ts';

export interface Shares {
  readonly own: Amount;
  readonly system: Amount;
  readonly unknown: Amount;
  readonly waiting: Amount;
  readonly noStack: Amount;
}

/** A function, and how it came to run. */
export interface Answer extends Amount {
  readonly label: number;
  /** The thread on which it weighs most. */
  readonly thread: number;
  readonly onThread: Amount;
  /** The functions of the program that called it, outermost first, without entry points and the system's functions between. */
  readonly callers: readonly number[];
  readonly origin: Origin | null;
}

/** A main thread that waits. */
export interface Wait {
  readonly thread: number;
  readonly samples: Exact;
  readonly waiting: Exact;
  readonly label: number;
  /** The app function that requested most of it. */
  readonly askedBy: number | null;
}

export interface Overview {
  readonly shares: Shares;
  /** App code with the system code it calls, or all code by self weight if no app code except its entry point ran. */
  readonly answersIn: 'own' | 'all';
  readonly answers: readonly Answer[];
  readonly wait: Wait | null;
}

export function overview(view: View, series: number, count: number): Overview {
  const code = new OwnCode(view, series);
  const own = heaviest(view, series, code, count, (node) => code.place(node));
  const isOwn = own.length > 0;
  const answers = isOwn ? own : heaviest(view, series, code, count, (node) => (code.waits(node) ? -1 : node));
  return { shares: sharesOf(view, series, code), answersIn: isOwn ? 'own' : 'all', answers, wait: waitOf(view, series, code) };
}

function sharesOf(view: View, series: number, code: OwnCode): Shares {
  const { forest, own } = view.byFunction(series);
  const [waiting, noStack] = [3, 4];
  const sums = new Sums(own.shape, 5);
  forest.knotNode.forEach((node, knot) => {
    if (node === 0 || !own.isCounted(knot)) return;
    const place = forest.label[node] === NO_STACK ? noStack : code.waits(node) ? waiting : code.owner(node);
    sums.add(place, own, knot);
  });
  const at = (place: number): Amount => ({ weight: sums.weight(place), samples: sums.samples(place) });
  return { own: at(OWN), system: at(SYSTEM), unknown: at(UNKNOWN), waiting: at(waiting), noStack: at(noStack) };
}

/** Samples that end in one knot: the node of the function they are grouped by, and its last caller found so far. */
interface Part {
  readonly knot: number;
  readonly place: number;
  at: number;
}

/** The heaviest functions; `placeOf` gives the node of the function that the samples of a node belong to, -1 for none. */
function heaviest(view: View, series: number, code: OwnCode, count: number, placeOf: (node: number) => number): Answer[] {
  const { profile } = view;
  const { forest, own } = view.byFunction(series);
  const sums = new Sums(own.shape, profile.functions.count);
  const places = forest.knotNode.map((node) => (node === 0 || forest.label[node] === NO_STACK ? -1 : placeOf(node)));
  places.forEach((place, knot) => {
    if (place >= 0 && own.isCounted(knot)) sums.add(forest.label[place]!, own, knot);
  });
  const found: number[] = [];
  for (let label = 0; label < sums.size; label += 1) if (sums.weight(label) > 0) found.push(label);
  const byName = labelOrder(profile);
  found.sort((a, b) => {
    const byWeight = compareExact(sums.weight(b), sums.weight(a)) || compareExact(sums.samples(b), sums.samples(a));
    return byWeight || byName(a, b);
  });
  found.length = Math.min(found.length, count);
  const rank = new Map(found.map((label, index) => [label, index]));
  const parts: Part[][] = found.map(() => []);
  const rankOfNode = new Int32Array(forest.count).fill(-1);
  places.forEach((place, knot) => {
    const index = place < 0 || !own.isCounted(knot) ? undefined : rank.get(forest.label[place]!);
    if (index === undefined) return;
    rankOfNode[forest.knotNode[knot]!] = index;
    parts[index]!.push({ knot, place, at: place });
  });
  const threads = threadsOf(view, series, found.length, rankOfNode);
  return found.map((label, index) => ({
    label,
    weight: sums.weight(label),
    samples: sums.samples(label),
    ...threads[index]!,
    ...callersOf(view, code, parts[index]!, own),
  }));
}

/** By rank: the thread with most of its samples. */
function threadsOf(view: View, series: number, ranks: number, rankOfNode: Int32Array): { thread: number; onThread: Amount }[] {
  const threads = view.profile.threads.length;
  const sums = view.sumByNode(view.counted(series), ranks, rankOfNode, threads, view.profile.samples.thread);
  return Array.from({ length: ranks }, (_, index) => {
    let most = index * threads;
    for (let key = most; key < (index + 1) * threads; key += 1) if (isHeavier(sums, key, most)) most = key;
    return { thread: most - index * threads, onThread: { weight: sums.weight(most), samples: sums.samples(most) } };
  });
}

function isHeavier(sums: Sums, a: number, b: number): boolean {
  return (compareExact(sums.weight(a), sums.weight(b)) || compareExact(sums.samples(a), sums.samples(b))) > 0;
}

/** Each caller is the heaviest of the one below it; samples with other callers are dropped. */
function callersOf(view: View, code: OwnCode, all: Part[], own: Sums): { callers: number[]; origin: Origin | null } {
  const { label } = view.prepared.byFunction;
  const isEntry = (id: number): boolean => isEntryPoint(functionName(view.profile, id));
  const callers: number[] = [];
  let parts = all;
  for (;;) {
    const callerOf = ({ at }: Part): number => {
      const caller = code.caller(at);
      return caller < 0 ? -1 : label[caller]!;
    };
    const next = heaviestKey(parts, own, callerOf);
    parts = parts.filter((part) => callerOf(part) === next);
    if (next === null || next < 0) break;
    // Recursion adds no information.
    if (callers.at(-1) !== next) callers.push(next);
    for (const part of parts) part.at = code.caller(part.at);
  }
  const first = parts[0];
  if (first !== undefined && callers[0] === label[first.place]) callers.shift();
  callers.reverse();
  while (callers.length > 0 && isEntry(callers[0]!)) callers.shift();
  return { callers, origin: heaviestKey(parts, own, ({ at }) => originAbove(view, code, at)) };
}

/** What called the outermost node of app code: the nearest enclosing system function that indicates an origin. */
function originAbove(view: View, code: OwnCode, node: number): Origin | null {
  const { parent, label } = view.prepared.byFunction;
  for (let above = parent[node]!; above > 0; above = parent[above]!) {
    if (code.isOwn(above)) return null;
    const origin = originOf(functionName(view.profile, label[above]!));
    if (origin !== null) return origin;
  }
  return null;
}

/** The heaviest group of a key; if equal, the group of the first part. */
function heaviestKey<K>(parts: readonly Part[], own: Sums, keyOf: (part: Part) => K): K | null {
  const places = new Map<K, number>();
  const sums = new Sums(own.shape, parts.length);
  for (const part of parts) {
    const key = keyOf(part);
    const place = places.get(key) ?? places.size;
    places.set(key, place);
    sums.add(place, own, part.knot);
  }
  let best: [K, number] | null = null;
  for (const entry of places) if (best === null || isHeavier(sums, entry[1], best[1])) best = entry;
  return best === null ? null : best[0];
}

/** The main thread with most samples, if it waits. */
function waitOf(view: View, series: number, code: OwnCode): Wait | null {
  if (!code.mayWait) return null;
  const { profile } = view;
  const { thread } = profile.samples;
  const rows = view.counted(series);
  const isMain = profile.threads.map((row) => row.is_main);
  const most = mostSamples(view, rows.filter((row) => isMain[thread[row]!]!), (row) => thread[row]!, profile.threads.length);
  if (most === null) return null;
  const ofMain = rows.filter((row) => thread[row] === most);
  const { label } = view.prepared.byFunction;
  const labelAt = (row: number): number => label[view.nodeOfRow(row)]!;
  const waiting = ofMain.filter((row) => code.waits(view.nodeOfRow(row)));
  const where = mostSamples(view, waiting, labelAt, profile.functions.count);
  if (where === null) return null;
  const inIt = ofMain.filter((row) => labelAt(row) === where);
  const { count } = profile.functions;
  const askedBy = mostSamples(view, inIt, (row) => askerLabel(code.asker(view.nodeOfRow(row))), count + 1);
  return {
    thread: most,
    samples: view.total(ofMain).samples,
    waiting: view.total(waiting).samples,
    label: where,
    askedBy: askedBy === count ? null : askedBy,
  };

  function askerLabel(node: number): number {
    return node < 0 ? count : label[node]!;
  }
}

/** The key with most samples; null without rows. */
function mostSamples(view: View, rows: Int32Array, keyOf: (row: number) => number, keys: number): number | null {
  if (rows.length === 0) return null;
  const sums = view.sumRows(rows, keys, keyOf);
  let best: number | null = null;
  for (const row of rows) {
    const key = keyOf(row);
    if (best === null || sums.samples(key) > sums.samples(best)) best = key;
  }
  return best;
}
