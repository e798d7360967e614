// The function that the time of each node belongs to: the innermost one of the program's own code, which asked the system for the rest.
// The rules are those of `src/report/overview/owners.rs`.

import type { Forest } from '../forest.ts';
import { ofSystem } from '../operations.ts';
import { IS_IDLE, type Profile, functionName } from '../profile.ts';
import type { View } from '../view.ts';
import { isEntryPoint, isRunLoop } from './origins.ts';

/** Nobody's code asked for it; own code did; code in no known binary did. */
export const SYSTEM = 0;
export const OWN = 1;
export const UNKNOWN = 2;

interface Owners {
  /** By function: 1 if programs start in it. */
  readonly isEntry: Uint8Array;
  readonly kind: Uint8Array;
  /** By node: the node of its owner, where it is not the system's. */
  readonly place: Int32Array;
}

const known = new WeakMap<Forest, Owners>();

/** The owners of the nodes of a forest of functions. A caller stands before those that it calls, so one pass is enough. */
function ownersOf(profile: Profile, forest: Forest): Owners {
  const found = known.get(forest);
  if (found !== undefined) return found;
  const kinds = kindsOfFunctions(profile);
  const kind = new Uint8Array(forest.count);
  const place = new Int32Array(forest.count);
  for (let node = 1; node < forest.count; node += 1) {
    const label = forest.label[node]!;
    const own = label < 0 ? LOOP : kinds[label]!;
    const above = forest.parent[node]!;
    if (own === OWN || own === UNKNOWN) [kind[node], place[node]] = [own, node];
    else if (own === SYSTEM) [kind[node], place[node]] = [kind[above]!, place[above]!];
  }
  const owners = { isEntry: entryPoints(profile), kind, place };
  known.set(forest, owners);
  return owners;
}

function entryPoints(profile: Profile): Uint8Array {
  return Uint8Array.from({ length: profile.functions.count }, (_, id) => Number(isEntryPoint(functionName(profile, id))));
}

/** A run loop of the system, below which nothing was asked for. */
const LOOP = 3;

function kindsOfFunctions(profile: Profile): Uint8Array {
  const isSystem = ofSystem(profile);
  return Uint8Array.from({ length: profile.functions.count }, (_, id) => {
    const binary = profile.functions.binary[id]!;
    if (binary >= 0 && profile.binaries[binary]!.is_own) return OWN;
    if (isSystem[id] === 0) return UNKNOWN;
    return isRunLoop(functionName(profile, id)) ? LOOP : SYSTEM;
  });
}

/** The program's own code in the stacks of a series. */
export class OwnCode {
  readonly #profile: Profile;
  readonly #forest: Forest;
  readonly #owners: Owners;
  /** Where only running threads count, a thread on its way to wait has CPU time that somebody is to answer for. */
  readonly mayWait: boolean;

  constructor(view: View, series: number) {
    this.#profile = view.profile;
    this.#forest = view.prepared.byFunction;
    this.#owners = ownersOf(this.#profile, view.prepared.shape.byFunction);
    this.mayWait = this.#profile.series[series]!.meaning === 'presence' || !view.scope.countsRunningOnly;
  }

  /** True if a thread whose stack ends in a node waits. */
  waits(node: number): boolean {
    const label = this.#forest.label[node]!;
    return this.mayWait && label >= 0 && (this.#profile.functions.flags[label]! & IS_IDLE) !== 0;
  }

  /**
   * The node of the function of the program that a node's time belongs to; -1 for none. Whatever a program does, it does below its entry
   * point; of that, only what the entry point does by itself is its own.
   */
  place(node: number): number {
    const place = this.#owners.place[node]!;
    if (this.#owners.kind[node] !== OWN || this.waits(node)) return -1;
    return place === node || !this.#isEntry(place) ? place : -1;
  }

  /** The one that a node's time belongs to, where what hangs below an entry point is the system's. */
  owner(node: number): number {
    const kind = this.#owners.kind[node]!;
    return kind === OWN && this.place(node) < 0 ? SYSTEM : kind;
  }

  /** True if the function of a node is own code. */
  isOwn(node: number): boolean {
    return this.#owners.kind[node] === OWN && this.#owners.place[node] === node;
  }

  /** The innermost node of own code above a node, with nothing but the system between; -1 where the system called it by itself. */
  caller(node: number): number {
    const above = this.#forest.parent[node]!;
    return above > 0 && this.#owners.kind[above] === OWN ? this.#owners.place[above]! : -1;
  }

  /** The own code that asked for a node, entry points among them; -1 for none. */
  asker(node: number): number {
    return this.#owners.kind[node] === OWN ? this.#owners.place[node]! : -1;
  }

  #isEntry(node: number): boolean {
    return this.#owners.isEntry[this.#forest.label[node]!] === 1;
  }
}
