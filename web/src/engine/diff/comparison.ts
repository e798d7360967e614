// The entry point to two compared recordings.

import { counterOf } from '../counters.ts';
import { RefusedError } from '../error.ts';
import type { Operation } from '../operations.ts';
import type { Profile } from '../profile.ts';
import type { Selection } from '../selection.ts';
import type { View } from '../view.ts';
import { Prepared, Workbench } from '../workbench.ts';
import { Changes } from './changes.ts';
import { Matching } from './matching.ts';
import { Merged } from './merged.ts';

export type Normalize = 'none' | 'duration' | 'samples';

/** The content of the page's `<script id="diff">`; docs/workbench.md describes every field. */
export interface DiffFacts {
  readonly unit: string;
  readonly normalize: Normalize;
  readonly factor: number;
  readonly is_scaled: boolean;
  readonly sentences: { readonly answer: string; readonly activity: string; readonly functions: string };
  readonly [more: string]: unknown;
}

/** Selections of both sides. */
export interface Selections {
  readonly before: Selection;
  readonly after: Selection;
}

/** Two compared recordings. Keeps everything that does not depend on selections. */
export class Comparison {
  readonly before: Workbench;
  readonly after: Workbench;
  readonly facts: DiffFacts;
  readonly matching: Matching;
  #merged: { before: Prepared; after: Prepared; tree: Merged } | null = null;

  constructor(before: Profile, after: Profile, facts: DiffFacts) {
    [this.before, this.after, this.facts] = [new Workbench(before), new Workbench(after), facts];
    this.matching = new Matching(before, after);
  }

  /** The changes between the selected samples, after applying operations in order. */
  changes(
    selections: Selections = { before: {}, after: {} },
    operations: readonly Operation[] = [],
    normalize: Normalize = this.facts.normalize,
  ): Changes {
    const before = this.before.view(selections.before, operations);
    const after = this.after.view(selections.after, operations);
    const series: [number[], number[]] = [comparedSeries(before, 'first'), comparedSeries(after, 'second')];
    const units = [before, after].map((view, side) => unitOf(view, selections, series[side as 0 | 1]));
    if (units[0] !== undefined && units[1] !== undefined && units[0] !== units[1]) {
      throw new RefusedError(`weights are in ${units[0]} in the first recording and in ${units[1]} in the second`);
    }
    const merged = this.#merge(before.prepared, after.prepared);
    const weights = [merged.weigh(0, before, series[0]), merged.weigh(1, after, series[1])] as const;
    const totals = weights.map(({ sums }) => Number(sums.all.weight(0))) as [number, number];
    const factor = this.#factor(normalize, { before, after }, selections, totals);
    return new Changes(this.matching, merged, weights, { before, after, series }, factor);
  }

  #factor(
    normalize: Normalize,
    views: { before: View; after: View },
    selections: Selections,
    totals: [number, number],
  ): number | null {
    if (normalize === 'none') return 1;
    const lengths = (): [number, number] => [
      lengthOf(views.before, selections.before),
      lengthOf(views.after, selections.after),
    ];
    const [before, after] = normalize === 'samples' ? totals : lengths();
    return before > 0 && after > 0 ? before / after : null;
  }

  /** The merged tree of these operations. Operations that only remove samples do not change its shape. */
  #merge(before: Prepared, after: Prepared): Merged {
    const known = this.#merged;
    if (known !== null && known.before === before.shape && known.after === after.shape) return known.tree;
    const tree = new Merged(this.matching, before.shape.byFunction, after.shape.byFunction);
    this.#merged = { before: before.shape, after: after.shape, tree };
    return tree;
  }
}

/** The selected time of the runs that are selected, in nanoseconds. */
function lengthOf({ profile, scope }: View, selection: Selection): number {
  const series = new Map<number, number>();
  profile.series.forEach(({ run }, index) => {
    if ((selection.series?.includes(index) ?? true) && (selection.runs?.includes(run) ?? true)) series.set(run, index);
  });
  return [...series.values()].reduce((sum, index) => sum + scope.selectedTime(index).length, 0);
}

/** The series of a side with selected samples: one table of each run. */
function comparedSeries(view: View, side: 'first' | 'second'): number[] {
  const { series } = view.profile;
  const counted = series.flatMap((_, index) => (view.counted(index).length > 0 ? [index] : []));
  const kinds = new Set(counted.map((index) => `${series[index]!.schema} (${series[index]!.unit})`));
  const runs = new Set(counted.map((index) => series[index]!.run));
  if (kinds.size > 1 || runs.size < counted.length) {
    const named = [...kinds].sort().join(', ');
    throw new RefusedError(`the ${side} recording has several measurements that cannot be summed: ${named}; select one`);
  }
  return counted;
}

function unitOf(view: View, { after }: Selections, series: readonly number[]): string | undefined {
  if (series.length === 0) return undefined;
  if (counterOf(after.metric ?? 'weight') !== null) return 'events';
  return after.metric === 'samples' ? 'samples' : view.profile.series[series[0]!]!.unit;
}

/** The tables of a recording that selections refer to by name. */
type Named = Pick<Profile, 'series' | 'runs' | 'processes' | 'threads'>;

/**
 * The same selection in the other recording: by the names of processes and threads, the numbers of runs, and tables. Everything else has
 * the same meaning in both.
 */
export function counterpart(from: Named, to: Named, selection: Selection): Selection {
  const { series, runs, processes, threads, ...rest } = selection;
  const among = <T>(chosen: readonly number[] | undefined, rows: readonly T[], others: readonly T[], nameOf: (row: T, profile: Named) => string): number[] | undefined => {
    if (chosen === undefined) return undefined;
    const names = new Set(chosen.map((index) => nameOf(rows[index]!, from)));
    return others.flatMap((row, index) => (names.has(nameOf(row, to)) ? [index] : []));
  };
  const found = {
    series: among(series, from.series, to.series, ({ schema, unit }) => `${schema} ${unit}`),
    runs: among(runs, from.runs, to.runs, ({ number }) => String(number)),
    processes: among(processes, from.processes, to.processes, ({ name }) => name),
    threads: among(threads, from.threads, to.threads, ({ name, process, is_main }, { processes }) =>
      JSON.stringify([name, is_main, processes[process]!.name]),
    ),
  };
  const given = Object.entries(found).filter(([, indices]) => indices !== undefined);
  return { ...rest, ...Object.fromEntries(given) };
}
