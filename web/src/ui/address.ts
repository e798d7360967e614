// Synchronises the address of the page with its state, and with the browser's history: another tab, another function in the middle of
// Callers & callees, and each step that can be undone (a selection, an operation) are entries. All other changes update the current entry.
//
// Back and Forward restore the view of an entry, as links do.

import { RefusedError } from '../host/refused.ts';
import { fragmentOf, readFragment } from '../state/fragment.ts';
import { type Names, nameOf } from '../state/names.ts';
import { namesOfSide } from '../state/sides.ts';
import type { State } from '../state/state.ts';
import type { Store } from '../state/store.ts';
import { sentence } from './panel.tsx';

/** The data stored with a history entry: the state as a fragment, and the function in the middle of the previous entry. */
interface Entry {
  readonly fragment: string;
  readonly before: string | null;
}

/** The previous content: nothing, another recording, or the same recording, with fewer names or in the app that saved the report. */
export type Follows = 'nothing' | 'another' | 'itself';

export class Address {
  readonly #store: Store;
  readonly #names: Names;
  /** The state of the entry that is shown. */
  #shown: State;
  /** The number of undoable steps at that time. */
  #steps = 0;
  /** True while a change comes from the address, so it is not a step of the user. */
  #isFollowing = false;
  /** The link of the entry was refused, or it belongs to another recording. It stays: the next change of the state makes a new entry. */
  #isForeign: boolean;
  readonly #end = new AbortController();

  /** For two recordings, `names` are the names of both. `say` reports rejected links. `isRefused`: the link of the page was rejected. */
  constructor(store: Store, names: Names, say: (text: string) => void, follows: Follows, isRefused: boolean) {
    [this.#store, this.#names, this.#shown, this.#isForeign] = [store, names, store.state, isRefused];
    const fragment = this.#fragment();
    if (follows === 'another') this.#write('pushState', { fragment, before: null }, hashOf(fragment));
    // The address stays as it was opened, even if the link was refused.
    else this.#write('replaceState', { fragment, before: this.before }, follows === 'itself' ? hashOf(fragment) : location.hash);
    store.subscribe(() => this.#keep());
    const { signal } = this.#end;
    const onPop = ({ state }: PopStateEvent): void => {
      if (isEntry(state)) this.#follow(() => this.#goTo(state, say));
    };
    const onHash = (): void => {
      if (isEntry(history.state)) return;
      try {
        const state = readFragment(location.hash, names);
        this.#follow(() => store.replace(state));
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error;
        this.#isForeign = true;
        say(unchanged(error));
      }
    };
    addEventListener('popstate', onPop, { signal });
    addEventListener('hashchange', onHash, { signal });
  }

  /** Another recording is shown from now on. */
  close(): void {
    this.#end.abort();
  }

  /** The name of the function that was in the middle before, if that is one step back. */
  get before(): string | null {
    return isEntry(history.state) ? history.state.before : null;
  }

  back(): void {
    history.back();
  }

  #fragment(): string {
    return fragmentOf(this.#store.state, namesOfSide(this.#names, this.#store.state.side));
  }

  /** Writes the state into the entry that is shown, or into a new one. */
  #keep(): void {
    const [from, to] = [this.#shown, this.#store.state];
    const isMove = isElsewhere(from, to);
    const isStep = isMove || this.#steps !== this.#store.steps;
    this.#shown = to;
    this.#steps = this.#store.steps;
    const fragment = this.#fragment();
    const hash = hashOf(fragment);
    // An entry of the history is shown, and stays as it was written.
    if ((hash === location.hash || this.#isFollowing) && isEntry(history.state)) return;
    if (this.#isFollowing || !(isStep || this.#isForeign)) this.#write('replaceState', { fragment, before: this.before }, hash);
    else this.#write('pushState', { fragment, before: isMove ? this.#inMiddle(from) : null }, hash);
    this.#isForeign = false;
  }

  #write(how: 'pushState' | 'replaceState', entry: Entry, hash: string): void {
    try {
      history[how](entry, '', hash === '' ? location.pathname + location.search : hash);
    } catch {
      // A page in a frame may not change the history; links can still be copied.
    }
  }

  #inMiddle({ tab, chosen, side }: State): string | null {
    return tab === 'callers' && chosen !== null && chosen >= 0 ? nameOf(namesOfSide(this.#names, side), chosen) : null;
  }

  #follow(change: () => void): void {
    this.#isFollowing = true;
    try {
      change();
    } finally {
      this.#isFollowing = false;
    }
  }

  #goTo({ fragment }: Entry, say: (text: string) => void): void {
    this.#isForeign = false;
    try {
      this.#store.replace(readFragment(fragment, this.#names));
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      this.#isForeign = true;
      say(unchanged(error));
    }
  }
}

function unchanged({ message }: RefusedError): string {
  return `${sentence(message)} The page is unchanged.`;
}

function hashOf(fragment: string): string {
  return fragment === 'v=1' ? '' : `#${fragment}`;
}

/** True if a change leads to another tab, or to another function in the middle. */
function isElsewhere(from: State, to: State): boolean {
  return from.tab !== to.tab || (to.tab === 'callers' && from.side === to.side && from.chosen !== to.chosen);
}

function isEntry(state: unknown): state is Entry {
  return typeof state === 'object' && state !== null && 'fragment' in state && 'before' in state;
}
