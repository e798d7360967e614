// What has a tree of its own: everything, or each thread, process, state or kind of core.

import type { JSX } from 'preact';
import type { Part, SeparateBy } from '../engine/index.ts';
import { processName, threadName } from '../state/names.ts';
import { unitOf, useApp, useStore } from './app_context.ts';
import { withUnit } from './format.ts';
import { Select } from './panel.tsx';

const BY: readonly { value: SeparateBy; name: string }[] = [
  { value: 'none', name: 'everything' },
  { value: 'thread', name: 'thread' },
  { value: 'process', name: 'process' },
  { value: 'state', name: 'thread state' },
  { value: 'core-kind', name: 'kind of core' },
];

export function PartControls({ parts, part }: { parts: readonly Part[]; part: number | null }): JSX.Element {
  const app = useApp();
  const state = useStore();
  const nameOf = ({ id, name }: Part): string => {
    if (state.by === 'thread') return threadName(app.names, id);
    if (state.by === 'process') return processName(app.names, id);
    return name ?? (state.by === 'state' ? 'no state recorded' : 'unknown');
  };
  const unit = unitOf(app, state);
  return (
    <>
      <Select
        label="Tree of"
        value={state.by}
        options={BY}
        onChange={(by) => app.store.set({ by: by as SeparateBy, part: null })}
      />
      {state.by !== 'none' && (
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
