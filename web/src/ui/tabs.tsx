// The views as tabs.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Tables } from '../host/protocol.ts';
import { intervalsOf } from '../state/intervals.ts';
import { type Names, runOf } from '../state/names.ts';
import type { State, Tab } from '../state/state.ts';
import { tabsOf } from '../state/tabs.ts';
import { isCompared } from './view.tsx';
import { useApp, useStore } from './app_context.ts';
import { MenuButton } from './menu_box.tsx';

export function Tabs(): JSX.Element {
  const { store, names } = useApp();
  const state = useStore();
  const { tab } = state;
  const empty = emptyTabs(names, state);
  const isListed = (id: Tab): boolean => id === tab || !empty.has(id);
  const tabs = tabsOf(names);
  const listed = tabs.filter(({ id }) => isListed(id));
  const more = tabs.filter(({ id }) => !isListed(id));
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const chosen = document.getElementById(`tab-${tab}`);
    const box = list.current;
    // Only the list scrolls, not the page.
    if (chosen !== null && box !== null) box.scrollLeft = chosen.offsetLeft - (box.clientWidth - chosen.offsetWidth) / 2;
  }, [tab]);
  const isOutOfSight = ({ id }: { id: Tab }): boolean => {
    const [tab, box] = [document.getElementById(`tab-${id}`)!, list.current!].map((element) => element.getBoundingClientRect());
    return tab!.left < box!.left - 1 || tab!.right > box!.right + 1;
  };
  const go = (event: KeyboardEvent): void => {
    // Alt and an arrow are Back and Forward of many browsers.
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const at = listed.findIndex(({ id }) => id === tab);
    const steps: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: listed.length - 1 };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const { id } = listed[(next + listed.length) % listed.length]!;
    store.set({ tab: id });
    document.getElementById(`tab-${id}`)?.focus();
  };
  return (
    <div class="tabs">
      <div ref={list} class="tab-list" role="tablist" aria-label="Views" onKeyDown={go}>
        {listed.map(({ id, name }) => (
          <button
            key={id}
            id={`tab-${id}`}
            type="button"
            role="tab"
            class={empty.has(id) ? 'is-empty' : ''}
            aria-selected={id === tab}
            aria-controls="view"
            tabIndex={id === tab ? 0 : -1}
            onClick={() => store.set({ tab: id })}
          >
            <span class="tab-name" data-name={name}>
              {name}
            </span>
          </button>
        ))}
      </div>
      {more.length > 0 && (
        <MenuButton
          part="more-tabs"
          name="More"
          title="More views"
          groups={() => [listed.filter(isOutOfSight), more].map((views) => views.map(({ id, name }) => ({ id, name, run: () => store.set({ tab: id }) })))}
        />
      )}
    </div>
  );
}

/** The views without content, which explain why. */
function emptyTabs(names: Names, { series, side }: State): ReadonlySet<Tab> {
  const { tables } = names;
  if (side === 'compared') return new Set(tabsOf(names).map(({ id }) => id).filter((id) => !isCompared(id)));
  const empty = new Set<Tab>();
  const run = runOf(tables, series);
  const isOfRun = (row: unknown): boolean => (row as { run: number }).run === run;
  if (tables.spans[series] == null) empty.add('chart');
  // A column of one value is not stored: no frame has a source file.
  if (columnsOf(tables).some(({ name, value }) => name === 'frames.path' && value === 0)) empty.add('source');
  if (tables.states.length === 0) empty.add('states');
  if (tables.cores.length === 0 || tables.form === 'sums') empty.add('cores');
  if (intervalsOf(tables, run).length === 0 && !tables.hangRisks.some(isOfRun)) empty.add('intervals');
  return empty;
}

/** The columns in the head of the payload (`docs/workbench.md`). */
function columnsOf(tables: Tables): readonly { readonly name: string; readonly value?: number }[] {
  return (tables as { columns?: ReturnType<typeof columnsOf> }).columns ?? [];
}
