// The meaning of a search. A text is a regular expression if it is valid and matches something; otherwise it is plain text if a name
// contains it, so that a pasted name is found: `filter(float*, float)` is also a valid regular expression, but matches other names.

import { RefusedError } from './error.ts';
import { ofPattern } from './operations.ts';
import { plainPattern, searchPattern } from './pattern.ts';
import type { Profile } from './profile.ts';

export interface SearchReading {
  /** The regular expression with which the command finds the same names. */
  readonly pattern: string;
  readonly isPlain: boolean;
  /** By recording and function: 1 if its name matches. */
  readonly matches: readonly Uint8Array[];
}

/** The meaning of a text in these recordings, the same for all of them. Throws a `RefusedError` if it has none. */
export function readSearch(profiles: readonly Profile[], typed: string): SearchReading {
  const reading = (pattern: string, isPlain: boolean): SearchReading => ({ pattern, isPlain, matches: profiles.map((profile) => ofPattern(profile, pattern)) });
  const asPattern = attempt(() => reading(searchPattern(typed), false));
  if ('found' in asPattern && hasMatch(asPattern.found)) return asPattern.found;
  const asText = attempt(() => reading(plainPattern(typed), true));
  if ('found' in asText && hasMatch(asText.found)) return asText.found;
  if ('refusal' in asPattern) throw asPattern.refusal;
  return asPattern.found;
}

function hasMatch({ matches }: SearchReading): boolean {
  return matches.some((ofOne) => ofOne.includes(1));
}

function attempt<T>(work: () => T): { readonly found: T } | { readonly refusal: RefusedError } {
  try {
    return { found: work() };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return { refusal: error };
  }
}
