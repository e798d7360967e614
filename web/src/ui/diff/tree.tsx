// The call tree of both recordings, the largest changes first.

import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { nameOf } from '../../state/names.ts';
import { useAnswer, useApp, useStore } from '../app_context.ts';
import { binaryColumn } from '../cells.tsx';
import { Notice, Panel, Pending } from '../panel.tsx';
import { matchOf, useSearch } from '../search.tsx';
import { Table, type TableColumn } from '../table.tsx';
import { HEAVIEST, pathTo, useOpening, useTreeRows } from '../tree_rows.ts';
import { TreeName, useLevels } from '../views/tree.tsx';
import { changeColumns, noiseColumns } from './changes.tsx';
import { ScalingNote } from './overview.tsx';
import { showCallers, useScaling } from './use_changes.ts';

export function DiffTreeView(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const search = useSearch();
  const opening = useOpening();
  const normalize = useScaling();
  const { answer, place, unit, isOld, fault } = useAnswer('view', { kind: 'diff-tree', normalize, ...opening.ask });
  const tree = useTreeRows(opening, answer, isOld, { kind: 'diff-flame', normalize, widths: 'after', ...HEAVIEST });
  const { levels, button } = useLevels(answer);
  const columns = useMemo((): TableColumn[] => {
    if (answer === null) return [];
    const { rows, total } = answer;
    const weights = [...changeColumns(rows, total, unit, 'all', true), ...noiseColumns(rows, total, unit, 'all')];
    const name: TableColumn = {
      id: 'function',
      title: 'function',
      width: 'minmax(14rem, 4fr)',
      cell: (row) => <TreeName answer={answer} row={row} levels={levels} />,
      text: (row) => `${'  '.repeat(answer.depth[row]! - 1)}${nameOf(app.names, answer.label[row]!)}`,
    };
    return [...weights, name, binaryColumn(app.names, (row) => answer.label[row]!)];
  }, [answer, unit, levels]);
  if (answer === null || tree === null) return <Pending fault={fault} />;
  const { label } = answer;
  return (
    <Panel
      controls={
        <>
          <ScalingNote total={answer.total} />
          {button}
        </>
      }
    >
      {answer.isCut && <Notice>Only the first rows are shown: close some rows, or focus on a function.</Notice>}
      <Table
        id="tree"
        label="Call tree by change, top down"
        columns={columns}
        count={label.length}
        isOld={isOld && !opening.isOpening}
        target={(row) => ({ label: label[row]!, stack: () => pathTo(answer, row), tree: place.operations === state.operations ? 'down' : undefined })}
        isChosen={(row) => label[row] === state.chosen}
        isMatch={matchOf(search, (row) => label[row]!)}
        onChoose={(row) => app.store.set({ chosen: label[row]! })}
        onOpen={(row) => showCallers(app, label[row]!)}
        tree={tree}
      />
    </Panel>
  );
}
