// The call tree of both recordings, the largest changes first.

import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { OpenRows } from '../../host/protocol.ts';
import { nameOf } from '../../state/names.ts';
import { useAnswer, useApp, useStore } from '../app_context.ts';
import { binaryColumn } from '../cells.tsx';
import { Notice, Panel, Pending } from '../panel.tsx';
import { useSearch } from '../search.tsx';
import { Table, type TableColumn } from '../table.tsx';
import { TreeName, openRows, pathTo } from '../views/tree.tsx';
import { changeColumns, noiseColumns } from './changes.tsx';
import { ScalingNote } from './overview.tsx';
import { showCallers, useScaling } from './use_changes.ts';

export function DiffTreeView(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const search = useSearch();
  const [open, setOpen] = useState<OpenRows | null>(null);
  const [expand, setExpand] = useState<readonly number[] | null>(null);
  const { answer, place, unit, isOld, fault } = useAnswer('view', { kind: 'diff-tree', normalize: useScaling(), open, expand });
  useEffect(() => {
    if (expand === null || answer === null || isOld) return;
    setOpen(openRows(answer, -1));
    setExpand(null);
  }, [expand, answer, isOld]);
  const columns = useMemo((): TableColumn[] => {
    if (answer === null) return [];
    const { rows, total } = answer;
    const weights = [...changeColumns(rows, total, unit, 'all', true), ...noiseColumns(rows, total, unit, 'all')];
    const name: TableColumn = {
      id: 'function',
      title: 'function',
      width: 'minmax(14rem, 4fr)',
      cell: (row) => <TreeName answer={answer} row={row} />,
      text: (row) => `${'  '.repeat(answer.depth[row]! - 1)}${nameOf(app.names, answer.label[row]!)}`,
    };
    // Trees stand in their own order.
    const plain = weights.map(({ sortBy: _, ...column }) => column);
    return [...plain, name, binaryColumn(app.names, (row) => answer.label[row]!)];
  }, [answer, unit]);
  if (answer === null) return <Pending fault={fault} />;
  const { label, depth, flags } = answer;
  return (
    <Panel controls={<ScalingNote total={answer.total} />}>
      {answer.isCut && <Notice>Only the first rows are shown: close some, or focus on a function.</Notice>}
      <Table
        id="tree"
        label="Call tree by change, top down"
        columns={columns}
        count={label.length}
        isOld={isOld && expand === null}
        target={(row) => ({ label: label[row]!, stack: () => pathTo(answer, row), tree: place.operations === state.operations ? 'down' : undefined })}
        isChosen={(row) => label[row] === state.chosen}
        isMatch={search.matches === null ? null : (row) => search.matches![label[row]!] === 1}
        onChoose={(row) => app.store.set({ chosen: label[row]! })}
        onOpen={(row) => showCallers(app, label[row]!)}
        tree={{
          depth: (row) => depth[row]!,
          hasChildren: (row) => (flags[row]! & 1) !== 0,
          isOpen: (row) => (flags[row]! & 2) !== 0,
          toggle: (row) => setOpen(openRows(answer, row)),
          expandAll: (row) => {
            setOpen(openRows(answer, -1));
            setExpand(pathTo(answer, row));
          },
        }}
      />
    </Panel>
  );
}
