// The call tree: from the top down, from the leaves up, or the heaviest path.

import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Part } from '../../engine/index.ts';
import type { OpenRows, TreeAnswer } from '../../host/protocol.ts';
import { type TreeKind } from '../../state/state.ts';
import { unitOf, useAnswer, useApp, useStore } from '../app_context.ts';
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

function Controls({ parts, part }: { parts: readonly Part[]; part: number | null }): JSX.Element {
  const { store } = useApp();
  const state = useStore();
  return (
    <>
      <Choice label="Direction" value={state.tree} options={KINDS} onChange={(tree) => store.set({ tree })} />
      <PartControls parts={parts} part={part} />
    </>
  );
}

function Tree({ direction }: { direction: 'down' | 'up' }): JSX.Element {
  const app = useApp();
  const state = useStore();
  const search = useSearch();
  const [open, setOpen] = useState<OpenRows | null>(null);
  const [expand, setExpand] = useState<readonly number[] | null>(null);
  const { answer, isOld, fault } = useAnswer('view', { kind: 'tree', direction, by: state.by, part: state.part, open, expand });
  useEffect(() => {
    // What was opened at once is open like everything else from now on.
    if (expand === null || answer === null || isOld) return;
    setOpen(openRows(answer, -1));
    setExpand(null);
  }, [expand, answer, isOld]);
  const columns = useMemo((): TableColumn[] => {
    if (answer === null) return [];
    const weights = weightColumns({ sums: answer.sums, total: answer.total.weight, unit: unitOf(app, state) }, 'all');
    const name: TableColumn = {
      id: 'function',
      title: 'function',
      width: 'minmax(14rem, 4fr)',
      cell: (row) => <TreeName answer={answer} row={row} />,
      text: (row) => `${'  '.repeat(answer.depth[row]! - 1)}${nameOf(app.names, answer.label[row]!)}`,
    };
    const own = direction === 'up' ? weights.slice(0, 2) : weights;
    // Trees stand in their own order.
    const plain = own.map(({ sortBy: _, ...column }) => column);
    return [...plain, name, binaryColumn(app.names, (row) => answer.label[row]!)];
  }, [answer]);
  if (answer === null) return <Pending fault={fault} />;
  const { label, depth, flags } = answer;
  const stackOf = (row: number): number[] => {
    const path = pathTo(answer, row);
    return direction === 'down' ? path : path.reverse();
  };
  return (
    <Panel controls={<Controls parts={answer.parts} part={answer.part} />}>
      {answer.isCut && <Notice>Only the first rows are shown: close some, or focus on a function.</Notice>}
      <Table
        id="tree"
        label={direction === 'down' ? 'Call tree, top down' : 'Call tree, bottom up'}
        columns={columns}
        count={label.length}
        isOld={isOld && expand === null}
        target={(row) => ({ label: label[row]!, stack: () => stackOf(row) })}
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

function TreeName({ answer, row }: { answer: TreeAnswer; row: number }): JSX.Element {
  const { names } = useApp();
  const depth = answer.depth[row]! - 1;
  const flags = answer.flags[row]!;
  // Deep rows move less, so that names stay in sight.
  const indent = depth <= 24 ? depth * 14 : 24 * 14 + (depth - 24) * 3;
  return (
    <span class="tree-name" style={{ paddingLeft: `${indent}px` }}>
      <span class={`twisty${(flags & 1) === 0 ? ' is-leaf' : ''}${(flags & 2) !== 0 ? ' is-open' : ''}`} aria-hidden="true" />
      <FunctionName names={names} label={answer.label[row]!} />
    </span>
  );
}

/** The rows that are open after one of them was opened or closed; -1 changes none. */
function openRows({ depth, label, flags }: TreeAnswer, toggled: number): OpenRows {
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
function pathTo({ depth, label }: TreeAnswer, row: number): number[] {
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
  const { answer, isOld, fault } = useAnswer('view', { kind: 'heaviest', by: state.by, part: state.part });
  if (answer === null) return <Pending fault={fault} />;
  const { label, sums, total } = answer;
  const labelOf = (row: number): number => label[row]!;
  const weights = weightColumns({ sums, total: total.weight, unit: unitOf(app, state) }, 'all');
  return (
    <Panel controls={<Controls parts={answer.parts} part={answer.part} />}>
      <Table
        id="heaviest"
        label="Heaviest stack"
        columns={[...weights, ...functionColumns(app.names, labelOf)]}
        count={label.length}
        isOld={isOld}
        target={(row) => ({ label: labelOf(row), stack: () => Array.from(label.subarray(0, row + 1)) })}
        isChosen={(row) => labelOf(row) === state.chosen}
        onChoose={(row) => app.store.set({ chosen: labelOf(row) })}
        onOpen={(row) => app.store.set({ chosen: labelOf(row), tab: 'callers' })}
      />
    </Panel>
  );
}
