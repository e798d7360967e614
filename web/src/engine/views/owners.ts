// The owner of each node's time: the innermost function in app code, which requested the system work below it. The rules are the same as in
// `src/report/overview/owners.rs`.

import type { Forest } from '../forest.ts';
import { ofSystem } from '../operations.ts';
import { IS_IDLE, type Profile, functionName } from '../profile.ts';
import type { View } from '../view.ts';
import { isEntryPoint, isRunLoop } from './origins.ts';

/** Who requested the work: no code; app code; code in no known binary. */
export const SYSTEM = 0;
export const OWN = 1;
export const UNKNOWN = 2;

interface Owners {
  /** By function: 1 if programs start in it. */
  readonly isEntry: Uint8Array;
  readonly kind: Uint8Array;
  /** For each node: the node of its owner, unless the system owns it. */
  readonly place: Int32Array;
}

const known = new WeakMap<Forest, Owners>();

/** The owners of the nodes of a forest of functions. Callers precede their callees, so one pass is enough. */
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

/** A run loop of the system; the work below it was not requested. */
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

/** App code in the stacks of a series. */
export class OwnCode {
  readonly #profile: Profile;
  readonly #forest: Forest;
  readonly #owners: Owners;
  /** If only running threads are selected, a thread that is about to wait still has CPU time that belongs to a function. */
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
   * The node of the app function that owns a node's time; -1 for none. Everything a program does is below its entry point, so the entry
   * point only owns its self weight.
   */
  place(node: number): number {
    const place = this.#owners.place[node]!;
    if (this.#owners.kind[node] !== OWN || this.waits(node)) return -1;
    return place === node || !this.#isEntry(place) ? place : -1;
  }

  /** The owner of a node's time, if the system owns everything below an entry point. */
  owner(node: number): number {
    const kind = this.#owners.kind[node]!;
    return kind === OWN && this.place(node) < 0 ? SYSTEM : kind;
  }

  /** True if the function of a node is app code. */
  isOwn(node: number): boolean {
    return this.#owners.kind[node] === OWN && this.#owners.place[node] === node;
  }

  /** The innermost node of app code above a node, with only system code between; -1 if the system called it. */
  caller(node: number): number {
    const above = this.#forest.parent[node]!;
    return above > 0 && this.#owners.kind[above] === OWN ? this.#owners.place[above]! : -1;
  }

  /** The app code that requested a node, including entry points; -1 for none. */
  asker(node: number): number {
    return this.#owners.kind[node] === OWN ? this.#owners.place[node]! : -1;
  }

  #isEntry(node: number): boolean {
    return this.#owners.isEntry[this.#forest.label[node]!] === 1;
  }
}
