// A page with only the canvases, for any recording: `node dev/canvas.mjs PAGE.html OUT.html`. Benchmarks use it.

import {
  FlameChartCanvas, FlameGraphCanvas, type FlameModel, type Labels, type LaneSpans, type Range, TimelineCanvas, type TimelineModel, type Tone,
  type Track, binsBy, chartModel, graphModel, gridFor, labelsOf, timeText, weightText,
} from '../src/canvas/index.ts';
import {
  type Profile, type Selection, type View, Workbench, compilePattern, decodePayload, flameChart, flameGraph, functionName, lengthsOf, spansOf, threads,
} from '../src/engine/index.ts';

const STATES: Record<string, Tone> = { Running: 'running', Runnable: 'runnable', Preempted: 'runnable', Blocked: 'blocked', Interrupted: 'interrupted' };

class Page {
  readonly profile: Profile;
  readonly workbench: Workbench;
  readonly labels: Labels;
  series = 0;
  view: View;
  selection: Selection = {};
  brush: Range | null = null;
  picked: string[] = [];
  matches: Uint8Array | null = null;
  direction: 'icicle' | 'flame' = 'icicle';
  key = 0;
  width = 1;
  visible: { range: Range; pixels: number } | null = null;
  /** The events of the canvases, for tests. */
  readonly events: unknown[][] = [];
  /** Compares boxes with themselves, by their names. */
  compares = false;
  readonly timeline: TimelineCanvas;
  readonly graph: FlameGraphCanvas;
  readonly chart: FlameChartCanvas;

  constructor(profile: Profile) {
    this.profile = profile;
    this.workbench = new Workbench(profile);
    this.labels = labelsOf(profile);
    this.view = this.workbench.view();
    // The series with the most samples.
    profile.series.forEach((series, index) => {
      if (series.rows > profile.series[this.series]!.rows) this.series = index;
    });
    this.timeline = new TimelineCanvas(host('timeline'), {
      onBrush: (range, isFinal) => {
        if (isFinal) this.events.push(['brush', range]);
        this.select(range);
      },
      onPickSpan: (...event) => this.events.push(['span', ...event]),
      onMenu: (...event) => this.events.push(['track menu', ...event]),
      onToggle: (...event) => this.events.push(['toggle', ...event]),
      onPickTracks: (ids, isAdditive) => {
        this.events.push(['tracks', ids, isAdditive]);
        this.picked = isAdditive ? [...this.picked, ...ids] : [...ids];
        this.drawTimeline();
      },
      onVisible: (range, pixels) => {
        this.visible = { range, pixels };
        this.drawTimeline();
      },
    });
    this.graph = new FlameGraphCanvas(host('graph'), {
      onDetail: (from, to, least) => this.drawGraph({ from, to, least }),
      onPick: (label, id) => this.events.push(['pick', label, id]),
      onZoom: (...event) => this.events.push(['zoom', ...event]),
      onMenu: (label, id, x, y) => this.events.push(['menu', label, id, x, y]),
    });
    this.chart = new FlameChartCanvas(host('chart'), { onPick: (label, id) => this.events.push(['span pick', label, id]) });
  }

  get unit(): FlameModel['unit'] {
    return this.profile.series[this.series]!.unit;
  }

  get range(): Range {
    const { time } = this.profile.samples;
    const { start, end } = this.profile.series[this.series]!;
    const last = end > start ? Number(time[end - 1]!) : 1;
    const first = end > start ? Number(time[start]!) : 0;
    return { start: first, end: Math.max(first + 1, last + (last - first) * 1e-3) };
  }

  select(range: Range | null): void {
    this.brush = range;
    const { time: _, ...rest } = this.selection;
    this.selection = range === null ? rest : { ...rest, time: range };
    this.view = this.workbench.view(this.selection);
    this.key += 1;
    this.drawGraph();
  }

  drawGraph(detail?: FlameModel['detail']): void {
    const weighed = this.view.byFunction(this.series);
    const total = Number(weighed.all.weight(0));
    const asked = detail ?? { from: 0, to: total, least: total / Math.max(1, innerWidth) };
    const boxes = flameGraph(this.profile, weighed, asked);
    const { direction, labels, unit, matches } = this;
    this.graph.update(
      graphModel(this.profile, weighed, boxes, {
        key: String(this.key), tree: 'all', unit, detail: asked, labels, matches, direction, title: 'Flame graph',
        ...(this.compares ? { change: Float32Array.from(boxes.node, (node) => ((node * 37) % 41) / 20 - 1).map((x) => (Math.abs(x) < 0.3 ? 0 : x)) } : {}),
        ...(matches === null ? {} : { matchText: 'matches are shown in this colour' }),
      }),
    );
  }

  drawChart(): void {
    const chart = flameChart(this.view, this.series);
    const first = chart.threads[0];
    if (first === undefined) return;
    const spans = spansOf(this.view, this.series, chart, first.id);
    const { range, labels, unit } = this;
    this.chart.update(
      chartModel(this.view, spans, Number(first.weight), { key: 'chart', tree: 'all', unit, range, labels, title: `Flame chart of ${first.name}` }),
    );
  }

  search(pattern: string | null): void {
    const test = pattern === null ? null : compilePattern(pattern);
    this.matches = test === null ? null : Uint8Array.from(this.labels.names, (name) => Number(test.test(name)));
    this.drawGraph();
  }

  #model: TimelineModel | null = null;

  /** Returns the same model until the timeline is drawn again. */
  timelineModel(): TimelineModel {
    const { range } = this;
    const { range: visible, pixels } = this.visible ?? { range, pixels: 1_000 };
    const { unit, brush } = this;
    this.#model ??= { unit, range, brush, overview: this.overview(range), tracks: this.tracks(visible, pixels), title: 'Timeline' };
    return this.#model;
  }

  drawTimeline(): void {
    this.#model = null;
    this.timeline.update(this.timelineModel());
  }

  overview(range: Range): Track {
    const all = this.workbench.view();
    const grid = gridFor(range, 600);
    const values = binsBy(all, all.counted(this.series), 1, () => 0, grid, lengthsOf(this.profile, this.series));
    const full = this.full(values, grid.bin);
    return { id: 'all', label: 'CPU', detail: timeText(range.end - range.start), kind: 'overview', bins: { ...grid, layers: [{ name: 'CPU', tone: 'cpu', values }], ...full } };
  }

  /** Returns the maximum: complete cores for times, or else the largest value. */
  full(values: Float64Array, bin: number): { full: number; fullText: string } {
    const most = values.reduce((most, value) => Math.max(most, value), 0);
    if (this.unit !== 'ns') return { full: most, fullText: weightText(most, this.unit) };
    const cores = Math.max(1, Math.ceil(most / bin - 0.05));
    return { full: cores * bin, fullText: cores === 1 ? '1 core' : `${cores} cores` };
  }

  tracks(visible: Range, pixels: number): Track[] {
    const { profile, series } = this;
    const view = this.workbench.view();
    const grid = gridFor(visible, pixels / 2);
    const rows = view.ofAllStates(series);
    const counted = view.counted(series);
    const { thread, state } = profile.samples;
    const cpu = binsBy(view, counted, profile.threads.length, (row) => thread[row]!, grid, lengthsOf(this.profile, this.series));
    const states = profile.states.length + 1;
    const byState = rows.length > counted.length ? binsBy(view, rows, profile.threads.length * states, (row) => thread[row]! * states + state[row]! + 1, grid, lengthsOf(profile, series)) : null;
    const found: Track[] = [...this.lanes()];
    for (const row of threads(view, series)) {
      const { id } = row as unknown as { id: number };
      const values = cpu.subarray(id * grid.count, (id + 1) * grid.count);
      const text = weightText(Number(row.weight), this.unit);
      const track = `thread ${id}`;
      const isSelected = this.picked.includes(track);
      const full = this.unit === 'ns' ? { full: grid.bin, fullText: '1 core' } : this.full(values, grid.bin);
      found.push({
        id: track, label: row.name ?? `thread ${id}`, detail: text, kind: 'thread', isSelected, isDim: this.picked.length > 0 && !isSelected,
        bins: { ...grid, layers: [{ name: 'CPU', tone: 'cpu', values }], ...full },
      });
      if (byState === null) continue;
      const layers = profile.states.map((name, place) => {
        const at = (id * states + place + 1) * grid.count;
        return { name, tone: STATES[name] ?? 'other', values: byState.subarray(at, at + grid.count) };
      });
      found.push({ id: `states ${id}`, label: 'States', indent: 1, kind: 'states', bins: { ...grid, layers, full: grid.bin, fullText: 'its time' } });
    }
    return found;
  }

  #lanes: Track[] | null = null;

  lanes(): Track[] {
    this.#lanes ??= (['signpost', 'region', 'hang'] as const).flatMap((kind) => {
      const all = this.profile.intervals.filter((row) => row.kind === kind);
      if (all.length === 0) return [];
      const spans: LaneSpans = {
        start: Float64Array.from(all, (row) => Number(row.start_ns)),
        end: Float64Array.from(all, (row) => (row.end_ns === null ? Infinity : Number(row.end_ns))),
        names: all.map((row) => row.name ?? row.hang_type ?? kind),
      };
      return [{ id: kind, label: { signpost: 'Signposts', region: 'Regions of interest', hang: 'Hangs' }[kind], detail: `${all.length}`, kind: 'lane', tone: kind, spans } as Track];
    });
    return this.#lanes;
  }
}

function host(id: string): HTMLElement {
  return document.getElementById(id)!;
}

async function start(): Promise<void> {
  const profile = await decodePayload(document.getElementById('profile')!.textContent ?? '');
  const page = new Page(profile);
  Object.assign(window, { page, functionName });
  page.drawTimeline();
  page.drawGraph();
  page.drawChart();
  document.documentElement.dataset['state'] = 'ready';
}

void start();
