// The call tree: from the top down, from the leaves up, or the heaviest path.

import type { ComponentChildren, JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type TreeKind } from '../../state/state.ts';
import { useAnswer, useApp, useStore } from '../app_context.ts';
import { FunctionName, binaryColumn, functionColumns, nameColumn, weightColumns } from '../cells.tsx';
import { functionRows } from '../functions.ts';
import { Choice, Notice, Panel, Pending } from '../panel.tsx';
import { PartControls } from '../parts.tsx';
import { remember, remembered } from '../remembered.ts';
import { useSearch } from '../search.tsx';
import { Table, type TableColumn } from '../table.tsx';
import { HEAVIEST, type TreeShape, chainLevels, firstFork, pathTo, useOpening, useTreeRows } from '../tree_rows.ts';
import { type Names, nameOf } from '../../state/names.ts';

const KINDS: readonly { id: TreeKind; name: string; title: string }[] = [
  { id: 'down', name: 'Top down', title: 'From the outermost functions to the functions they call' },
  { id: 'up', name: 'Bottom up', title: 'Inverted: from the functions in which time is spent to their callers' },
  { id: 'heaviest', name: 'Heaviest stack', title: 'Always the heaviest callee' },
];

export function TreeView(): JSX.Element {
  const state = useStore();
  return state.tree === 'heaviest' ? <Heaviest /> : <Tree key={state.tree} direction={state.tree} />;
}

function Controls({ children, ...props }: Parameters<typeof PartControls>[0] & { children?: ComponentChildren }): JSX.Element {
  const { store } = useApp();
  const state = useStore();
  return (
    <>
      <Choice label="Direction" value={state.tree} options={KINDS} onChange={(tree) => store.set({ tree })} />
      <PartControls {...props} />
      {children}
    </>
  );
}

function Tree({ direction }: { direction: 'down' | 'up' }): JSX.Element {
  const app = useApp();
  const state = useStore();
  const search = useSearch();
  const opening = useOpening();
  const { answer, asked, place, unit, isOld, fault } = useAnswer('view', { kind: 'tree', direction, by: state.by, part: state.part, ...opening.ask });
  const tree = useTreeRows(opening, answer, isOld, { kind: 'flame', direction, by: state.by, part: state.part, ...HEAVIEST });
  const { levels, first, buttons } = useLevels(answer, (row) => Number(answer!.sums.all[row]));
  const columns = useMemo((): TableColumn[] => {
    if (answer === null) return [];
    const weights = weightColumns({ sums: answer.sums, total: answer.total.weight, unit }, 'all');
    const own = direction === 'up' ? weights.slice(0, 2) : weights;
    const plain = own.map((column, place) => ({ ...column, isMinor: place > 0 }));
    return [...plain, ...treeColumns(app.names, answer, levels)];
  }, [answer, unit, levels]);
  if (answer === null || asked === null || tree === null) return <Pending fault={fault} />;
  const { label } = answer;
  const stackOf = (row: number): number[] => {
    const path = pathTo(answer, row);
    return direction === 'down' ? path : path.reverse();
  };
  return (
    <Panel controls={<Controls by={asked.by} parts={answer.parts} part={answer.part} unit={unit}>{buttons}</Controls>}>
      {answer.isCut && <Notice>Only the first rows are shown: close some rows, or focus on a function.</Notice>}
      <Table
        id="tree"
        label={direction === 'down' ? 'Call tree, top down' : 'Call tree, bottom up'}
        columns={columns}
        count={label.length}
        isOld={isOld && !opening.isOpening}
        {...functionRows(app, state, search, (row) => label[row]!)}
        target={(row) => ({ label: label[row]!, stack: () => stackOf(row), tree: place.operations === state.operations ? direction : undefined })}
        tree={tree}
        first={first}
      />
    </Panel>
  );
}

/** The level of each row, the row on top when the tree opens, and the buttons that indent every call and go to the outermost caller. */
export function useLevels(answer: TreeShape | null, weightOf: (row: number) => number): { levels: ArrayLike<number>; first: number; buttons: JSX.Element } {
  const [isCompact, setCompact] = useState(remembered('tree-levels') !== 'every');
  const levels = useMemo(() => (answer === null ? [] : isCompact ? chainLevels(answer) : answer.depth.map((depth) => depth - 1)), [answer, isCompact]);
  const toggle = (): void => {
    remember('tree-levels', isCompact ? 'every' : null);
    setCompact(!isCompact);
  };
  const first = answer === null ? 0 : firstFork(answer, weightOf);
  const toTop = (): void => document.getElementById('tree')?.scrollTo(0, 0);
  const buttons = (
    <>
      <button type="button" title="Calls without siblings take one level of indentation together" aria-pressed={isCompact} onClick={toggle} data-part="compact-chains">
        Compact chains
      </button>
      {first > 0 && <button type="button" title="The tree opens where it branches: go to its outermost caller" onClick={toTop} data-part="levels-above">{`↑ ${first} callers above`}</button>}
    </>
  );
  return { levels, first, buttons };
}

/** The columns of a function in a tree and its binary. */
export function treeColumns(names: Names, answer: TreeShape, levels: ArrayLike<number>): TableColumn[] {
  const labelOf = (row: number): number => answer.label[row]!;
  const name = nameColumn('function', 'minmax(14rem, 4fr)', (row) => `${'  '.repeat(answer.depth[row]! - 1)}${nameOf(names, labelOf(row))}`);
  return [{ ...name, cell: (row) => <TreeName answer={answer} row={row} levels={levels} /> }, binaryColumn(names, labelOf)];
}

/** A row that continues a chain has a line to its caller in place of a triangle, unless it is closed. */
function TreeName({ answer, row, levels }: { answer: TreeShape; row: number; levels: ArrayLike<number> }): JSX.Element {
  const { names } = useApp();
  const { depth, flags, label } = answer;
  const [hasChildren, isOpen] = [(flags[row]! & 1) !== 0, (flags[row]! & 2) !== 0];
  const isChain = row > 0 && depth[row]! > depth[row - 1]! && levels[row] === levels[row - 1];
  const isTwisty = hasChildren && !(isChain && isOpen);
  return (
    <span class="tree-name" style={{ '--depth': levels[row]! }}>
      <span class={`node${isChain ? ' is-chain' : ''}${isTwisty ? ' twisty' : ''}${isOpen ? ' is-open' : ''}`} aria-hidden="true" />
      <FunctionName names={names} label={label[row]!} />
    </span>
  );
}

function Heaviest(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const search = useSearch();
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
        {...functionRows(app, state, search, labelOf)}
        target={(row) => ({ label: labelOf(row), stack: () => Array.from(label.subarray(0, row + 1)), tree: place.operations === state.operations ? 'down' : undefined })}
      />
    </Panel>
  );
}
