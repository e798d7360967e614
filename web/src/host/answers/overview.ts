// The first answer about a recording, and the facts next to it.

import { type View, cores, counterSums, cpuPercent, overview, threads } from '../../engine/index.ts';
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
    time: view.scope.selectedTime(series),
    cpuPercent: cpuPercent(view, series),
    counters: counterSums(view.profile, series, view.counted(series)),
  };
}
