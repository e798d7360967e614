// Properties and actions that all tables of functions share.

import { functionOn } from '../state/sides.ts';
import type { State } from '../state/state.ts';
import type { App } from './app_context.ts';
import { type Search, matchOf } from './search.tsx';
import type { TableProps } from './table.tsx';

/** The properties of a table of functions: a click chooses a row, Enter shows its callers. */
export function functionRows(app: App, state: State, search: Search, labelOf: (row: number) => number): Pick<TableProps, 'target' | 'isChosen' | 'isMatch' | 'onChoose' | 'onOpen'> {
  return {
    target: (row) => ({ label: labelOf(row) }),
    isChosen: (row) => labelOf(row) === state.chosen,
    isMatch: matchOf(search, labelOf),
    onChoose: (row) => app.store.set({ chosen: labelOf(row) }),
    onOpen: (row) => showCallers(app, labelOf(row)),
  };
}

/** The rows whose functions match the search; all rows without a search. */
export function rowsFound(labels: Int32Array, { matches }: Search): Int32Array {
  const all = Int32Array.from(labels.keys());
  return matches === null ? all : all.filter((row) => matches[labels[row]!] === 1);
}

/** Shows the callers of a function. If both recordings are shown, switches to the second one, or to the first if only that has the function. */
export function showCallers(app: App, label: number): void {
  const { sides } = app.names;
  if (sides === undefined || app.store.state.side !== 'compared') return app.store.set({ chosen: label, tab: 'callers' });
  if (label < 0) return;
  const side = functionOn(sides, label, 'compared', 'after') === null ? 'before' : 'after';
  app.showSide(side, { tab: 'callers' }, label);
}
