// Cells of summaries: percentiles with intervals and marks, and links to the pages of their runs.

import type { ComponentChildren, JSX } from 'preact';
import type { Percentile, RunRef, Summary } from './document.ts';
import { type Measures, count, cut, measure, measureWithUnit, statisticName } from './measure.ts';
import { type Page, runName, usePage } from './page_context.ts';
import { type Cell, type Column, nothing, number, text } from './table.tsx';

/** A place in the page of a run, as JSON. */
export type Place = string;
export const [WHOLE, SECOND]: [Place, Place] = ['"whole"', '"second"'];

/** A number or a name with a link to the page of its run, which is the last of `runs` that has one. */
export function RunLink({ runs, place, children }: { runs: readonly RunRef[]; place: Place; children: ComponentChildren }): JSX.Element {
  const page = usePage();
  const run = runs.findLast(({ run_id: id }) => page.links.has(id));
  const address = run === undefined ? undefined : page.links.get(run.run_id)!.get(place);
  if (run === undefined || address === undefined) return <>{children}</>;
  return <a class="run" href={address} title={`Opens ${cut(runName(page, run))}`}>{children}</a>;
}

export function RunName({ run }: { run: RunRef }): JSX.Element {
  return <RunLink runs={[run]} place={WHOLE}>{cut(runName(usePage(), run))}</RunLink>;
}

export function runCell(page: Page, run: RunRef): Cell {
  return text(runName(page, run), <RunName run={run} />);
}

/** A measure, or a dash. */
export function measured(value: number | null, measures: Measures): Cell {
  return value === null ? nothing : number(value, measure(value, measures));
}

/** The interval of a percentile: `11.90–13.02`, with `?` for an unknown end; null if it has no interval, as for percentiles by run weight. */
export function intervalText({ report }: Page, { lower, upper, support }: Percentile, measures: Measures): string | null {
  if (lower === null && upper === null) return support === 'upper-unknown' && !report.options.is_weighted ? '?–?' : null;
  const [from, to] = [lower, upper].map((end) => (end === null ? '?' : measure(end, measures)));
  return `${from}–${to}`;
}

/** The columns of a summary. Rows are sorted by `sort`. */
export function summaryColumns({ report: { options } }: Page, sort: string | null, hasWeighted: boolean): Column[] {
  const column = (title: string, key: string, hint?: string): Column => ({ title, isNumber: true, isOrder: sort === key, ...(hint === undefined ? {} : { hint }) });
  return [
    column('Mean', 'mean'),
    ...(hasWeighted ? [column('Weighted mean', 'weighted-mean', 'Total use divided by total recorded time')] : []),
    ...options.quantiles.map((name) => column(statisticName(name), name)),
    column('Max', 'max'),
  ];
}

export interface SummaryProps {
  readonly page: Page;
  readonly summary: Summary;
  readonly measures: Measures;
  readonly hasWeighted: boolean;
  readonly worst: RunRef | null;
  /** Null if the numbers do not describe runs. */
  readonly place: Place | null;
  /** The tooltip of the largest value. */
  readonly title?: string | undefined;
}

/** The cells of a summary, in the order of `summaryColumns`. */
export function summaryCells({ page, summary, measures, hasWeighted, worst, place, title }: SummaryProps): Cell[] {
  const link = (shown: string, runs: readonly RunRef[]): ComponentChildren =>
    place === null ? shown : <RunLink runs={runs} place={place}>{shown}</RunLink>;
  const { max } = summary;
  return [
    measured(summary.mean, measures),
    ...(hasWeighted ? [measured(summary.weighted_mean, measures)] : []),
    ...summary.percentiles.map((percentile) => percentileCell(page, percentile, measures, (shown) => link(shown, percentile.runs ?? []))),
    max === null ? nothing : { ...number(max, link(measure(max, measures), worst === null ? [] : [worst])), title },
  ];
}

export function percentileCell(page: Page, percentile: Percentile, measures: Measures, link: (shown: string) => ComponentChildren): Cell {
  const { value, support, needed, noise } = percentile;
  if (value === null) return nothing;
  if (support === 'too-few') return { ...nothing, content: <>n/a<small>needs {count(needed ?? 0)}</small></> };
  // Half of all runs are below the median even if they are identical: only values above it show a tail.
  const isNoise = percentile.is_noise === true && percentile.quantile > 0.5;
  const interval = intervalText(page, percentile, measures);
  const assumption = page.words.assumption.replace(/^, /, '');
  const content = (
    <>
      {isNoise && '~'}
      {link(measure(value, measures))}
      {/* The cell is too narrow for more than a sign, which the title explains, and the text above the table. */}
      {interval !== null && <small title={assumption || undefined}>{assumption === '' ? interval : `${interval}†`}</small>}
    </>
  );
  return { ...number(value, content), ...(isNoise ? { class: 'noise', title: `Noise alone produces ${measureWithUnit(noise ?? 0, measures)}` } : {}) };
}

/** Explains the intervals in cells. */
export function smallNumbers({ words: { assumption }, report }: Page): string {
  if (report.options.is_weighted) return 'Percentiles by run weight have no intervals.';
  return `Small numbers are intervals${assumption}${assumption === '' ? '' : ' (†)'}.`;
}
