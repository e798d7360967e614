// The visible rows of a table, and the rows next to them.

import type { JSX, RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { TableProps } from './table.tsx';
import { cellClass } from './table_head.tsx';

/** Pixels of a row, as in the style. */
export const ROW = 24;
const AROUND = 8;

/** The visible part of the rows, in pixels. */
interface SeenPart {
  readonly top: number;
  readonly height: number;
}

/** The visible part of a table, updated after every scroll and change of size. */
export function useSeenPart(scroller: RefObject<HTMLDivElement | null>): SeenPart {
  const [seen, setSeen] = useState<SeenPart>({ top: 0, height: 600 });
  useLayoutEffect(() => {
    const element = scroller.current!;
    const measure = (): void => setSeen({ top: element.scrollTop, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, []);
  return seen;
}

interface Props {
  readonly table: TableProps;
  readonly seen: SeenPart;
  /** The row at each position. */
  readonly at: (place: number) => number;
  /** The position that keys act on. */
  readonly current: number;
  /** True if a heading is active instead. */
  readonly isInHead: boolean;
  readonly onGo: (place: number) => void;
  readonly onMenu: (place: number, x: number, y: number) => void;
}

export function Rows({ table, seen, at, current, isInHead, onGo, onMenu }: Props): JSX.Element {
  const { count, tree } = table;
  const first = Math.max(0, Math.floor(seen.top / ROW) - AROUND);
  const last = Math.min(count, Math.ceil((seen.top + seen.height) / ROW) + AROUND);
  const rowAt = (place: number): JSX.Element => {
    const row = at(place);
    return (
      <div
        key={place}
        id={`${table.id}-${place}`}
        role="row"
        class={rowClass(table, row, place === current && !isInHead)}
        aria-rowindex={place + 2}
        aria-selected={place === current}
        {...(tree === undefined ? {} : { 'aria-level': tree.depth(row) })}
        {...(tree?.hasChildren(row) ? { 'aria-expanded': tree.isOpen(row) } : {})}
        onClick={(event) => {
          const isTwisty = (event.target as Element).closest('.twisty') !== null;
          if (isTwisty) tree?.toggle(row);
          onGo(place);
        }}
        onDblClick={() => (tree?.hasChildren(row) ? tree.toggle(row) : table.onOpen?.(row))}
        onContextMenu={(event) => {
          event.preventDefault();
          onGo(place);
          onMenu(place, event.clientX, event.clientY);
        }}
      >
        {table.columns.map((column) => (
          <div key={column.id} role="gridcell" class={cellClass(column)}>
            {column.cell(row)}
          </div>
        ))}
      </div>
    );
  };
  return (
    <div class="table-space" style={{ height: `${count * ROW}px` }} role="presentation">
      <div class="table-window" style={{ transform: `translateY(${first * ROW}px)` }} role="presentation">
        {Array.from({ length: Math.max(0, last - first) }, (_, index) => rowAt(first + index))}
      </div>
    </div>
  );
}

function rowClass(table: TableProps, row: number, isActive: boolean): string {
  const names = ['row'];
  if (isActive) names.push('is-active');
  if (table.isChosen?.(row)) names.push('is-chosen');
  if (table.isFiltered !== true && table.isMatch?.(row)) names.push('is-match');
  return names.join(' ');
}
