// Tables of processes, threads, binaries and functions, one for each cohort.

import type { JSX } from 'preact';
import { smallNumbers, summaryCells, summaryColumns } from './cells.tsx';
import type { Cohort, Scope, ScopeName, ScopeRow, ScopeTable } from './document.ts';
import { type Measures, capitalized, count, cut, many, measuresOf, statisticName } from './measure.ts';
import { type Page, cohortName, keyOf, usePage } from './page_context.ts';
import { RunsBehind } from './runs_behind.tsx';
import { type Cell, type Column, Filtered, Folded, Hidden, Table, number, text } from './table.tsx';

const SCOPES: readonly Scope[] = ['process', 'thread', 'binary', 'function'];

export const plural = (scope: Scope): string => (scope === 'process' ? 'processes' : scope === 'binary' ? 'binaries' : `${scope}s`);

const known = (name: string | null | undefined): string => (name === null || name === undefined || name === '' ? '(unknown)' : cut(name));

/** The name of a row, and the wider name that it belongs to. */
export function scopeCell(scope: Scope, name: ScopeName): Cell {
  const wider = scope === 'thread' ? known(name.process) : scope === 'function' ? known(name.binary) : '';
  const own = known(name[scope]);
  return text(`${own} ${wider}`, wider === '' ? own : [own, ' ', <small key="wider">{wider}</small>]);
}

export function Scopes(): JSX.Element {
  const page = usePage();
  return (
    <>
      <h2>{page.words.subject === 'CPU use' ? 'Where the CPU time goes' : 'Where it goes'}</h2>
      <p>{`Across runs; a run without a row counts as zero there. ${smallNumbers(page)} “~” marks percentiles that are no more than sampling noise produces.`}</p>
      {SCOPES.map((scope) => <OneScope key={scope} scope={scope} />)}
    </>
  );
}

function OneScope({ scope }: { scope: Scope }): JSX.Element | null {
  const page = usePage();
  const found = page.report.cohorts.map((cohort) => ({ cohort, table: cohort.tables.find((table) => table.scope === scope) }));
  const tables = found.filter((one): one is { cohort: Cohort; table: ScopeTable } => one.table !== undefined && one.table.rows.length > 0);
  if (tables.length === 0) return null;
  const { cohorts: most } = page.words.most;
  const shown = tables.slice(0, most).map(({ cohort, table }) => ({
    cohort,
    table,
    texts: table.rows.map((row) => scopeCell(scope, row).text!.toLowerCase()),
    measures: measuresOf(cohort.value_unit, Math.max(0, ...table.rows.map(({ summary }) => summary.max ?? 0))),
  }));
  const words = plural(scope);
  return (
    <section id={`scope-${scope}`}>
      <h3>{capitalized(words)}</h3>
      <Filtered what={words} texts={shown.flatMap(({ texts }) => texts)} hidden={tables.reduce((hidden, { table }, at) => hidden + table.hidden + (at < most ? 0 : table.rows.length), 0)}>
        {shown.map(({ cohort, table, texts, measures }) => (
          <Folded key={cohort.cohort} texts={texts} summary={<>{cohortName(cohort)} <small>{`${page.words.subjects[cohort.cohort]}, in ${measures.unit} · ${many(cohort.runs, page.words.nouns[cohort.cohort]!)}`}</small></>}>
            <RowsOfCohort cohort={cohort} table={table} measures={measures} />
          </Folded>
        ))}
      </Filtered>
      <Hidden count={tables.length - most}>{(hidden) => `${many(hidden, 'cohort')} more have no table here; JSON and CSV have all.`}</Hidden>
    </section>
  );
}

function RowsOfCohort({ cohort, table: { scope, rows, hidden }, measures }: { cohort: Cohort; table: ScopeTable; measures: Measures }): JSX.Element {
  const page = usePage();
  const { sort } = page.report.options;
  const columns: Column[] = [
    { title: capitalized(scope) },
    { title: 'Runs', isNumber: true, hint: 'Runs that have it, of all runs' },
    ...summaryColumns(page, sort, true),
    { title: 'Samples', isNumber: true },
  ];
  return (
    <>
      <Table label={`${capitalized(plural(scope))} of ${cohortName(cohort)}, in ${measures.unit}`} columns={columns} rows={rows.map((row) => cellsOf(page, scope, row, measures))} />
      <RunsBehind rows={rows.map((row) => [known(row[scope]), row.behind])} />
      <Hidden count={hidden}>{(hidden) => `${count(hidden)} rows below these are not shown, in the order of ${statisticName(sort)}.`}</Hidden>
    </>
  );
}

function cellsOf(page: Page, scope: Scope, row: ScopeRow, measures: Measures): Cell[] {
  const { summary } = row;
  const runs = summary.count - Math.min(summary.zeros, summary.count);
  return [
    scopeCell(scope, row),
    number(runs, count(runs)),
    ...summaryCells({
      page, summary, measures, hasWeighted: true, worst: row.worst_run, title: row.behind === null ? undefined : cut(row.behind.runs),
      place: JSON.stringify(keyOf(row)),
    }),
    number(row.samples, count(row.samples)),
  ];
}
