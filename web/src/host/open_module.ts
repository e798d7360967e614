// Opens recordings with the engine: one, or two that are compared.

import { Engine, type OpenedTables } from './engine.ts';
import type { Opened, Payloads, Tables } from './protocol.ts';

export async function openModule({ engine: module, isCompressed, payload, before, facts }: Payloads): Promise<{ engine: Engine; opened: Opened }> {
  const engine = await Engine.start(module);
  const { tables, pair } = isCompressed ? await engine.open(payload, before, facts) : engine.openPlain(payload, before, facts);
  return { engine, opened: { tables: tablesOf(tables), pair: pair === null ? null : { ...pair, before: tablesOf(pair.before) } } };
}

function tablesOf({ head, ...columns }: OpenedTables): Tables {
  const { hang_risks: hangRisks, ...tables } = head;
  return { ...tables, hangRisks, ...columns };
}
