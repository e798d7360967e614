// The answer that a recording opens with, and what stands beside it.

import { type View, cores, counterSums, overview, threads } from '../../engine/index.ts';
import type { OverviewAnswer, Place } from '../protocol.ts';
import { totalOf } from './tables.ts';

const TOP = 12;

export function answerOverview(view: View, { series }: Place): OverviewAnswer {
  return {
    kind: 'overview',
    total: totalOf(view, series),
    answer: overview(view, series, TOP),
    threads: threads(view, series).slice(0, TOP),
    cores: cores(view, series),
    span: spanOf(view, series),
    counters: counterSums(view.profile, series, view.counted(series)),
  };
}

function spanOf(view: View, series: number): OverviewAnswer['span'] {
  const { profile } = view;
  if (profile.form === 'sums' || !profile.series[series]!.has_times) return null;
  const rows = view.ofAllStates(series);
  if (rows.length === 0) return null;
  const { time } = profile.samples;
  const last = rows[rows.length - 1]!;
  const isTime = profile.series[series]!.unit === 'ns';
  return { start: Number(time[rows[0]!]!), end: Number(time[last]!) + (isTime ? Number(view.recordedWeight(last)) : 0) };
}
