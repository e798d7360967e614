// Functions as canvases refer to them.

import { KINDS, type Labels } from '../canvas/index.ts';
import { NO_STACK, ROOT } from '../host/protocol.ts';
import { inert } from '../state/inert.ts';
import { NO_STACK_NAME, type Names, binaryOf, kindOf, nameOf } from '../state/names.ts';

const known = new WeakMap<Names, Labels>();

/**
 * All functions as labels, then samples without stack, then the root. Made once for a recording. Canvases do not pass through the page's
 * text filter.
 */
export function labelsFor(names: Names): Labels {
  const found = known.get(names);
  if (found !== undefined) return found;
  const ids = Array.from({ length: names.tables.functions.count }, (_, id) => id);
  const labels = {
    names: [...ids.map((id) => inert(nameOf(names, id))), NO_STACK_NAME, 'all'],
    binaries: [...ids.map((id) => inert(binaryOf(names, id) ?? '')), '', ''],
    kinds: Uint8Array.from([...ids, NO_STACK, ROOT], (label) => KINDS.indexOf(kindOf(names, label))),
  };
  known.set(names, labels);
  return labels;
}

/** The function at an index of the labels. */
export function functionAt(names: Names, place: number): number {
  const { count } = names.tables.functions;
  return place === count ? NO_STACK : place === count + 1 ? ROOT : place;
}
