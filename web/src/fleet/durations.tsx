// Durations from metrics, of which only the bins are known: a table for each kind.

import type { JSX } from 'preact';
import { count, cut, statisticName } from './measure.ts';
import { usePage } from './page_context.ts';
import { type Cell, type Column, Table, number, text } from './table.tsx';

export function Durations(): JSX.Element {
  const { words, report } = usePage();
  const columns: Column[] = [
    { title: 'Cohort' },
    { title: 'Reports', isNumber: true },
    { title: 'Durations', isNumber: true },
    ...report.options.quantiles.map((name) => ({ title: statisticName(name) })),
  ];
  const row = (at: number): Cell[] => {
    const [{ reports, count: all }, { cohort, percentiles }] = [report.histograms[at]!, words.durations[at]!];
    return [text(cut(cohort)), number(reports, count(reports)), number(all, count(all)), ...percentiles.map((one) => text(one ?? 'n/a'))];
  };
  const names = [...new Set(report.histograms.map(({ name }) => name))];
  const rowsOf = (name: string): number[] => [...report.histograms.keys()].filter((at) => report.histograms[at]!.name === name);
  return (
    <>
      <h2>Durations of metrics</h2>
      <p>
        A report of metrics has the number of durations in each bin. A percentile is the interval in which it is for certain; each report is about a day of a device.
      </p>
      {names.map((name) => [<h3 key={`${name} title`}>{name} times</h3>, <Table key={name} label={`${name} times`} columns={columns} rows={rowsOf(name).map(row)} />])}
    </>
  );
}
