// Shared by all parts of the page: the recording, the state, the engine, and ways to announce something.

import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Client } from '../host/client.ts';
import { Superseded } from '../host/client.ts';
import type { Reading } from '../host/engine.ts';
import type { AnswerTo, Ask, Place, Side } from '../host/protocol.ts';
import { counterOf } from '../state/counters.ts';
import type { Names } from '../state/names.ts';
import { type State, placeOf } from '../state/state.ts';
import type { Store } from '../state/store.ts';
import type { Address } from './address.ts';
import type { MenuTarget } from './menu_target.ts';
import type { Unit } from './format.ts';
import type { Seen } from './seen.ts';

/** Functions of the app that a report lacks: opening another recording, and saving this one with the page. */
export interface Opener {
  readonly choose: (choice: 'files' | 'folder') => void;
  readonly canChooseFolders: boolean;
  readonly saveReport: () => Promise<Blob>;
  /** Swaps two recordings; null for a single recording. */
  readonly swap: (() => void) | null;
}

/** Sentences about the reading of what is open. */
export type ReadingNotes = Pick<Reading, 'notes' | 'warnings' | 'unmatched'>;

export interface App {
  readonly client: Client;
  readonly names: Names;
  readonly store: Store;
  /** Null in a report. */
  readonly opener: Opener | null;
  /** Null if the command read the recording: the summary in its page has the sentences. */
  readonly notes: ReadingNotes | null;
  readonly address: Address;
  /** Changes the user's choices in this part of the page. */
  readonly change: (change: Partial<State>, gesture?: string) => void;
  /** The state for this part of the page, if it differs from the page's. */
  readonly stateOf?: (state: State) => State;
  /** Switches to another recording or both; `chosen` is a function of the current side. */
  readonly showSide: (side: Side, change?: Partial<State>, chosen?: number) => void;
  /** Makes an announcement in the live region. */
  readonly say: (text: string) => void;
  readonly openMenu: (target: MenuTarget, x: number, y: number) => void;
  /** The most recent choice in a view, on which keys and buttons act. */
  readonly aim: (target: MenuTarget) => void;
  /** Called by a table with the focus, with its highlighted row; with null when the table loses the focus. */
  readonly aimAtRow: (row: (() => MenuTarget | null) | null) => void;
  /** The highlighted row, or else the most recent choice, or else the chosen function. */
  readonly aimed: () => MenuTarget;
  readonly openDialog: (dialog: 'keys' | 'recording' | null) => void;
  /** The visible tables and drawings, for saving. */
  readonly seen: Seen;
}

export const AppContext = createContext<App | null>(null);

export function useApp(): App {
  return useContext(AppContext)!;
}

/** The state; components that use it are drawn again when it changes. */
export function useStore(): State {
  const { store, stateOf } = useApp();
  const [, draw] = useState(0);
  useEffect(() => store.subscribe(() => draw((count) => count + 1)), [store]);
  return stateOf === undefined ? store.state : stateOf(store.state);
}

/** The result of `useAnswer`. */
export interface Answered<A extends Ask> {
  readonly answer: AnswerTo<A> | null;
  /** The question that was answered, and the unit of its numbers: while an answer is old, the state is ahead of it. */
  readonly asked: A | null;
  readonly place: Place;
  readonly unit: Unit;
  /** True if the answer belongs to an older question. */
  readonly isOld: boolean;
  readonly fault: string | null;
}

/**
 * The answer to a question about the selection; the last one stays while the next is computed. `ask` is null if there is no question, and
 * `place` defaults to the place of the state.
 */
export function useAnswer<A extends Ask>(channel: string, ask: A | null, place?: Place): Answered<A> {
  const app = useApp();
  const { client, names } = app;
  const state = useStore();
  const where = place ?? placeOf(state, names.tables);
  const unit = unitOf(app, state);
  const key = ask === null ? '' : JSON.stringify([where, ask]);
  const [held, hold] = useState<Omit<Answered<A>, 'isOld'> & { readonly key: string }>({ key: '', answer: null, asked: null, place: where, unit, fault: null });
  useEffect(() => {
    if (ask === null) return;
    let isWanted = true;
    const take = (answer: AnswerTo<A> | null, fault: string | null): void => {
      if (isWanted) hold({ key, answer, asked: ask, place: where, unit, fault });
    };
    client.ask(channel, where, ask).then(
      (answer) => take(answer, null),
      (error: unknown) => {
        if (!(error instanceof Superseded)) take(null, error instanceof Error ? error.message : String(error));
      },
    );
    return () => {
      isWanted = false;
      client.forget(channel);
    };
  }, [key, client]);
  const isOld = held.key !== key;
  // Functions and threads of another recording have other numbers.
  const isOther = held.place.side !== where.side;
  return { answer: isOther ? null : held.answer, asked: isOther ? null : held.asked, place: held.place, unit: held.unit, isOld, fault: isOld ? null : held.fault };
}

/** The unit of the displayed weights. */
export function unitOf({ names }: App, state: State): Unit {
  if (counterOf(state.metric) !== null) return 'events';
  return state.metric === 'samples' ? 'samples' : names.tables.series[state.series]!.unit;
}
