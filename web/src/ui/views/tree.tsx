// The call tree: from the top down, from the leaves up, or the heaviest path.

import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { OpenRows, TreeAnswer } from '../../host/protocol.ts';
import { type TreeKind } from '../../state/state.ts';
import { useAnswer, useApp, useStore } from '../app_context.ts';
import { FunctionName, binaryColumn, functionColumns, weightColumns } from '../cells.tsx';
import { Choice, Notice, Panel, Pending } from '../panel.tsx';
import { PartControls } from '../parts.tsx';
import { useSearch } from '../search.tsx';
import { Table, type TableColumn } from '../table.tsx';
import { nameOf } from '../../state/names.ts';

const KINDS: readonly { id: TreeKind; name: string; title: string }[] = [
  { id: 'down', name: 'Top down', title: 'From the outermost functions to those they call' },
  { id: 'up', name: 'Bottom up', title: 'Inverted: from the functions where time is spent to their callers' },
  { id: 'heaviest', name: 'Heaviest stack', title: 'Always the heaviest callee' },
];

export function TreeView(): JSX.Element {
  const state = useStore();
  return state.tree === 'heaviest' ? <Heaviest /> : <Tree key={state.tree} direction={state.tree} />;
}

function Controls(props: Parameters<typeof PartControls>[0]): JSX.Element {
  const { store } = useApp();
  const state = useStore();
  return (
    <>
      <Choice label="Direction" value={state.tree} options={KINDS} onChange={(tree) => store.set({ tree })} />
      <PartControls {...props} />
    </>
  );
}

function Tree({ direction }: { direction: 'down' | 'up' }): JSX.Element {
  const app = useApp();
  const state = useStore();
  const search = useSearch();
  const [open, setOpen] = useState<OpenRows | null>(null);
  const [expand, setExpand] = useState<readonly number[] | null>(null);
  const { answer, asked, place, unit, isOld, fault } = useAnswer('view', { kind: 'tree', direction, by: state.by, part: state.part, open, expand });
  useEffect(() => {
    // What was opened at once is open like everything else from now on.
    if (expand === null || answer === null || isOld) return;
    setOpen(openRows(answer, -1));
    setExpand(null);
  }, [expand, answer, isOld]);
  const columns = useMemo((): TableColumn[] => {
    if (answer === null) return [];
    const weights = weightColumns({ sums: answer.sums, total: answer.total.weight, unit }, 'all');
    const name: TableColumn = {
      id: 'function',
      title: 'function',
      width: 'minmax(14rem, 4fr)',
      cell: (row) => <TreeName answer={answer} row={row} />,
      text: (row) => `${'  '.repeat(answer.depth[row]! - 1)}${nameOf(app.names, answer.label[row]!)}`,
    };
    const own = direction === 'up' ? weights.slice(0, 2) : weights;
    const plain = own.map((column, place) => ({ ...column, isMinor: place > 0 }));
    return [...plain, name, binaryColumn(app.names, (row) => answer.label[row]!)];
  }, [answer, unit]);
  if (answer === null || asked === null) return <Pending fault={fault} />;
  const { label, depth, flags } = answer;
  const stackOf = (row: number): number[] => {
    const path = pathTo(answer, row);
    return direction === 'down' ? path : path.reverse();
  };
  return (
    <Panel controls={<Controls by={asked.by} parts={answer.parts} part={answer.part} unit={unit} />}>
      {answer.isCut && <Notice>Only the first rows are shown: close some, or focus on a function.</Notice>}
      <Table
        id="tree"
        label={direction === 'down' ? 'Call tree, top down' : 'Call tree, bottom up'}
        columns={columns}
        count={label.length}
        isOld={isOld && expand === null}
        target={(row) => ({ label: label[row]!, stack: () => stackOf(row), tree: place.operations === state.operations ? direction : undefined })}
        isChosen={(row) => label[row] === state.chosen}
        isMatch={search.matches === null ? null : (row) => search.matches![label[row]!] === 1}
        onChoose={(row) => app.store.set({ chosen: label[row]! })}
        onOpen={(row) => app.store.set({ chosen: label[row]!, tab: 'callers' })}
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

/** The rows of a tree: what is seen of it, and what is open. */
type TreeShape = Pick<TreeAnswer, 'depth' | 'label' | 'flags'>;

export function TreeName({ answer, row }: { answer: TreeShape; row: number }): JSX.Element {
  const { names } = useApp();
  const flags = answer.flags[row]!;
  return (
    <span class="tree-name" style={{ '--depth': answer.depth[row]! - 1 }}>
      <span class={`twisty${(flags & 1) === 0 ? ' is-leaf' : ''}${(flags & 2) !== 0 ? ' is-open' : ''}`} aria-hidden="true" />
      <FunctionName names={names} label={answer.label[row]!} />
    </span>
  );
}

/** The rows that are open after one of them was opened or closed; -1 changes none. */
export function openRows({ depth, label, flags }: TreeShape, toggled: number): OpenRows {
  const open: { depth: number[]; label: number[] } = { depth: [], label: [] };
  flags.forEach((flag, row) => {
    const isOpen = (flag & 2) !== 0;
    if (isOpen === (row === toggled)) return;
    open.depth.push(depth[row]!);
    open.label.push(label[row]!);
  });
  return open;
}

/** The labels on the way to a row, from the top. */
export function pathTo({ depth, label }: TreeShape, row: number): number[] {
  const path = [label[row]!];
  for (let above = row - 1, level = depth[row]!; above >= 0 && level > 1; above -= 1) {
    if (depth[above]! >= level) continue;
    level = depth[above]!;
    path.unshift(label[above]!);
  }
  return path;
}

function Heaviest(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const { answer, asked, place, unit, isOld, fault } = useAnswer('view', { kind: 'heaviest', by: state.by, part: state.part });
  if (answer === null || asked === null) return <Pending fault={fault} />;
  const { label, sums, total } = answer;
  const labelOf = (row: number): number => label[row]!;
  const weights = weightColumns({ sums, total: total.weight, unit }, 'all');
  return (
    <Panel controls={<Controls by={asked.by} parts={answer.parts} part={answer.part} unit={unit} />}>
      <Table
        id="heaviest"
        label="Heaviest stack"
        columns={[...weights, ...functionColumns(app.names, labelOf)]}
        count={label.length}
        isOld={isOld}
        hasOneOrder
        target={(row) => ({ label: labelOf(row), stack: () => Array.from(label.subarray(0, row + 1)), tree: place.operations === state.operations ? 'down' : undefined })}
        isChosen={(row) => labelOf(row) === state.chosen}
        onChoose={(row) => app.store.set({ chosen: labelOf(row) })}
        onOpen={(row) => app.store.set({ chosen: labelOf(row), tab: 'callers' })}
      />
    </Panel>
  );
}
