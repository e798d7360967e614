// The separation of trees: none, or by thread, process, state or kind of core.

import type { JSX } from 'preact';
import type { Part, SeparateBy } from '../host/protocol.ts';
import { processName, threadName } from '../state/names.ts';
import { useApp, useStore } from './app_context.ts';
import { type Unit, withUnit } from './format.ts';
import { Select } from './panel.tsx';

const BY: readonly { value: SeparateBy; name: string }[] = [
  { value: 'none', name: 'everything' },
  { value: 'thread', name: 'thread' },
  { value: 'process', name: 'process' },
  { value: 'state', name: 'thread state' },
  { value: 'core-kind', name: 'kind of core' },
];

/** The word for a part. */
export function partWord(by: SeparateBy): string {
  return BY.find(({ value }) => value === by)!.name;
}

interface Props {
  /** The requested separation of these parts, even if another one is being computed. */
  readonly by: SeparateBy;
  readonly parts: readonly Part[];
  readonly part: number | null;
  readonly unit: Unit;
}

export function PartControls({ by, parts, part, unit }: Props): JSX.Element {
  const app = useApp();
  const state = useStore();
  const nameOf = ({ id, name }: Part): string => {
    if (by === 'thread') return threadName(app.names, id);
    if (by === 'process') return processName(app.names, id);
    return name ?? (by === 'state' ? 'no state recorded' : 'unknown');
  };
  return (
    <>
      <Select
        label="Tree of"
        value={state.by}
        options={BY}
        onChange={(next) => app.store.set({ by: next as SeparateBy, part: null })}
      />
      {by !== 'none' && (
        <Select
          label=""
          value={String(part ?? '')}
          options={parts.map((one) => ({ value: String(one.id), name: `${nameOf(one)} · ${withUnit(one.weight, unit)}` }))}
          onChange={(id) => app.store.set({ part: Number(id) })}
        />
      )}
    </>
  );
}
