// Binaries by self weight.

import type { JSX } from 'preact';
import { kindOfBinary } from '../../state/names.ts';
import { useAnswer, useApp } from '../app_context.ts';
import { nameColumn, textColumn, weightColumns } from '../cells.tsx';
import { Panel, Pending } from '../panel.tsx';
import { Table, type TableColumn } from '../table.tsx';

export function BinariesView(): JSX.Element {
  const app = useApp();
  const { answer, unit, isOld, fault } = useAnswer('view', { kind: 'binaries' });
  if (answer === null) return <Pending fault={fault} />;
  const { binaries } = app.names.tables;
  const binaryOf = (row: number): (typeof binaries)[number] | undefined => binaries[answer.binary[row]!];
  const columns: TableColumn[] = [
    ...weightColumns({ sums: answer.sums, total: answer.total.weight, unit }, 'self'),
    nameColumn('binary', 'minmax(9rem, 1fr)', (row) => answer.name[row]!, (row) => kindOfBinary(binaryOf(row))),
    textColumn('category', '6rem', (row) => binaryOf(row)?.category ?? ''),
    textColumn('path', 'minmax(8rem, 2fr)', (row) => binaryOf(row)?.path ?? ''),
  ];
  return (
    <Panel>
      <Table
        id="binaries"
        label="Binaries"
        columns={columns}
        count={answer.name.length}
        isOld={isOld}
        target={(row) => ({ label: null, binary: binaryOf(row)?.name })}
      />
    </Panel>
  );
}
