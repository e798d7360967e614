// Percentiles across runs in each second of the recordings, a plot for each cohort.

import type { JSX } from 'preact';
import { type Area, type Axis, AxisBelow, AxisLeft, Label, WIDTH, axesOf, axisTo, besideLabels, secondsAxis, xOf, yOf } from './axis.tsx';
import type { Cohort, TimelinePoint } from './document.ts';
import { Figure, Keys, Legend, Plot, SideBySide } from './figure.tsx';
import { type Line, keysOf, linesOf } from './lines.ts';
import { capitalized, count } from './measure.ts';
import { byUnit, cohortName, usePage } from './page_context.ts';

const AREA: Area = { left: 60, top: 40, right: WIDTH - 24, bottom: 248 };
/** The runs that recorded each second, below. */
const RUNS: Area = { left: 60, top: 294, right: WIDTH - 24, bottom: 336 };

export function OverTime(): JSX.Element {
  const { words, report } = usePage();
  const isCoarse = report.cohorts.some(({ timeline }) => timeline.some(({ seconds }) => seconds > 1));
  return (
    <>
      <h2>{capitalized(words.subject)} over the time of the recordings</h2>
      <p>
        Percentiles across runs by the time since their recording started. They compare runs at one time, not the times of one run. A line ends where fewer runs recorded that time than the percentile needs.
        {isCoarse && ' Recordings are long, so a point is the mean of several seconds, as written below each plot: shorter peaks are flattened.'}
      </p>
      {byUnit(report.cohorts).map((cohorts) => <Timelines key={cohorts[0].value_unit} cohorts={cohorts} />)}
    </>
  );
}

function Timelines({ cohorts }: { cohorts: readonly [Cohort, ...Cohort[]] }): JSX.Element | null {
  const { words, report } = usePage();
  const shown = cohorts.filter(({ timeline }) => timeline.length > 0).slice(0, words.most.cohorts);
  if (shown.length === 0) return null;
  const axes = axesOf(shown.map(({ timeline }) => Math.max(...timeline.map(({ max }) => max))), (largest) => axisTo(largest, cohorts[0].value_unit));
  const sentence = axes.isShared ? 'All of these plots have the same axis for the measure.' : 'The cohorts differ so much that each plot has a separate axis.';
  return (
    <>
      <SideBySide count={shown.length}>
        {shown.map((cohort, at) => {
          const lines = linesOf(report.options.quantiles, cohort.runs);
          return (
            <Figure key={cohort.cohort} title={cohortName(cohort)} more={<Keys keys={keysOf(lines, true)} />}>
              <Timeline cohort={cohort} lines={lines} axis={axes.of(at)} />
            </Figure>
          );
        })}
      </SideBySide>
      <Legend sentence={shown.length < 2 ? '' : sentence} hidden={cohorts.length > words.most.cohorts ? cohorts.length - shown.length : 0} />
    </>
  );
}

function Timeline({ cohort, lines, axis }: { cohort: Cohort; lines: readonly Line[]; axis: Axis }): JSX.Element {
  const { timeline: points } = cohort;
  const last = points.at(-1)!;
  const time = secondsAxis(points[0]!.second, last.second + last.seconds);
  const step = points[0]!.seconds;
  const [area, below] = [besideLabels(AREA, axis), besideLabels(RUNS, axis)];
  const stairs = (needed: number, of: (point: TimelinePoint) => number): string[] => stretchesOf(points, needed).map((stretch) => stairsOf(stretch, time, axis, area, of));
  const value = (line: Line) => (point: TimelinePoint): number => point.values[line.name] ?? 0;
  const [middle, upper] = lines;
  return (
    <Plot height={400} label={`Timeline: percentiles across runs by the time since the recordings started, of ${cohortName(cohort)}`}>
      <AxisBelow axis={time} area={below} />
      <AxisBelow axis={time} area={area} hasLabels={false} />
      <AxisLeft axis={axis} area={area} />
      {middle !== undefined && upper !== undefined && stretchesOf(points, Math.max(middle.needed, upper.needed)).map((points) => {
        const [above, under] = [value(upper), value(middle)].map((of) => stairsOf(points, time, axis, area, of)) as [string, string];
        return <polygon key={above} class="band" points={`${above} ${under.split(' ').toReversed().join(' ')}`} />;
      })}
      {stairs(1, ({ max }) => max).map((line) => <polyline key={line} class={lines.length > 0 ? 'largest' : 'middle'} points={line} />)}
      {lines.toReversed().flatMap((line) => stairs(line.needed, value(line)).map((stretch) => <polyline key={`${line.name} ${stretch}`} class={line.style} points={stretch} />))}
      <RunsBelow points={points} time={time} area={below} />
      <Label x={(below.left + below.right) / 2} y={below.bottom + 34} at="below">{`seconds since the recording started${step > 1 ? `, means of ${step} s` : ''}`}</Label>
    </Plot>
  );
}

/** The number of runs at each second: the end of the longest recordings has few. */
function RunsBelow({ points, time, area }: { points: readonly TimelinePoint[]; time: Axis; area: Area }): JSX.Element {
  const most = Math.max(...points.map(({ runs }) => runs));
  const counts = { ...axisTo(most), high: Math.max(1, most) };
  return (
    <>
      {stretchesOf(points, 1).map((stretch) => {
        const [from, to] = [stretch[0]!.second, stretch.at(-1)!.second + stretch.at(-1)!.seconds].map((second) => xOf(time, area, second));
        // A nonzero count stays visible.
        const steps = stretch.flatMap((point) => ends(point).map((second) => `${xOf(time, area, second)},${Math.min(area.bottom - 2, yOf(counts, area, point.runs))}`));
        return <polygon key={from} class="bar" points={`${steps.join(' ')} ${to},${area.bottom} ${from},${area.bottom}`} />;
      })}
      <Label x={area.left - 8} y={area.top + 4} at="left">{count(most)}</Label>
      <Label x={area.left} y={area.top - 16} at="right">runs that recorded it</Label>
    </>
  );
}

const ends = ({ second, seconds }: TimelinePoint): number[] => [second, second + seconds];

/** The ranges of consecutive points that at least this many runs recorded. */
export function stretchesOf(points: readonly TimelinePoint[], needed: number): TimelinePoint[][] {
  const found: TimelinePoint[][] = [];
  for (const point of points.filter(({ runs }) => runs >= needed)) {
    const last = found.at(-1)?.at(-1);
    if (last !== undefined && last.second + last.seconds === point.second) found.at(-1)!.push(point);
    else found.push([point]);
  }
  return found;
}

/** The values of points as stairs: each holds for all of its time. */
function stairsOf(points: readonly TimelinePoint[], time: Axis, axis: Axis, area: Area, of: (point: TimelinePoint) => number): string {
  return points.flatMap((point) => ends(point).map((second) => `${xOf(time, area, second)},${yOf(axis, area, of(point))}`)).join(' ');
}
