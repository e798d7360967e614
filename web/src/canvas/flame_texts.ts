// Descriptions of a box: for the tooltip, and for screen readers.

import { exactTimeText, shareText, weightText } from './amounts.ts';
import type { Rows } from './rows.ts';
import type { Tip } from './tooltip.ts';
import { type FlameModel, KINDS, KIND_NAMES } from './types.ts';

/** The lines of a tooltip. `isChart` is for boxes with a time. */
export function tipOfBox(model: FlameModel, rows: Rows, box: number, isChart: boolean): Tip {
  const weight = weightOf(model, box);
  const parent = rows.parentOf(box);
  const label = model.label[box]!;
  const kind = KIND_NAMES[KINDS[model.labels.kinds[label]!] ?? 'unknown'];
  const isRoot = model.depth[box] === 0 && !isChart;
  const spans = model.spans?.[box] ?? 1;
  const subtitle = [model.labels.binaries[label]!, isRoot ? '' : kind].filter((text) => text !== '').join(' · ');
  const of = model.of === undefined ? '' : ` ${model.of}`;
  const whole = isChart ? 'the thread' : `total${of}`;
  const amount = (value: number, text: string | undefined): string =>
    `${text ?? weightText(value, model.unit)} · ${shareText(value, model.total)} of ${whole}`;
  const all = amount(weight, model.texts?.weight[box]);
  const self = amount(model.self[box]!, model.texts?.self[box]);
  // Inverted, samples end in the first function, which leads here.
  const lines: [string, string][] = model.isInverted ? [[model.depth[box]! === 1 ? 'self' : 'ends so', all]] : [[`all${of}`, all], [`self${of}`, self]];
  if (parent >= 0 && !isChart) lines.push([model.isInverted ? 'of its callee' : 'of its caller', shareText(weight, weightOf(model, parent))]);
  if (isChart) lines.push(['from', exactTimeText(model.start[box]!)], ['duration', exactTimeText(model.width[box]!)]);
  if (spans > 1) lines.push(['covered', `${exactTimeText(model.covered![box]!)} · ${shareText(model.covered![box]!, model.width[box]!)} by ${spans.toLocaleString('en')} spans`]);
  for (const [name, value] of model.notes?.[box] ?? []) lines.push([name, value]);
  const name = model.labels.names[label]!;
  return { title: spans > 1 ? `Mostly ${name}` : name, subtitle, rows: lines };
}

/** The tooltip as one sentence. */
export function speechOfBox(model: FlameModel, rows: Rows, box: number, isChart: boolean): string {
  const { title, subtitle, rows: lines } = tipOfBox(model, rows, box, isChart);
  const values = lines.map(([name, value]) => `${name} ${value}`.trim());
  return [title, subtitle, ...values, `level ${model.depth[box]! + 1} of ${rows.depths}`].filter((text) => text !== '').join(', ');
}

function weightOf(model: FlameModel, box: number): number {
  return model.weight === undefined ? model.width[box]! : model.weight[box]!;
}
