// Answers questions about one recording, in a worker, or in the page if there are no workers.

import {
  type Amount,
  type Profile,
  type View,
  Workbench,
  decodePayload,
  sandwich,
} from '../engine/index.ts';
import { answerChart, answerFlame, answerTracks } from './answers/drawings.ts';
import { answerOverview } from './answers/overview.ts';
import {
  answerBinaries,
  answerCategories,
  answerCores,
  answerFunctions,
  answerLines,
  answerSandwich,
  answerStates,
  answerThreads,
  totalOf,
} from './answers/tables.ts';
import { answerHeaviest, answerTree } from './answers/trees.ts';
import { Searcher } from './searcher.ts';
import type { Answer, Ask, Place, SearchAnswer, Tables, TotalsAnswer } from './protocol.ts';

/** Views that are kept with what they computed, so that going back is at once. */
const KEPT = 6;

/** What a search means in this recording. */
interface Reading extends Pick<SearchAnswer, 'pattern' | 'isPlain'> {
  readonly found: Uint8Array;
}

export class Desk {
  readonly #workbench: Workbench;
  readonly #search: (text: string) => Reading;
  readonly #views = new Map<string, View>();
  readonly #wholes = new Map<string, Amount>();

  /** Compared recordings share a searcher, in which this recording has this index. */
  constructor(workbench: Workbench, searcher = new Searcher([workbench.profile]), place = 0) {
    this.#workbench = workbench;
    this.#search = (text) => {
      const { pattern, isPlain, matches } = searcher.read(text);
      return { pattern, isPlain, found: matches[place]! };
    };
  }

  static async open(payload: string): Promise<{ desk: Desk; tables: Tables }> {
    const profile = await decodePayload(payload);
    return { desk: new Desk(new Workbench(profile)), tables: tablesOf(profile) };
  }

  answer(place: Place, ask: Ask): Answer {
    if (ask.kind === 'totals') return this.totals(place);
    const view = this.#view(place);
    const { series } = place;
    switch (ask.kind) {
      case 'overview':
        return answerOverview(view, place);
      case 'functions':
        return answerFunctions(view, series);
      case 'binaries':
        return answerBinaries(view, series);
      case 'categories':
        return answerCategories(view, series);
      case 'lines':
        return answerLines(view, series);
      case 'threads':
        return answerThreads(view, series);
      case 'states':
        return answerStates(view, series);
      case 'cores':
        return answerCores(view, series);
      case 'tree':
        return answerTree(view, series, ask, ask.find === null ? null : this.#search(ask.find.text).found);
      case 'flame':
        return answerFlame(view, series, ask);
      case 'heaviest':
        return answerHeaviest(view, series, ask.by, ask.part);
      case 'sandwich':
        return answerSandwich(view, series, ask.label);
      case 'search':
        return answerSearch(view, series, this.#search(ask.text));
      case 'chart':
        return answerChart(view, series, ask);
      case 'tracks':
        return answerTracks(view, series, ask);
      default:
        throw new Error(`${ask.kind} applies only to comparisons`);
    }
  }

  #view({ selection, operations }: Place): View {
    const key = JSON.stringify([selection, operations]);
    const view = this.#views.get(key) ?? this.#workbench.view(selection, operations);
    this.#views.delete(key);
    this.#views.set(key, view);
    for (const oldest of this.#views.keys()) {
      if (this.#views.size <= KEPT) break;
      this.#views.delete(oldest);
    }
    return view;
  }

  totals(place: Place): TotalsAnswer {
    const { series, selection } = place;
    const view = this.#view(place);
    // With the same states: waiting samples are not part of running ones.
    const { metric = 'weight', states = 'running' } = selection;
    const key = JSON.stringify([series, metric, states]);
    const whole = this.#wholes.get(key) ?? totalOf(this.#workbench.view({ metric, states }, []), series);
    this.#wholes.set(key, whole);
    const effects = view.prepared.operations.length === 0 ? [] : view.effects(series);
    return { kind: 'totals', total: totalOf(view, series), whole, effects };
  }
}

function answerSearch(view: View, series: number, { pattern, isPlain, found }: Reading): SearchAnswer {
  // Answers give their arrays away.
  const matches = found.slice();
  const { own } = sandwich(view, series, matches);
  return {
    kind: 'search',
    total: totalOf(view, series),
    pattern,
    isPlain,
    matches,
    functions: matches.reduce((count, isMatch) => count + isMatch, 0),
    all: { weight: own.all_weight, samples: own.samples },
  };
}

/** What the page itself reads. */
export function tablesOf(profile: Profile): Tables {
  const { samples, stacks: _stacks, frames: _frames, texts, ...tables } = profile;
  const spans = profile.series.map(({ start, end, has_times, unit }) => {
    if (profile.form === 'sums' || !has_times || start === end) return null;
    // The last sample of a time profile lasts as long as it weighs.
    const length = unit === 'ns' ? Number(samples.weight[0]![end - 1]!) : 0;
    return { start: Number(samples.time[start]!), end: Number(samples.time[end - 1]!) + Math.min(length, 1e9) };
  });
  return { ...tables, textBytes: texts.bytes, textEnds: texts.ends, spans };
}
