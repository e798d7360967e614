// Intervals and hang risks: each selects its time, and each name the time of all its intervals.

import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { HangRisk, IntervalsAnswer } from '../../host/protocol.ts';
import { type IntervalRow, byName, duringName, durationAt, intervalsOf, nameOfInterval, ownerOf, sumOf, tableOf } from '../../state/intervals.ts';
import { runOf } from '../../state/names.ts';
import { placeOfAll } from '../../state/state.ts';
import { useAnswer, useApp, useStore } from '../app_context.ts';
import { CheckName, countColumn, nameColumn, textColumn } from '../cells.tsx';
import { counted, grouped, timeText, withUnit } from '../format.ts';
import { Choice, Notice, Panel } from '../panel.tsx';
import { Table, type TableColumn } from '../table.tsx';

const LISTS = [
  { id: 'each', name: 'Each interval', title: 'A row for each interval' },
  { id: 'names', name: 'By name', title: 'Numbers and percentiles of all intervals with one name' },
] as const;

export function IntervalsView(): JSX.Element {
  const { store, names: { tables } } = useApp();
  const state = useStore();
  const run = runOf(tables, state.series);
  const rows = intervalsOf(tables, run);
  const { answer: cpu } = useAnswer('view', rows.length === 0 ? null : { kind: 'intervals' }, placeOfAll(state));
  const risks = useMemo(() => tables.hangRisks.filter((risk) => risk.run === run).map(riskRow), [tables, run]);
  if (rows.length + risks.length === 0) return <Notice>This run has no signposts, no hangs, and no other table with intervals.</Notice>;
  const leftOut = tables.intervals_left_out ?? [];
  const how = state.list === 'names' ? 'Check names to select their time, or press Enter to select only one' : 'Enter or double click selects the time';
  return (
    <Panel
      controls={
        <>
          <Choice label="Rows" value={state.list} options={LISTS} onChange={(list) => store.set({ list })} />
          <span class="note">{`${grouped(rows.length + risks.length)} in this run. ${how}; samples that begin in it count, each as a whole.`}</span>
        </>
      }
    >
      {leftOut.length > 0 && (
        <p class="notice is-quiet" data-part="left-out">
          {`The page has only the longest rows of ${leftOut.map(({ table, rows }) => `${table} (without ${counted(rows, 'shorter one')})`).join(' and ')}.`}
        </p>
      )}
      {state.list === 'names' ? <ByName rows={rows} cpu={cpu} /> : <Each rows={rows} risks={risks} cpu={cpu} />}
    </Panel>
  );
}

interface Shown {
  readonly rows: readonly IntervalRow[];
  readonly cpu: IntervalsAnswer | null;
}

function Each({ rows: intervals, risks, cpu }: Shown & { readonly risks: readonly IntervalRow[] }): JSX.Element {
  const app = useApp();
  const { tables } = app.names;
  const state = useStore();
  const rows = useMemo(() => [...intervals, ...risks].sort((a, b) => a.start - b.start), [intervals, risks]);
  const whole = tables.spans[state.series]?.end ?? Infinity;
  const select = (row: number): void => {
    const { start, end } = rows[row]!;
    const stop = Math.min(end, Math.max(whole, start));
    if (tables.form === 'samples' && stop > start && Number.isFinite(stop)) app.store.set({ time: { start, end: stop } });
    else app.say('This item does not have a time to select.');
  };
  const isSelected = (row: number): boolean => state.time !== null && rows[row]!.start === state.time.start && rows[row]!.end === state.time.end;
  const isRisk = ({ index }: IntervalRow): boolean => index < 0;
  const columns: TableColumn[] = [
    timeColumn('start', (row) => rows[row]!.start, { isOrder: true, beginsWithLeast: true }),
    timeColumn('duration', (row) => (isRisk(rows[row]!) ? NaN : rows[row]!.end - rows[row]!.start)),
    { ...textColumn('name', 'minmax(9rem, 2fr)', (row) => nameOfInterval(rows[row]!.label) ?? '(no name)'), isMinor: false },
    textColumn('table', 'minmax(6rem, 1fr)', (row) => rows[row]!.label.table ?? (isRisk(rows[row]!) ? 'hang risk' : rows[row]!.label.kind), 'kind'),
    textColumn('thread', 'minmax(6rem, 1fr)', (row) => ownerOf(app.names, rows[row]!).thread),
    textColumn('process', 'minmax(6rem, 1fr)', (row) => ownerOf(app.names, rows[row]!).process),
    ...cpuColumns(cpu, (of) => rows.map(({ index }) => of[index] ?? NaN)),
    textColumn('more', 'minmax(6rem, 1fr)', (row) => detailsOf(rows[row]!), 'details'),
  ];
  return <Table id="intervals" label="Intervals" columns={columns} count={rows.length} target={() => ({ label: null })} isChosen={isSelected} onOpen={select} />;
}

function ByName({ rows, cpu }: Shown): JSX.Element {
  const app = useApp();
  const { tables } = app.names;
  const state = useStore();
  const named = useMemo(() => byName(rows), [rows]);
  const during = state.during ?? { names: [], hangs: false, needsAll: false };
  const isWhole = (table: string): boolean => tables.intervals_left_out?.every((left) => left.table !== table) ?? true;
  /** The name to select; null if the name selects no intervals, or not all of them. */
  const nameOf = (row: number): string | null => {
    const { label } = named[row]!;
    return tables.form === 'samples' && isWhole(tableOf(label)) ? duringName(label) : null;
  };
  const set = (names: readonly string[]): void => app.store.set({ during: names.length === 0 && !during.hangs ? null : { ...during, names } });
  const shown = (row: number): string => nameOfInterval(named[row]!.label) ?? '(no name)';
  const check = (row: number): JSX.Element => {
    const name = nameOf(row);
    const isChecked = name !== null && during.names.includes(name);
    const toggle = (): void => set(isChecked ? during.names.filter((one) => one !== name) : [...during.names, name!]);
    return <CheckName name={shown(row)} isChecked={isChecked} onToggle={name === null ? null : toggle} />;
  };
  const percentile = (percent: number): TableColumn =>
    timeColumn(percent === 100 ? 'max' : `P${percent}`, (row) => (named[row]!.ended.length === 0 ? NaN : durationAt(named[row]!, percent)));
  const columns: TableColumn[] = [
    countColumn('count', (row) => named[row]!.ended.length),
    ...(named.some(({ open }) => open > 0) ? [countColumn('open', (row) => named[row]!.open)] : []),
    timeColumn('total', (row) => named[row]!.total, { isOrder: true }),
    ...[50, 95, 99, 100].map((percent) => ({ ...percentile(percent), isMinor: percent !== 100 })),
    ...cpuColumns(cpu, (of) => named.map(({ ended }) => sumOf(ended.map(({ index }) => of[index]!)))),
    { ...nameColumn('name', 'minmax(10rem, 2fr)', shown), cell: check },
    textColumn('table', 'minmax(7rem, 1fr)', (row) => tableOf(named[row]!.label)),
  ];
  return (
    <Table
      id="interval-names"
      label="Intervals by name"
      columns={columns}
      count={named.length}
      target={() => ({ label: null })}
      isChosen={(row) => during.names.includes(nameOf(row) ?? '')}
      onOpen={(row) => {
        const name = nameOf(row);
        if (name === null) app.say('These intervals cannot be selected together.');
        else set(during.names.length === 1 && during.names[0] === name ? [] : [name]);
      }}
    />
  );
}

/** A column of times or durations; NaN is empty. */
function timeColumn(id: string, of: (row: number) => number, more: Partial<TableColumn> = {}): TableColumn {
  const shown = (row: number): string => (of(row) === Infinity ? 'open' : Number.isNaN(of(row)) ? '' : timeText(of(row)));
  return { ...textColumn(id, '6.6rem', shown), isNumber: true, isMinor: false, value: of, sortBy: (row) => of(row) || 0, ...more };
}

/** CPU time of the interval's thread, and of all; no columns without samples. `of` takes the values of rows from those of intervals. */
function cpuColumns(cpu: IntervalsAnswer | null, of: (values: Float64Array) => readonly number[]): TableColumn[] {
  if (cpu === null || cpu.unit === null) return [];
  const { unit } = cpu;
  const column = (id: string, title: string, values: readonly number[]): TableColumn => {
    const shown = (row: number): string => (Number.isNaN(values[row]) ? '' : withUnit(values[row]!, unit));
    return { ...textColumn(id, '8.4rem', shown, title), isNumber: true, value: (row) => values[row]!, sortBy: (row) => values[row] || 0 };
  };
  return [column('thread-cpu', 'CPU of thread', of(cpu.thread)), column('cpu', 'CPU of all', of(cpu.all))];
}

function detailsOf({ label: { name, hang_type: type, subsystem, category } }: IntervalRow): string {
  return [name === null ? null : type, subsystem, category].filter(Boolean).join(' · ');
}

function riskRow({ run, time_ns: time, message, severity }: HangRisk): IntervalRow {
  const label = { kind: 'hang', table: null, name: message, subsystem: severity, category: null, hang_type: null } as const;
  return { index: -1, run, start: Number(time), end: Number(time), label, owner: { process: null, pid: null, tid: null } };
}
