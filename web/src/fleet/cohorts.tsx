// Tables and plots of cohorts: CPU use across runs, and within them.

import type { ComponentChildren, JSX } from 'preact';
import { SECOND, type SummaryProps, WHOLE, smallNumbers, summaryCells, summaryColumns } from './cells.tsx';
import { Cautions } from './cautions.tsx';
import { Distributions } from './distributions.tsx';
import type { Cohort, Words } from './document.ts';
import { capitalized, count, many, measuresOfCohorts } from './measure.ts';
import { byUnit, cohortName, usePage } from './page_context.ts';
import { RunsBehind } from './runs_behind.tsx';
import { type Cell, type Column, FoldedTable, Hidden, number, text } from './table.tsx';

const RUNS: Column = { title: 'Runs', isNumber: true };

export function AcrossRuns(): JSX.Element {
  const page = usePage();
  const { subject, subjects, nouns } = page.words;
  // Recordings are measured, reports state their number, and a fleet may have both.
  const recorded = `its ${subjects[nouns.indexOf('run')]} over the whole recording`;
  const number = nouns.every((noun) => noun === 'run') ? `: ${recorded}` : nouns.includes('run') ? `: ${recorded}, or what a report states` : ', which a report states';
  return (
    <>
      <h2>{capitalized(subject)} across runs</h2>
      <p>{`A run is one number${number}. ${smallNumbers(page)}`}</p>
      <LinksLegend />
      {byUnit(page.report.cohorts).map((cohorts) => <AcrossRunsOfUnit key={cohorts[0].value_unit} cohorts={cohorts} />)}
    </>
  );
}

/** Explains how many runs have a page. */
function LinksLegend(): JSX.Element | null {
  const { links, words } = usePage();
  if (links.size === 0) return null;
  const pages = `${count(links.size)} ${links.size === 1 ? 'has a page' : 'have pages'}`;
  const named = many(words.named_runs, 'run');
  return <p class="legend">{`A number that is a link opens the recording of its run. This page has numbers of ${named}, and ${pages}.`}</p>;
}

function AcrossRunsOfUnit({ cohorts }: { cohorts: readonly [Cohort, ...Cohort[]] }): JSX.Element {
  const { words } = usePage();
  const title = `${capitalized(words.subjects[cohorts[0].cohort]!)} across runs`;
  return (
    <>
      <SummaryTable title={title} cohorts={cohorts} columns={[RUNS]} cells={({ runs }) => [number(runs, count(runs))]} of={ACROSS}>
        <Distributions cohorts={cohorts} />
      </SummaryTable>
      <Hidden count={cohorts.length - words.most.cohort_rows}>{(hidden) => `${many(hidden, 'cohort')} not shown here; JSON and CSV have all.`}</Hidden>
      <RunsBehind rows={cohorts.map((cohort) => [cohortName(cohort), cohort.behind])} />
      <Cautions sentences={named(words, cohorts, 0)} />
    </>
  );
}

/** Warnings with the names of their cohorts: about runs (0) or about busiest seconds (1). */
function named({ cautions, most }: Words, cohorts: readonly Cohort[], of: 0 | 1): string[] {
  return cohorts.slice(0, most.cohort_rows).flatMap((cohort) => cautions[cohort.cohort]![of].map((sentence) => `${cohortName(cohort)}: ${sentence}.`));
}

/** What a table summarises: the summary of a cohort, its run with the largest value, and the place in runs to link to. */
type Summarised = (cohort: Cohort) => Pick<SummaryProps, 'summary' | 'worst' | 'place' | 'hasWeighted'>;

const ACROSS: Summarised = ({ across_runs: summary, worst_run: worst }) => ({ summary, worst, place: WHOLE, hasWeighted: true });
const POOLED: Summarised = ({ within_runs: windows }) => ({ summary: windows!.pooled, worst: null, place: null, hasWeighted: false });
const PEAKS: Summarised = ({ within_runs: windows }) => ({ summary: windows!.peaks, worst: windows!.worst_run, place: SECOND, hasWeighted: false });

/** `columns` and `cells` are between the cohort and its summary. */
interface TableProps {
  readonly title: string;
  readonly cohorts: readonly Cohort[];
  readonly columns: readonly Column[];
  readonly cells: (cohort: Cohort) => Cell[];
  readonly of: Summarised;
  readonly children?: ComponentChildren;
}

function SummaryTable({ title, cohorts, columns, cells, of, children }: TableProps): JSX.Element {
  const page = usePage();
  const measures = measuresOfCohorts(cohorts, (cohort) => of(cohort).summary);
  const label = `${title}, in ${measures.unit}`;
  const row = (cohort: Cohort): Cell[] => [
    text(cohortName(cohort)),
    ...cells(cohort),
    ...summaryCells({ page, measures, ...of(cohort) }),
  ];
  const rows = cohorts.slice(0, page.words.most.cohort_rows).map(row);
  return (
    <>
      <h3>{label}</h3>
      {children}
      <FoldedTable label={label} columns={[{ title: 'Cohort' }, ...columns, ...summaryColumns(page, null, of === ACROSS)]} rows={rows} />
    </>
  );
}

/** CPU use within runs: windows of one second. */
export function WithinRuns(): JSX.Element {
  const { words, report } = usePage();
  return (
    <>
      <h2>{capitalized(words.subject)} within runs</h2>
      <p>The numbers here are windows of one second, not runs: they show how bursty runs are, but not how many users have a slow run.</p>
      {byUnit(report.cohorts).map((cohorts) => <WithinRunsOfUnit key={cohorts[0].value_unit} cohorts={cohorts} />)}
    </>
  );
}

function WithinRunsOfUnit({ cohorts }: { cohorts: readonly [Cohort, ...Cohort[]] }): JSX.Element {
  const { words } = usePage();
  const measured = cohorts.filter(({ within_runs: windows }) => windows !== null);
  const isExact = measured.every(({ within_runs: windows }) => windows!.pooled.is_exact);
  const columns: Column[] = [
    { ...RUNS, hint: 'Runs of at least one whole second' },
    { title: 'Seconds', isNumber: true },
    { title: 'Idle', isNumber: true, hint: 'Seconds without a sample' },
  ];
  const cells = ({ within_runs: windows }: Cohort): Cell[] => {
    const { runs, pooled } = windows!;
    const idle = (100 * pooled.zeros) / Math.max(1, pooled.count);
    return [number(runs, count(runs)), number(pooled.count, count(pooled.count)), number(idle, `${idle.toFixed(1)} %`)];
  };
  const runs = ({ within_runs: windows }: Cohort): Cell[] => [number(windows!.runs, count(windows!.runs))];
  return (
    <>
      <SummaryTable title="Seconds of all runs, pooled" cohorts={measured} columns={columns} cells={cells} of={POOLED} />
      <p class="legend">Seconds of one run are not independent, so there are no intervals.{isExact ? '' : ` Percentiles are ${words.within}.`}</p>
      <SummaryTable title="The busiest second of each run" cohorts={measured} columns={[RUNS]} cells={runs} of={PEAKS} />
      <Cautions sentences={named(words, measured, 1)} />
    </>
  );
}
