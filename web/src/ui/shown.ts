// The displayed content: one recording, or two that are compared, with their state.

import type { Client } from '../host/client.ts';
import { RefusedError } from '../host/refused.ts';
import { readFragment } from '../state/fragment.ts';
import type { Names } from '../state/names.ts';
import { pairNames } from '../state/sides.ts';
import { Store } from '../state/store.ts';
import { Texts } from '../state/texts.ts';
import { Address, type Follows } from './address.ts';
import { Greetings } from './greetings.ts';
import { sentence } from './panel.tsx';

export interface Shown {
  readonly client: Client;
  readonly names: Names;
  readonly store: Store;
  readonly address: Address;
  readonly greetings: Greetings;
}

/** Opens recordings, and returns their names. */
export async function openNames(client: Client): Promise<Names> {
  const { tables, pair } = await client.open();
  if (tables.series.length === 0) throw new RefusedError('it contains no samples');
  if (pair?.before.series.length === 0) throw new RefusedError('the first recording contains no samples to compare with');
  const own: Names = { tables, texts: new Texts(tables) };
  return pair === null ? own : pairNames(own, { tables: pair.before, texts: new Texts(pair.before) }, pair);
}

/** Shows recordings with the state of a link. If the link does not fit, the complete recording is shown, with the reason. */
export function show(client: Client, names: Names, fragment: string, follows: Follows = 'nothing'): Shown {
  const { store, greeting } = openStore(names, fragment);
  const greetings = new Greetings(greeting);
  return { client, names, store, address: new Address(store, names, (text) => greetings.say(text), follows, greeting !== null), greetings };
}

function openStore(names: Names, fragment: string): { store: Store; greeting: string | null } {
  try {
    return { store: new Store(readFragment(fragment, names)), greeting: null };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return { store: new Store(readFragment('', names)), greeting: `${sentence(error.message)} The complete recording is shown.` };
  }
}
