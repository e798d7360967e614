// Changes in readable form: a sign, words for more and less, and grey if chance may explain the change. Colour is never the only sign.
// Before plus change is after, so after is scaled if changes are.

import type { JSX } from 'preact';
import type { ChangeColumns, ChangedRows, DiffTotal, Exact } from '../../host/protocol.ts';
import { titleOfWeight, weightColumn } from '../cells.tsx';
import { type Scale, type Unit, inScale, scaleOf, ungrouped, withUnit } from '../format.ts';
import type { TableColumn } from '../table.tsx';

/** A change in one word; `none` if neither recording has any weight. */
type Verdict = 'more' | 'less' | 'within noise' | 'none';

export function verdictOf({ before, after, change, isBeyond }: ChangeColumns, row: number): Verdict {
  if (Number(before[row]) === 0 && Number(after[row]) === 0) return 'none';
  if (isBeyond[row] !== 1) return 'within noise';
  return change[row]! > 0 ? 'more' : 'less';
}

/**
 * The word for the change of self or all weight, with `new` and `gone` if only one recording has the function. A function without self weight may still be new,
 * so its all weight decides.
 */
export function wordsOf(rows: ChangedRows, of: 'self' | 'all', row: number): string {
  const verdict = verdictOf(rows[of], row);
  if (verdict === 'none') return of === 'self' ? 'no self weight' : 'no weight';
  return rows.presence[row] === 0 ? verdict : `${rows.presence[row] === 1 ? 'new' : 'gone'}, ${verdict}`;
}

const CLASSES: Record<Verdict, string> = { more: 'is-more', less: 'is-less', 'within noise': 'is-noise', none: 'is-noise' };

export function Words({ verdict, text }: { verdict: Verdict; text: string }): JSX.Element {
  return <span class={`change ${CLASSES[verdict]}`}>{text}</span>;
}

/** A difference with its sign, with the scale of its column. Scaled weights are not integers. */
export function signed(change: number, scale: Scale): string {
  const size = inScale(whole(change), scale);
  return change === 0 ? size : `${change > 0 ? '+' : '−'}${size}`;
}

export function signedWithUnit(change: number, unit: Unit): string {
  return `${change > 0 ? '+' : change < 0 ? '−' : ''}${withUnit(whole(change), unit)}`;
}

function whole(change: number): Exact {
  return BigInt(Math.round(Math.abs(change)));
}

/** A difference as a share of the first recording's total; shares of thousands have no decimals. */
export function signedPercent(change: number, before: Exact): string {
  if (Number(before) === 0) return 'n/a';
  const share = (100 * change) / Number(before);
  return `${share > 0 ? '+' : share < 0 ? '−' : ''}${Math.abs(share).toFixed(Math.abs(share) < 999.995 ? 2 : 0)}%`;
}

/** True if weights after are multiplied for changes. */
export function isScaled({ factor }: DiffTotal): boolean {
  return factor !== 1;
}

/** True if both totals are equal because of scaling. */
export function isMadeEqual(total: DiffTotal): boolean {
  return total.normalize === 'samples' && total.isScaled;
}

/** The weight after as compared: multiplied by the factor, if there is one. */
export function comparedAfter({ before, after, change }: ChangeColumns, row: number, total: DiffTotal): Exact {
  if (!isScaled(total)) return after[row]!;
  const [from, by] = [before[row]!, Math.round(change[row]!)];
  return typeof from === 'number' ? from + by : from + BigInt(by);
}

/** The same with a unit, followed by the recorded value. */
export function afterText(columns: ChangeColumns, row: number, total: DiffTotal, unit: Unit): string {
  const text = withUnit(comparedAfter(columns, row, total), unit);
  return isScaled(total) ? `${text}, scaled (${withUnit(columns.after[row]!, unit)} recorded)` : text;
}

/** The larger recorded total, which determines the unit of columns. */
function largest({ rows: { all } }: DiffTotal): Exact {
  const [before, after] = [all.before[0] ?? 0, all.after[0] ?? 0];
  return before > after ? before : after;
}

/** Both weights and the change of one kind; the change comes first if rows are sorted by it. */
export function changeColumns(rows: ChangedRows, total: DiffTotal, unit: Unit, of: 'self' | 'all', isOrder: boolean): TableColumn[] {
  const scale = scaleOf(largest(total), unit);
  const columns = rows[of];
  const recorded = (side: 'before' | 'after'): TableColumn => weightColumn(`${of}-${side}`, '7.6rem', scale, (row) => columns[side][row]!, `${titleOfWeight(of)} ${side}`);
  const scaled = (): TableColumn => ({
    ...weightColumn(`${of}-after-scaled`, '11rem', scale, (row) => comparedAfter(columns, row, total), `${titleOfWeight(of)} after, scaled`),
    cell: (row) => <span title={`${withUnit(columns.after[row]!, unit)} recorded`}>{inScale(comparedAfter(columns, row, total), scale)}</span>,
  });
  const text = (row: number): string => signed(columns.change[row]!, scale);
  return [
    {
      id: `${of}-change`,
      title: `${titleOfWeight(of)} change ${scale.unit}`,
      isNumber: true,
      isMinor: !isOrder,
      width: '9.2rem',
      cell: (row) => (
        <>
          <Words verdict={verdictOf(columns, row)} text={text(row)} />
          {!isOrder && <span class="only-read">, {wordsOf(rows, of, row)}</span>}
        </>
      ),
      text: (row) => ungrouped(text(row)),
      value: (row) => columns.change[row]!,
      sortBy: (row) => Math.abs(columns.change[row]!),
      isOrder,
    },
    recorded('before'),
    isScaled(total) ? scaled() : recorded('after'),
  ];
}

/** One standard deviation, and the verdict in words. */
export function noiseColumns(rows: ChangedRows, total: DiffTotal, unit: Unit, of: 'self' | 'all'): TableColumn[] {
  const scale = scaleOf(largest(total), unit);
  const columns = rows[of];
  const noise = (row: number): string => {
    const of = columns.noise[row]!;
    return Number.isFinite(of) ? inScale(whole(of), scale) : '?';
  };
  const words = (row: number): string => wordsOf(rows, of, row);
  return [
    {
      id: `${of}-noise`,
      title: `± ${scale.unit}`,
      isNumber: true,
      isMinor: true,
      width: '5.4rem',
      cell: (row) => <span class="dim">{noise(row)}</span>,
      text: (row) => ungrouped(noise(row)),
      value: (row) => columns.noise[row]!,
    },
    {
      id: 'verdict',
      title: 'verdict',
      isMinor: true,
      width: '9.2rem',
      cell: (row) => <Words verdict={verdictOf(columns, row)} text={words(row)} />,
      text: words,
    },
  ];
}
