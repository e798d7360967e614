// The owners of code: the program itself, the system, runtimes, the kernel.

import { type RowSums, countedKeys, rowOf, sumKeys } from '../keyed.ts';
import { type Category, categoriesOfFunctions } from '../profile.ts';
import type { View } from '../view.ts';

export interface CategoryRow extends RowSums {
  /** Null is samples without stack. */
  readonly category: Category | null;
}

/** The categories of a series, in their own order, and at last samples without stack. */
export function categories(view: View, series: number): CategoryRow[] {
  const { profile, prepared } = view;
  const ofFunction = categoriesOfFunctions(profile);
  const noStack = profile.categories.length;
  const keyOf = (label: number): number => (label < 0 ? noStack : ofFunction[label]!);
  const sums = sumKeys(view.byFunction(series), prepared.plan('categories', prepared.byFunction, noStack + 1, keyOf));
  return countedKeys(sums).map((key) => ({ category: profile.categories[key] ?? null, ...rowOf(sums, key) }));
}
