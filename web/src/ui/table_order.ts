// The order of a table's rows: the default, or by a column. Columns of numbers start with the largest, columns of text with A.

import type { Exact } from '../host/protocol.ts';
import type { TableColumn } from './table.tsx';

/** The chosen column and its direction; null for the table's default order. */
export type Sort = { readonly id: string; readonly isAscending: boolean } | null;

/** A column of numbers without values to compare cannot be sorted. */
export function isSortable({ isNumber, sortBy, value }: TableColumn): boolean {
  return isNumber !== true || sortBy !== undefined || value !== undefined;
}

/** A column's order, then the reverse, then the default, which is the column's order if it has `isOrder`. */
export function nextSort(sort: Sort, column: TableColumn): Sort {
  const { id, isOrder } = column;
  const isAscending = beginsWithLeast(column);
  if (sort?.id !== id && (sort !== null || isOrder !== true)) return isOrder ? null : { id, isAscending };
  const isReversed = sort !== null && sort.isAscending !== isAscending;
  return isReversed ? null : { id, isAscending: !isAscending };
}

/** The direction in which a column is sorted, in ARIA's terms. */
export function directionOf(sort: Sort, column: TableColumn): 'ascending' | 'descending' | 'none' {
  const isSorted = sort === null ? column.isOrder === true : sort.id === column.id;
  if (!isSorted) return 'none';
  return (sort?.isAscending ?? beginsWithLeast(column)) ? 'ascending' : 'descending';
}

/** The rows in an order; null for the default. Equal rows keep their order. */
export function orderOf(sort: Sort, columns: readonly TableColumn[], count: number): Int32Array | null {
  const column = columns.find(({ id }) => id === sort?.id);
  if (sort === null || column === undefined) return null;
  const keyOf = column.sortBy ?? column.value ?? column.text;
  const keys = Array.from({ length: count }, (_, row) => keyOf(row));
  const sign = sort.isAscending ? 1 : -1;
  return Int32Array.from(keys.keys()).sort((a, b) => compareKeys(keys[a]!, keys[b]!, sign) || a - b);
}

function beginsWithLeast({ isNumber, beginsWithLeast }: TableColumn): boolean {
  return beginsWithLeast ?? isNumber !== true;
}

/** Natural sorting of names: `worker 2` before `worker 10`, the same in every browser. */
const NAMES = new Intl.Collator('en', { numeric: true });

function compareKeys(a: Exact | string, b: Exact | string, sign: 1 | -1): number {
  // Rows with an empty cell in the column come last, in both directions.
  if (isEmpty(a) || isEmpty(b)) return Number(isEmpty(a)) - Number(isEmpty(b));
  if (typeof a !== 'string' || typeof b !== 'string') return sign * (a < b ? -1 : Number(a > b));
  return sign * NAMES.compare(a, b);
}

function isEmpty(key: Exact | string): boolean {
  return key === '' || Number.isNaN(key);
}
