// Functions as canvases refer to them.

import { type Labels, labelsOf } from '../canvas/index.ts';
import { NO_STACK, ROOT, type Profile } from '../engine/index.ts';
import { inert } from '../state/inert.ts';
import type { Names } from '../state/names.ts';

const known = new WeakMap<Names, Labels>();

/** The labels of a recording, made once. Canvases do not pass through the page's text filter. */
export function labelsFor(names: Names): Labels {
  const found = known.get(names);
  if (found !== undefined) return found;
  const { functions, binaries } = names.tables;
  const { names: raw, binaries: rawBinaries, kinds } = labelsOf({ functions, binaries, texts: names.texts } as unknown as Profile);
  const labels = { names: raw.map(inert), binaries: rawBinaries.map(inert), kinds };
  known.set(names, labels);
  return labels;
}

/** The function of a place among labels. */
export function functionAt(names: Names, place: number): number {
  const { count } = names.tables.functions;
  return place === count ? NO_STACK : place === count + 1 ? ROOT : place;
}
