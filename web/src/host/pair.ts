// Answers questions about two recordings that are compared, and about each of them.

import {
  Comparison,
  type Changes,
  type Amount,
  type DiffFacts,
  type Effect,
  type Exact,
  type Normalize,
  type Selection,
  type Selections,
  type View,
  type Workbench,
  counterpart,
  decodePayload,
  sandwich,
} from '../engine/index.ts';
import { answerDiff } from './answers/diff.ts';
import { totalOf } from './answers/tables.ts';
import { Desk, tablesOf } from './desk.ts';
import type { Answer, Ask, DiffAsk, MatchedColumns, Opened, PairTables, Place, SearchAnswer, TotalsAnswer } from './protocol.ts';
import { Searcher } from './searcher.ts';

/** Comparisons that are kept with their weights. */
const KEPT = 3;

export class PairDesk {
  readonly #comparison: Comparison;
  readonly #before: Desk;
  readonly #after: Desk;
  readonly #searcher: Searcher;
  readonly #changes = new Map<string, Changes>();

  constructor(comparison: Comparison) {
    this.#comparison = comparison;
    this.#searcher = new Searcher([comparison.before.profile, comparison.after.profile]);
    [this.#before, this.#after] = [new Desk(comparison.before, this.#searcher, 0), new Desk(comparison.after, this.#searcher, 1)];
  }

  static async open(payload: string, before: string, facts: string): Promise<{ desk: PairDesk; opened: Opened }> {
    const told = JSON.parse(facts) as DiffFacts;
    const comparison = new Comparison(await decodePayload(before), await decodePayload(payload), told);
    const pair: PairTables = { before: tablesOf(comparison.before.profile), facts: told, matching: matchedColumns(comparison) };
    return { desk: new PairDesk(comparison), opened: { tables: tablesOf(comparison.after.profile), pair } };
  }

  answer(place: Place, ask: Ask): Answer {
    const side = place.side ?? 'compared';
    if (side !== 'compared') return (side === 'before' ? this.#before : this.#after).answer(place, ask);
    if (isDiffAsk(ask)) {
      const find = ask.kind === 'diff-tree' ? ask.find : null;
      return answerDiff(this.#changesOf(place, ask.normalize), ask, find === null ? null : this.#matchesOfBoth(find.text));
    }
    if (ask.kind === 'totals') return this.#totals(place);
    if (ask.kind === 'search') return this.#search(place, ask.text);
    throw new Error(`${ask.kind} does not apply to a comparison`);
  }

  /** The selection in the second recording, and the matching one by name in the first. */
  #selections({ selection }: Place): Selections {
    const { before, after } = this.#comparison;
    return { before: counterpart(after.profile, before.profile, selection), after: selection };
  }

  #changesOf(place: Place, normalize: Normalize): Changes {
    const key = JSON.stringify([place.selection, place.operations, normalize]);
    const found = this.#changes.get(key) ?? this.#comparison.changes(this.#selections(place), place.operations, normalize);
    this.#changes.delete(key);
    this.#changes.set(key, found);
    for (const oldest of this.#changes.keys()) {
      if (this.#changes.size <= KEPT) break;
      this.#changes.delete(oldest);
    }
    return found;
  }

  /** The totals of the second recording, with the totals of the first. */
  #totals(place: Place): TotalsAnswer {
    // This rejects weights that cannot be summed.
    this.#changesOf(place, 'none');
    const selections = this.#selections(place);
    const { before, after } = this.#comparison;
    const totals = (desk: Desk, workbench: Workbench, selection: Selection): TotalsAnswer => {
      const { metric = 'weight', states = 'running' } = selection;
      const found = countedSeries(workbench.view({ metric, states }, []));
      return found.map((series) => desk.totals({ series, operations: place.operations, selection })).reduce(sumOfTotals, NO_TOTALS);
    };
    return { ...totals(this.#after, after, selections.after), before: totals(this.#before, before, selections.before) };
  }

  #search(place: Place, text: string): SearchAnswer {
    const changes = this.#changesOf(place, 'none');
    const { pattern, isPlain, matches: [first, second] } = this.#searcher.read(text);
    const matches = this.#matchesOfBoth(text);
    const allOf = (view: Changes['before'], found: Uint8Array): Pick<SearchAnswer, 'all' | 'total'> => {
      const counted = countedSeries(view);
      const own = counted.map((series) => sandwich(view, series, found).own);
      return {
        all: own.map(({ all_weight, samples }) => ({ weight: all_weight, samples })).reduce(sumOf, NOTHING),
        total: counted.map((series) => totalOf(view, series)).reduce(sumOf, NOTHING),
      };
    };
    return {
      kind: 'search',
      ...allOf(changes.after, second!),
      pattern,
      isPlain,
      matches,
      functions: matches.reduce((count, isMatch) => count + isMatch, 0),
      before: allOf(changes.before, first!),
    };
  }

  /** By matched function: 1 if either recording's name matches. */
  #matchesOfBoth(text: string): Uint8Array {
    const { matching } = this.#comparison;
    const matches = new Uint8Array(matching.functions.length);
    this.#searcher.read(text).matches.forEach((found, side) =>
      found.forEach((isMatch, id) => {
        if (isMatch === 1) matches[matching.number(side as 0 | 1, id)] = 1;
      }),
    );
    return matches;
  }
}

const NOTHING: Amount = { weight: 0, samples: 0 };
const NO_TOTALS: TotalsAnswer = { kind: 'totals', total: NOTHING, whole: NOTHING, effects: [] };

/** The series with selected samples: one of each run. */
function countedSeries(view: View): number[] {
  return view.profile.series.flatMap((_, index) => (view.counted(index).length > 0 ? [index] : []));
}

function sumOf(a: Amount, b: Amount): Amount {
  return { weight: plus(a.weight, b.weight), samples: plus(a.samples, b.samples) };
}

function plus(a: Exact, b: Exact): Exact {
  return typeof a === 'number' && typeof b === 'number' && a + b <= Number.MAX_SAFE_INTEGER ? a + b : BigInt(a) + BigInt(b);
}

function sumOfTotals(a: TotalsAnswer, b: TotalsAnswer): TotalsAnswer {
  const effects = b.effects.map((effect, index): Effect => {
    const other = a.effects[index];
    if (other === undefined) return effect;
    return {
      ...effect,
      removed: sumOf(other.removed, effect.removed),
      moved: sumOf(other.moved, effect.moved),
      changed_samples: plus(other.changed_samples, effect.changed_samples),
    };
  });
  return { kind: 'totals', total: sumOf(a.total, b.total), whole: sumOf(a.whole, b.whole), effects };
}

function isDiffAsk(ask: Ask): ask is DiffAsk {
  return ask.kind.startsWith('diff-');
}

function matchedColumns({ matching, before, after }: Comparison): MatchedColumns {
  const { functions } = matching;
  const numbers = (side: 0 | 1, count: number): Int32Array => Int32Array.from({ length: count }, (_, id) => matching.number(side, id));
  return {
    name: functions.map(({ name }) => name),
    binary: functions.map(({ binary }) => binary),
    isNamed: Uint8Array.from(functions, ({ key }) => Number(key === 'named')),
    before: Int32Array.from(functions, (row) => row.before),
    after: Int32Array.from(functions, (row) => row.after),
    ofBefore: numbers(0, before.profile.functions.count),
    ofAfter: numbers(1, after.profile.functions.count),
  };
}
