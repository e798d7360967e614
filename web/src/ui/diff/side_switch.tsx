// The switch for the displayed recording, or both, and for the scaling of changes.

import type { JSX } from 'preact';
import type { Normalize, Side } from '../../host/protocol.ts';
import { useApp, useStore } from '../app_context.ts';
import { Choice, Select } from '../panel.tsx';

const SIDES: readonly { id: Side; name: string; title: string }[] = [
  { id: 'compared', name: 'Compared', title: 'Changes from the first recording to the second' },
  { id: 'after', name: 'After', title: 'The second recording by itself' },
  { id: 'before', name: 'Before', title: 'The first recording by itself' },
];
const SCALES: readonly { value: Normalize; name: string }[] = [
  { value: 'none', name: 'as recorded' },
  { value: 'duration', name: 'to equal duration' },
  { value: 'samples', name: 'to equal total' },
];

export function SideSwitch(): JSX.Element | null {
  const { names, showSide, store } = useApp();
  const state = useStore();
  if (names.sides === undefined) return null;
  return (
    <>
      <Choice label="Recording" value={state.side} options={SIDES} onChange={(side) => showSide(side)} />
      {state.side === 'compared' && (
        <Select
          label="Weights"
          value={state.normalize ?? names.sides.facts.normalize}
          options={SCALES}
          onChange={(value) => store.set({ normalize: value as Normalize })}
        />
      )}
    </>
  );
}

/** Replaces a view that has nothing to compare. */
export function OneSideOnly(): JSX.Element {
  const { showSide } = useApp();
  return (
    <div class="notice">
      <p>This view shows one recording at a time.</p>
      <p class="buttons-below">
        <button type="button" onClick={() => showSide('after')}>
          Show after
        </button>{' '}
        <button type="button" onClick={() => showSide('before')}>
          Show before
        </button>
      </p>
    </div>
  );
}
