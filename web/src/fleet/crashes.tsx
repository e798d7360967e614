// The crashes of reports, by where they happened.

import type { JSX } from 'preact';
import { count, cut } from './measure.ts';
import { labelsName, usePage } from './page_context.ts';
import { type Cell, type Column, Table, number, text } from './table.tsx';

export function Crashes(): JSX.Element {
  const { options, crashes } = usePage().report;
  const hasCohorts = options.by.length > 0;
  const columns: Column[] = [{ title: 'Function' }, { title: 'Crashes', isNumber: true, isOrder: true }, ...(hasCohorts ? [{ title: 'Cohort' }] : [])];
  const rows = crashes.toSorted((a, b) => b.crashes - a.crashes).map(({ labels, crashed_in: place, crashes }): Cell[] => [
    text(cut(place)), number(crashes, count(crashes)), ...(hasCohorts ? [text(labelsName(labels))] : []),
  ]);
  return (
    <>
      <h2>Crashes</h2>
      <p>By the innermost function of your code on the thread that crashed.</p>
      <Table label="Crashes" columns={columns} rows={rows} />
    </>
  );
}
