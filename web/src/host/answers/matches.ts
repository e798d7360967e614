// Goes from one matching row of a tree to the next, in the order of the tree regardless of which rows are open, without looking at other
// parts of the tree.

import type { Walk } from './trees.ts';

/** A tree with the places of matches. */
export interface SearchedWalk<R> extends Walk<R> {
  readonly isMatch: (row: R) => boolean;
  /** True if it or a row below it matches. */
  readonly hasMatch: (row: R) => boolean;
}

/** The rows of one level, and the row that the path goes through. */
interface Level<R> {
  readonly rows: readonly R[];
  readonly at: number;
}

/**
 * The labels on the path to the match `steps` matches after the row of a path, or before it if negative, wrapping around at the ends. With
 * `isHere`, the row itself is included. Null if nothing matches.
 */
export function pathToMatch<R extends { readonly label: number }>(
  walk: SearchedWalk<R>,
  { path, steps, isHere }: { readonly path: readonly number[]; readonly steps: number; readonly isHere: boolean },
): number[] | null {
  let levels = levelsOf(walk, path);
  let left = Math.abs(steps);
  const here = levels.at(-1);
  if (isHere && left > 0 && here !== undefined && walk.isMatch(here.rows[here.at]!)) left -= 1;
  for (; left > 0; left -= 1) {
    const found = steps > 0 ? (next(walk, levels) ?? next(walk, [])) : (previous(walk, levels) ?? lastOf(walk, walk.roots()));
    if (found === null) return null;
    levels = found;
  }
  return levels.map(({ rows, at }) => rows[at]!.label);
}

/** The levels of a path, as far as the tree has it. */
function levelsOf<R extends { readonly label: number }>(walk: SearchedWalk<R>, path: readonly number[]): Level<R>[] {
  const levels: Level<R>[] = [];
  let rows = walk.roots();
  for (const label of path) {
    const at = rows.findIndex((row) => row.label === label);
    if (at < 0) break;
    levels.push({ rows, at });
    rows = walk.children(rows[at]!);
  }
  return levels;
}

/** The first match after a row: below it, or after it or one of its ancestors. Without levels, the first of all. */
function next<R>(walk: SearchedWalk<R>, levels: readonly Level<R>[]): Level<R>[] | null {
  const here = levels.at(-1);
  const below = firstOf(walk, here === undefined ? walk.roots() : walk.children(here.rows[here.at]!), 0);
  if (below !== null) return [...levels, ...below];
  for (let depth = levels.length - 1; depth >= 0; depth -= 1) {
    const behind = firstOf(walk, levels[depth]!.rows, levels[depth]!.at + 1);
    if (behind !== null) return [...levels.slice(0, depth), ...behind];
  }
  return null;
}

/** The last match before a row: below an earlier row, or one of its ancestors. */
function previous<R>(walk: SearchedWalk<R>, levels: readonly Level<R>[]): Level<R>[] | null {
  for (let depth = levels.length - 1; depth >= 0; depth -= 1) {
    const { rows, at } = levels[depth]!;
    const before = lastOf(walk, rows.slice(0, at));
    if (before !== null) return [...levels.slice(0, depth), ...before];
    const above = levels[depth - 1];
    if (above !== undefined && walk.isMatch(above.rows[above.at]!)) return levels.slice(0, depth);
  }
  return null;
}

/** The way to the first match in rows, from one on, or below them. */
function firstOf<R>(walk: SearchedWalk<R>, among: readonly R[], from: number): Level<R>[] | null {
  const levels: Level<R>[] = [];
  let rows = among;
  let at = rows.findIndex((row, place) => place >= from && walk.hasMatch(row));
  while (at >= 0) {
    levels.push({ rows, at });
    if (walk.isMatch(rows[at]!)) break;
    rows = walk.children(rows[at]!);
    at = rows.findIndex((row) => walk.hasMatch(row));
  }
  return levels.length === 0 ? null : levels;
}

/** The way to the last match in rows or below them: rows precede the rows below them. */
function lastOf<R>(walk: SearchedWalk<R>, among: readonly R[]): Level<R>[] | null {
  const levels: Level<R>[] = [];
  let rows = among;
  let at = lastPlace(walk, rows);
  while (at >= 0) {
    levels.push({ rows, at });
    rows = walk.children(rows[at]!);
    at = lastPlace(walk, rows);
  }
  return levels.length === 0 ? null : levels;
}

function lastPlace<R>(walk: SearchedWalk<R>, rows: readonly R[]): number {
  let at = rows.length - 1;
  while (at >= 0 && !walk.hasMatch(rows[at]!)) at -= 1;
  return at;
}
