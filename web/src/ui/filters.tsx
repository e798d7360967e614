// The switches that are always visible, and the search.

import type { JSX } from 'preact';
import type { Metric } from '../host/protocol.ts';
import { countersOf } from '../state/counters.ts';
import { GENERAL } from './actions.ts';
import { useApp, useStore } from './app_context.ts';
import { counterName } from './counter_name.ts';
import { Select } from './panel.tsx';
import { SearchBox } from './search.tsx';
import { TimeField } from './time_field.tsx';

export function Filters(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const { tables } = app.names;
  const hasMain = tables.threads.some(({ is_main }) => is_main);
  const series = tables.series[state.series]!;
  // Two recordings may have different counters.
  const counters = state.side === 'compared' ? [] : countersOf(series);
  const hasStates = tables.states.some((name) => name !== 'Running');
  return (
    <div class="filters" role="group" aria-label="Filters">
      <SearchBox />
      <div class="toggles">
        <TimeField />
        {GENERAL.map((action) => (
          <Toggle
            key={action.id}
            id={action.id}
            name={action.name}
            title={`${action.tells} (${action.key})`}
            isOn={state.operations.some(({ kind }) => kind === action.id)}
            onClick={() => {
              const change = action.change(state, app.names, { label: null });
              if (change !== null) app.store.set(change);
            }}
          />
        ))}
        {hasMain && (
          <Toggle
            id="main-only"
            name="Main threads"
            title="Only the main thread of each process"
            isOn={state.mainOnly}
            onClick={() => app.store.set({ mainOnly: !state.mainOnly })}
          />
        )}
        {hasStates && (
          <Toggle
            id="all-states"
            name="All states"
            title="Samples of threads that wait count, too"
            isOn={state.states === 'all'}
            onClick={() => app.store.set({ states: state.states === 'all' ? 'running' : 'all' })}
          />
        )}
        {counters.length > 0 && <Weighing counters={counters} />}
        {counters.length === 0 && series.unit !== 'samples' && (
          <Toggle
            id="count-samples"
            name="Count samples"
            title="Every sample weighs one"
            isOn={state.metric === 'samples'}
            onClick={() => app.store.set({ metric: state.metric === 'samples' ? 'weight' : 'samples' })}
          />
        )}
      </div>
    </div>
  );
}

/** The choice of the samples' weight, if they have counter values. */
function Weighing({ counters }: { counters: ReturnType<typeof countersOf> }): JSX.Element {
  const app = useApp();
  const { metric } = useStore();
  const metrics: { value: Metric; name: string }[] = [
    { value: 'weight', name: 'recorded' },
    { value: 'samples', name: 'one per sample' },
    ...counters.map(({ number, name }) => ({ value: `counter:${number}` as const, name: counterName(number, name) })),
  ];
  const change = (value: string): void => {
    const chosen = metrics.find((one) => one.value === value);
    if (chosen !== undefined) app.store.set({ metric: chosen.value });
  };
  return <Select label="Weight" value={metric} options={metrics} onChange={change} />;
}

function Toggle(props: { id: string; name: string; title: string; isOn: boolean; onClick: () => void }): JSX.Element {
  return (
    <button type="button" class="toggle" aria-pressed={props.isOn} title={props.title} data-part={`toggle-${props.id}`} onClick={props.onClick}>
      {props.name}
    </button>
  );
}
