// Binaries over all threads. Binaries with the same UUID are one, at any load address; without a UUID, those with the same name and path.

import { type RowSums, countedKeys, rowOf, sumKeys } from '../keyed.ts';
import type { Profile } from '../profile.ts';
import { compareTexts } from '../text.ts';
import type { View } from '../view.ts';
import { bySelf } from './functions.ts';

export const NO_BINARY = '[no known binary]';
export const NO_STACK_NAME = '[no stack recorded]';

export interface BinaryRow extends RowSums {
  /** The binaries that are one; none for frames outside every known binary, and for samples without stack. */
  readonly binaries: readonly number[];
  readonly name: string;
}

/** The binaries of a series, by self weight, then all weight, then name. */
export function binaries(view: View, series: number): BinaryRow[] {
  const { profile, prepared } = view;
  const { ofBinary, groups } = identities(profile);
  const [outside, noStack] = [groups.length, groups.length + 1];
  const keyOf = (frame: number): number => {
    if (frame < 0) return noStack;
    const binary = profile.frames.binary[frame]!;
    return binary < 0 ? outside : ofBinary[binary]!;
  };
  const sums = sumKeys(view.byFrame(series), prepared.plan('binaries', prepared.byFrame, groups.length + 2, keyOf));
  const rows = countedKeys(sums).map((key) => {
    const group = groups[key] ?? [];
    const name = key === outside ? NO_BINARY : key === noStack ? NO_STACK_NAME : profile.binaries[group[0]!]!.name;
    return { binaries: group, name, ...rowOf(sums, key) };
  });
  // Sorting is stable: if names are equal, the first seen comes first.
  return rows.sort((a, b) => bySelf(a, b) || compareTexts(a.name, b.name));
}

function identities(profile: Profile): { ofBinary: number[]; groups: number[][] } {
  const known = new Map<string, number>();
  const groups: number[][] = [];
  const ofBinary = profile.binaries.map(({ uuid, name, path }, binary) => {
    const identity = uuid === null ? JSON.stringify([name, path]) : uuid;
    const key = known.get(identity) ?? groups.length;
    known.set(identity, key);
    (groups[key] ??= []).push(binary);
    return key;
  });
  return { ofBinary, groups };
}
