// Everything that the user chose, as one immutable value: another choice is another value.

import type { During, Metric, Normalize, Operation, Place, Range, Selection, SeparateBy, Side, Tables } from '../host/protocol.ts';

/** The views, in the order of their tabs. */
export const TABS = [
  { id: 'runs', name: 'Runs' },
  { id: 'overview', name: 'Overview' },
  { id: 'flame', name: 'Flame graph' },
  { id: 'tree', name: 'Call tree' },
  { id: 'functions', name: 'Functions' },
  { id: 'callers', name: 'Callers & callees' },
  { id: 'chart', name: 'Flame chart' },
  { id: 'binaries', name: 'Binaries' },
  { id: 'categories', name: 'Categories' },
  { id: 'source', name: 'Source' },
  { id: 'threads', name: 'Threads' },
  { id: 'states', name: 'States' },
  { id: 'cores', name: 'Cores' },
  { id: 'intervals', name: 'Intervals' },
] as const;
export type Tab = (typeof TABS)[number]['id'];

export const TREES = ['down', 'up', 'heaviest'] as const;
export type TreeKind = (typeof TREES)[number];

export interface State {
  /** The shown recording, or both. Indices refer to its tables; for both, to the tables of the second one. */
  readonly side: Side;
  /** The scaling of the second recording for changes; null means the scaling on the command line. */
  readonly normalize: Normalize | null;
  readonly series: number;
  /** Indices; null selects all. */
  readonly threads: readonly number[] | null;
  readonly processes: readonly number[] | null;
  readonly mainOnly: boolean;
  readonly time: Range | null;
  readonly during: During | null;
  readonly states: 'running' | 'all' | readonly string[];
  readonly metric: Metric;
  readonly operations: readonly Operation[];
  readonly tab: Tab;
  readonly tree: TreeKind;
  /** The flame graph: callers above callees, or inverted. */
  readonly flame: 'down' | 'up';
  /** Each interval, or a row for each name. */
  readonly list: 'each' | 'names';
  /** The property that separates trees, and the displayed part; null means the heaviest. */
  readonly by: SeparateBy;
  readonly part: number | null;
  /** The thread of the flame chart; null is the heaviest. */
  readonly chartThread: number | null;
  /** The chosen function. */
  readonly chosen: number | null;
  readonly search: string;
}

/** A series with no selection. */
export function freshState(series: number, side: Side = 'after'): State {
  return {
    side,
    normalize: null,
    series,
    threads: null,
    processes: null,
    mainOnly: false,
    time: null,
    during: null,
    states: 'running',
    metric: 'weight',
    operations: [],
    tab: 'overview',
    tree: 'down',
    flame: 'down',
    list: 'each',
    by: 'none',
    part: null,
    chartThread: null,
    chosen: null,
    search: '',
  };
}

/** The same state without selections and operations. */
export function cleared(state: State): State {
  const { side, normalize, tab, tree, flame, list, search, chosen, by } = state;
  return { ...freshState(state.series, side), normalize, tab, tree, flame, list, search, chosen, by };
}

/** True if the page was written without the samples of a series, so that it cannot tell whether anything ran. */
export function isLeftOut({ series, summary }: Tables, id: number): boolean {
  const isFiltered = (summary.series?.[id]?.filtered_out.samples ?? 0) > 0;
  const operations = (summary.operations ?? []).flatMap((operation) => operation.series);
  const isRemoved = operations.some((one) => one.series === id && one.removed.samples > 0);
  return series[id]!.rows === 0 && (isFiltered || isRemoved);
}

/** The most relevant series: on-CPU time before the presence of threads, then the largest number of samples. */
export function mainSeries(tables: Tables): number {
  let best = 0;
  tables.series.forEach((series, index) => {
    const other = tables.series[best]!;
    if (rank(series) > rank(other)) best = index;
  });
  return best;
}

function rank(series: Tables['series'][number]): number {
  return (series.meaning === 'on-cpu' ? 2 : 0) + (series.rows > 0 ? 1 : 0);
}

/** The selection in the form that the engine takes. */
export function selectionOf(state: State, tables: Tables): Selection {
  const { run } = tables.series[state.series]!;
  return {
    // All runs of both recordings are compared.
    ...(state.side === 'compared' ? {} : { series: [state.series], runs: [run] }),
    ...(state.threads === null ? {} : { threads: state.threads }),
    ...(state.mainOnly ? { mainOnly: true } : {}),
    ...(state.processes === null ? {} : { processes: state.processes }),
    ...(state.time === null ? {} : { time: state.time }),
    ...(state.during === null ? {} : { during: state.during }),
    states: state.by === 'state' && state.states === 'running' && usesParts(state) ? 'all' : state.states,
    metric: state.metric,
  };
}

/** Views with a tree for each part. As in the command, trees by state include every state. */
function usesParts({ tab }: State): boolean {
  return tab === 'tree' || tab === 'flame';
}

export function placeOf(state: State, tables: Tables): Place {
  return { series: state.series, selection: selectionOf(state, tables), operations: state.operations, side: state.side };
}

/** The place of all samples of a table, for questions that do not depend on the selection. */
export function placeOfAll({ series, side }: State): Place {
  return { series, selection: {}, operations: [], side };
}

/** True if two states select the same samples: undo moves only between different selections. */
export function selectsAlike(a: State, b: State): boolean {
  return keyOf(a) === keyOf(b);
}

function keyOf(state: State): string {
  const { side, normalize, series, threads, processes, mainOnly, time, during, states, metric, operations } = state;
  return JSON.stringify([side, normalize, series, threads, processes, mainOnly, time, during, states, metric, operations]);
}
