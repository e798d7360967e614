// Box plots of cohorts on one axis, and a histogram of the runs of each.

import type { JSX } from 'preact';
import { type Area, type Axis, AxisBelow, AxisLeft, LETTER, Label, WIDTH, axesOf, axisTo, besideLabels, countAxis, place, xOf, yOf } from './axis.tsx';
import { measured } from './cells.tsx';
import type { BoxPlot, Cohort } from './document.ts';
import { Figure, Legend, Plot, SideBySide } from './figure.tsx';
import { capitalized, count, cut, many, measure, measuresOfCohorts, statisticName } from './measure.ts';
import { cohortName, usePage } from './page_context.ts';
import { type Cell, FoldedTable, number, text } from './table.tsx';

const [BOX_LEFT, BOX_RIGHT, BOX_TOP] = [16, WIDTH - 24, 8];
/** A cohort: its name, and its box below. */
const BOX_ROW = 62;
const LONGEST_NAME = 36;
/** Characters that are twice as wide as others. */
const WIDE = /[\u1100-\uffef\u{10000}-\u{3ffff}]|[WM@]{4}/u;
const AREA: Area = { left: 60, top: 84, right: WIDTH - 24, bottom: 276 };
/** The height of a mark's text. */
const MARK = 23;

const explanation = (isWeighted: boolean): string =>
  `The runs of a cohort, and its name. The box holds the middle half of the runs${isWeighted ? ' by their weight' : ''}; the bar in it is the median, ` +
  'the diamond the mean. Whiskers reach 1.5 boxes; circles are runs beyond.';

/** Keyed by whether plots share the axis of the measure, and the axis of runs. */
const SENTENCES: Record<string, string> = {
  'true true': 'All of these plots have the same axis for the measure, and the same axis for the number of runs.',
  'true false': 'All of these plots have the same axis for the measure; each has a separate axis for the number of runs.',
  'false true': 'The cohorts differ so much that each plot has a separate axis for the measure; the axis for the number of runs is the same.',
  'false false': 'The cohorts differ so much that each plot has separate axes.',
};

export function Distributions({ cohorts }: { cohorts: readonly [Cohort, ...Cohort[]] }): JSX.Element | null {
  const { words, report } = usePage();
  const [{ value_unit: unit, cohort: first }] = cohorts;
  const subject = words.subjects[first]!;
  // Empty plots would change the axes of the others.
  const drawn = cohorts.filter(({ runs }) => runs > 0);
  const shown = drawn.slice(0, words.most.cohorts);
  if (shown.length === 0) return null;
  const axes = axesOf(shown.map(({ bins }) => bins.at(-1)?.upper ?? 0), (largest) => axisTo(largest, unit));
  const counts = axesOf(shown.map(({ bins }) => Math.max(0, ...bins.map(({ count }) => count))), countAxis);
  const measure = capitalized(subject);
  return (
    <>
      <Figure class="boxes" title="Across runs: all cohorts" more={<span>{explanation(report.options.is_weighted)}</span>}>
        <Boxes cohorts={shown} measure={measure} axis={axes.common} />
        <BoxTable cohorts={shown} />
      </Figure>
      <SideBySide count={shown.length}>
        {shown.map((cohort, at) => (
          <Figure key={cohort.cohort} title={cohortName(cohort)} more={<span>{`Across runs: ${subject} of ${many(cohort.runs, words.nouns[cohort.cohort]!)}`}</span>}>
            <Histogram cohort={cohort} measure={measure} axis={axes.of(at)} counts={counts.of(at)} />
          </Figure>
        ))}
      </SideBySide>
      <Legend sentence={shown.length < 2 ? '' : SENTENCES[`${axes.isShared} ${counts.isShared}`]!} hidden={drawn.length - shown.length} />
    </>
  );
}

function Boxes({ cohorts, measure, axis }: { cohorts: readonly Cohort[]; measure: string; axis: Axis }): JSX.Element {
  const bottom = BOX_TOP + BOX_ROW * cohorts.length;
  const { nouns } = usePage().words;
  return (
    <Plot height={bottom + 64} label={`Box plots: ${measure} across runs of ${many(cohorts.length, 'cohort')}`}>
      <AxisBelow axis={axis} area={{ left: BOX_LEFT, top: BOX_TOP, right: BOX_RIGHT, bottom }} />
      {cohorts.map((one, row) => {
        const { cohort, runs, box_plot: box, across_runs: { mean } } = one;
        const top = BOX_TOP + BOX_ROW * row;
        return [
          <Label key={cohort} x={BOX_LEFT + 2} y={top + 16} at="right" isStrong>{`${many(runs, nouns[cohort]!)} · ${shortName(one)}`}</Label>,
          box !== null && <Box key={`${cohort} box`} box={box} mean={mean ?? 0} axis={axis} y={top + 44} />,
        ];
      })}
      <Label x={(BOX_LEFT + BOX_RIGHT) / 2} y={bottom + 36} at="below">{`${measure} of a ${nouns[cohorts[0]!.cohort]}, ${axis.measures.unit}`}</Label>
    </Plot>
  );
}

/** The name of a cohort in a line; without the keys of several labels if they do not fit. */
function shortName({ name, labels }: Cohort): string {
  const longest = WIDE.test(name) ? LONGEST_NAME / 2 : LONGEST_NAME;
  const values = Object.values(labels).map((value) => value ?? 'unknown');
  return cut(values.length < 2 || [...name].length <= longest ? name : values.join(' · '), longest);
}

function Box({ box, mean, axis, y }: { box: BoxPlot; mean: number; axis: Axis; y: number }): JSX.Element {
  const x = (value: number): number => place(axis, value, BOX_LEFT, BOX_RIGHT);
  const [low, left, middle, right, high, center] = [box.whisker_low, box.p25, box.median, box.p75, box.whisker_high, mean].map(x) as [number, number, number, number, number, number];
  return (
    <g class="box">
      <path class="ink" d={`M${low} ${y}H${high}M${low} ${y - 6}v12M${high} ${y - 6}v12`} />
      <rect x={left} y={y - 12} width={Math.max(2, right - left)} height={24} />
      <path class="ink median" d={`M${middle} ${y - 12}v24`} />
      {/* Outliers that fall on the same pixel are one circle. */}
      {Array.from(new Set(box.outliers.map(x)), (place) => <circle key={place} cx={place} cy={y} r={4} />)}
      <path class="mean" d={`M${center} ${y - 7}l7 7l-7 7l-7 -7z`} />
    </g>
  );
}

/** The numbers of the boxes. */
function BoxTable({ cohorts }: { cohorts: readonly Cohort[] }): JSX.Element {
  const measures = measuresOfCohorts(cohorts);
  const titles = ['Low whisker', 'P25', 'Median', 'P75', 'High whisker'].map((title) => ({ title, isNumber: true }));
  const columns = [{ title: 'Cohort' }, ...titles, { title: 'Beyond', isNumber: true, hint: 'Runs beyond the whiskers' }];
  const rows = cohorts.flatMap((cohort): Cell[][] => {
    const box = cohort.box_plot;
    if (box === null) return [];
    const values = [box.whisker_low, box.p25, box.median, box.p75, box.whisker_high];
    return [[text(cohortName(cohort)), ...values.map((value) => measured(value, measures)), number(box.outlier_count, count(box.outlier_count))]];
  });
  return <FoldedTable label={`Box plots, in ${measures.unit}`} columns={columns} rows={rows} />;
}

function Histogram({ cohort, measure, axis, counts }: { cohort: Cohort; measure: string; axis: Axis; counts: Axis }): JSX.Element {
  const area = besideLabels(AREA, counts);
  const noun = usePage().words.nouns[cohort.cohort]!;
  return (
    <Plot height={340} label={`Histogram: ${measure} of ${many(cohort.runs, noun)}, one number per ${noun}, of ${cohortName(cohort)}`}>
      <AxisBelow axis={axis} area={area} />
      <AxisLeft axis={counts} area={area} title={`${noun}s`} />
      {cohort.bins.map(({ lower, upper, count }) => {
        if (count === 0) return null;
        const [left, right] = [xOf(axis, area, lower), xOf(axis, area, upper)];
        // Leave a gap between bars if it fits, and keep bars with few runs visible.
        const width = Math.max(2, right - left - (right - left > 4 ? 1 : 0));
        const top = Math.min(yOf(counts, area, count), area.bottom - 2);
        return <rect key={lower} class="bar" x={left} y={top} width={width} height={area.bottom - top} />;
      })}
      <Marks cohort={cohort} axis={axis} area={area} />
      <Label x={(area.left + area.right) / 2} y={area.bottom + 36} at="below">{`${measure} of a ${noun}, ${axis.measures.unit}`}</Label>
    </Plot>
  );
}

/** The median, the mean and the highest percentile that the runs support, as lines labelled with their values. */
function Marks({ cohort: { runs, across_runs: summary }, axis, area }: { cohort: Cohort; axis: Axis; area: Area }): JSX.Element | null {
  if (runs < 2) return null;
  const known = summary.percentiles.filter(({ support, value }) => support !== 'too-few' && value !== null);
  const ends = [...known.slice(0, 1), ...known.slice(1).slice(-1)].map(({ name, value }) => [statisticName(name), value!] as const);
  const marks = [...(summary.mean === null ? [] : [['mean', summary.mean] as const]), ...ends];
  const lines = marks.map(([name, value]) => ({ x: xOf(axis, area, value), text: `${name} ${measure(value, axis.measures)}` })).sort((a, b) => a.x - b.x);
  // The first lines have their labels to the right, the others to the left. Lines on the right begin at the top, so no line crosses a label
  // if the labels to the right end before the other lines.
  const width = ({ text }: { text: string }): number => 7 + LETTER * text.length;
  const fits = (split: number): boolean =>
    split <= lines.length && lines.every((line, at) => (at < split ? line.x + width(line) < (lines[split]?.x ?? WIDTH) : line.x > width(line)));
  const split = [3, 2, 1, 0].find(fits) ?? lines.filter(({ x }) => x < WIDTH / 2).length;
  return (
    <>
      {[...lines.slice(split).toReversed(), ...lines.slice(0, split)].map(({ x, text }, row) => {
        const isLeft = row < lines.length - split;
        return [
          <line key={text} class="ink" x1={x} y1={5 + MARK * row} x2={x} y2={area.bottom} />,
          <Label key={`${text} label`} x={x + (isLeft ? -7 : 7)} y={14 + MARK * row} at={isLeft ? 'left' : 'right'} isStrong>{text}</Label>,
        ];
      })}
    </>
  );
}
