// One table for every view: the page contains only the visible rows, so 300,000 rows cost as much as thirty. Trees are tables whose
// rows have a depth.

import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { press } from '../canvas/index.ts';
import type { Exact } from '../host/protocol.ts';
import { useApp, useStore } from './app_context.ts';
import { grouped } from './format.ts';
import type { MenuTarget } from './menu_target.ts';
import { matchOfText } from './search.tsx';
import type { Seek } from './seen.ts';
import { Head, headKeys, headingId, sortableOnScreen } from './table_head.tsx';
import { rowKeys } from './table_keys.ts';
import { type Sort, nextSort, orderOf } from './table_order.ts';
import { ROW, Rows, useSeenPart } from './table_rows.tsx';
import { jsonRows, rowText, tableText } from './table_saved.ts';

export interface TableColumn {
  readonly id: string;
  readonly title: string;
  readonly isNumber?: boolean;
  /** Left out if there is little space. */
  readonly isMinor?: boolean;
  /** A track of CSS grids. */
  readonly width: string;
  readonly cell: (row: number) => ComponentChildren;
  readonly text: (row: number) => string;
  /** The number itself, for JSON. */
  readonly value?: (row: number) => Exact;
  /** The value to compare rows by, if it is neither the number for JSON nor the text. */
  readonly sortBy?: (row: number) => Exact;
  /** The table is sorted by this column. */
  readonly isOrder?: boolean;
  /** True to sort from the smallest value. Otherwise, numbers start with the largest value, and text with A. */
  readonly beginsWithLeast?: boolean;
}

export interface TreeRows {
  readonly depth: (row: number) => number;
  readonly hasChildren: (row: number) => boolean;
  readonly isOpen: (row: number) => boolean;
  readonly toggle: (row: number) => void;
  readonly expandAll: (row: number) => void;
  /** Moves from a row to a match anywhere in the tree, or to the heaviest match. */
  readonly seek: (row: number, step: 1 | -1, toHeaviest: boolean, isTyping: boolean) => void;
  /** The position of the last match. */
  readonly found: { readonly row: number; readonly isTyping: boolean } | null;
}

export interface TableProps {
  readonly id: string;
  readonly label: string;
  readonly columns: readonly TableColumn[];
  readonly count: number;
  readonly isOld?: boolean;
  readonly target: (row: number) => MenuTarget;
  readonly isChosen?: (row: number) => boolean;
  /** Null without a search. By default, rows match whose text contains the search. */
  readonly isMatch?: ((row: number) => boolean) | null;
  /** True if a search leaves only matching rows, which then need no mark. */
  readonly isFiltered?: boolean;
  readonly onChoose?: (row: number) => void;
  readonly onOpen?: (row: number) => void;
  readonly tree?: TreeRows;
  /** The row on top when the table opens, if none is chosen. */
  readonly first?: number;
  readonly empty?: string;
  /** True if the order of the rows is their meaning, as in a stack, so they cannot be sorted. */
  readonly hasOneOrder?: boolean;
  /** Reports whether the rows are in the table's default order. */
  readonly onOrder?: (isOwn: boolean) => void;
}

export function Table(given: TableProps): JSX.Element {
  const { id, label, columns, count, tree } = given;
  const app = useApp();
  const isText = matchOfText(useStore().search);
  const words = columns.filter(({ isNumber }) => !isNumber);
  const props = { isMatch: isText === null ? null : (row: number) => words.some(({ text }) => isText(text(row))), ...given };
  const scroller = useRef<HTMLDivElement>(null);
  const seen = useSeenPart(scroller);
  const [active, setActive] = useState(0);
  const [sort, setSort] = useState<Sort>(null);
  const [heading, setHeading] = useState<string | null>(null);
  const hasOneOrder = tree !== undefined || props.hasOneOrder === true;
  const order = useMemo(() => orderOf(sort, columns, count), [sort, count, columns]);
  const at = (place: number): number => order?.[place] ?? place;
  const current = Math.min(active, count - 1);

  useEffect(() => {
    // Keys continue to work after a key changed the view.
    if (document.activeElement === null || document.activeElement === document.body) scroller.current?.focus({ preventScroll: true });
    const chosen = props.isChosen === undefined ? -1 : Array.from({ length: count }, (_, row) => row).findIndex(props.isChosen);
    const byWeight = columns.find(({ isOrder }) => isOrder)?.value;
    if (chosen < 0) return;
    setActive(chosen);
    // The neighbours of a function without self weight have none either, so the heaviest functions are shown instead.
    if (byWeight === undefined || Number(byWeight(chosen)) > 0) scroller.current!.scrollTop = Math.max(0, chosen * ROW - scroller.current!.clientHeight / 2);
  }, []);

  // The height may still change until the user scrolls.
  const isOpening = useRef(true);
  useEffect(() => {
    if (isOpening.current && props.first !== undefined && !Array.from({ length: count }, (_, row) => row).some((row) => props.isChosen?.(row))) scroller.current!.scrollTop = props.first * ROW;
  }, [seen.height]);
  const moves = (): void => void (isOpening.current = false);

  const go = (place: number): void => {
    const next = Math.max(0, Math.min(count - 1, place));
    setHeading(null);
    setActive(next);
    props.onChoose?.(at(next));
    app.aim(targetOf(at(next)));
    scrollTo(scroller.current!, next);
  };
  const sortBy = (column: TableColumn): void => {
    const next = nextSort(sort, column);
    setSort(next);
    props.onOrder?.(next === null);
    // After sorting, the user wants to see the first rows.
    setActive(0);
    scroller.current!.scrollTop = 0;
  };
  const goToHeading = (column: string | null): void => {
    setHeading(column);
    if (column !== null) document.getElementById(headingId(id, column))?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  };

  const whole = (): string => tableText(columns, count, at);
  const targetOf = (row: number): MenuTarget => ({
    ...props.target(row),
    row: () => rowText(columns, row),
    table: whole,
    ...(tree?.hasChildren(row) ? { expand: () => tree.expandAll(row) } : {}),
  });
  const highlighted = useRef<() => MenuTarget | null>(() => null);
  highlighted.current = () => (count > 0 && heading === null ? targetOf(at(current)) : null);
  useEffect(() => () => app.aimAtRow(null), []);
  const menuAt = (place: number, x?: number, y?: number): void => {
    const box = document.getElementById(`${id}-${place}`)?.getBoundingClientRect();
    app.openMenu(targetOf(at(place)), x ?? (box?.left ?? 0) + 120, y ?? (box?.bottom ?? 0));
  };

  const seek = useSeek(props, scroller, current, at, (place, isTyping) => (isTyping ? setActive(place) : go(place)));
  useEffect(() => app.seen.show(id, { name: label, tsv: whole, rows: () => jsonRows(columns, count, at), seek: (...how) => seek.current(...how) }));
  const toMatch = (step: 1 | -1): void => {
    if (!seek.current(step, false, false)) app.say(app.store.state.search !== '' ? 'No row here matches the search.' : 'Search for something first.');
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (count === 0) return;
    const row = at(current);
    const headings = hasOneOrder ? [] : sortableOnScreen(id, columns);
    const firstHeading = headings.find((column) => column.id === sort?.id || (sort === null && column.isOrder)) ?? headings[0];
    const toHeadings = firstHeading === undefined ? null : () => goToHeading(firstHeading.id);
    const rows = { tree, count, place: current, row, height: seen.height, go, toHeadings, toMatch, open: () => props.onOpen?.(row), menu: () => menuAt(current) };
    press(event, { ...rowKeys(rows, event.shiftKey), ...(heading === null ? {} : headKeys(headings, heading, goToHeading, sortBy)) });
  };

  useEffect(() => {
    scroller.current?.style.setProperty('--columns', columns.map(({ width }) => width).join(' '));
    scroller.current?.style.setProperty('--columns-narrow', columns.filter(({ isMinor }) => !isMinor).map(({ width }) => width).join(' '));
  });

  return (
    <div
      ref={scroller}
      id={id}
      class={`table${props.isOld ? ' is-old' : ''}`}
      role={tree === undefined ? 'grid' : 'treegrid'}
      aria-label={label}
      aria-rowcount={count + 1}
      aria-colcount={columns.length}
      aria-activedescendant={heading !== null ? headingId(id, heading) : count > 0 ? `${id}-${current}` : undefined}
      tabIndex={0}
      data-part="table"
      data-count={count}
      onKeyDown={onKeyDown}
      onKeyDownCapture={moves}
      onWheel={moves}
      onPointerDown={moves}
      onFocusIn={() => app.aimAtRow(() => highlighted.current())}
      onFocusOut={() => app.aimAtRow(null)}
    >
      <Head table={id} columns={columns} sort={sort} hasOneOrder={hasOneOrder} active={heading} onSort={sortBy} />
      {count === 0 && <p class="empty">{props.empty ?? 'The selection contains nothing to show here.'}</p>}
      <Rows table={props} seen={seen} at={at} current={current} isInHead={heading !== null} onGo={go} onMenu={menuAt} />
    </div>
  );
}

/** Scrolls just far enough to show a row below the headings. */
function scrollTo(element: HTMLElement, place: number): void {
  const top = place * ROW;
  if (top < element.scrollTop) element.scrollTop = top;
  else if (top + 2 * ROW > element.scrollTop + element.clientHeight) element.scrollTop = top + 2 * ROW - element.clientHeight;
}

/** Moves to the next or previous matching row, wrapping around at the ends; returns false if no row matches. */
function useSeek(props: TableProps, scroller: RefObject<HTMLDivElement | null>, current: number, at: (place: number) => number, go: (place: number, isTyping: boolean) => void): { readonly current: Seek } {
  const { count, tree } = props;
  const { seen } = useApp();
  /** Scrolls a distant row to the middle, where its neighbours are visible even if a bar appears below the table. */
  const jump = (place: number, isTyping: boolean): void => {
    const element = scroller.current!;
    const top = place * ROW - element.scrollTop;
    // If there is little space, the page also scrolls.
    if (!isTyping) element.scrollIntoView({ block: 'nearest' });
    if (top < 2 * ROW || top > element.clientHeight - 5 * ROW) element.scrollTop = Math.max(0, place * ROW - element.clientHeight / 2);
    go(place, isTyping);
  };
  const seek = useRef<Seek>(() => false);
  seek.current = (step, toHeaviest, isTyping) => {
    if (props.isMatch == null || count === 0) return false;
    const places = Array.from({ length: count }, (_, steps) => (current + step * (steps + 1) + 2 * count) % count);
    // Rows are numbered from the heaviest to the lightest, regardless of how they are sorted.
    const matches = places.filter((place) => props.isMatch!(at(place)));
    const first = matches.reduce((best, place) => (at(place) < at(best) ? place : best), matches[0]!);
    const place = tree !== undefined ? current : toHeaviest ? first : matches[0];
    if (place === undefined) return false;
    if (!isTyping) scroller.current!.focus({ preventScroll: true });
    if (tree !== undefined) tree.seek(at(place), step, toHeaviest, isTyping);
    else {
      jump(place, isTyping);
      seen.onPlace(`${grouped(matches.filter((other) => other <= place).length)} of ${grouped(matches.length)}`);
    }
    return true;
  };
  useEffect(() => {
    if (tree?.found != null) jump(tree.found.row, tree.found.isTyping);
  }, [tree?.found]);
  return seek;
}
