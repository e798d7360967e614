// Lanes of intervals, one for each kind: hangs, hitches, regions of interest, signposts, and each other table.

import type { LaneSpans, Track } from '../canvas/index.ts';
import type { IntervalsAnswer, Tables } from '../host/protocol.ts';
import { inert } from '../state/inert.ts';
import { type IntervalRow, intervalsOf, nameOfInterval, ownerOf, tableOf } from '../state/intervals.ts';
import { type Names, runOf } from '../state/names.ts';
import type { State } from '../state/state.ts';
import { withUnit } from './format.ts';

const KINDS = {
  hang: { label: 'Hangs', tone: 'hang' },
  region: { label: 'Points of interest', tone: 'region' },
  signpost: { label: 'Signposts', tone: 'signpost' },
  table: { label: '', tone: 'region' },
} as const;
/** The order above the CPU of processes, by kind or table; all others are below it. */
const ABOVE = ['hang', 'hitches', 'region', 'signpost'];

interface Lane {
  readonly of: string;
  readonly label: IntervalRow['label'];
  readonly rows: readonly IntervalRow[];
  readonly spans: LaneSpans;
}

/** Keyed by the rows of a run. The bars of a lane stay the same object, so they are arranged only once. */
const known = new WeakMap<readonly IntervalRow[], readonly Lane[]>();

/** The non-empty lanes of a run, above and below the CPU of processes. `cpu` is the CPU time within intervals. */
export function laneTracks(names: Names, state: State, cpu: IntervalsAnswer | null): { readonly above: Track[]; readonly below: Track[] } {
  const { tables } = names;
  const run = runOf(tables, state.series);
  const rows = intervalsOf(tables, run);
  const lanes = known.get(rows) ?? lanesOf(rows);
  known.set(rows, lanes);
  const place = ({ of }: Lane): number => ABOVE.indexOf(of);
  const tracks = (lanes: readonly Lane[]): Track[] => lanes.map((lane) => laneTrack(names, lane, cpu));
  const above = tracks(lanes.filter((lane) => place(lane) >= 0).sort((a, b) => place(a) - place(b)));
  return { above: [...above, ...riskTracks(tables, run)], below: tracks(lanes.filter((lane) => place(lane) < 0)) };
}

function lanesOf(rows: readonly IntervalRow[]): Lane[] {
  const groups = new Map<string, IntervalRow[]>();
  for (const row of rows) {
    const of = row.label.table ?? row.label.kind;
    groups.get(of)?.push(row) ?? groups.set(of, [row]);
  }
  return [...groups].map(([of, rows]) => {
    const spans = {
      start: Float64Array.from(rows, ({ start }) => start),
      end: Float64Array.from(rows, ({ end }) => end),
      names: rows.map(({ label }) => inert(nameOfInterval(label) ?? tableOf(label))),
    };
    return { of, label: rows[0]!.label, rows, spans };
  });
}

function laneTrack(names: Names, { of, label, rows, spans }: Lane, cpu: IntervalsAnswer | null): Track {
  const { label: name, tone } = KINDS[label.kind];
  const note = (span: number): (readonly [string, string])[] => {
    const { label, index } = rows[span]!;
    const { thread, process } = ownerOf(names, rows[span]!);
    const within = (values: Float64Array | undefined): string => (cpu?.unit == null || !(values![index]! >= 0) ? '' : withUnit(values![index]!, cpu.unit));
    const more = label.kind === 'table' ? '' : [label.name === null ? null : label.hang_type, label.subsystem, label.category].filter(Boolean).join(' · ');
    const lines = [['', more], ['thread', thread], ['process', process], ['CPU of thread', within(cpu?.thread)], ['CPU of all', within(cpu?.all)]] as const;
    return lines.filter(([, text]) => text !== '').map(([name, text]) => [name, inert(text)]);
  };
  return { id: `lane:${of}`, label: name || inert(of), detail: String(rows.length), kind: 'lane', tone: of === 'hitches' ? 'hang' : tone, spans, note };
}

function riskTracks({ hangRisks }: Tables, run: number): Track[] {
  const risks = hangRisks.filter((row) => row.run === run);
  if (risks.length === 0) return [];
  const marks = { time: Float64Array.from(risks, (row) => Number(row.time_ns)), names: risks.map((row) => inert(row.message ?? 'hang risk')) };
  return [{ id: 'lane:risk', label: 'Hang risks', detail: String(risks.length), kind: 'lane', tone: 'risk', marks }];
}
