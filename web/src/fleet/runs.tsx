// The runs, sorted by value.

import type { JSX } from 'preact';
import { runCell } from './cells.tsx';
import type { Run } from './document.ts';
import { type Measures, capitalized, count, measureWithUnit, measuresOf, weightText } from './measure.ts';
import { type Page, cohortName, usePage } from './page_context.ts';
import { type Cell, type Column, Filtered, FoldedTable, Hidden, nothing, number, text, textOf } from './table.tsx';

export function Runs(): JSX.Element {
  const page = usePage();
  const { words, report } = page;
  const hasCohorts = report.cohorts.length > 1;
  // Keeps cohorts with the same unit together.
  const unitOf = (run: Run): number => report.cohorts.findIndex(({ unit }) => unit === run.unit);
  const runs = report.runs.map((run) => ({ run, unit: unitOf(run) })).sort((a, b) => a.unit - b.unit || b.run.value - a.run.value);
  const columns: Column[] = [
    { title: 'Run' },
    ...(hasCohorts ? [{ title: 'Cohort' }] : []),
    { title: capitalized(words.subject), isNumber: true, isOrder: runs.every(({ unit }) => unit === runs[0]!.unit) },
    { title: 'Busiest second', isNumber: true },
    { title: 'Recorded', isNumber: true, hint: '≈ marks the time that samples cover, which overstates CPU use' },
    { title: 'Weight', isNumber: true },
    { title: 'Samples', isNumber: true },
    ...(report.options.is_weighted ? [{ title: 'Run weight', isNumber: true }] : []),
  ];
  // Of the runs with one unit, the map keeps the last. Reversed, this is the run with the largest value.
  const measures = new Map(runs.toReversed().map(({ run }) => [run.unit, measuresOf(run.value_unit, run.value)]));
  const rows = runs.map(({ run }) => cellsOf(page, run, measures.get(run.unit)!, hasCohorts));
  return (
    <>
      <h2>Runs</h2>
      <Filtered what="runs" texts={rows.map(textOf)} hidden={words.hidden_runs}><FoldedTable label="Runs" columns={columns} rows={rows} /></Filtered>
      <Hidden count={words.hidden_runs}>{(hidden) => `${count(hidden)} runs with lower ${words.subject} are not shown.`}</Hidden>
    </>
  );
}

function cellsOf(page: Page, run: Run, measures: Measures, hasCohorts: boolean): Cell[] {
  const { report } = page;
  const measured = (value: number): Cell => number(value, measureWithUnit(value, measures));
  return [
    runCell(page, run),
    ...(hasCohorts ? [text(cohortName(report.cohorts[run.cohort]))] : []),
    measured(run.value),
    run.window_max === null ? nothing : measured(run.window_max),
    run.wall_ns === null ? nothing : secondsCell(run.wall_ns, run.wall_source === 'samples' ? '≈ ' : ''),
    number(run.weight, weightText(run.weight, run.unit)),
    number(run.samples, count(run.samples)),
    ...(report.options.is_weighted ? [number(run.run_weight, String(run.run_weight))] : []),
  ];
}

export function secondsCell(nanos: number, mark = ''): Cell {
  return number(nanos / 1e9, `${mark}${weightText(nanos, 'ns')}`);
}
