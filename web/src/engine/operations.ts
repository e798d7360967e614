// Operations on stacks as users request them, and the functions that they match. `operate.ts` applies them.

import { matchBinaries } from './matcher.ts';
import { compilePattern } from './pattern.ts';
import { IS_IDLE, type Profile, binaryName, functionName } from './profile.ts';
import { type KnownPlace, type TreePlace, knownPlace } from './tree_place.ts';

/** An operation, named after the command's option; the command has no operations on one place of the tree. */
export type Operation =
  | OfPlace
  | { readonly kind: 'focus' | 'focus-leaves' | 'root-at' | 'prune' | 'prune-leaves' | 'charge' | 'collapse'; readonly pattern: string }
  | { readonly kind: 'charge-binary' | 'flatten-binary'; readonly binary: string }
  | { readonly kind: 'binary' | 'leaf-binary'; readonly names: readonly string[] }
  | { readonly kind: 'charge-system' | 'hide-system' | 'flatten-recursion' | 'skip-idle' | 'invert' };

/** An operation on one place of the tree, as it is after the operations before. */
export interface OfPlace {
  readonly kind: 'root-at-place' | 'prune-place' | 'charge-place';
  readonly place: TreePlace;
}

/** What is done to a stack. */
export type ActionKind =
  | 'focus'
  | 'focus-leaves'
  | 'root-at'
  | 'prune'
  | 'prune-leaves'
  | 'charge'
  | 'collapse'
  | 'hide'
  | 'flatten'
  | 'flatten-recursion'
  | 'invert';

export interface Action {
  readonly kind: ActionKind;
  /** By function: 1 if it is chosen. */
  readonly functions: Uint8Array;
  /** Where a function is chosen at one place only. */
  readonly place?: KnownPlace;
}

/** The operation made ready for a profile. */
export function actionOf(profile: Profile, operation: Operation): Action {
  switch (operation.kind) {
    case 'charge-binary':
      return { kind: 'charge', functions: ofBinaryNamed(profile, operation.binary) };
    case 'flatten-binary':
      return { kind: 'flatten', functions: ofBinaryNamed(profile, operation.binary) };
    case 'binary':
      return { kind: 'focus', functions: ofBinaries(profile, operation.names) };
    case 'leaf-binary':
      return { kind: 'focus-leaves', functions: ofBinaries(profile, operation.names) };
    case 'charge-system':
      return { kind: 'charge', functions: ofSystem(profile) };
    case 'hide-system':
      return { kind: 'hide', functions: ofSystem(profile) };
    case 'skip-idle':
      return { kind: 'prune-leaves', functions: chosen(profile, (id) => (profile.functions.flags[id]! & IS_IDLE) !== 0) };
    case 'flatten-recursion':
    case 'invert':
      return { kind: operation.kind, functions: new Uint8Array(0) };
    case 'root-at-place':
      return atPlace('root-at', profile, operation);
    case 'prune-place':
      return atPlace('prune', profile, operation);
    case 'charge-place':
      return atPlace('charge', profile, operation);
    default:
      return { kind: operation.kind, functions: ofPattern(profile, operation.pattern) };
  }
}

function atPlace(kind: ActionKind, profile: Profile, { place }: OfPlace): Action {
  return { kind, functions: new Uint8Array(0), place: knownPlace(profile, place) };
}

/** The operation as the command writes it, such as `--prune '^objc_'`. */
export function operationText(operation: Operation): string {
  if ('pattern' in operation) return `--${operation.kind} '${operation.pattern}'`;
  if ('binary' in operation) return `--${operation.kind} '${operation.binary}'`;
  if ('place' in operation) return `${operation.kind} ${operation.place.direction} ${operation.place.path.map(({ name }) => name).join(';')}`;
  if ('names' in operation) return operation.names.map((name) => `--${operation.kind} '${name}'`).join(' ');
  return `--${operation.kind}`;
}

/** The functions whose name has a match of a pattern. */
export function ofPattern(profile: Profile, pattern: string): Uint8Array {
  const regex = compilePattern(pattern);
  // Functions of several binaries have one name.
  const known = new Int8Array(profile.texts.count).fill(-1);
  return chosen(profile, (id) => {
    const name = profile.functions.name[id]!;
    if (known[name]! < 0) known[name] = Number(regex.test(profile.texts.at(name)));
    return known[name] === 1;
  });
}

/** The functions with this name, in any binary. */
export function ofName(profile: Profile, name: string): Uint8Array {
  return chosen(profile, (id) => functionName(profile, id) === name);
}

/** The functions of the system, its runtimes and the kernel. */
export function ofSystem(profile: Profile): Uint8Array {
  const isSystem = profile.binaries.map(({ category }) => ['system', 'runtime', 'kernel'].includes(category));
  return chosen(profile, (id) => isSystem[profile.functions.binary[id]!] ?? false);
}

function ofBinaryNamed(profile: Profile, name: string): Uint8Array {
  return chosen(profile, (id) => binaryName(profile, id) === name);
}

function ofBinaries(profile: Profile, names: readonly string[]): Uint8Array {
  const matched = new Set(names.flatMap((name) => matchBinaries(profile, name)));
  return chosen(profile, (id) => matched.has(profile.functions.binary[id]!));
}

function chosen(profile: Profile, isChosen: (id: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: profile.functions.count }, (_, id) => Number(isChosen(id)));
}
