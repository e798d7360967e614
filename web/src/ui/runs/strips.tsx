// The values of the runs of both sides of a block: a dot for each run, a box from the first to the third quartile, and the geometric mean.

import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { press, stepKeys } from '../../canvas/index.ts';
import type { ComparedRun, MeasureUnit, RunsBlock, RunsComparison } from '../../host/protocol.ts';
import { counted, grouped } from '../format.ts';
import { type LogAxis, logAxis } from './log_axis.ts';

export const SIDES = ['base', 'new'] as const;
type SideName = (typeof SIDES)[number];

/** The height of a side, its middle, and the distances of dots that would cover each other. */
const [HEIGHT, MIDDLE, APART, LEVELS] = [54, 27, 5, 4];
const AXIS = 18;

/** An axis for each block. Equal ratios have the same length on all of them. */
export function axesOf(blocks: readonly RunsBlock[]): (LogAxis | null)[] {
  const ranges = blocks.map((block) => {
    const values = SIDES.flatMap((side) => block.runs[side].map((run) => run.value)).filter((value) => value > 0);
    return values.length === 0 ? null : [Math.min(...values), Math.max(...values)] as const;
  });
  const widest = Math.max(1.1, ...ranges.map((range) => (range === null ? 1 : range[1] / range[0])));
  return ranges.map((range) => {
    if (range === null) return null;
    const more = Math.sqrt(widest / (range[1] / range[0]));
    return logAxis(range[0] / more, range[1] * more);
  });
}

export function Strips({ block, axis, comparison }: BlockProps): JSX.Element {
  const [read, setRead] = useState('');
  const title = comparison.block.length === 0 ? 'All runs' : block.name;
  const { shown_unit: unit } = comparison;
  return (
    <section class="strips" aria-label={`${comparison.quantity}, ${title}`} data-part="strips">
      <h3 class="name">{title}</h3>
      {SIDES.map((side) => (
        <Strip key={side} side={side} block={block} axis={axis} comparison={comparison} onRead={setRead} />
      ))}
      {axis !== null && (
        <div class="strip-side" aria-hidden="true">
          <span />
          <svg class="plot" height={AXIS}>
            {axis.ticks.map((tick) => (
              <text key={tick} class="tick" x={axis.at(tick)} y={12}>
                {plain(tick, unit)}
              </text>
            ))}
          </svg>
        </div>
      )}
      <p class="note strip-read" data-part="strip-read">
        {read === '' ? `${unit.name}; logarithmic` : read}
      </p>
    </section>
  );
}

interface BlockProps {
  readonly block: RunsBlock;
  readonly axis: LogAxis | null;
  readonly comparison: RunsComparison;
}

/** One side: a single stop for Tab, in which arrow keys move from run to run. */
function Strip({ side, block, axis, comparison, onRead }: BlockProps & { side: SideName; onRead: (text: string) => void }): JSX.Element {
  const [active, setActive] = useState(0);
  const plot = useRef<SVGSVGElement>(null);
  const { shown_unit: unit, root } = comparison;
  const runs = block.runs[side];
  const heights = heightsOf(runs, axis);
  const go = (next: number): void => {
    const place = Math.min(runs.length - 1, Math.max(0, next));
    setActive(place);
    plot.current!.querySelectorAll<SVGElement>('.dot')[place]?.focus();
  };
  return (
    <div class={`strip-side is-${side}`}>
      <span>
        {side}
        <span class="note"> {grouped(block.count[side])}</span>
      </span>
      <svg ref={plot} class="plot" height={HEIGHT} role="group" aria-label={`${side}, ${counted(block.count[side], 'run')}`} onKeyDown={(event) => press(event, stepKeys(active, runs.length, go))} data-side={side}>
        <line class="rule" x1="0" x2="100%" y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {axis !== null && <SummaryBox summary={block.summary[side]} axis={axis} />}
        {runs.map((run, place) => {
          const text = `${run.source}: ${number(run.value, unit)} ${unit.name}`;
          const href = root === null || run.path === '' ? undefined : addressOf(root, run.path);
          const dot = <circle cx={placeOf(run, axis)} cy={MIDDLE + heights[place]!} r={3.5} />;
          const shared = { class: 'dot', tabindex: place === active ? 0 : -1, 'aria-label': text, onMouseEnter: () => onRead(text), onFocus: () => (setActive(place), onRead(text)) };
          return href === undefined ? (
            <g key={place} role="img" {...shared}>
              {dot}
            </g>
          ) : (
            <a key={place} href={href} {...shared}>
              {dot}
            </a>
          );
        })}
      </svg>
    </div>
  );
}

function SummaryBox({ summary: { p25, p50, p75, geometric_mean: mean }, axis }: { summary: RunsBlock['summary']['base']; axis: LogAxis }): JSX.Element {
  const length = `${parseFloat(axis.at(p75)) - parseFloat(axis.at(p25))}%`;
  const [top, bottom] = [MIDDLE - 18, MIDDLE + 18];
  return (
    <g aria-hidden="true">
      {p25 > 0 && <rect class="box" x={axis.at(p25)} y={top} width={length} height={bottom - top} rx={3} />}
      {p50 > 0 && <line class="median" x1={axis.at(p50)} x2={axis.at(p50)} y1={top} y2={bottom} />}
      {mean !== null && (
        <svg x={axis.at(mean)} y={bottom} overflow="visible">
          <path class="mean" d="M0 -1 L5 7 L-5 7 Z" />
        </svg>
      )}
    </g>
  );
}

/** Idle runs, which have no logarithm, are at the start. */
function placeOf({ value }: ComparedRun, axis: LogAxis | null): string {
  return value > 0 && axis !== null ? axis.at(value) : '0.5%';
}

/** By run: its distance from the middle, so that neighbours do not cover each other. */
function heightsOf(runs: readonly ComparedRun[], axis: LogAxis | null): number[] {
  const seen = new Map<number, number>();
  return runs.map((run) => {
    const bin = Math.round(parseFloat(placeOf(run, axis)) / 1.2);
    const before = seen.get(bin) ?? 0;
    seen.set(bin, before + 1);
    const level = Math.ceil(before / 2) % LEVELS;
    return (before % 2 === 0 ? 1 : -1) * level * APART;
  });
}

/** The address of a run, relative to the page. Every character of a name is taken literally. */
function addressOf(root: string, source: string): string {
  return root + source.split('/').map(encodeURIComponent).join('/');
}

/** A value as the command prints it. */
export function number(value: number, { divisor, decimals }: MeasureUnit): string {
  return value === 0 ? '0' : (value / divisor).toFixed(decimals);
}

/** The number of a tick, without zeros at its end. */
function plain(value: number, { divisor }: MeasureUnit): string {
  return String(Number((value / divisor).toPrecision(6)));
}
