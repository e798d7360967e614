// Lanes of signposts, regions of interest and hangs.

import type { LaneSpans, Track } from '../canvas/index.ts';
import type { Interval } from '../host/protocol.ts';
import { inert } from '../state/inert.ts';
import type { Names } from '../state/names.ts';
import type { State } from '../state/state.ts';

const KINDS = [
  { kind: 'hang', label: 'Hangs', tone: 'hang' },
  { kind: 'region', label: 'Points of interest', tone: 'region' },
  { kind: 'signpost', label: 'Signposts', tone: 'signpost' },
] as const;

interface Risk {
  readonly run: number;
  readonly time_ns: number | string;
  readonly message: string | null;
}

/** The lanes of a run that have anything on them. */
export function laneTracks({ tables }: Names, state: State): Track[] {
  const run = tables.runs[tables.series[state.series]!.run]!.number;
  const lanes = KINDS.flatMap(({ kind, label, tone }): Track[] => {
    const rows = tables.intervals.filter((row) => row.run === run && row.kind === kind);
    return rows.length === 0 ? [] : [{ id: `lane:${kind}`, label, detail: String(rows.length), kind: 'lane', tone, spans: spansOf(rows) }];
  });
  const risks = (tables.hangRisks as readonly Risk[]).filter((row) => row.run === run);
  if (risks.length > 0) {
    const marks = { time: Float64Array.from(risks, (row) => Number(row.time_ns)), names: risks.map((row) => inert(row.message ?? 'hang risk')) };
    lanes.push({ id: 'lane:risk', label: 'Hang risks', detail: String(risks.length), kind: 'lane', tone: 'risk', marks });
  }
  return lanes;
}

function spansOf(rows: readonly Interval[]): LaneSpans {
  const sorted = [...rows].sort((a, b) => Number(a.start_ns) - Number(b.start_ns));
  return {
    start: Float64Array.from(sorted, (row) => Number(row.start_ns)),
    end: Float64Array.from(sorted, (row) => (row.end_ns === null ? Infinity : Number(row.end_ns))),
    names: sorted.map((row) => inert(row.name ?? row.hang_type ?? row.kind)),
    notes: sorted.map((row) => [row.hang_type, row.subsystem, row.category].filter((part) => part !== null && part !== '').join(' · ')).map(inert),
  };
}
