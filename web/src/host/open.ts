// Opens what a page holds: one recording, or two that are compared.

import { PayloadError } from '../engine/index.ts';
import { Desk } from './desk.ts';
import { PairDesk } from './pair.ts';
import type { Answer, Ask, Opened, Payloads, Place } from './protocol.ts';

/** What answers questions. */
export interface Answerer {
  answer(place: Place, ask: Ask): Answer;
}

export async function openDesk({ payload, before, facts }: Payloads): Promise<{ desk: Answerer; opened: Opened }> {
  if (before === null && facts === null) {
    const { desk, tables } = await Desk.open(payload);
    return { desk, opened: { tables, pair: null } };
  }
  if (before === null || facts === null) throw new PayloadError('a part of the comparison is missing');
  return PairDesk.open(payload, before, facts);
}
