// Source lines: by line and function, and by file.

import { type RowSums, countedKeys, rowOf, sumKeys } from '../keyed.ts';
import { NO_STACK, labelOrder } from '../order.ts';
import { PairTable } from '../pair_table.ts';
import type { Profile } from '../profile.ts';
import { compareTexts } from '../text.ts';
import type { View } from '../view.ts';
import { bySelf } from './functions.ts';

/** A function on one of its lines. */
export interface LineRow extends RowSums {
  readonly label: number;
  /** Null without a known source. */
  readonly path: string | null;
  /** 0 if only the file is known, or nothing. */
  readonly line: number;
}

/** A source file and its lines, with any functions on them. */
export interface SourceFile extends RowSums {
  readonly path: string;
  /** By number. */
  readonly lines: readonly (RowSums & { readonly line: number })[];
}

/** The lines of a series, by self weight, then all weight, then path and line, then function. */
export function lines(view: View, series: number): LineRow[] {
  const { profile, prepared } = view;
  const functionOf = profile.frames.function;
  const { places, keys, ofFrame } = keysOf(profile, (frame, place) => [place, functionOf[frame]!]);
  const noStack = keys.count;
  const plan = prepared.plan('lines', prepared.byFrame, noStack + 1, (frame) => (frame < 0 ? noStack : ofFrame[frame]!));
  const sums = sumKeys(view.byFrame(series), plan);
  const rows = countedKeys(sums).map((key): LineRow => {
    if (key === noStack) return { label: NO_STACK, path: null, line: 0, ...rowOf(sums, key) };
    const place = keys.first(key);
    const file = places.first(place);
    const source = { path: file < 0 ? null : profile.texts.at(file), line: file < 0 ? 0 : places.second(place) };
    return { label: keys.second(key), ...source, ...rowOf(sums, key) };
  });
  const order = labelOrder(profile);
  return rows.sort((a, b) => bySelf(a, b) || comparePlaces(a, b) || order(a.label, b.label));
}

/** The source files of a series, by self weight, then all weight, then path. */
export function sourceFiles(view: View, series: number): SourceFile[] {
  const { profile, prepared } = view;
  const { path } = profile.frames;
  const { places, ofFrame } = keysOf(profile, (_, place) => [place, 0]);
  const ofFile = (frame: number): number => (frame < 0 ? -1 : path[frame]!);
  const ofLine = (frame: number): number => (frame < 0 || path[frame]! < 0 ? -1 : ofFrame[frame]!);
  const weighed = view.byFrame(series);
  const files = sumKeys(weighed, prepared.plan('files', prepared.byFrame, profile.texts.count, ofFile));
  const linesOf = sumKeys(weighed, prepared.plan('file lines', prepared.byFrame, places.count, ofLine));
  const found = new Map<number, (RowSums & { line: number })[]>(countedKeys(files).map((file) => [file, []]));
  for (const place of countedKeys(linesOf)) {
    const line = places.second(place);
    if (line > 0) found.get(places.first(place))?.push({ line, ...rowOf(linesOf, place) });
  }
  const rows = [...found].map(([file, lines]) => ({
    path: profile.texts.at(file),
    ...rowOf(files, file),
    lines: lines.sort((a, b) => a.line - b.line),
  }));
  return rows.sort((a, b) => bySelf(a, b) || compareTexts(a.path, b.path));
}

/** The places (file and line) of frames, and keys of frames that are made of them. */
function keysOf(
  profile: Profile,
  keyOf: (frame: number, place: number) => [number, number],
): { places: PairTable; keys: PairTable; ofFrame: Int32Array } {
  const { count, path, line } = profile.frames;
  const [places, keys] = [new PairTable(), new PairTable()];
  const ofFrame = new Int32Array(count);
  for (let frame = 0; frame < count; frame += 1) {
    const place = places.add(path[frame]!, path[frame]! < 0 ? 0 : line[frame]!);
    ofFrame[frame] = keys.add(...keyOf(frame, place));
  }
  return { places, keys, ofFrame };
}

/** Rows without a place come first. */
function comparePlaces(a: LineRow, b: LineRow): number {
  if (a.path === null || b.path === null) return Number(a.path !== null) - Number(b.path !== null);
  return compareTexts(a.path, b.path) || a.line - b.line;
}
