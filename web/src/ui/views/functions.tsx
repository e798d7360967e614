// Functions by self weight.

import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { useAnswer, useApp, useStore } from '../app_context.ts';
import { functionColumns, weightColumns } from '../cells.tsx';
import { counted, grouped } from '../format.ts';
import { functionRows, rowsFound } from '../functions.ts';
import { Panel, Pending } from '../panel.tsx';
import { useSearch } from '../search.tsx';
import { Table } from '../table.tsx';

export function FunctionsView(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const { answer, unit, isOld, fault } = useAnswer('view', { kind: 'functions' });
  const search = useSearch();
  const [isOwnOrder, setOwnOrder] = useState(true);
  const { rows, columns } = useMemo(() => {
    if (answer === null) return { rows: null, columns: [] };
    const rows = rowsFound(answer.label, search);
    const pick = (values: ArrayLike<number | bigint>): (number | bigint)[] => Array.from(rows, (row) => values[row]!);
    const { sums } = answer;
    const picked =
      search.matches === null ? sums : { self: pick(sums.self), all: pick(sums.all), selfSamples: pick(sums.selfSamples), samples: pick(sums.samples) };
    const weights = weightColumns({ sums: picked, total: answer.total.weight, unit }, 'self');
    return { rows, columns: [...weights, ...functionColumns(app.names, (row) => answer.label[rows[row]!]!)] };
  }, [answer, unit, search.matches]);
  if (answer === null || rows === null) return <Pending fault={fault} />;
  const labelOf = (row: number): number => answer.label[rows[row]!]!;
  const note =
    rows.length < answer.label.length
      ? `${grouped(rows.length)} of ${grouped(answer.label.length)} functions match the search`
      : `${counted(rows.length, 'function')}${isOwnOrder ? ', by self weight, heaviest first' : ''}`;
  return (
    <Panel controls={<span class="note">{note}</span>}>
      <Table
        id="functions"
        label="Functions"
        columns={columns}
        count={rows.length}
        isOld={isOld}
        {...functionRows(app, state, search, labelOf)}
        onOrder={setOwnOrder}
        isFiltered
      />
    </Panel>
  );
}
