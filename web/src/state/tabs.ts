// The views that a page has.

import type { Names } from './names.ts';
import { TABS, type Tab } from './state.ts';

/** The tabs, in their order; many runs are shown only on pages that compare their sums. */
export function tabsOf({ sides }: Names): readonly (typeof TABS)[number][] {
  return sides?.facts.comparison == null ? TABS.filter(({ id }) => id !== 'runs') : TABS;
}

/** The tab on which a page opens. */
export function firstTab(names: Names): Tab {
  return tabsOf(names)[0]!.id;
}
