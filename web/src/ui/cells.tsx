// Cells that many tables have: a function with the colour of its kind, weights in one unit, shares with a bar.

import type { JSX } from 'preact';
import type { Exact, SumColumns } from '../host/protocol.ts';
import { type Kind, type Names, binaryOf, kindOf, nameOf } from '../state/names.ts';
import { useFitted } from './fitted.ts';
import { type Scale, type Unit, inScale, percent, plainShare, scaleOf } from './format.ts';
import type { TableColumn } from './table.tsx';

/** A function's name with the colour of its kind. */
export function FunctionName({ names, label }: { names: Names; label: number }): JSX.Element {
  const name = nameOf(names, label);
  const element = useFitted(name);
  return (
    <span ref={element} class={`name kind-${kindOf(names, label)}`} title={name}>
      {name}
    </span>
  );
}

/** A name in the colour of a kind. */
export function KindName({ kind, name }: { kind: Kind; name: string }): JSX.Element {
  return (
    <span class={`name kind-${kind}`} title={name}>
      {name}
    </span>
  );
}

/** A share beside its bar. */
export function Share({ part, total }: { part: Exact; total: Exact }): JSX.Element {
  const share = Number(total) === 0 ? 0 : Number(part) / Number(total);
  return (
    <span class="share">
      <span class="bar" style={{ width: `${Math.min(100, 100 * share)}%` }} />
      <span class="amount">{percent(part, total)}</span>
    </span>
  );
}

interface Weights {
  readonly sums: SumColumns;
  readonly total: Exact;
  readonly unit: Unit;
}

/** Columns of self and all weights. */
export function weightColumns({ sums, total, unit }: Weights, order: 'self' | 'all'): TableColumn[] {
  const scale = scaleOf(total, unit);
  const self = pair('self', sums.self, total, scale, order === 'self');
  const all = pair('all', sums.all, total, scale, order === 'all');
  return order === 'self' ? [...self, ...all] : [...all, ...self];
}

/** A share and a weight. */
export function pair(id: string, values: ArrayLike<Exact>, total: Exact, scale: Scale, isOrder: boolean): TableColumn[] {
  const value = (row: number): Exact => values[row]!;
  return [
    {
      id: `${id}-share`,
      title: `${id} %`,
      isNumber: true,
      isMinor: !isOrder,
      width: '6.4rem',
      cell: (row) => <Share part={values[row]!} total={total} />,
      text: (row) => plainShare(values[row]!, total),
      sortBy: value,
    },
    {
      id,
      title: `${id} ${scale.unit}`,
      isNumber: true,
      isMinor: !isOrder,
      width: '6.4rem',
      cell: (row) => inScale(values[row]!, scale),
      text: (row) => inScale(values[row]!, scale).replaceAll('\u202f', ''),
      value,
      isOrder,
    },
  ];
}

/** The columns of a function and its binary. */
export function functionColumns(names: Names, labelOf: (row: number) => number): TableColumn[] {
  return [
    {
      id: 'function',
      title: 'function',
      width: 'minmax(10rem, 3fr)',
      cell: (row) => <FunctionName names={names} label={labelOf(row)} />,
      text: (row) => nameOf(names, labelOf(row)),
    },
    binaryColumn(names, labelOf),
  ];
}

export function binaryColumn(names: Names, labelOf: (row: number) => number): TableColumn {
  return {
    id: 'binary',
    title: 'binary',
    isMinor: true,
    width: 'minmax(6rem, 1fr)',
    cell: (row) => <span class="dim">{binaryOf(names, labelOf(row)) ?? ''}</span>,
    text: (row) => binaryOf(names, labelOf(row)) ?? '',
  };
}
