// Opens what a page holds with the module that it embeds: one recording, or two that are compared.

import { Engine, type OpenedTables } from './engine.ts';
import type { Opened, Payloads, Tables } from './protocol.ts';
import { RefusedError } from './refused.ts';

export async function openModule({ engine: module, payload, before, facts }: Payloads): Promise<{ engine: Engine; opened: Opened }> {
  if (typeof WebAssembly === 'undefined') {
    throw new RefusedError('this page needs WebAssembly, which this browser does not offer; turn off Lockdown Mode for it, or use another browser');
  }
  const engine = await Engine.start(module);
  const { tables, pair } = await engine.open(payload, before, facts);
  return { engine, opened: { tables: tablesOf(tables), pair: pair === null ? null : { ...pair, before: tablesOf(pair.before) } } };
}

function tablesOf({ head, ...columns }: OpenedTables): Tables {
  const { hang_risks: hangRisks, ...tables } = head;
  return { ...tables, hangRisks, ...columns };
}
