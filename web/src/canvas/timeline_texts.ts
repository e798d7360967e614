// Descriptions of a point in the timeline.

import { exactTimeText, rateText, shareText, weightText } from './amounts.ts';
import type { Tip } from './tooltip.ts';
import { type Strip, markAt, spanAt } from './track_scene.ts';
import type { TimelineModel, Track } from './types.ts';

/** The lines of a tooltip at a position in a track. */
export function tipAt(model: TimelineModel, track: Track, strip: Strip, x: number, y: number, time: number): Tip {
  const rows: [string, string][] = [['at', exactTimeText(Math.round(time))]];
  const span = spanAt(track, x, y, strip, model.range.end);
  if (span >= 0) return spanTip(track, span, model);
  const mark = markAt(track, x, strip);
  if (mark >= 0) {
    const { names, time } = track.marks!;
    return { title: names[mark]!, subtitle: track.label, rows: [['at', exactTimeText(time[mark]!)]] };
  }
  rows.push(...binRows(model, track, time));
  return track.detail === undefined ? { title: track.label, rows } : { title: track.label, subtitle: track.detail, rows };
}

function spanTip(track: Track, span: number, { range }: TimelineModel): Tip {
  const spans = track.spans!;
  const [start, end] = [spans.start[span]!, spans.end[span]!];
  const isOpen = !(end <= range.end);
  const rows: [string, string][] = [['from', exactTimeText(start)]];
  rows.push(isOpen && !Number.isFinite(end) ? ['duration', 'still open at the end of the recording'] : ['duration', exactTimeText(end - start)]);
  return { title: spans.names[span]!, subtitle: track.label, rows: [...rows, ...(track.note?.(span) ?? [])] };
}

/** The weights of the bin at a time, layer by layer. */
function binRows({ unit }: TimelineModel, { bins }: Track, time: number): [string, string][] {
  if (bins === undefined) return [];
  const at = Math.floor((time - bins.start) / bins.bin);
  const layers = bins.layers.filter(({ values }) => (values[at] ?? 0) > 0);
  const rows = layers.map(({ name, values }): [string, string] => {
    const weight = `${weightText(Math.round(values[at]!), unit)} in ${exactTimeText(bins.bin)}`;
    if (unit === 'ns') return [name, `${weight} · ${shareText(values[at]!, bins.full)} of ${bins.fullText}`];
    // Events of counters are not rates.
    return [name, unit === 'events' ? weight : `${weight} · ${rateText(values[at]! / bins.bin, unit)}`];
  });
  return rows.length > 0 ? rows : [['', `nothing in ${exactTimeText(bins.bin)}`]];
}
