// Reads what is searched for. All answers about a search come from here, so that they mean the same by it.

import { type Profile, RefusedError, type SearchReading, readSearch } from '../engine/index.ts';

export class Searcher {
  readonly #profiles: readonly Profile[];
  /** The last search: it is repeated with every selection, and for each step between matches. */
  #last: { readonly typed: string; readonly reading: SearchReading | RefusedError } | null = null;

  constructor(profiles: readonly Profile[]) {
    this.#profiles = profiles;
  }

  read(typed: string): SearchReading {
    if (this.#last?.typed !== typed) this.#last = { typed, reading: this.#reading(typed) };
    const { reading } = this.#last;
    if (reading instanceof RefusedError) throw reading;
    return reading;
  }

  #reading(typed: string): SearchReading | RefusedError {
    try {
      return readSearch(this.#profiles, typed);
    } catch (error) {
      if (error instanceof RefusedError) return error;
      throw error;
    }
  }
}
