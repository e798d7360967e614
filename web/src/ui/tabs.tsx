// The views as tabs.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { TABS, type Tab } from '../state/state.ts';
import { useApp, useStore } from './app_context.ts';

export function Tabs(): JSX.Element {
  const { store } = useApp();
  const { tab } = useStore();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const chosen = document.getElementById(`tab-${tab}`);
    const box = list.current;
    // Only the list scrolls, not the page.
    if (chosen !== null && box !== null) box.scrollLeft = chosen.offsetLeft - (box.clientWidth - chosen.offsetWidth) / 2;
  }, [tab]);
  const go = (event: KeyboardEvent): void => {
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
          aria-selected={id === tab}
          aria-controls="view"
          tabIndex={id === tab ? 0 : -1}
          onClick={() => store.set({ tab: id satisfies Tab })}
        >
          {name}
        </button>
      ))}
    </div>
  );
}
