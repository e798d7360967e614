// Tables that are sorted by their headings and filtered. Unlike tables of recordings, they contain all rows when they are printed.

import type { ComponentChildren, JSX } from 'preact';
import { createContext, isValidElement } from 'preact';
import { useContext, useState } from 'preact/hooks';
import { type Sort, directionOf, nextSort, orderOf } from '../ui/table_order.ts';
import type { TableColumn } from '../ui/table.tsx';
import { count, many } from './measure.ts';
import { usePage } from './page_context.ts';

export interface Column {
  readonly title: string;
  readonly isNumber?: boolean;
  /** An explanation, if the title is not enough. */
  readonly hint?: string;
  /** Rows are sorted by this column. */
  readonly isOrder?: boolean;
}

export interface Cell {
  readonly content: ComponentChildren;
  /** The exact number, or NaN for a cell without a number. */
  readonly value?: number;
  readonly text?: string;
  readonly class?: string | undefined;
  readonly title?: string | undefined;
}

/** The cells of a row; its name comes first. */
export type Row = readonly Cell[];

export interface TableProps {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

export const text = (text: string, content: ComponentChildren = text): Cell => ({ content, text });
export const number = (value: number, content: ComponentChildren): Cell => ({ content, value });
export const nothing: Cell = { content: 'n/a', value: NaN, class: 'none' };

/** The maximum number of displayed rows: more take seconds to lay out. */
const MOST_ROWS = 200;
/** A filter opens parts with at most this many matching rows. */
const MOST_FOUND = 400;
/** The number of letters that fit on a line of paper, in a name, and between two columns. */
const [PAPER, NAME, GAP] = [130, 24, 2];

/** The text that rows contain, in lower case. `opens` is true if parts with such rows are opened. */
interface Filter { readonly wanted: string; readonly opens: boolean }

const FilterContext = createContext<Filter>({ wanted: '', opens: false });

/** A row as text, for filters. */
export function textOf(row: Row): string {
  return row.map(({ text = '' }) => text.toLowerCase()).join('\n');
}

export function Table({ label, columns, rows }: TableProps): JSX.Element {
  const [sort, setSort] = useState<Sort>(null);
  const [hasAll, setAll] = useState(false);
  const { isPrinted } = usePage();
  const { wanted } = useContext(FilterContext);
  const ordered = columns.map((column, at) => orderedColumn(column, at, rows));
  const order = [...(orderOf(sort, ordered, rows.length) ?? rows.keys())].filter((at) => wanted === '' || textOf(rows[at]!).includes(wanted));
  const shown = hasAll || isPrinted ? order : order.slice(0, MOST_ROWS);
  const parts = isPrinted ? partsOf(columns, rows) : [[...columns.keys()]];
  return (
    <>
      <div class="scroll" role="region" tabIndex={0} aria-label={label}>
        {parts.map((part, number) => (
          <table key={number}>
            {number === 0 && <caption class="only-read">{label}</caption>}
            <thead>
              <tr>
                {part.map((at) => (
                  <th key={at} scope="col" class={columns[at]!.isNumber ? 'number' : undefined} aria-sort={directionOf(sort, ordered[at]!)}>
                    <button type="button" title={columns[at]!.hint} onClick={() => setSort(nextSort(sort, ordered[at]!))}>{columns[at]!.title}</button>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map((at) => <tr key={at}>{part.map((column) => <CellElement key={column} cell={rows[at]![column]!} isName={column === 0} />)}</tr>)}
            </tbody>
          </table>
        ))}
      </div>
      {shown.length < order.length && <button type="button" onClick={() => setAll(true)}>Show all {many(order.length, 'row')}</button>}
    </>
  );
}

/** The columns of a table in parts that fit on paper, each with the first column. */
function partsOf(columns: readonly Column[], rows: readonly Row[]): number[][] {
  const parts = [[0]];
  let used = NAME;
  for (const [at, { title, isNumber }] of [...columns.entries()].slice(1)) {
    const widest = Math.max(...title.split(/[ /]/).map((word) => word.length), ...rows.map((row) => lettersOf(row[at]!.content)));
    const width = GAP + (isNumber ? widest : Math.min(NAME, widest));
    if (used + width > PAPER && parts.at(-1)!.length > 1) {
      parts.push([0]);
      used = NAME;
    }
    parts.at(-1)!.push(at);
    used += width;
  }
  return parts;
}

/** The letters of the longest line of a cell. Intervals are smaller, and in a separate line. */
function lettersOf(content: ComponentChildren): number {
  if (Array.isArray(content)) return Math.max(0, ...content.map(lettersOf));
  if (!isValidElement(content)) return String(content ?? '').length;
  return lettersOf((content.props as { children?: ComponentChildren }).children) * (content.type === 'small' ? 0.8 : 1);
}

function CellElement({ cell: { content, value, text, class: style, title }, isName }: { cell: Cell; isName: boolean }): JSX.Element {
  if (isName) return <th scope="row">{content}</th>;
  const isKnown = value !== undefined && !Number.isNaN(value);
  return <td class={text === undefined ? style : 'text'} title={title} data-value={isKnown ? value : undefined}>{content}</td>;
}

function orderedColumn({ title, isNumber = false, isOrder = false }: Column, at: number, rows: readonly Row[]): TableColumn {
  const value = isNumber ? { value: (row: number) => rows[row]![at]!.value ?? NaN } : {};
  return { id: String(at), title, isNumber, isOrder, width: '', cell: () => null, text: (row) => rows[row]![at]!.text ?? '', ...value };
}

/** A table below its button. */
export function FoldedTable(props: TableProps): JSX.Element {
  return <Folded class="rows" summary={`Table with ${many(props.rows.length, 'row')}`} texts={props.rows.map(textOf)}><Table {...props} /></Folded>;
}

/** A part that is made when it is opened, by a person, by a filter that finds one of its rows, or for printing. `texts`: its rows as text. */
export function Folded(props: { class?: string; summary: ComponentChildren; texts?: readonly string[]; isOpen?: boolean; children: ComponentChildren }): JSX.Element {
  const [isOpen, setOpen] = useState(props.isOpen === true);
  const { isPrinted } = usePage();
  const { wanted, opens } = useContext(FilterContext);
  const found = wanted === '' ? 0 : (props.texts ?? []).filter((text) => text.includes(wanted)).length;
  const isShown = isOpen || (opens && found > 0) || isPrinted;
  return (
    <details class={props.class} open={isShown} onToggle={({ currentTarget }) => currentTarget.open !== isShown && setOpen(currentTarget.open)}>
      <summary>{props.summary}{found > 0 && <small> {count(found)} found</small>}</summary>
      {isShown && props.children}
    </details>
  );
}

/** A box that filters the rows of the tables below it. `texts`: all rows as text; `hidden`: the number of rows that are not on the page. */
export function Filtered({ what, texts, hidden, children }: { what: string; texts: readonly string[]; hidden: number; children: ComponentChildren }): JSX.Element {
  const [typed, setTyped] = useState('');
  const wanted = typed.trim().toLowerCase();
  const found = wanted === '' ? 0 : texts.filter((text) => text.includes(wanted)).length;
  const others = hidden > 0 ? `; ${many(hidden, 'other row')} not on this page ${hidden === 1 ? 'was' : 'were'} not searched` : '';
  return (
    <>
      <p class="filter">
        <label>
          Filter {what}{' '}
          <input type="search" autocomplete="off" spellcheck={false} value={typed} onInput={({ currentTarget }) => setTyped(currentTarget.value)} />
        </label>{' '}
        <output>{wanted === '' ? '' : `${count(found)} of ${many(texts.length, 'row')}${others}`}</output>
      </p>
      <FilterContext.Provider value={{ wanted, opens: found <= MOST_FOUND }}>{children}</FilterContext.Provider>
    </>
  );
}

/** A note on what is not shown. */
export function Hidden({ count, children }: { count: number; children: (count: number) => string }): JSX.Element | null {
  return count > 0 ? <p class="hidden">{children(count)}</p> : null;
}
