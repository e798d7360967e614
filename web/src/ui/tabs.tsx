// The views as tabs.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { press, stepKeys } from '../canvas/index.ts';
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
  const [isAlone, setAlone] = useState(false);
  useEffect(() => {
    document.documentElement.dataset['window'] = isAlone ? 'view' : 'page';
  }, [isAlone]);
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
  const go = (place: number): void => {
    const { id } = listed.at(place % listed.length)!;
    store.set({ tab: id });
    document.getElementById(`tab-${id}`)?.focus();
  };
  return (
    <div class="tabs">
      <div ref={list} class="tab-list" role="tablist" aria-label="Views" onKeyDown={(event) => press(event, stepKeys(listed.findIndex(({ id }) => id === tab), listed.length, go))}>
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
      <span class="fill" />
      <button type="button" aria-label="Full window" title="Full window: hide everything above the tabs" aria-pressed={isAlone} onClick={() => setAlone(!isAlone)} data-part="full-window">
        {isAlone ? '⤡' : '⤢'}
      </button>
    </div>
  );
}

/** The views without content, which explain why. */
function emptyTabs(names: Names, { series, side }: State): ReadonlySet<Tab> {
  const { tables } = names;
  if (side === 'compared') return new Set(tabsOf(names).map(({ id }) => id).filter((id) => !isCompared(id)));
  const empty = new Set<Tab>();
  const run = runOf(tables, series);
  if (tables.spans[series] == null) empty.add('chart');
  // If all values of a column are equal, only this value is stored: 0 means that no frame has a source file.
  if (tables.columns?.some(({ name, value }) => name === 'frames.path' && value === 0)) empty.add('source');
  if (tables.states.length === 0) empty.add('states');
  if (tables.cores.length === 0 || tables.form === 'sums') empty.add('cores');
  if (intervalsOf(tables, run).length === 0 && !tables.hangRisks.some((risk) => risk.run === run)) empty.add('intervals');
  return empty;
}
