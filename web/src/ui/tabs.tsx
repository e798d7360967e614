// The views as tabs.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Names } from '../state/names.ts';
import { type State, TABS, type Tab } from '../state/state.ts';
import { isCompared } from './view.tsx';
import { useApp, useStore } from './app_context.ts';

export function Tabs(): JSX.Element {
  const { store, names } = useApp();
  const state = useStore();
  const { tab } = state;
  const empty = emptyTabs(names, state);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const chosen = document.getElementById(`tab-${tab}`);
    const box = list.current;
    // Only the list scrolls, not the page.
    if (chosen !== null && box !== null) box.scrollLeft = chosen.offsetLeft - (box.clientWidth - chosen.offsetWidth) / 2;
  }, [tab]);
  const go = (event: KeyboardEvent): void => {
    // Alt and an arrow are Back and Forward of many browsers.
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const at = TABS.findIndex(({ id }) => id === tab);
    const steps: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: TABS.length - 1 };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const { id } = TABS[(next + TABS.length) % TABS.length]!;
    store.set({ tab: id });
    document.getElementById(`tab-${id}`)?.focus();
  };
  return (
    <div ref={list} class="tabs" role="tablist" aria-label="Views" onKeyDown={go}>
      {TABS.map(({ id, name }) => (
        <button
          key={id}
          id={`tab-${id}`}
          type="button"
          role="tab"
          class={empty.has(id) ? 'is-empty' : ''}
          aria-selected={id === tab}
          aria-controls="view"
          tabIndex={id === tab ? 0 : -1}
          onClick={() => store.set({ tab: id satisfies Tab })}
        >
          <span class="tab-name" data-name={name}>
            {name}
          </span>
        </button>
      ))}
    </div>
  );
}

/** The views that have nothing to show, which say why. */
function emptyTabs({ tables }: Names, { series, side }: State): ReadonlySet<Tab> {
  if (side === 'compared') return new Set(TABS.map(({ id }) => id).filter((id) => !isCompared(id)));
  const empty = new Set<Tab>();
  const run = tables.runs[tables.series[series]!.run]!.number;
  const isOfRun = (row: unknown): boolean => (row as { run: number }).run === run;
  if (tables.spans[series] == null) empty.add('chart');
  if (tables.states.length === 0) empty.add('states');
  if (tables.cores.length === 0) empty.add('cores');
  if (!tables.intervals.some(isOfRun) && !tables.hangRisks.some(isOfRun)) empty.add('intervals');
  return empty;
}
