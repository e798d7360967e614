// Keys of the complete page. Keys of Firefox Profiler have the same meaning.

import type { Keys } from '../canvas/index.ts';
import { ACTIONS, type Action, GENERAL, LOOKS } from './actions.ts';
import type { App } from './app_context.ts';
import { nameOf } from '../state/names.ts';
import { tabsOf } from '../state/tabs.ts';
import { copyAndSay, targetName } from './menu.tsx';
import { remembered } from './remembered.ts';

interface KeyRow {
  readonly keys: string;
  readonly tells: string;
}

/** The list that `?` shows. */
export const KEY_GROUPS: readonly { title: string; rows: readonly KeyRow[] }[] = [
  {
    title: 'The highlighted row or box, and its place in a tree',
    rows: [
      { keys: 'Enter', tells: 'Show callers and callees' },
      ...ACTIONS.filter(({ key }) => key !== null).map(({ key, name, tells }) => ({ keys: key!, tells: `${name}. ${tells}.` })),
      { keys: 'Ctrl C', tells: 'Copy the function’s name' },
    ],
  },
  {
    title: 'Everything',
    rows: [
      ...[...GENERAL, ...LOOKS].map(({ key, name, tells }) => ({ keys: key!, tells: `${name}. ${tells}.` })),
      { keys: 'Ctrl Z, Ctrl Shift Z', tells: 'Undo, redo' },
      { keys: 'Back, Forward', tells: 'In the browser: go through tabs, selections, operations, and the functions in Callers & callees' },
      { keys: '/ or Ctrl F', tells: 'Search functions and other names' },
      { keys: 'Enter, Shift Enter', tells: 'In the search: go to the heaviest match, then to the next or previous one' },
      { keys: 'Ctrl Enter', tells: 'In the search: keep only samples with a match' },
      { keys: '1 … 9', tells: 'Show a view' },
      { keys: 'Escape', tells: 'Close this, or clear the selected time' },
      { keys: '?', tells: 'Show this list' },
    ],
  },
  {
    title: 'Tables and trees',
    rows: [
      { keys: '↑ ↓ Page Home End', tells: 'Move' },
      { keys: '→ ←', tells: 'Open and close a row; go to its first child or its parent' },
      { keys: '*', tells: 'Expand everything below a row' },
      { keys: '↑ in the first row', tells: 'Go to the headings of a table: → ← move, Enter sorts, then reverses, then restores the order' },
      { keys: 'n, N', tells: 'Go to the next or previous search match, including matches below closed rows' },
      { keys: 'Shift F10', tells: 'Open the menu, like the right mouse button' },
    ],
  },
  {
    title: 'Flame graph, flame chart and timeline',
    rows: [
      { keys: 'Drag, wheel with Ctrl', tells: 'Move, zoom' },
      { keys: 'Arrows, + −', tells: 'Go from box to box; zoom' },
      { keys: 'Enter, double click', tells: 'Zoom to a box' },
      { keys: 'Drag in the timeline', tells: 'Select a time' },
    ],
  },
];

/** Keys without Ctrl can be switched off, since software for speech and keys pressed by mistake would act. */
export function hasLetterKeys(): boolean {
  return remembered('letter-keys') !== 'off';
}

/** Acts on a key; true if it had an effect. */
export function pressKey(app: App, event: KeyboardEvent): boolean {
  const isTyping = (event.target as Element | null)?.closest?.('input, select, textarea, dialog') != null;
  const isCommand = event.ctrlKey || event.metaKey;
  if (event.altKey) return false;
  if (isCommand) return !isTyping && pressCommand(app, event);
  if (isTyping || (event.key.length === 1 && !hasLetterKeys())) return false;
  const { store, names } = app;
  const { state } = store;
  const action = [...ACTIONS, ...GENERAL, ...LOOKS].find(({ key }) => key === event.key);
  if (action !== undefined) {
    const target = app.aimed();
    const change = action.change(state, names, target);
    if (change === null) {
      app.say(refusalOf(app, action));
      return true;
    }
    store.set(change);
    const isOfTarget = ACTIONS.includes(action);
    app.say(isOfTarget ? `${action.name}: ${targetName(names, target)}.` : `${action.name}.`);
    return true;
  }
  if (event.key === '/') return focusSearch();
  if (event.key === '?') {
    app.openDialog('keys');
    return true;
  }
  if (event.key === 'Escape' && state.time !== null) {
    store.set({ time: null });
    return true;
  }
  const tab = /^[1-9]$/.test(event.key) ? tabsOf(names)[Number(event.key) - 1] : undefined;
  if (tab === undefined) return false;
  store.set({ tab: tab.id });
  return true;
}

function refusalOf(app: App, action: Action): string {
  if (action.id === 'turn') return 'Only the flame graph and the call tree of one recording can be inverted.';
  if ((app.aimed().label ?? -1) < 0) return 'Choose a function first.';
  const isNoPlace = action.isOfPlace === true && app.aimed().tree === undefined;
  return isNoPlace ? 'First choose a row of the call tree, or a box of the flame graph or chart.' : 'This action does not apply to the chosen item.';
}

function pressCommand(app: App, { key, shiftKey }: KeyboardEvent): boolean {
  const { store } = app;
  const commands: Keys = { z: () => (shiftKey ? store.redo() : store.undo()), y: () => store.redo(), f: focusSearch, c: () => copyChosen(app) };
  const command = commands[key.toLowerCase()];
  return command !== undefined && command() !== false;
}

function focusSearch(): boolean {
  const input = document.getElementById('search');
  if (!(input instanceof HTMLInputElement)) return false;
  input.focus();
  input.select();
  return true;
}

/** Selected text is copied by the browser. */
function copyChosen(app: App): boolean {
  const { label } = app.aimed();
  if (label === null || label < 0 || String(getSelection()) !== '') return false;
  void copyAndSay(app, 'Copy function name', nameOf(app.names, label));
  return true;
}
