// The entry point to the engine: a profile, the operations on its stacks, and views of selections.

import { type Forest, growForest, withoutStacks } from './forest.ts';
import { type KeyPlan, planKeys } from './keyed.ts';
import { type Operated, type UsedStacks, areFilters, operate, usedStacks } from './operate.ts';
import { type Operation, actionOf } from './operations.ts';
import type { Profile } from './profile.ts';
import { RecentSums } from './recent.ts';
import type { Selection } from './selection.ts';
import { View } from './view.ts';

/** Lists of operations whose stacks are kept, so that undo and redo are immediate; fewer for a large recording. */
const KEPT = { few: 2, many: 8 };
/** Stacks from which on few are kept. */
const LARGE = 500_000;

/** A recording that is explored. Keeps everything that does not depend on selections. */
export class Workbench {
  readonly profile: Profile;
  readonly used: UsedStacks;
  readonly #prepared = new Map<string, Prepared>();
  readonly #recent = new RecentSums();

  constructor(profile: Profile) {
    this.profile = profile;
    this.used = usedStacks(profile);
  }

  /** A view of what is selected, after operations in their order. */
  view(selection: Selection = {}, operations: readonly Operation[] = []): View {
    return new View(this.profile, this.used, this.prepare(operations), selection, this.#recent);
  }

  /** The stacks after operations, with their trees. */
  prepare(operations: readonly Operation[]): Prepared {
    const key = JSON.stringify(operations);
    const known = this.#prepared.get(key);
    this.#prepared.delete(key);
    const base = operations.length === 0 ? null : this.prepare([]);
    const prepared = known ?? new Prepared(this.profile, this.used, operations, base);
    this.#prepared.set(key, prepared);
    for (const oldest of this.#prepared.keys()) {
      if (this.#prepared.size <= (this.profile.stacks.count < LARGE ? KEPT.many : KEPT.few)) break;
      this.#prepared.delete(oldest);
    }
    return prepared;
  }
}

/** Stacks after operations. Trees and plans are made on demand. */
export class Prepared {
  readonly operations: readonly Operation[];
  readonly operated: Operated;
  readonly #profile: Profile;
  #byFunction: Forest | null = null;
  #byFrame: Forest | null = null;
  readonly #plans = new Map<string, KeyPlan>();

  /** Operations that only remove samples keep the trees and plans of none. */
  readonly #base: Prepared | null;

  constructor(profile: Profile, used: UsedStacks, operations: readonly Operation[], base: Prepared | null) {
    this.operations = operations;
    this.#profile = profile;
    const actions = operations.map((operation) => actionOf(profile, operation));
    this.operated = operate(profile, used, actions);
    this.#base = areFilters(actions) ? base : null;
  }

  /** The instance whose trees have the same shape: this one, unless operations only remove samples. */
  get shape(): Prepared {
    return this.#base ?? this;
  }

  /** Stacks merged by function: call trees. */
  get byFunction(): Forest {
    const functionOf = this.#profile.frames.function;
    this.#byFunction ??= this.#grow(this.#base?.byFunction, (frame) => functionOf[frame]!);
    return this.#byFunction;
  }

  /** Stacks merged by frame, for lines and binaries. */
  get byFrame(): Forest {
    this.#byFrame ??= this.#grow(this.#base?.byFrame, null);
    return this.#byFrame;
  }

  #grow(base: Forest | undefined, labelOfFrame: ((frame: number) => number) | null): Forest {
    const { stacks, stackOf } = this.operated;
    return base === undefined ? growForest(stacks, stackOf, labelOfFrame) : withoutStacks(base, stackOf);
  }

  /** A plan for keys of a forest, made once for each name. */
  plan(name: string, forest: Forest, keys: number, keyOf: (label: number) => number): KeyPlan {
    if (this.#base !== null) return this.#base.plan(name, forest, keys, keyOf);
    const known = this.#plans.get(name);
    if (known !== undefined) return known;
    const plan = planKeys(forest, keys, (node) => keyOf(forest.label[node]!));
    this.#plans.set(name, plan);
    return plan;
  }
}
