// The longest hangs of a run, as `traceparse hangs` reports them: what the thread did, and its heaviest stack.

import type { ComponentChildren, JSX } from 'preact';
import type { HangsAnswer } from '../../host/protocol.ts';
import { intervalsOf } from '../../state/intervals.ts';
import { runOf, threadName } from '../../state/names.ts';
import { placeOfAll } from '../../state/state.ts';
import { useAnswer, useApp, useStore } from '../app_context.ts';
import { FunctionName } from '../cells.tsx';
import { counted, timeText, withUnit } from '../format.ts';

type Hang = HangsAnswer['hangs'][number];

/** Functions of a stack that are shown, the innermost ones. */
const FRAMES = 4;

export function Hangs(): JSX.Element | null {
  const { names: { tables } } = useApp();
  const state = useStore();
  const hasHangs = intervalsOf(tables, runOf(tables, state.series)).some(({ label }) => label.kind === 'hang');
  const { answer } = useAnswer('hangs', hasHangs ? { kind: 'hangs' } : null, placeOfAll(state));
  if (!hasHangs || answer === null) return null;
  const { count, hangs } = answer;
  return (
    <section class="hangs" aria-labelledby="hangs-title" data-part="hangs">
      <h2 id="hangs-title">
        {counted(count, 'hang')}
        {count > hangs.length && <span class="note"> the {hangs.length} longest</span>}
      </h2>
      <ol class="top">
        {hangs.map((hang) => <Row key={hang.start} hang={hang} />)}
      </ol>
    </section>
  );
}

function Row({ hang }: { readonly hang: Hang }): JSX.Element {
  const app = useApp();
  const { tables } = app.names;
  const { start, duration, hangType, thread, process, activity, signposts } = hang;
  const end = duration === null ? (tables.spans[app.store.state.series]?.end ?? start) : start + duration;
  const where = thread < 0 ? process : threadName(app.names, thread);
  const select = (): void => {
    if (tables.form === 'samples' && end > start) app.store.set({ time: { start, end } });
  };
  return (
    <li>
      <button type="button" class="top-row is-hang" title="Select this time" onClick={select}>
        <span class="amount">{timeText(start)}</span>
        <span class="amount">{duration === null ? 'open' : timeText(duration)}</span>
        <span class="name">{[hangType ?? 'Hang', doneIn(hang)].filter(Boolean).join(', ')}</span>
        <span class="dim">{where}</span>
      </button>
      {activity !== null && <Stack labels={activity.heaviest}>on the CPU:</Stack>}
      {activity !== null && <Stack labels={activity.waiting}>off the CPU:</Stack>}
      {signposts.length > 0 && <p class="note hang-stack">{`open signposts: ${signposts.join(', ')}`}</p>}
    </li>
  );
}

/** `busy: 98% of the time on the CPU, 2.04 s`. */
function doneIn({ activity }: Hang): string {
  if (activity === null) return '';
  const { isBusy, percent, onCpu, unit } = activity;
  const state = isBusy === null ? 'on the CPU' : isBusy ? 'busy' : 'blocked or waiting';
  const share = percent === null ? '' : `${percent.toFixed(0)}% of the time on the CPU, `;
  return `${state}: ${share}${withUnit(onCpu.weight, unit)}`;
}

/** The innermost functions of a stack, each called by the one before. */
function Stack({ labels, children }: { readonly labels: Int32Array; readonly children: ComponentChildren }): JSX.Element | null {
  const app = useApp();
  if (labels.length === 0) return null;
  return (
    <p class="note hang-stack">
      {children} {labels.length > FRAMES && '… › '}
      {Array.from(labels.slice(-FRAMES), (label, place) => (
        <span key={place}>
          {place > 0 && ' › '}
          <button type="button" class="link" onClick={() => app.store.set({ chosen: label, tab: 'callers' })}>
            <FunctionName names={app.names} label={label} />
          </button>
        </span>
      ))}
    </p>
  );
}
