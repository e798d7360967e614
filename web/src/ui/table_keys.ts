// The keys of a table's rows; the keys of its headings are next to the headings.

import type { Keys } from '../canvas/index.ts';
import type { TreeRows } from './table.tsx';
import { ROW } from './table_rows.tsx';

interface Rows {
  readonly tree: TreeRows | undefined;
  readonly count: number;
  /** The position of the highlighted row, and its index. */
  readonly place: number;
  readonly row: number;
  /** The visible height of the table in pixels. */
  readonly height: number;
  readonly go: (place: number) => void;
  /** Up from the first row; null if no heading can be reached. */
  readonly toHeadings: (() => void) | null;
  readonly toMatch: (step: 1 | -1) => void;
  readonly open: () => void;
  readonly menu: () => void;
}

/** The effect of each key on the highlighted row. */
export function rowKeys(rows: Rows, isShift: boolean): Keys {
  const { tree, count, place, go } = rows;
  const page = Math.max(1, Math.floor(rows.height / ROW) - 2);
  return {
    ArrowDown: () => go(place + 1),
    ArrowUp: () => (place === 0 && rows.toHeadings !== null ? rows.toHeadings() : go(place - 1)),
    PageDown: () => go(place + page),
    PageUp: () => go(place - page),
    Home: () => go(0),
    End: () => go(count - 1),
    Enter: rows.open,
    n: () => rows.toMatch(1),
    N: () => rows.toMatch(-1),
    ContextMenu: rows.menu,
    ...(isShift ? { F10: rows.menu } : {}),
    ...(tree === undefined ? {} : treeKeys(tree, rows.row, place, go)),
  };
}

function treeKeys(tree: TreeRows, row: number, place: number, go: (place: number) => void): Keys {
  return {
    ArrowRight: () => {
      if (tree.hasChildren(row) && !tree.isOpen(row)) tree.toggle(row);
      else if (tree.hasChildren(row)) go(place + 1);
    },
    ArrowLeft: () => {
      if (tree.hasChildren(row) && tree.isOpen(row)) {
        tree.toggle(row);
        return;
      }
      for (let above = place - 1; above >= 0; above -= 1) {
        if (tree.depth(above) < tree.depth(row)) {
          go(above);
          return;
        }
      }
    },
    '*': () => tree.expandAll(row),
  };
}
