// Signposts, regions of interest and hangs: each selects its time; all with one name can be selected together.

import type { JSX } from 'preact';
import type { Interval } from '../../host/protocol.ts';
import { useApp, useStore } from '../app_context.ts';
import { grouped, timeText } from '../format.ts';
import { Notice, Panel } from '../panel.tsx';
import { Table, type TableColumn } from '../table.tsx';
import { text } from './binaries.tsx';

interface Row {
  readonly kind: string;
  readonly start: number;
  readonly end: number | null;
  readonly name: string | null;
  readonly more: string;
}

interface Risk {
  readonly run: number;
  readonly time_ns: number | string;
  readonly message: string | null;
  readonly severity: string | null;
}

export function IntervalsView(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const { tables } = app.names;
  const run = tables.runs[tables.series[state.series]!.run]!.number;
  const rows = [...intervalRows(tables.intervals, run), ...riskRows(tables.hangRisks as readonly Risk[], run)].sort((a, b) => a.start - b.start);
  if (rows.length === 0) return <Notice>This run has no signposts, no regions of interest and no hangs.</Notice>;
  const canSelect = tables.form === 'samples';
  const end = tables.spans[state.series]?.end ?? Infinity;
  const select = (row: number): void => {
    const { start, end: last } = rows[row]!;
    const stop = last ?? end;
    if (canSelect && stop > start) app.store.set({ time: { start, end: stop } });
    else app.say('This item does not have a time to select.');
  };
  const names = [...new Set(rows.filter(({ kind }) => kind !== 'hang' && kind !== 'hang risk').map(({ name }) => name))].filter((name) => name !== null);
  const hasHangs = rows.some(({ kind }) => kind === 'hang');
  const during = state.during ?? { names: [], hangs: false, needsAll: false };
  const setDuring = (change: Partial<typeof during>): void => {
    const next = { ...during, ...change };
    app.store.set({ during: next.names.length === 0 && !next.hangs ? null : next });
  };
  const columns: TableColumn[] = [
    { ...text('start', '7rem', (row) => timeText(rows[row]!.start)), isNumber: true, isMinor: false, sortBy: (row) => rows[row]!.start, isOrder: true, beginsWithLeast: true },
    { ...text('duration', '7rem', (row) => durationText(rows[row]!)), isNumber: true, isMinor: false, sortBy: (row) => (rows[row]!.end ?? Infinity) - rows[row]!.start },
    { ...text('kind', '6rem', (row) => rows[row]!.kind) },
    { ...text('name', 'minmax(9rem, 1fr)', (row) => rows[row]!.name ?? '(no name)'), isMinor: false },
    text('more', 'minmax(8rem, 2fr)', (row) => rows[row]!.more, 'details'),
  ];
  return (
    <Panel
      controls={
        <>
          <span class="note">{grouped(rows.length)} in this run. Enter or double click selects the time; samples that begin in it count, each as a whole.</span>
          {canSelect && names.length <= 40 && (
            <fieldset class="checks">
              <legend>Only samples during</legend>
              {names.map((name) => (
                <label key={name} class="check">
                  <input
                    type="checkbox"
                    checked={during.names.includes(name)}
                    onChange={(event) =>
                      setDuring({ names: event.currentTarget.checked ? [...during.names, name] : during.names.filter((one) => one !== name) })
                    }
                  />
                  <span>{name}</span>
                </label>
              ))}
              {hasHangs && (
                <label class="check">
                  <input type="checkbox" checked={during.hangs} onChange={(event) => setDuring({ hangs: event.currentTarget.checked })} />
                  <span>any hang</span>
                </label>
              )}
            </fieldset>
          )}
        </>
      }
    >
      <Table id="intervals" label="Signposts and hangs" columns={columns} count={rows.length} target={() => ({ label: null })} onOpen={select} />
    </Panel>
  );
}

function intervalRows(intervals: readonly Interval[], run: number): Row[] {
  return intervals
    .filter((row) => row.run === run)
    .map((row) => ({
      kind: row.kind,
      start: Number(row.start_ns),
      end: row.end_ns === null ? null : Number(row.end_ns),
      name: row.kind === 'hang' ? (row.name ?? row.hang_type ?? 'hang') : row.name,
      more: [row.hang_type, row.subsystem, row.category, row.process].filter((part) => part !== null && part !== '').join(' · '),
    }));
}

function riskRows(risks: readonly Risk[], run: number): Row[] {
  return risks
    .filter((row) => row.run === run)
    .map((row) => ({ kind: 'hang risk', start: Number(row.time_ns), end: Number(row.time_ns), name: row.message, more: row.severity ?? '' }));
}

function durationText({ start, end }: Row): string {
  if (end === null) return 'open';
  return end === start ? '' : timeText(end - start);
}
