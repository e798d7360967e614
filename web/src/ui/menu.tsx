// The menu of a function, a binary or a thread: what can be done with it, and what can be copied.

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { nameOf, threadName } from '../state/names.ts';
import { ACTIONS } from './actions.ts';
import { type App, useApp, useStore } from './app_context.ts';
import { showCallers } from './diff/use_changes.ts';
import { copyText } from './copy.ts';
import type { MenuTarget } from './menu_target.ts';

export interface OpenMenu {
  readonly target: MenuTarget;
  readonly x: number;
  readonly y: number;
}

interface Item {
  readonly id: string;
  readonly name: string;
  readonly key: string | null;
  readonly tells?: string;
  readonly run: () => void;
}

export function Menu({ menu, onClose }: { menu: OpenMenu; onClose: () => void }): JSX.Element {
  const app = useApp();
  const state = useStore();
  const element = useRef<HTMLDivElement>(null);
  const groups = [doItems(app, state, menu.target), copyItems(app, menu.target)].filter((group) => group.length > 0);

  useLayoutEffect(() => {
    const box = element.current!;
    const { width, height } = box.getBoundingClientRect();
    box.style.setProperty('left', `${Math.max(4, Math.min(menu.x, innerWidth - width - 4))}px`);
    box.style.setProperty('top', `${Math.max(4, Math.min(menu.y, innerHeight - height - 4))}px`);
  }, [menu]);

  useEffect(() => {
    const before = document.activeElement;
    element.current?.querySelector('button')?.focus();
    const leave = (event: Event): void => {
      if (!element.current?.contains(event.target as Node)) onClose();
    };
    document.addEventListener('pointerdown', leave, true);
    addEventListener('blur', onClose);
    addEventListener('resize', onClose);
    return () => {
      document.removeEventListener('pointerdown', leave, true);
      removeEventListener('blur', onClose);
      removeEventListener('resize', onClose);
      if (before instanceof HTMLElement) before.focus();
    };
  }, [menu]);

  const onKeyDown = (event: KeyboardEvent): void => {
    event.stopPropagation();
    const buttons = [...element.current!.querySelectorAll('button')];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 };
    if (event.key === 'Escape' || event.key === 'Tab') onClose();
    else if (event.key in steps) buttons.at(steps[event.key]! % buttons.length)?.focus();
    else if (event.key !== 'Enter' && event.key !== ' ') {
      const item = groups.flat().find(({ key }) => key === event.key);
      if (item === undefined) return;
      item.run();
      onClose();
    } else return;
    event.preventDefault();
  };

  return (
    <div ref={element} class="menu" role="menu" aria-label={titleOf(app, menu.target)} data-part="menu" onKeyDown={onKeyDown}>
      <p class="menu-title" title={titleOf(app, menu.target)}>
        {titleOf(app, menu.target)}
      </p>
      {groups.map((group, index) => (
        <div key={index} role="group">
          {group.map((item) => (
            <button
              key={item.id}
              type="button"
              role="menuitem"
              tabIndex={-1}
              title={item.tells}
              data-action={item.id}
              onClick={() => {
                onClose();
                item.run();
              }}
            >
              <span>{item.name}</span>
              {item.key !== null && <kbd>{item.key}</kbd>}
            </button>
          ))}
        </div>
      ))}
    </div>
  );
}

function titleOf({ names }: App, { label, binary, thread }: MenuTarget): string {
  if (label !== null) return nameOf(names, label);
  if (thread !== undefined) return threadName(names, thread);
  return binary ?? 'This row';
}

function doItems(app: App, state: ReturnType<typeof useStore>, target: MenuTarget): Item[] {
  const { store, names } = app;
  const items: Item[] = ACTIONS.flatMap(({ id, key, name, tells, change }) => {
    const next = change(state, names, target);
    return next === null ? [] : [{ id, key, name, tells, run: () => store.set(next) }];
  });
  const { label, expand } = target;
  if (label !== null && label >= 0) {
    items.unshift({ id: 'callers', key: 'Enter', name: 'Show callers and callees', run: () => (state.side === 'compared' ? showCallers(app, label) : store.set({ chosen: label, tab: 'callers' })) });
  }
  if (expand !== undefined) items.push({ id: 'expand', key: '*', name: 'Expand all', run: expand });
  return items;
}

function copyItems(app: App, { label, stack, row, table }: MenuTarget): Item[] {
  const item = (id: string, name: string, key: string | null, text: (() => string) | undefined): Item[] =>
    text === undefined ? [] : [{ id, name, key, run: () => void copyAndSay(app, name, text()) }];
  const { names } = app;
  return [
    ...item('copy-name', 'Copy function name', null, label === null ? undefined : () => nameOf(names, label)),
    ...item('copy-stack', 'Copy stack', null, stack && (() => stackText(app, stack()))),
    ...item('copy-row', 'Copy row', null, row),
    ...item('copy-table', 'Copy table (TSV)', null, table),
  ];
}

/** A stack with its leaf first, a function a line, as Firefox Profiler copies it. */
export function stackText({ names }: App, stack: readonly number[]): string {
  return [...stack]
    .filter((label) => label !== -2)
    .reverse()
    .map((label) => nameOf(names, label))
    .join('\n');
}

export async function copyAndSay(app: App, what: string, text: string): Promise<void> {
  const isCopied = await copyText(text);
  app.say(isCopied ? `${what.replace('Copy', 'Copied')}.` : 'This browser does not let the page copy.');
}
