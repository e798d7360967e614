// Actions on a function, a binary, a thread or a process: one list for menus, buttons and keys. Keys with the same meaning in Firefox
// Profiler are the same.

import type { OfPlace, Operation } from '../host/protocol.ts';
import { type Names, binaryOf, nameOf } from '../state/names.ts';
import { hasOwnName } from '../state/sides.ts';
import { treePlaceOf } from '../state/tree_place.ts';
import type { State } from '../state/state.ts';
import type { MenuTarget } from './menu_target.ts';

export interface Action {
  readonly id: string;
  readonly key: string | null;
  readonly name: string;
  /** True if the action needs a row or box of a tree, not just a function. */
  readonly isOfPlace?: boolean;
  /** In one sentence, for tooltips and the list of keys. */
  readonly tells: string;
  /** The change; null if it does not apply. */
  readonly change: (state: State, names: Names, target: MenuTarget) => Partial<State> | null;
}

export const ACTIONS: readonly Action[] = [
  ofFunction('root-at', 'f', 'Focus on function', 'Stacks start at the function; samples without it are removed'),
  ofFunction('focus', 'k', 'Keep samples with function', 'Samples without the function in their stack are removed'),
  ofFunction('prune', 'd', 'Drop samples with function', 'Samples with the function in their stack are removed'),
  ofFunction('charge', 'm', 'Merge function into callers', 'The function is removed from stacks; its weight goes to its callers'),
  ofFunction('collapse', 'c', 'Collapse function', 'Everything that the function calls is removed; its weight becomes self weight of the function'),
  atPlace('root-at-place', 'F', 'Focus on this subtree only', 'Stacks through this place start here; all other samples are removed'),
  atPlace('prune-place', 'D', 'Drop this subtree', 'Samples through this place are removed; samples of the function at other places are kept'),
  atPlace('charge-place', 'M', 'Merge into caller, only here', 'The function is removed at this place in the tree, but kept at other places'),
  ofBinary('flatten-binary', 'K', 'Collapse library', 'If functions of the binary call each other, only the first one is kept'),
  throughBinary('binary', 'Keep samples through library', 'Samples without the binary in their stack are removed'),
  throughBinary('leaf-binary', 'Keep samples that end in library', 'Samples whose innermost function is in another binary are removed'),
  ofBinary('charge-binary', 'L', 'Merge library into callers', 'The binary’s functions are removed; their weight goes to their callers'),
  {
    id: 'only-thread',
    key: null,
    name: 'Show only this thread',
    tells: 'Samples of other threads are left out',
    change: (_, __, { thread }) => (thread === undefined ? null : { threads: [thread], processes: null, mainOnly: false }),
  },
  {
    id: 'only-process',
    key: null,
    name: 'Show only this process',
    tells: 'Samples of other processes are left out',
    change: (_, __, { process }) => (process === undefined ? null : { processes: [process], threads: null }),
  },
];

/** Operations that need no function. */
export const GENERAL: readonly Action[] = [
  plain('hide-system', 'h', 'Hide system code', 'System functions are removed; their weight goes to your code that called them'),
  plain('flatten-recursion', 'r', 'Collapse recursion', 'A function that recurs is shown once'),
  plain('skip-idle', 'i', 'Skip waiting', 'Samples of waiting threads are removed'),
];

/** Actions that change the appearance of a view. */
export const LOOKS: readonly Action[] = [
  {
    id: 'turn',
    key: 'I',
    name: 'Invert the flame graph or the call tree, or undo the inversion',
    tells: 'The functions in which samples end come first, with their callers below',
    change: turned,
  },
];

function turned({ tab, tree, flame, side }: State): Partial<State> | null {
  if (side === 'compared') return null;
  if (tab === 'tree') return { tree: tree === 'up' ? 'down' : 'up' };
  return tab === 'flame' ? { flame: flame === 'up' ? 'down' : 'up' } : null;
}

/** The state after one more operation. */
export function withOperation(state: State, operation: Operation): Partial<State> {
  return { operations: [...state.operations, operation] };
}

function ofFunction(kind: 'root-at' | 'focus' | 'prune' | 'charge' | 'collapse', key: string, name: string, tells: string): Action {
  return {
    id: kind,
    key,
    name,
    tells,
    change: (state, names, { label }) => {
      if (label === null || label < 0 || !hasOwnName(names, label)) return null;
      return withOperation(state, { kind, pattern: exactPattern(nameOf(names, label)) });
    },
  };
}

/** A pattern that matches exactly this name. */
function exactPattern(name: string): string {
  return `^${name.replace(/[\\.+*?()|[\]{}^$]/gu, '\\$&')}$`;
}

/** For a row or box of a tree. */
function atPlace(kind: OfPlace['kind'], key: string, name: string, tells: string): Action {
  return {
    id: kind,
    key,
    name,
    tells,
    isOfPlace: true,
    change: (state, names, { tree, stack }) => {
      const place = tree === undefined || stack === undefined ? null : treePlaceOf(names, tree, stack());
      return place === null ? null : withOperation(state, { kind, place });
    },
  };
}

function ofBinary(kind: 'flatten-binary' | 'charge-binary', key: string, name: string, tells: string): Action {
  return {
    id: kind,
    key,
    name,
    tells,
    change: (state, names, target) => {
      const binary = target.binary ?? (target.label === null ? null : binaryOf(names, target.label));
      return binary === null ? null : withOperation(state, { kind, binary });
    },
  };
}

/** Only for binaries themselves: the menu of a function is long enough. */
function throughBinary(kind: 'binary' | 'leaf-binary', name: string, tells: string): Action {
  return {
    id: kind,
    key: null,
    name,
    tells,
    change: (state, _, { binary }) => (binary === undefined ? null : withOperation(state, { kind, names: [binary] })),
  };
}

function plain(kind: 'hide-system' | 'flatten-recursion' | 'skip-idle', key: string, name: string, tells: string): Action {
  return {
    id: kind,
    key,
    name,
    tells,
    change: (state) => {
      const without = state.operations.filter((operation) => operation.kind !== kind);
      return without.length < state.operations.length ? { operations: without } : withOperation(state, { kind });
    },
  };
}
