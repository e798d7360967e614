// Answers made of call trees: the rows of a tree that are open, and the heaviest path.

import {
  type BottomUpNode,
  BottomUpTree,
  CallTree,
  type Exact,
  type Part,
  type RowSums,
  type SeparateBy,
  type TreeNode,
  type View,
  nodesTowards,
  nodesUnder,
  parts,
  treeOfPart,
} from '../../engine/index.ts';
import { sumColumns } from '../columns.ts';
import type { FindAsk, Found, HeaviestAnswer, OpenRows, TreeAnswer, TreeAsk } from '../protocol.ts';
import { type SearchedWalk, pathToMatch } from './matches.ts';
import { totalOf } from './tables.ts';

/** Rows that one answer has at most. */
const MOST_ROWS = 50_000;
/** Rows that opening everything below one opens at most. */
const MOST_OPENED = 5_000;
/** The heaviest path is opened while its next row has at least this share of its parent. */
const HEAVY = 0.5;
const MOST_HEAVY = 24;

/** What opens a tree of anything. */
export interface TreeRow extends Pick<RowSums, 'all_weight' | 'samples' | 'self_samples'> {
  readonly label: number;
  readonly depth: number;
}

interface Row extends RowSums {
  readonly label: number;
  readonly depth: number;
}

/** A tree from either end: rows below rows. */
export interface Walk<R> {
  readonly roots: () => R[];
  readonly children: (row: R) => R[];
}

/** Open rows by label, each with the open rows below it. */
interface Opened extends Map<number, Opened> {}

const known = new WeakMap<View, Map<string, { tree: CallTree; up: BottomUpTree | null }>>();

/** The parts of a series, and the tree of the requested part: the heaviest by default. */
export function partAndTree(
  view: View,
  series: number,
  by: SeparateBy,
  wanted: number | null,
): { all: Part[]; part: Part | null; trees: { tree: CallTree; up: BottomUpTree | null } | null } {
  const all = parts(view, series, by);
  const part = (wanted === null ? undefined : all.find(({ id }) => id === wanted)) ?? all[0] ?? null;
  if (part === null) return { all, part, trees: null };
  const ofView = known.get(view) ?? new Map<string, { tree: CallTree; up: BottomUpTree | null }>();
  known.set(view, ofView);
  const key = `${series} ${by} ${part.id}`;
  const trees = ofView.get(key) ?? { tree: treeOfPart(view, series, by, part), up: null };
  ofView.set(key, trees);
  return { all, part, trees };
}

/** `matches` are the functions that `ask.find` is about. */
export function answerTree(view: View, series: number, ask: TreeAsk, matches: Uint8Array | null): TreeAnswer {
  const { all, part, trees } = partAndTree(view, series, ask.by, ask.part);
  const walk = trees === null ? nothing : ask.direction === 'down' ? downward(trees.tree) : upward(view, trees);
  const { rows, flags, isCut, found } = openRows<Row>(walk(matches), ask.direction, ask);
  return {
    kind: 'tree',
    total: totalOf(view, series),
    parts: all,
    part: part?.id ?? null,
    depth: Int32Array.from(rows, (row) => row.depth),
    label: Int32Array.from(rows, (row) => row.label),
    sums: sumColumns(rows),
    flags: Uint8Array.from(flags),
    isCut,
    found,
  };
}

/** The visible rows of a tree; by default, the heaviest path is open. */
export function openRows<R extends TreeRow>(
  walk: SearchedWalk<R>,
  direction: 'down' | 'up',
  { open, expand: expanded, find }: { readonly open: OpenRows | null; readonly expand: readonly number[] | null; readonly find: FindAsk | null },
): { rows: R[]; flags: number[]; isCut: boolean; found: Found } {
  const [rows, flags]: [R[], number[]] = [[], []];
  const roots = walk.roots();
  const opened = open === null ? heavyPath(walk, roots, direction) : openedOf(open);
  if (expanded !== null) expand(walk, roots, opened, expanded);
  const path = find === null ? null : pathToMatch(walk, find);
  if (path !== null) openTowards(opened, path);
  const isCut = collect(walk, roots, opened, rows, flags);
  return { rows, flags, isCut, found: find === null ? null : path === null ? 'none' : rowOfPath(rows, path) };
}

export function answerHeaviest(view: View, series: number, by: SeparateBy, wanted: number | null): HeaviestAnswer {
  const { all, part, trees } = partAndTree(view, series, by, wanted);
  const path = trees?.tree.heaviest() ?? [];
  return {
    kind: 'heaviest',
    total: totalOf(view, series),
    parts: all,
    part: part?.id ?? null,
    label: Int32Array.from(path, (row) => row.label),
    sums: sumColumns(path),
  };
}

type Searched = (matches: Uint8Array | null) => SearchedWalk<Row>;

const nothing: Searched = () => ({ roots: () => [], children: () => [], isMatch: () => false, hasMatch: () => false });

function downward(tree: CallTree): Searched {
  return (matches) => {
    const { forest, all } = tree.weighed;
    const towards = matches === null ? null : nodesTowards(forest, matches, (knot) => all.isCounted(knot));
    return {
      roots: () => tree.children(0),
      children: (row) => tree.children((row as TreeNode).node),
      isMatch: ({ label }) => matches?.[label] === 1,
      hasMatch: (row) => towards?.[(row as TreeNode).node] === 1,
    };
  };
}

function upward(view: View, trees: { tree: CallTree; up: BottomUpTree | null }): Searched {
  trees.up ??= new BottomUpTree(view.profile, trees.tree.weighed);
  const { up } = trees;
  return (matches) => {
    const under = matches === null ? null : nodesUnder(trees.tree.weighed.forest, matches);
    return {
      roots: () => up.children(up.root),
      children: (row) => up.children(row as BottomUpNode),
      isMatch: ({ label }) => matches?.[label] === 1,
      hasMatch: (row) => matches?.[row.label] === 1 || (under !== null && (row as BottomUpNode).nodes.some((node) => under[node] === 1)),
    };
  };
}

/** A row has others below it unless all its samples end in it. */
function hasChildren(row: TreeRow): boolean {
  return row.samples > row.self_samples;
}

function openedOf({ depth, label }: OpenRows): Opened {
  const top: Opened = new Map();
  const path: Opened[] = [top];
  depth.forEach((level, index) => {
    const below: Opened = new Map();
    path[level - 1]?.set(label[index]!, below);
    path[level] = below;
    path.length = level + 1;
  });
  return top;
}

function heavyPath<R extends TreeRow>(walk: Walk<R>, roots: R[], direction: 'down' | 'up'): Opened {
  const top: Opened = new Map();
  if (direction === 'up') return top;
  let [rows, opened, above]: [R[], Opened, Exact | null] = [roots, top, null];
  for (let level = 0; level < MOST_HEAVY; level += 1) {
    const heaviest = rows[0];
    if (heaviest === undefined || !hasChildren(heaviest)) break;
    if (above !== null && Number(heaviest.all_weight) < HEAVY * Number(above)) break;
    const below: Opened = new Map();
    opened.set(heaviest.label, below);
    [rows, opened, above] = [walk.children(heaviest), below, heaviest.all_weight];
  }
  return top;
}

/** Opens everything below the row that a path of labels leads to. */
function expand<R extends TreeRow>(walk: Walk<R>, roots: R[], opened: Opened, path: readonly number[]): void {
  let [rows, at] = [roots, opened];
  let target: R | undefined;
  for (const label of path) {
    target = rows.find((row) => row.label === label);
    if (target === undefined) return;
    rows = walk.children(target);
    const below: Opened = at.get(label) ?? new Map();
    at.set(label, below);
    at = below;
  }
  let left = MOST_OPENED;
  const open: [R[], Opened][] = [[rows, at]];
  for (let next = open.shift(); next !== undefined && left > 0; next = open.shift()) {
    for (const row of next[0]) {
      if (!hasChildren(row) || (left -= 1) < 0) continue;
      const below: Opened = new Map();
      next[1].set(row.label, below);
      open.push([walk.children(row), below]);
    }
  }
}

/** Opens all rows above the row of a path of labels. */
function openTowards(opened: Opened, path: readonly number[]): void {
  let at = opened;
  for (const label of path.slice(0, -1)) {
    const below: Opened = at.get(label) ?? new Map();
    at.set(label, below);
    at = below;
  }
}

/** The row that a path of labels leads to, unless there are too many before it. */
function rowOfPath(rows: readonly TreeRow[], path: readonly number[]): number | 'beyond' {
  let level = 0;
  for (const [row, { label, depth }] of rows.entries()) {
    if (depth !== level + 1 || label !== path[level]) continue;
    level += 1;
    if (level === path.length) return row;
  }
  return 'beyond';
}

/** The rows that are seen, in preorder. True if there would be too many. */
function collect<R extends TreeRow>(walk: Walk<R>, roots: R[], opened: Opened, found: R[], flags: number[]): boolean {
  const open: [R, Opened | undefined][] = [];
  const push = (rows: R[], below: Opened): void => {
    for (let at = rows.length - 1; at >= 0; at -= 1) open.push([rows[at]!, below.get(rows[at]!.label)]);
  };
  push(roots, opened);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.length === MOST_ROWS) return true;
    const [row, below] = next;
    found.push(row);
    flags.push(hasChildren(row) ? (below === undefined ? 1 : 3) : 0);
    if (below !== undefined && hasChildren(row)) push(walk.children(row), below);
  }
  return false;
}
