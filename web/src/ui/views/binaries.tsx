// Binaries by self weight.

import type { JSX } from 'preact';
import type { Kind } from '../../state/names.ts';
import { useAnswer, useApp } from '../app_context.ts';
import type { Exact } from '../../host/protocol.ts';
import { grouped } from '../format.ts';
import { KindName, weightColumns } from '../cells.tsx';
import { Panel, Pending } from '../panel.tsx';
import { Table, type TableColumn } from '../table.tsx';

export function BinariesView(): JSX.Element {
  const app = useApp();
  const { answer, unit, isOld, fault } = useAnswer('view', { kind: 'binaries' });
  if (answer === null) return <Pending fault={fault} />;
  const { binaries } = app.names.tables;
  const binaryOf = (row: number): (typeof binaries)[number] | undefined => binaries[answer.binary[row]!];
  const kindOf = (row: number): Kind => {
    const binary = binaryOf(row);
    if (binary === undefined) return 'unknown';
    return binary.is_own || binary.category === 'user' ? 'own' : binary.category;
  };
  const columns: TableColumn[] = [
    ...weightColumns({ sums: answer.sums, total: answer.total.weight, unit }, 'self'),
    {
      id: 'binary',
      title: 'binary',
      width: 'minmax(9rem, 1fr)',
      cell: (row) => <KindName kind={kindOf(row)} name={answer.name[row]!} />,
      text: (row) => answer.name[row]!,
    },
    text('category', '6rem', (row) => binaryOf(row)?.category ?? ''),
    text('path', 'minmax(8rem, 2fr)', (row) => binaryOf(row)?.path ?? ''),
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

/** A column of counts. */
export function countColumn(id: string, of: (row: number) => Exact): TableColumn {
  return { ...text(id, '6rem', (row) => grouped(of(row))), isNumber: true, value: of };
}

export function text(id: string, width: string, of: (row: number) => string, title = id): TableColumn {
  const cell = (row: number): JSX.Element => (
    <span class="dim" title={of(row)}>
      {of(row)}
    </span>
  );
  return { id, title, width, isMinor: true, cell, text: of };
}
