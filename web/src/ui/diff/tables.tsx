// Functions and binaries by the change of their self weight.

import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { binaryOf } from '../../state/names.ts';
import { useAnswer, useApp, useStore } from '../app_context.ts';
import { functionColumns, nameColumn } from '../cells.tsx';
import { grouped } from '../format.ts';
import { functionRows, rowsFound } from '../functions.ts';
import { Panel, Pending } from '../panel.tsx';
import { useSearch } from '../search.tsx';
import { Table, type TableColumn } from '../table.tsx';
import { changeColumns, noiseColumns } from './changes.tsx';
import { ScalingNote } from './overview.tsx';
import { pickRows } from './pick_rows.ts';
import { useScaling } from './use_changes.ts';

export function DiffFunctionsView(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const search = useSearch();
  const [isOwnOrder, setOwnOrder] = useState(true);
  const { answer, unit, isOld, fault } = useAnswer('view', { kind: 'diff-table', of: 'functions', normalize: useScaling() });
  const found = useMemo(() => {
    if (answer === null) return null;
    const places = rowsFound(answer.label, search);
    const [rows, total] = [pickRows(answer.rows, places), answer.total];
    const labelOf = (row: number): number => answer.label[places[row]!]!;
    const columns: TableColumn[] = [
      ...changeColumns(rows, total, unit, 'self', true),
      ...noiseColumns(rows, total, unit, 'self'),
      ...changeColumns(rows, total, unit, 'all', false).slice(0, 1),
      ...functionColumns(app.names, labelOf),
    ];
    return { columns, rows, labelOf };
  }, [answer, unit, search.matches]);
  if (answer === null || found === null) return <Pending fault={fault} />;
  const { columns, rows, labelOf } = found;
  const all = `${grouped(rows.count)} functions${isOwnOrder ? ', the largest changes first' : ''}`;
  const of = rows.count < answer.rows.count ? `${grouped(rows.count)} of ${grouped(answer.rows.count)} functions match the search` : all;
  return (
    <Panel
      controls={
        <>
          <span class="note">{of}</span>
          <ScalingNote total={answer.total} />
        </>
      }
    >
      <Table
        id="functions"
        label="Functions by change"
        columns={columns}
        count={rows.count}
        isOld={isOld}
        {...functionRows(app, state, search, labelOf)}
        onOrder={setOwnOrder}
        isFiltered
      />
    </Panel>
  );
}

export function DiffBinariesView(): JSX.Element {
  const app = useApp();
  const { answer, unit, isOld, fault } = useAnswer('view', { kind: 'diff-table', of: 'binaries', normalize: useScaling() });
  const known = useMemo(() => {
    const { functions } = app.names.tables;
    return new Set(Array.from({ length: functions.count }, (_, label) => binaryOf(app.names, label)));
  }, [app.names]);
  if (answer === null) return <Pending fault={fault} />;
  const { rows, total, name } = answer;
  const columns: TableColumn[] = [
    ...changeColumns(rows, total, unit, 'self', true),
    ...noiseColumns(rows, total, unit, 'self'),
    ...changeColumns(rows, total, unit, 'all', false).slice(0, 1),
    nameColumn('binary', 'minmax(9rem, 1fr)', (row) => name[row]!),
  ];
  return (
    <Panel controls={<ScalingNote total={total} />}>
      <Table
        id="binaries"
        label="Binaries by change"
        columns={columns}
        count={rows.count}
        isOld={isOld}
        // The name for code in no known binary is not a real name.
        target={(row) => ({ label: null, binary: known.has(name[row]!) ? name[row]! : undefined })}
      />
    </Panel>
  );
}
