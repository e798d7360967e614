// Calls from app code into other code.
//
// The self weight of a transition is the weight of samples that entered the callee and did not return to app code; its all weight is the
// weight of samples whose leaf is in or below the callee, counted once each.

import type { Forest } from '../forest.ts';
import { type KeyPlan, type RowSums, countedKeys, planKeys, rowOf, sumKeys } from '../keyed.ts';
import { labelOrder } from '../order.ts';
import { PairTable } from '../pair_table.ts';
import { type Category, type Profile, categoriesOfFunctions } from '../profile.ts';
import type { View } from '../view.ts';
import type { Prepared } from '../workbench.ts';
import { bySelf } from './functions.ts';

export interface TransitionRow extends RowSums {
  readonly caller: number;
  readonly callee: number;
  /** The category of the callee. */
  readonly category: Category;
}

/** The transitions of a series, by self weight, then all weight, then caller and callee. */
export function transitions(view: View, series: number): TransitionRow[] {
  const { calls, plan, category } = plansOf(view.profile, view.prepared.shape);
  const sums = sumKeys(view.byFunction(series), plan);
  const rows = countedKeys(sums).map((key) => ({
    caller: calls.first(key),
    callee: calls.second(key),
    category: view.profile.categories[category[calls.second(key)]!]!,
    ...rowOf(sums, key),
  }));
  const order = labelOrder(view.profile);
  return rows.sort((a, b) => bySelf(a, b) || order(a.caller, b.caller) || order(a.callee, b.callee));
}

interface Plans {
  readonly calls: PairTable;
  readonly plan: KeyPlan;
  readonly category: Int32Array;
}

const known = new WeakMap<Prepared, Plans>();

function plansOf(profile: Profile, prepared: Prepared): Plans {
  const found = known.get(prepared);
  if (found !== undefined) return found;
  const forest = prepared.byFunction;
  const category = categoriesOfFunctions(profile);
  const user = profile.categories.indexOf('user');
  const isUser = (label: number): boolean => label >= 0 && category[label] === user;
  const { calls, ofNode, innermost } = callsOf(forest, isUser);
  const outermost = planKeys(forest, calls.count, (node) => ofNode[node]!);
  // The transition of a sample is the last one on its path, if it did not return.
  const plan = { ...outermost, leaf: forest.knotNode.map((node) => innermost[node]!) };
  const plans = { calls, plan, category };
  known.set(prepared, plans);
  return plans;
}

/** For each node: the transition that leads into it, and the one that its path is in; -1 for none. */
function callsOf(
  forest: Forest,
  isUser: (label: number) => boolean,
): { calls: PairTable; ofNode: Int32Array; innermost: Int32Array } {
  const calls = new PairTable();
  const ofNode = new Int32Array(forest.count).fill(-1);
  const innermost = new Int32Array(forest.count).fill(-1);
  for (let node = 1; node < forest.count; node += 1) {
    const above = forest.parent[node]!;
    const [caller, callee] = [forest.label[above]!, forest.label[node]!];
    if (callee < 0 || isUser(callee)) continue;
    if (isUser(caller)) ofNode[node] = calls.add(caller, callee);
    innermost[node] = isUser(caller) ? ofNode[node]! : innermost[above]!;
  }
  return { calls, ofNode, innermost };
}
