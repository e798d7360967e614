// The timeline at the top of the page shows what ran when. Its brush selects a time for all views.

import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Range, TimelineCanvas, type TimelineModel, marginOf } from '../canvas/index.ts';
import { intervalsOf } from '../state/intervals.ts';
import { runOf } from '../state/names.ts';
import { placeOf, placeOfAll } from '../state/state.ts';
import { unitOf, useAnswer, useApp, useStore } from './app_context.ts';
import { CanvasHost } from './canvas_host.tsx';
import { LowerEdge } from './lower_edge.tsx';
import { withoutTimes } from './summary.ts';
import { type OneOfTwo, largestRate, timelineModel } from './timeline_model.ts';

interface Props {
  /** Distinguishes the timelines of two recordings. */
  readonly one?: OneOfTwo;
  readonly channel?: string;
  readonly onRate?: (rate: number) => void;
}

export function Timeline({ one, channel = 'tracks', onRate }: Props): JSX.Element | null {
  const name = one?.name;
  const app = useApp();
  const state = useStore();
  const whole = app.names.tables.spans[state.series] ?? null;
  const [seen, setSeen] = useState<{ range: Range; pixels: number } | null>(null);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const canvas = useRef<TimelineCanvas | null>(null);
  const box = useRef<HTMLElement>(null);
  /** Movements of the brush, each of which is undone in one step. */
  const strokes = useRef(0);
  // The lines of all samples stay visible, regardless of the selection.
  const place = placeOf({ ...state, time: null, threads: null, processes: null, mainOnly: false, by: 'none' }, app.names.tables);
  const pixels = seen?.pixels ?? innerWidth - marginOf(innerWidth);
  const tracksIn = (range: Range | null) => (range === null ? null : ({ kind: 'tracks', unit: unitOf(app, state), range, pixels } as const));
  // The overview and its scale are of everything, regardless of the zoom.
  const { answer, unit, place: answered } = useAnswer(channel, tracksIn(whole), place);
  const isZoomed = whole !== null && seen !== null && (seen.range.start > whole.start || seen.range.end < whole.end);
  const zoomed = useAnswer(`${channel}-zoomed`, tracksIn(isZoomed ? seen.range : null), place);
  const part = isZoomed && zoomed.place.series === state.series ? zoomed.answer : null;
  const isWithIntervals = intervalsOf(app.names.tables, runOf(app.names.tables, state.series)).length > 0;
  const { answer: cpu } = useAnswer(`intervals-${channel}`, isWithIntervals ? { kind: 'intervals' } : null, placeOfAll(state));
  const lines = useMemo(() => {
    if (answer === null || whole === null || answered.series !== state.series) return null;
    return timelineModel(app.names, state, { answer: part ?? answer, overall: answer, unit }, whole, closed, cpu, one);
  }, [answer, part, cpu, state.threads, state.processes, state.mainOnly, state.series, closed, one?.rate]);
  // While the brush moves, the lines stay the same objects.
  const model = useMemo((): TimelineModel | null => (lines === null ? null : { ...lines, brush: state.time }), [lines, state.time]);
  // The canvas is created once, and its callbacks only see the values at that time.
  const shown = useRef(model);
  shown.current = model;
  useEffect(() => {
    // Events of counters are not rates: their heights depend on the length of bins.
    if (answer !== null) onRate?.(unit === 'events' ? 0 : largestRate(answer));
  }, [answer]);
  useEffect(() => setSeen(null), [state.series]);
  const highest = useRef({ of: '', height: 0, usual: 0 });
  useEffect(() => {
    if (canvas.current === null || box.current === null || model === null) return;
    const [drawing, section] = [canvas.current, box.current];
    const fit = (): void => {
      // Selections remove lines, which must not move the content below. Opening and closing lines may move it.
      const of = `${state.series} ${[...closed].join(' ')} ${innerHeight}`;
      const before = highest.current.of === of ? highest.current : { height: 0, usual: 0 };
      const height = Math.max(before.height, drawing.contentHeight);
      section.style.setProperty('--timeline-height', `${Math.ceil(height) + 1}px`);
      const usual = Math.max(before.usual, drawing.usualHeight(parseFloat(getComputedStyle(section).maxHeight) - 1));
      section.style.setProperty('--timeline-usual', `${usual + 1}px`);
      highest.current = { of, height, usual };
    };
    fit();
    addEventListener('resize', fit);
    return () => removeEventListener('resize', fit);
  }, [model]);
  if (whole === null) return <p class="notice is-quiet">{withoutTimes(app.names, 'timeline')}</p>;
  return (
    <section ref={box} class="timeline" aria-label={name === undefined ? 'Timeline' : `Timeline, ${name.toLowerCase()}`} data-part="timeline" data-of={name?.toLowerCase()}>
      <CanvasHost
        part="timeline-canvas"
        model={model}
        make={(host) =>
          (canvas.current = new TimelineCanvas(host, {
            onBrush: (range, isFinal) => {
              const time = range === null ? null : { start: Math.round(range.start), end: Math.round(range.end) };
              if (time === null || time.end > time.start) app.change({ time }, `brush ${strokes.current}`);
              if (isFinal) strokes.current += 1;
            },
            onPickTracks: (ids, isAdditive) => pick(ids, isAdditive),
            onToggle: (id) => setClosed((before) => toggled(before, id)),
            onPickSpan: (id, index) => pickSpan(id, index),
            onMenu: (id, x, y) => {
              const [kind, number] = id.split(':');
              if (kind === 'thread') app.openMenu({ label: null, thread: Number(number) }, x, y);
              if (kind === 'process') app.openMenu({ label: null, process: Number(number) }, x, y);
            },
            onVisible: (range, pixels) => setSeen({ range, pixels }),
          }))
        }
      />
      <div class="timeline-tools">
        {state.time !== null && (seen === null || !isShown(seen.range, state.time)) && (
          <button type="button" title="Zoom to the selected time (z in the timeline)" data-part="zoom-selection" onClick={() => canvas.current?.zoom('brush')}>
            Zoom to selection
          </button>
        )}
        {isZoomed && (
          <button type="button" title="Zoom out (0 in the timeline)" data-part="zoom-all" onClick={() => canvas.current?.zoom('whole')}>
            Show all
          </button>
        )}
      </div>
      <LowerEdge of={name ?? 'alone'} box={box} />
    </section>
  );

  function pick(ids: readonly string[], isAdditive: boolean): void {
    const state = app.stateOf?.(app.store.state) ?? app.store.state;
    const of = (kind: string): number[] => ids.filter((id) => id.startsWith(`${kind}:`)).map((id) => Number(id.slice(kind.length + 1)));
    const merge = (before: readonly number[] | null, picked: number[]): readonly number[] | null => {
      if (!isAdditive) return picked.length === 0 ? null : picked;
      const both = new Set(before ?? []);
      for (const id of picked) if (!both.delete(id)) both.add(id);
      return both.size === 0 ? null : [...both];
    };
    const threads = merge(state.threads, of('thread'));
    const processes = merge(state.processes, of('process'));
    // A click on the only thread that is selected selects all again.
    const isAgain = !isAdditive && JSON.stringify([threads, processes]) === JSON.stringify([state.threads, state.processes]);
    app.change(isAgain ? { threads: null, processes: null } : { threads, processes });
  }

  function pickSpan(id: string, index: number): void {
    const lane = shown.current?.tracks.find((track) => track.id === id)?.spans;
    if (lane === undefined || whole === null) return;
    const [start, end] = [lane.start[index]!, Math.min(lane.end[index]!, whole.end)];
    if (end > start) app.change({ time: { start: Math.round(start), end: Math.round(end) } });
  }
}

/** True if a time fills the visible range; clicks and answers round both. */
function isShown({ start, end }: Range, time: { readonly start: number; readonly end: number | null }): boolean {
  const slack = (end - start) / 1_000;
  return Math.abs(time.start - start) <= slack && Math.abs((time.end ?? end) - end) <= slack;
}

function toggled(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
}
