// The headings of a table. Headings that sort are part of the ARIA grid: the up arrow leads to them from the first row.

import type { JSX } from 'preact';
import { type Keys, stepKeys } from '../canvas/index.ts';
import type { TableColumn } from './table.tsx';
import { type Sort, directionOf, isSortable } from './table_order.ts';

interface Props {
  readonly table: string;
  readonly columns: readonly TableColumn[];
  readonly sort: Sort;
  /** Rows with a fixed order cannot be sorted. */
  readonly hasOneOrder: boolean;
  /** The heading that keys act on. */
  readonly active: string | null;
  readonly onSort: (column: TableColumn) => void;
}

export function Head({ table, columns, sort, hasOneOrder, active, onSort }: Props): JSX.Element {
  return (
    <div class="table-head row" role="row" aria-rowindex={1}>
      {columns.map((column) => {
        const id = headingId(table, column.id);
        if (hasOneOrder || !isSortable(column)) {
          return (
            <div key={column.id} id={id} role="columnheader" class={cellClass(column)}>
              {column.title}
            </div>
          );
        }
        const direction = directionOf(sort, column);
        return (
          <div
            key={column.id}
            id={id}
            role="columnheader"
            class={`${cellClass(column)} is-sortable${active === column.id ? ' is-active' : ''}`}
            aria-sort={direction}
            title={`${column.title}. Click to sort, click again to reverse, and a third time to restore the original order`}
            onClick={() => onSort(column)}
          >
            {direction !== 'none' && <span aria-hidden="true">{direction === 'ascending' ? '▴ ' : '▾ '}</span>}
            {column.title}
          </div>
        );
      })}
    </div>
  );
}

export function headingId(table: string, column: string): string {
  return `${table}-head-${column}`;
}

/** The visible columns by which the table can be sorted: a narrow screen leaves some out. */
export function sortableOnScreen(table: string, columns: readonly TableColumn[]): TableColumn[] {
  return columns.filter((column) => {
    const element = document.getElementById(headingId(table, column.id));
    return isSortable(column) && element !== null && element.getClientRects().length > 0;
  });
}

/** The effect of keys while a heading is active; `go` activates another heading, or the rows if null. */
export function headKeys(headings: readonly TableColumn[], active: string, go: (id: string | null) => void, sort: (column: TableColumn) => void): Keys {
  const place = headings.findIndex(({ id }) => id === active);
  const to = (at: number): void => go(headings[Math.max(0, Math.min(headings.length - 1, at))]?.id ?? null);
  const sortHere = (): void => {
    if (headings[place] !== undefined) sort(headings[place]);
  };
  return {
    ...stepKeys(place, headings.length, to),
    ArrowUp: () => {},
    ArrowDown: () => go(null),
    Escape: () => go(null),
    Enter: sortHere,
    ' ': sortHere,
    ContextMenu: () => {},
  };
}

export function cellClass({ isNumber, isMinor }: TableColumn): string {
  return `cell${isNumber ? ' is-number' : ''}${isMinor ? ' is-minor' : ''}`;
}
