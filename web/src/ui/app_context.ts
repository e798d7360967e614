// What every part of the page uses: the recording, the state, the engine, and ways to tell people something.

import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Client } from '../host/client.ts';
import { Superseded } from '../host/client.ts';
import type { AnswerTo, Ask, Place } from '../host/protocol.ts';
import type { Names } from '../state/names.ts';
import { type State, placeOf } from '../state/state.ts';
import type { Store } from '../state/store.ts';
import type { MenuTarget } from './menu_target.ts';
import type { Unit } from './format.ts';
import type { Seen } from './seen.ts';

export interface App {
  readonly client: Client;
  readonly names: Names;
  readonly store: Store;
  /** Says something in the live region. */
  readonly say: (text: string) => void;
  readonly openMenu: (target: MenuTarget, x: number, y: number) => void;
  readonly openDialog: (dialog: 'keys' | 'recording' | null) => void;
  /** What is on screen, to save it. */
  readonly seen: Seen;
}

export const AppContext = createContext<App | null>(null);

export function useApp(): App {
  return useContext(AppContext)!;
}

/** The state, which draws anew when it changes. */
export function useStore(): State {
  const { store } = useApp();
  const [, draw] = useState(0);
  useEffect(() => store.subscribe(() => draw((count) => count + 1)), [store]);
  return store.state;
}

export interface Answered<A> {
  readonly answer: A | null;
  /** The answer is to an older question. */
  readonly isOld: boolean;
  readonly fault: string | null;
}

/**
 * The answer to a question about what is selected; the last one stays while the next is computed. `ask` is null where nothing is to be
 * asked, and `place` is the state's own unless it is given.
 */
export function useAnswer<A extends Ask>(channel: string, ask: A | null, place?: Place): Answered<AnswerTo<A>> {
  const { client, names } = useApp();
  const state = useStore();
  const where = place ?? placeOf(state, names.tables);
  const key = ask === null ? '' : JSON.stringify([where, ask]);
  const [held, hold] = useState<{ key: string; answer: AnswerTo<A> | null; fault: string | null }>({ key: '', answer: null, fault: null });
  useEffect(() => {
    if (ask === null) return;
    let isWanted = true;
    client.ask(channel, where, ask).then(
      (answer) => isWanted && hold({ key, answer, fault: null }),
      (error: unknown) => {
        if (isWanted && !(error instanceof Superseded)) hold({ key, answer: null, fault: error instanceof Error ? error.message : String(error) });
      },
    );
    return () => {
      isWanted = false;
      client.forget(channel);
    };
  }, [key, client]);
  return { answer: held.answer, isOld: held.key !== key, fault: held.key === key ? held.fault : null };
}

/** The unit of what is shown. */
export function unitOf({ names }: App, state: State): Unit {
  return state.metric === 'samples' ? 'samples' : names.tables.series[state.series]!.unit;
}
