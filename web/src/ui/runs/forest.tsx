// The functions that changed: the ratio of new to base with its interval, on one logarithmic axis.

import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ComparedFunction, RunsComparison } from '../../host/protocol.ts';
import { type Names, binaryOf, nameOf } from '../../state/names.ts';
import { useApp, useStore } from '../app_context.ts';
import { FunctionName } from '../cells.tsx';
import { Words } from '../diff/changes.tsx';
import { type LogAxis, logAxis } from './log_axis.ts';
import { number } from './strips.tsx';

/** The farthest ratios of the axis; an arrow shows that an interval reaches beyond. */
const FARTHEST = 16;
const [HEIGHT, MIDDLE] = [22, 11];

/** Shows some of the functions of a comparison. */
export function Forest({ functions, comparison }: { functions: readonly ComparedFunction[]; comparison: RunsComparison }): JSX.Element {
  const { names } = useApp();
  const { functions: all, function_unit: unit, levels } = comparison;
  const labels = useLabels(names);
  // The axis stays the same when more functions are shown.
  const axis = useMemo(() => axisOf(all ?? []), [all]);
  return (
    // The roles stay the same when a narrow page lays out rows differently.
    <table class="forest" role="table" data-part="forest">
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader">function</th>
          <th scope="col" role="columnheader" class="forest-plot">
            <span class="only-read">interval</span>
            <svg class="plot" height={16} aria-hidden="true">
              {axis.ticks.map((tick) => (
                <text key={tick} class="tick" x={axis.at(tick)} y={12}>
                  ×{tick}
                </text>
              ))}
            </svg>
          </th>
          <th scope="col" role="columnheader">change ({Number((100 * (1 - 2 * levels.functions)).toFixed(1))} %)</th>
          <th scope="col" role="columnheader">base → new, {unit.name}</th>
          <th scope="col" role="columnheader">p (Holm)</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {functions.map((row) => (
          <Row key={keyOf(row.binary, row.function)} row={row} axis={axis} unit={unit} label={labels.get(keyOf(row.binary, row.function)) ?? null} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ row, axis, unit, label }: { row: ComparedFunction; axis: LogAxis; unit: RunsComparison['function_unit']; label: number | null }): JSX.Element {
  const app = useApp();
  const { chosen } = useStore();
  const verdict = row.ratio > 1 ? 'more' : 'less';
  return (
    <tr role="row" class={label !== null && label === chosen ? 'is-chosen' : undefined}>
      <th scope="row" role="rowheader">
        <div class="forest-name cell">
          {label === null ? (
            <span class="name">{row.name}</span>
          ) : (
            <button type="button" class="link" aria-pressed={label === chosen} onClick={() => app.store.set({ chosen: label })}>
              <FunctionName names={app.names} label={label} />
            </button>
          )}
          {hasMoved(row) && <span class="note">cost moved</span>}
        </div>
      </th>
      <td role="cell" class="forest-plot">
        <Interval row={row} axis={axis} />
      </td>
      <td role="cell" class="amount">
        <Words verdict={hasMoved(row) ? 'within noise' : verdict} text={`${change(row)}${row.is_slower ? ' *' : ''}`} />
        {row.is_slower && <span class="only-read"> slower,</span>}
        {row.presence === 'both' && <span class="note"> {intervalText(row)}</span>}
      </td>
      <td role="cell" class="amount">
        {number(row.mean.base, unit)} → {number(row.mean.new, unit)}
      </td>
      <td role="cell" class="amount">{probability(row.p_holm)}</td>
    </tr>
  );
}

function hasMoved({ moved_from: from }: ComparedFunction): boolean {
  return from.length > 0;
}

function Interval({ row, axis }: { row: ComparedFunction; axis: LogAxis }): JSX.Element {
  const { lower, upper, ratio } = row;
  const kind = hasMoved(row) ? 'is-noise' : ratio > 1 ? 'is-more' : 'is-less';
  const highest = upper ?? Infinity;
  const arrow = (value: number, path: string): JSX.Element => (
    <svg x={axis.at(value)} y={MIDDLE} overflow="visible">
      <path d={path} />
    </svg>
  );
  return (
    <svg class={`plot interval ${kind}`} height={HEIGHT} aria-hidden="true">
      <line class="rule" x1={axis.at(1)} x2={axis.at(1)} y1={0} y2={HEIGHT} />
      <line class="reach" x1={axis.at(lower)} x2={axis.at(highest)} y1={MIDDLE} y2={MIDDLE} />
      {axis.beyond(lower) < 0 && arrow(lower, 'M-5 0 L1 -4 L1 4 Z')}
      {axis.beyond(highest) > 0 && arrow(highest, 'M5 0 L-1 -4 L-1 4 Z')}
      {axis.beyond(ratio) === 0 && (
        <svg x={axis.at(ratio)} y={MIDDLE} overflow="visible">
          <rect x={-4} y={-4} width={8} height={8} />
        </svg>
      )}
    </svg>
  );
}

/** An axis with 1 on it, for the intervals of functions that both sides have. */
function axisOf(all: readonly ComparedFunction[]): LogAxis {
  const functions = all.filter(({ presence }) => presence === 'both');
  const low = Math.min(0.8, ...functions.map(({ lower }) => lower));
  const high = Math.max(1.25, ...functions.map(({ upper }) => upper ?? FARTHEST));
  return logAxis(Math.max(low, 1 / FARTHEST), Math.min(high, FARTHEST));
}

/** `+104 %`; new and vanished functions have no meaningful ratio. */
function change({ presence, ratio }: ComparedFunction): string {
  if (presence !== 'both') return presence === 'new' ? 'new' : 'gone';
  return percent(ratio);
}

function intervalText({ lower, upper }: ComparedFunction): string {
  return upper === null ? 'unknown' : `${percent(lower).replace(' %', '')} to ${percent(upper)}`;
}

function percent(ratio: number): string {
  const share = 100 * (ratio - 1);
  const digits = Math.abs(share).toFixed(Math.abs(share) < 99.95 ? 1 : 0);
  return `${Number(digits) === 0 ? '' : share > 0 ? '+' : '−'}${digits} %`;
}

function probability(p: number): string {
  return p < 0.0001 ? '< 0.0001' : p.toFixed(p < 0.001 ? 4 : 3);
}

function keyOf(binary: string | null, name: string | null): string {
  return JSON.stringify([binary, name]);
}

/** The functions of the page by their names. */
function useLabels(names: Names): ReadonlyMap<string, number> {
  return useMemo(() => {
    const found = new Map<string, number>();
    for (let label = 0; label < names.tables.functions.count; label += 1) {
      const key = keyOf(binaryOf(names, label), nameOf(names, label));
      if (!found.has(key)) found.set(key, label);
    }
    return found;
  }, [names]);
}
