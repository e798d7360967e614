// The timelines of both recordings, one above the other. A brush on either selects the same time in both.

import type { ComponentChildren, JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { namesOfSide, stateOnSide } from '../../state/sides.ts';
import type { State } from '../../state/state.ts';
import { type App, AppContext, useApp } from '../app_context.ts';
import { Timeline } from '../timeline.tsx';

export function Timelines(): JSX.Element {
  const [rates, setRates] = useState({ before: 0, after: 0 });
  const rate = Math.max(rates.before, rates.after);
  const { before, after } = useApp().names.sides!;
  // If neither has times, one sentence is shown instead of two.
  const shown = before.tables.form === 'sums' && after.tables.form === 'sums' ? (['before'] as const) : (['before', 'after'] as const);
  return (
    <div class="timelines">
      {shown.map((side) => (
        <OneSide key={side} side={side}>
          <Timeline
            one={{ name: side === 'before' ? 'Before' : 'After', rate }}
            channel={`tracks-${side}`}
            onRate={(found) => setRates((known) => (known[side] === found ? known : { ...known, [side]: found }))}
          />
        </OneSide>
      ))}
    </div>
  );
}

/** Provides one of the two recordings to its children, and applies choices to both. */
function OneSide({ side, children }: { side: 'before' | 'after'; children: ComponentChildren }): JSX.Element {
  const app = useApp();
  const inner = useMemo((): App => {
    const sides = app.names.sides!;
    const stateOf = (state: State): State => stateOnSide(state, sides, side).state;
    /** Translates choices in this recording to both; shows a message and returns null if the other recording lacks them. */
    const onBoth = (change: Partial<State>): Partial<State> | null => {
      const { state, lost } = stateOnSide({ ...stateOf(app.store.state), ...change }, sides, 'compared');
      if (lost.length === 0) return { ...change, ...picked(change, state) };
      app.say(`Not found in the second recording: the selected ${lost.join(' and ')}. To select it, show only the first recording.`);
      return null;
    };
    return {
      ...app,
      names: namesOfSide(app.names, side),
      stateOf,
      change: (change, gesture) => {
        const found = onBoth(change);
        if (found !== null) app.store.set(found, gesture);
      },
      openMenu: (target, x, y) => {
        const found = onBoth(chosenOf(target.thread, target.process));
        if (found === null) return;
        app.openMenu({ ...target, thread: found.threads?.[0], process: found.processes?.[0] }, x, y);
      },
    };
  }, [app, side]);
  return <AppContext.Provider value={inner}>{children}</AppContext.Provider>;
}

function chosenOf(thread: number | undefined, process: number | undefined): Partial<State> {
  return { ...(thread === undefined ? {} : { threads: [thread] }), ...(process === undefined ? {} : { processes: [process] }) };
}

/** The changed fields whose indices refer to one recording. */
function picked(change: Partial<State>, { threads, processes }: State): Partial<State> {
  return { ...('threads' in change ? { threads } : {}), ...('processes' in change ? { processes } : {}) };
}

