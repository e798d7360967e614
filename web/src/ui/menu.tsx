// The menu of a function, a binary or a thread: its actions, and the items that can be copied.

import type { JSX } from 'preact';
import { type Names, nameOf, threadName } from '../state/names.ts';
import { ACTIONS } from './actions.ts';
import { type App, useApp, useStore } from './app_context.ts';
import { copyText } from './copy.ts';
import { showCallers } from './functions.ts';
import { type Item, MenuBox } from './menu_box.tsx';
import type { MenuTarget } from './menu_target.ts';

export interface OpenMenu {
  readonly target: MenuTarget;
  readonly x: number;
  readonly y: number;
}

export function Menu({ menu, onClose }: { menu: OpenMenu; onClose: () => void }): JSX.Element {
  const app = useApp();
  const state = useStore();
  const groups = [doItems(app, state, menu.target), copyItems(app, menu.target)];
  return <MenuBox title={targetName(app.names, menu.target)} groups={groups} x={menu.x} y={menu.y} onClose={onClose} />;
}

export function targetName(names: Names, { label, binary, thread }: MenuTarget): string {
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
    items.unshift({ id: 'callers', key: 'Enter', name: 'Show callers and callees', run: () => showCallers(app, label) });
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

/** A stack with its leaf first, one function per line, as Firefox Profiler copies it. */
function stackText({ names }: App, stack: readonly number[]): string {
  return [...stack]
    .filter((label) => label !== -2)
    .reverse()
    .map((label) => nameOf(names, label))
    .join('\n');
}

export async function copyAndSay(app: App, what: string, text: string): Promise<void> {
  const isCopied = await copyText(text);
  app.say(isCopied ? `${what.replace('Copy', 'Copied')}.` : 'This browser does not allow the page to copy.');
}
