// Goes from one row of a tree that matches a search to the next, in the order of the tree and whatever is open, without looking at more of
// the tree than lies on the way.

import type { Walk } from './trees.ts';

/** A tree that knows where the matches are. */
export interface SearchedWalk<R> extends Walk<R> {
  readonly isMatch: (row: R) => boolean;
  /** True if it or a row below it matches. */
  readonly hasMatch: (row: R) => boolean;
}

/** The rows of one level, and the one among them that the path goes through. */
interface Level<R> {
  readonly rows: readonly R[];
  readonly at: number;
}

/**
 * The labels on the path to the match that is so many steps behind the row that a path leads to, or before it where steps are negative,
 * and on from the other end. With `isHere`, the row itself counts. Null where nothing matches.
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

/** The first match behind a row: below it, or behind it or one above it. Without levels, the first of all. */
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

/** The last match before a row: below one that stands before it, or one above it. */
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

/** The way to the last match in rows or below them: what is below a row comes behind it. */
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
