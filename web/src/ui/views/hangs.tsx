// The longest hangs of a run, as `traceparse hangs` reports them: what the thread did, and its heaviest stack.

import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { AnswerOf, Tables } from '../../host/protocol.ts';
import { type IntervalRow, intervalsOf, ownerOf } from '../../state/intervals.ts';
import { runOf } from '../../state/names.ts';
import { placeOfAll } from '../../state/state.ts';
import { useAnswer, useApp, useStore } from '../app_context.ts';
import { FunctionName } from '../cells.tsx';
import { counted, timeText } from '../format.ts';

interface Hang {
  readonly row: IntervalRow;
  readonly end: number;
  readonly doing: AnswerOf<'hangs'>['hangs'][number];
}

/** The number of hangs to describe, longest first. */
const MOST = 8;
/** The number of functions of a stack to show, innermost first. */
const FRAMES = 4;

export function Hangs(): JSX.Element | null {
  const { names: { tables } } = useApp();
  const state = useStore();
  const rows = intervalsOf(tables, runOf(tables, state.series));
  const hangs = useMemo(() => rows.filter(({ label }) => label.kind === 'hang'), [rows]);
  const longest = useMemo(() => [...hangs].sort((a, b) => b.end - b.start - (a.end - a.start)).slice(0, MOST).sort((a, b) => a.start - b.start), [hangs]);
  const isTimed = hangs.length > 0 && tables.form === 'samples';
  const spans = longest.map((row) => ({ threads: threadsOf(tables, row), start: row.start, end: Number.isFinite(row.end) ? row.end : null }));
  const { answer } = useAnswer('hangs', isTimed ? { kind: 'hangs', hangs: spans } : null, placeOfAll(state));
  if (!isTimed || answer === null || answer.hangs.length !== longest.length) return null;
  const whole = tables.spans[state.series]?.end ?? 0;
  return (
    <section class="hangs" aria-labelledby="hangs-title" data-part="hangs">
      <h2 id="hangs-title">
        {counted(hangs.length, 'hang')}
        {hangs.length > MOST && <span class="note"> the {MOST} longest</span>}
      </h2>
      <ol class="top">
        {longest.map((row, place) => (
          <Row key={place} hang={{ row, end: Math.min(row.end, Math.max(whole, row.start)), doing: answer.hangs[place]! }} signposts={openIn(rows, row)} />
        ))}
      </ol>
    </section>
  );
}

/** The threads of a hang: by number, or the main thread of its process. */
function threadsOf(tables: Tables, { run, owner: { tid, pid } }: IntervalRow): number[] {
  return [...tables.threads.keys()].filter((id) => {
    const thread = tables.threads[id]!;
    const process = tables.processes[thread.process]!;
    return tables.runs[process.run]!.number === run && (tid === null ? thread.is_main && process.pid === pid : thread.tid === tid);
  });
}

/** The names of the signposts of the process that were open in a hang. */
function openIn(rows: readonly IntervalRow[], hang: IntervalRow): string[] {
  const isOpen = ({ label: { kind }, owner: { pid }, start, end }: IntervalRow): boolean =>
    (kind === 'signpost' || kind === 'region') && (pid === null || hang.owner.pid === null || pid === hang.owner.pid) && start < hang.end && end > hang.start;
  return [...new Set(rows.filter(isOpen).map(({ label }) => label.name ?? ''))].filter((name) => name !== '').sort();
}

function Row({ hang, signposts }: { readonly hang: Hang; readonly signposts: readonly string[] }): JSX.Element {
  const app = useApp();
  const { row: { start, end: last, label }, end, doing } = hang;
  const { thread, process } = ownerOf(app.names, hang.row);
  const text = doneIn(app.names.tables, hang.row);
  return (
    <li>
      <button type="button" class="top-row is-hang" title="Select this time" onClick={() => end > start && app.store.set({ time: { start, end } })}>
        <span class="amount">{`at ${timeText(start)}`}</span>
        <span class="amount">{last === Infinity ? `≥ ${timeText(end - start)}` : timeText(last - start)}</span>
        <span class="name">{label.hang_type || 'Hang'}</span>
        <span class="dim">{thread || process}</span>
      </button>
      <p class="note hang-stack">{text}</p>
      <Stack labels={doing.heaviest}>on the CPU:</Stack>
      <Stack labels={doing.waiting}>off the CPU:</Stack>
      {signposts.length > 0 && <p class="note hang-stack">{`open signposts: ${signposts.join(', ')}`}</p>}
    </li>
  );
}

/** `Busy: on the CPU for at least 98% of it`. */
function doneIn(tables: Tables, { run, start, owner: { tid } }: IntervalRow): string {
  return tables.hangs?.find((hang) => hang.run === run && Number(hang.start_ns) === start && hang.tid === tid)?.text ?? '';
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
