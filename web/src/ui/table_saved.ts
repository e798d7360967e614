// Copies and saves a table: tab-separated text and JSON.

import { tsvCell } from './copy.ts';
import type { TableColumn } from './table.tsx';

export function rowText(columns: readonly TableColumn[], row: number): string {
  return columns.map((column) => tsvCell(column.text(row))).join('\t');
}

/** The headings, and every row in the order of the table. */
export function tableText(columns: readonly TableColumn[], count: number, at: (place: number) => number): string {
  return [columns.map(({ title }) => title).join('\t'), ...Array.from({ length: count }, (_, place) => rowText(columns, at(place)))].join('\n');
}

/** Rows as JSON: numbers as numbers, everything else as displayed. */
export function jsonRows(columns: readonly TableColumn[], count: number, at: (place: number) => number): object[] {
  return Array.from({ length: count }, (_, place) => {
    const row = at(place);
    const pairs = columns.filter(({ id }) => !id.endsWith('-share')).map(({ id, value, text }) => [id, value === undefined ? text(row) : value(row)]);
    return Object.fromEntries(pairs) as object;
  });
}
