// The call tree of both recordings, largest changes first.

import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { useAnswer, useApp, useStore } from '../app_context.ts';
import { functionRows } from '../functions.ts';
import { Notice, Panel, Pending } from '../panel.tsx';
import { useSearch } from '../search.tsx';
import { Table, type TableColumn } from '../table.tsx';
import { HEAVIEST, pathTo, useOpening, useTreeRows } from '../tree_rows.ts';
import { treeColumns, useLevels } from '../views/tree.tsx';
import { changeColumns, noiseColumns } from './changes.tsx';
import { ScalingNote } from './overview.tsx';
import { useScaling } from './use_changes.ts';

export function DiffTreeView(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const search = useSearch();
  const opening = useOpening();
  const normalize = useScaling();
  const { answer, place, unit, isOld, fault } = useAnswer('view', { kind: 'diff-tree', normalize, ...opening.ask });
  const tree = useTreeRows(opening, answer, isOld, { kind: 'diff-flame', normalize, widths: 'after', ...HEAVIEST });
  const { levels, first, buttons } = useLevels(answer, (row) => Number(answer!.rows.all.before[row]) + Number(answer!.rows.all.after[row]));
  const columns = useMemo((): TableColumn[] => {
    if (answer === null) return [];
    const { rows, total } = answer;
    const weights = [...changeColumns(rows, total, unit, 'all', true), ...noiseColumns(rows, total, unit, 'all')];
    return [...weights, ...treeColumns(app.names, answer, levels)];
  }, [answer, unit, levels]);
  if (answer === null || tree === null) return <Pending fault={fault} />;
  const { label } = answer;
  return (
    <Panel
      controls={
        <>
          <ScalingNote total={answer.total} />
          {buttons}
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
        {...functionRows(app, state, search, (row) => label[row]!)}
        target={(row) => ({ label: label[row]!, stack: () => pathTo(answer, row), tree: place.operations === state.operations ? 'down' : undefined })}
        tree={tree}
        first={first}
      />
    </Panel>
  );
}
