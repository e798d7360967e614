// Changes as people read them: a sign, words for more and less, and grey where chance may explain one. Colour never stands alone.

import type { JSX } from 'preact';
import type { Exact } from '../../engine/index.ts';
import type { ChangeColumns, ChangedRows } from '../../host/diff_protocol.ts';
import { type Scale, type Unit, inScale, scaleOf, withUnit } from '../format.ts';
import type { TableColumn } from '../table.tsx';

/** A change in one word. */
export type Verdict = 'more' | 'less' | 'within noise';

export function verdictOf({ change, isBeyond }: ChangeColumns, row: number): Verdict {
  if (isBeyond[row] !== 1) return 'within noise';
  return change[row]! > 0 ? 'more' : 'less';
}

/** The same, with `new` and `gone` where only one recording has it. */
export function wordsOf({ presence }: ChangedRows, columns: ChangeColumns, row: number): string {
  const verdict = verdictOf(columns, row);
  return presence[row] === 0 ? verdict : `${presence[row] === 1 ? 'new' : 'gone'}, ${verdict}`;
}

const CLASSES: Record<Verdict, string> = { more: 'is-more', less: 'is-less', 'within noise': 'is-noise' };

export function Words({ verdict, text }: { verdict: Verdict; text: string }): JSX.Element {
  return <span class={`change ${CLASSES[verdict]}`}>{text}</span>;
}

/** A difference with its sign, in the scale of its column. Scaled weights are no whole numbers. */
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

/** A difference as a share of the first recording's total. */
export function signedPercent(change: number, before: Exact): string {
  if (Number(before) === 0) return 'n/a';
  const share = (100 * change) / Number(before);
  return `${share > 0 ? '+' : share < 0 ? '−' : ''}${Math.abs(share).toFixed(2)}%`;
}

/** The largest weight of a total, by which columns are scaled. */
export function largest({ all }: ChangedRows): Exact {
  const [before, after] = [all.before[0] ?? 0, all.after[0] ?? 0];
  return before > after ? before : after;
}

/** Both weights and the change of one kind, with the change first where the rows stand in its order. */
export function changeColumns(rows: ChangedRows, total: ChangedRows, unit: Unit, of: 'self' | 'all', isOrder: boolean): TableColumn[] {
  const scale = scaleOf(largest(total), unit);
  const columns = rows[of];
  const plain = (side: 'before' | 'after'): TableColumn => ({
    id: `${of}-${side}`,
    title: `${of} ${side} ${scale.unit}`,
    isNumber: true,
    isMinor: true,
    width: '7.6rem',
    cell: (row) => inScale(columns[side][row]!, scale),
    text: (row) => inScale(columns[side][row]!, scale).replaceAll('\u202f', ''),
    value: (row) => columns[side][row]!,
  });
  const text = (row: number): string => signed(columns.change[row]!, scale);
  return [
    {
      id: `${of}-change`,
      title: `${of} change ${scale.unit}`,
      isNumber: true,
      isMinor: !isOrder,
      width: '9.2rem',
      cell: (row) => (
        <>
          <Words verdict={verdictOf(columns, row)} text={text(row)} />
          {!isOrder && <span class="only-read">, {verdictOf(columns, row)}</span>}
        </>
      ),
      text: (row) => text(row).replaceAll('\u202f', ''),
      value: (row) => columns.change[row]!,
      sortBy: (row) => Math.abs(columns.change[row]!),
      isOrder,
    },
    plain('before'),
    plain('after'),
  ];
}

/** One standard deviation, and the verdict in words. */
export function noiseColumns(rows: ChangedRows, total: ChangedRows, unit: Unit, of: 'self' | 'all'): TableColumn[] {
  const scale = scaleOf(largest(total), unit);
  const columns = rows[of];
  const noise = (row: number): string => inScale(whole(columns.noise[row]!), scale);
  const words = (row: number): string => wordsOf(rows, columns, row);
  return [
    {
      id: `${of}-noise`,
      title: `± ${scale.unit}`,
      isNumber: true,
      isMinor: true,
      width: '5.4rem',
      cell: (row) => <span class="dim">{noise(row)}</span>,
      text: (row) => noise(row).replaceAll('\u202f', ''),
      value: (row) => columns.noise[row]!,
    },
    {
      id: 'verdict',
      title: 'verdict',
      width: '9.2rem',
      cell: (row) => <Words verdict={verdictOf(columns, row)} text={words(row)} />,
      text: words,
    },
  ];
}
