// The rows that differ most between cohorts.

import type { JSX } from 'preact';
import { Cautions } from './cautions.tsx';
import type { Contrast } from './document.ts';
import { type Measures, capitalized, count, cut, measure, measuresOf, statisticName } from './measure.ts';
import { cohortName, usePage } from './page_context.ts';
import { plural, scopeCell } from './scopes.tsx';
import { type Cell, type Column, FoldedTable, Hidden, number } from './table.tsx';

/** Rows of a table. */
const MOST_ROWS = 50;
/** With more cohorts than this, only the extremes are named. */
const FEW = 4;
/** The maximum number of letters of a cohort's name above its column. */
const LONGEST_HEAD = 40;

export function Contrasts(): JSX.Element {
  const { words, report } = usePage();
  const all = report.contrasts.map((contrast, at) => ({ contrast, few: words.too_few_to_compare[at] ?? null, rows: words.contrast_rows[at]! }));
  const shown = all.filter(({ contrast }) => contrast.rows.length > 0);
  return (
    <>
      <h2>Largest differences between cohorts at {statisticName(report.options.sort)}</h2>
      <p>The largest value of a row less its smallest. “~” marks rows whose largest value is no more than sampling noise produces.</p>
      {shown.map(({ contrast, few, rows }, at) => {
        // All tables with one unit have the same cohorts.
        const isFirst = shown[at - 1]?.contrast.value_unit !== contrast.value_unit;
        return [few !== null && isFirst && <Cautions key={`${at} few`} sentences={[few]} />, <Differences key={at} contrast={contrast} count={rows} />];
      })}
    </>
  );
}

function Differences({ contrast, count: all }: { contrast: Contrast; count: number }): JSX.Element {
  const { words, report } = usePage();
  const { scope, cohorts, rows } = contrast;
  const measures = measuresOf(contrast.value_unit, Math.max(0, ...rows.flatMap(({ values }) => values)));
  const title = `${capitalized(plural(scope))}: ${statisticName(contrast.by)} across runs, in ${measures.unit}`;
  const shown = cohorts.slice(0, words.most.cohorts);
  const names = cohorts.map(({ cohort }) => cohortName(report.cohorts[cohort]));
  const columns: Column[] = [
    { title: capitalized(scope) },
    { title: 'Difference', isNumber: true, isOrder: true },
    // With many columns, the largest value would be hard to find, and its column may not be shown.
    ...(names.length > FEW ? ['Highest', 'Lowest'].map((title) => ({ title, isNumber: true })) : []),
    ...names.slice(0, shown.length).map((name) => ({ title: cut(name, LONGEST_HEAD), isNumber: true })),
  ];
  const largest = rows[0]?.difference ?? 0;
  return (
    <>
      <h3>{title}</h3>
      <FoldedTable label={title} columns={columns} rows={rows.slice(0, MOST_ROWS).map((row) => cellsOf(contrast, row, measures, names, shown.length, largest))} />
      <Hidden count={all - MOST_ROWS}>{(hidden) => `${count(hidden)} rows with smaller differences are not shown.`}</Hidden>
      <Hidden count={cohorts.length - shown.length}>{(hidden) => `${count(hidden)} cohorts are compared but not shown.`}</Hidden>
    </>
  );
}

function cellsOf({ scope }: Contrast, row: Contrast['rows'][number], measures: Measures, names: readonly string[], shown: number, largest: number): Cell[] {
  const share = largest > 0 ? Math.round((100 * row.difference) / largest) : 0;
  const difference = (
    <>
      <svg aria-hidden="true"><rect width={`${share}%`} height="100%" /></svg>
      {row.is_noise && '~'}
      {measure(row.difference, measures)}
    </>
  );
  const most = Math.max(0, ...row.values);
  const extreme = (value: number): Cell => {
    const all = names.filter((_, at) => row.values[at] === value);
    const others = all.length > 1 ? ` and ${count(all.length - 1)} more` : '';
    return number(value, [measure(value, measures), <small key="cohort">{cut(all[0]!, LONGEST_HEAD)}{others}</small>]);
  };
  return [
    scopeCell(scope, row),
    { ...number(row.difference, difference), class: row.is_noise ? 'share noise' : 'share' },
    ...(names.length > FEW ? [extreme(most), extreme(Math.min(...row.values))] : []),
    ...row.values.slice(0, shown).map((value) => ({ ...number(value, measure(value, measures)), class: value === most ? 'most' : undefined })),
  ];
}
