// CPU use over versions or dates, a plot for each trend.

import type { JSX } from 'preact';
import { type Area, type Axis, AxisLeft, LabelsBelow, WIDTH, axisTo, besideLabels, yOf } from './axis.tsx';
import { measured, percentileCell } from './cells.tsx';
import type { Percentile, Trend, TrendPoint } from './document.ts';
import { Figure, Keys, Plot, SideBySide } from './figure.tsx';
import { type Line, keysOf, linesOf, stretches } from './lines.ts';
import { type Measures, capitalized, count, cut, many, measuresOf, statisticName } from './measure.ts';
import { labelsName, usePage } from './page_context.ts';
import { type Cell, FoldedTable, Hidden, number, text } from './table.tsx';

const AREA: Area = { left: 60, top: 40, right: WIDTH - 24, bottom: 270 };
/** Pixels between the first point and the axis. */
const MARGIN = 34;
const LONGEST_NAME = 12;
/** With more points than this, circles are left out. */
const CIRCLES = 40;
/** Intervals of lines are next to each other. */
const SHIFTS = { middle: -5, upper: 0, tail: 5 };

type Point = readonly [x: number, y: number];

export function Trends(): JSX.Element {
  const { words, report } = usePage();
  const shown = report.trends.slice(0, words.most.cohorts);
  return (
    <>
      <h2>Trend</h2>
      <p>{report.options.is_weighted ? '' : `Bars are intervals${words.assumption}. `}A line has a gap where there are too few runs.</p>
      <SideBySide count={shown.length}>
        {shown.map((trend, at) => {
          const lines = linesOf(report.options.quantiles, Math.max(0, ...trend.points.map(({ runs }) => runs)));
          const subject = words.subjects[report.cohorts.findIndex(({ unit }) => unit === trend.unit)] ?? words.subject;
          return (
            <Figure key={at} title={`${capitalized(subject)} ${nameOf(trend)}`} more={<Keys keys={keysOf(lines, false)} />}>
              <TrendPlot trend={trend} lines={lines} axis={axisOf(trend, lines)} />
              <TrendTable trend={trend} measures={measuresOf(trend.value_unit, Math.max(0, ...trend.points.map(({ max }) => max ?? 0)))} />
              {trend.undated > 0 && <p class="legend">{many(trend.undated, 'run')} without a known date are not in it.</p>}
            </Figure>
          );
        })}
      </SideBySide>
      <Hidden count={report.trends.length - shown.length}>{(hidden) => `${many(hidden, 'trend')} more have no plot here; JSON has all.`}</Hidden>
    </>
  );
}

/** `over app_version (device iPad Air)`. */
function nameOf({ over, label, labels }: Trend): string {
  const name = over === 'label' ? `over ${cut(label ?? '')}` : over === 'week' ? 'over weeks, from Monday' : 'over days';
  const others = labelsName(labels);
  return others === '' ? name : `${name} (${others})`;
}

/** The percentile of a line at a point; null if the point has too few runs for it. */
function supported({ percentiles }: TrendPoint, { at }: Line): Percentile | null {
  return percentiles[at]?.support === 'too-few' ? null : (percentiles[at] ?? null);
}

/** The axis up to the largest number that is drawn. */
function axisOf({ points, value_unit: unit }: Trend, lines: readonly Line[]): Axis {
  const drawn = points.flatMap((point) => lines.map((line) => supported(point, line))).flatMap((one) => [one?.value ?? 0, one?.upper ?? 0]);
  return axisTo(Math.max(0, ...(lines.length > 0 ? drawn : points.map(({ max }) => max ?? 0))), unit);
}

function TrendPlot({ trend, lines, axis }: { trend: Trend; lines: readonly Line[]; axis: Axis }): JSX.Element {
  const { points } = trend;
  const area = besideLabels(AREA, axis);
  const [first, last] = [area.left + MARGIN, area.right - MARGIN];
  // Days and weeks are placed by their dates, versions at equal distances.
  const places = points.map(({ name }, index) => (trend.over === 'label' ? index : Date.parse(name)));
  const x = (index: number): number => Math.floor(first + ((last - first) * (places[index]! - places[0]!)) / Math.max(1, places.at(-1)! - places[0]!));
  const at = (value: number | null, index: number): Point | null => (value === null ? null : [x(index), yOf(axis, AREA, value)]);
  return (
    <Plot height={304} label={`Trend: percentiles across runs, ${nameOf(trend)}`}>
      <AxisLeft axis={axis} area={area} />
      <line class="base" x1={area.left} y1={AREA.bottom} x2={AREA.right} y2={AREA.bottom} />
      {lines.length === 0 && <Through style="middle" points={points.map(({ max }, index) => at(max, index))} />}
      {lines.map((line) => [
        ...points.map((point, index) => <Interval key={`${line.name} ${index}`} percentile={supported(point, line)} axis={axis} x={x(index) + SHIFTS[line.style]} style={line.style} />),
        <Through key={line.name} style={line.style} points={points.map((point, index) => at(supported(point, line)?.value ?? null, index))} />,
      ])}
      <LabelsBelow y={AREA.bottom + 8} labels={shortNames(points.map(({ name }) => name)).map((text, index) => [x(index), text, points[index]!.name])} />
    </Plot>
  );
}

/** A line through values, with a gap at each missing value. */
function Through({ points, style }: { points: readonly (Point | null)[]; style: Line['style'] }): JSX.Element {
  return (
    <>
      {stretches(points).map((stretch) => <polyline key={stretch[0]![0]} class={style} points={stretch.join(' ')} />)}
      {points.length <= CIRCLES && points.map((point, index) => point !== null && <circle key={index} class={style} cx={point[0]} cy={point[1]} r={4} />)}
    </>
  );
}

/** The interval of a percentile as a bar; an end that is not known is open. */
function Interval({ percentile, axis, x, style }: { percentile: Percentile | null; axis: Axis; x: number; style: Line['style'] }): JSX.Element | null {
  if (percentile === null || (percentile.lower === null && percentile.upper === null)) return null;
  const { lower, upper, value } = percentile;
  const y = (value: number | null): number => yOf(axis, AREA, value ?? 0);
  const ends = [lower, upper].filter((end) => end !== null).map((end) => `M${x - 4} ${y(end)}h8`);
  return <path class={`reach ${style}`} d={`M${x} ${y(lower ?? value)}V${y(upper ?? value)}${ends.join('')}`} />;
}

/** Short names of points: long names lose the beginning and the end that all have in common. Numbers stay complete. */
export function shortNames(names: readonly string[]): string[] {
  const same = (of: (name: string, length: number) => string): number => {
    let length = 0;
    while (length < names[0]!.length && names.every((name) => of(name, length + 1) === of(names[0]!, length + 1))) length += 1;
    return length;
  };
  const prefix = names[0]!.slice(0, same((name, length) => name.slice(0, length))).replace(/[\d.]+$/, '').length;
  const suffix = names[0]!.slice(names[0]!.length - same((name, length) => name.slice(-length))).replace(/^[\d.]+/, '').length;
  return names.map((name) => {
    const own = `${prefix > 0 ? '…' : ''}${name.slice(prefix, Math.max(prefix, name.length - suffix))}${suffix > 0 ? '…' : ''}`;
    return name.length <= LONGEST_NAME || names.length < 2 ? cut(name, LONGEST_NAME) : cut(own, LONGEST_NAME);
  });
}

/** The numbers of a plot. */
function TrendTable({ trend: { over, label, points }, measures }: { trend: Trend; measures: Measures }): JSX.Element {
  const page = usePage();
  const title = over === 'label' ? cut(label ?? '') : capitalized(over);
  const numbers = ['Runs', ...page.report.options.quantiles.map(statisticName), 'Max'].map((title) => ({ title, isNumber: true }));
  const row = ({ name, runs, percentiles, max }: TrendPoint): Cell[] => [
    text(name), number(runs, count(runs)), ...percentiles.map((one) => percentileCell(page, one, measures, (shown) => shown)), measured(max, measures),
  ];
  return <FoldedTable label={`Trend by ${title}, in ${measures.unit}`} columns={[{ title }, ...numbers]} rows={points.map(row)} />;
}
