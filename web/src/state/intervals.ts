// The intervals of a run: signposts, hangs, and rows of other tables with a duration.

import type { IntervalLabel, IntervalOwner, Tables } from '../host/protocol.ts';
import { type Names, labelled, threadName } from './names.ts';

export interface IntervalRow {
  /** Its index in the columns. */
  readonly index: number;
  readonly run: number;
  readonly start: number;
  /** Infinite if it was open at the end. */
  readonly end: number;
  readonly label: IntervalLabel;
  readonly owner: IntervalOwner;
}

/** The intervals with one name in one table. */
interface NamedIntervals {
  readonly label: IntervalLabel;
  /** The intervals with an end, shortest first. */
  readonly ended: readonly IntervalRow[];
  readonly open: number;
  readonly total: number;
}

/** By recording and run. */
const known = new WeakMap<Tables, Map<number, readonly IntervalRow[]>>();

/** The intervals of a run by their start. */
export function intervalsOf(tables: Tables, run: number): readonly IntervalRow[] {
  const runs = known.get(tables) ?? new Map<number, readonly IntervalRow[]>();
  known.set(tables, runs);
  const found = runs.get(run) ?? read(tables, run);
  runs.set(run, found);
  return found;
}

function read({ intervals, interval_labels: labels = [], interval_owners: owners = [] }: Tables, run: number): IntervalRow[] {
  const rows: IntervalRow[] = [];
  intervals.run.forEach((of, index) => {
    if (of !== run) return;
    const [label, owner] = [labels[intervals.label[index]!]!, owners[intervals.owner[index]!]!];
    rows.push({ index, run, start: intervals.start[index]!, end: intervals.end[index]!, label, owner });
  });
  return rows.sort((a, b) => a.start - b.start);
}

/** The schema of the table, as `traceparse intervals` prints it. */
export function tableOf({ kind, table }: IntervalLabel): string {
  return table ?? (kind === 'hang' ? 'potential-hangs' : 'os-signpost');
}

/** The name, or the type of a hang; null without one. */
export function nameOfInterval({ name, hang_type: type }: IntervalLabel): string | null {
  return (name ?? type) || null;
}

/** The name that selects all intervals like this one (`Interval::is_named` in the crate). Null if no name does. */
export function duringName(label: IntervalLabel): string | null {
  const [name, table] = [nameOfInterval(label), tableOf(label)];
  if (table === 'os-signpost') return label.name;
  return name === null ? table : `${table}: ${name}`;
}

/** The threads of a recording by run and number. */
const threads = new WeakMap<Tables, Map<string, number>>();

/** The thread and the process of an interval; empty if neither is known. */
export function ownerOf(names: Names, { run, owner: { process, pid, tid } }: IntervalRow): { readonly thread: string; readonly process: string } {
  const { tables } = names;
  const key = (run: number, tid: number | string | null): string => `${run}/${tid}`;
  const runOf = (process: number): number => tables.runs[tables.processes[process]!.run]!.number;
  const byNumber = threads.get(tables) ?? new Map(tables.threads.map((row, id) => [key(runOf(row.process), row.tid), id]));
  threads.set(tables, byNumber);
  const thread = tid === null ? undefined : byNumber.get(key(run, tid));
  const number = tid === null ? '' : `0x${BigInt(tid).toString(16)}`;
  return { thread: thread === undefined ? number : threadName(names, thread), process: labelled(process ?? '', pid === null ? null : String(pid), '') };
}

/** Groups intervals by table and name, the largest total first. */
export function byName(rows: readonly IntervalRow[]): NamedIntervals[] {
  const groups = new Map<string, IntervalRow[]>();
  for (const row of rows) {
    const key = JSON.stringify([tableOf(row.label), nameOfInterval(row.label)]);
    groups.get(key)?.push(row) ?? groups.set(key, [row]);
  }
  const named = [...groups.values()].map((rows): NamedIntervals => {
    const ended = rows.filter(({ end }) => Number.isFinite(end)).sort((a, b) => a.end - a.start - (b.end - b.start));
    return { label: rows[0]!.label, ended, open: rows.length - ended.length, total: ended.reduce((sum, { start, end }) => sum + end - start, 0) };
  });
  return named.sort((a, b) => b.total - a.total);
}

/** The duration at a percentile: the nearest rank. */
export function durationAt({ ended }: NamedIntervals, percent: number): number {
  const row = ended[Math.max(1, Math.ceil((percent * ended.length) / 100)) - 1]!;
  return row.end - row.start;
}

/** The sum of the values that are not NaN; NaN if there are none. */
export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => (Number.isNaN(value) ? sum : Number.isNaN(sum) ? value : sum + value), NaN);
}
