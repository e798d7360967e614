// Cells that many tables share: a function with the colour of its kind, weights in one unit, shares with a bar.

import type { JSX } from 'preact';
import type { Kind } from '../canvas/index.ts';
import type { Exact, SumColumns } from '../host/protocol.ts';
import { type Names, binaryOf, kindOf, nameOf } from '../state/names.ts';
import { useFitted } from './fitted.ts';
import { type Scale, type Unit, grouped, inScale, percent, plainShare, scaleOf, ungrouped } from './format.ts';
import type { TableColumn } from './table.tsx';

/** A function's name with the colour of its kind. */
export function FunctionName({ names, label }: { names: Names; label: number }): JSX.Element {
  const name = nameOf(names, label);
  const element = useFitted(name);
  return (
    <span ref={element} class={`name kind-${kindOf(names, label)}`} title={name} data-label={label}>
      {name}
    </span>
  );
}

/** A name, in the colour of its kind if it has one. */
function Name({ name, kind }: { name: string; kind?: Kind | undefined }): JSX.Element {
  return (
    <span class={kind === undefined ? 'name' : `name kind-${kind}`} title={name}>
      {name}
    </span>
  );
}

/** A name, with a checkbox if it can be selected. */
export function CheckName({ name, isChecked, onToggle }: { name: string; isChecked: boolean; onToggle: (() => void) | null }): JSX.Element {
  return (
    <label class="check">
      {onToggle !== null && <input type="checkbox" tabIndex={-1} checked={isChecked} onChange={onToggle} />}
      <Name name={name} />
    </label>
  );
}

/** A share next to its bar. */
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

/** The title of a weight; the weight of all samples with a function is called its total. */
export function titleOfWeight(id: string): string {
  return id === 'all' ? 'total' : id;
}

/** A share and a weight. */
export function pair(id: string, values: ArrayLike<Exact>, total: Exact, scale: Scale, isOrder: boolean): TableColumn[] {
  const value = (row: number): Exact => values[row]!;
  return [
    {
      id: `${id}-share`,
      title: `${titleOfWeight(id)} %`,
      isNumber: true,
      isMinor: !isOrder,
      width: '6.4rem',
      cell: (row) => <Share part={values[row]!} total={total} />,
      text: (row) => plainShare(values[row]!, total),
      sortBy: value,
    },
    { ...weightColumn(id, '6.4rem', scale, value), isMinor: !isOrder, isOrder },
  ];
}

/** A column of weights with one scale. */
export function weightColumn(id: string, width: string, scale: Scale, of: (row: number) => Exact, title = titleOfWeight(id)): TableColumn {
  const shown = (row: number): string => inScale(of(row), scale);
  return { id, title: `${title} ${scale.unit}`, isNumber: true, isMinor: true, width, cell: shown, text: (row) => ungrouped(shown(row)), value: of };
}

/** The columns of a function and its binary. */
export function functionColumns(names: Names, labelOf: (row: number) => number): TableColumn[] {
  return [labelColumn(names, 'function', 'minmax(10rem, 3fr)', labelOf), binaryColumn(names, labelOf)];
}

/** A column of functions. */
export function labelColumn(names: Names, id: string, width: string, labelOf: (row: number) => number): TableColumn {
  return { ...nameColumn(id, width, (row) => nameOf(names, labelOf(row))), cell: (row) => <FunctionName names={names} label={labelOf(row)} /> };
}

export function binaryColumn(names: Names, labelOf: (row: number) => number): TableColumn {
  const binary = (row: number): string => binaryOf(names, labelOf(row)) ?? '';
  return { ...nameColumn('binary', 'minmax(6rem, 1fr)', binary), isMinor: true, cell: (row) => <span class="dim">{binary(row)}</span> };
}

/** A column of names, in the colours of their kinds, if they have any. */
export function nameColumn(id: string, width: string, name: (row: number) => string, kind?: (row: number) => Kind): TableColumn {
  return { id, title: id, width, cell: (row) => <Name name={name(row)} kind={kind?.(row)} />, text: name };
}

/** A column of counts. */
export function countColumn(id: string, of: (row: number) => Exact): TableColumn {
  return { ...textColumn(id, '6rem', (row) => grouped(of(row))), isNumber: true, value: of };
}

/** A column of details. */
export function textColumn(id: string, width: string, of: (row: number) => string, title = id): TableColumn {
  const cell = (row: number): JSX.Element => (
    <span class="dim" title={of(row)}>
      {of(row)}
    </span>
  );
  return { id, title, width, isMinor: true, cell, text: of };
}
