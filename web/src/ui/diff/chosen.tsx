// The change of the chosen function.

import type { JSX } from 'preact';
import { useAnswer } from '../app_context.ts';
import type { ChangeColumns, ChangedRows, DiffTotal } from '../../host/protocol.ts';
import { type Unit, withUnit } from '../format.ts';
import { Words, comparedAfter, isScaled, signedWithUnit, verdictOf } from './changes.tsx';
import { useScaling } from './use_changes.ts';

export function ChosenChange({ label }: { label: number }): JSX.Element | null {
  const { answer, unit, isOld } = useAnswer('chosen', { kind: 'diff-of', normalize: useScaling(), label });
  if (answer === null || isOld) return null;
  if (answer.rows.count === 0) return <span class="note">in none of the selected samples</span>;
  const { self, all } = answer.rows;
  return (
    <span class="note" title={isScaled(answer.total) ? recordedText(answer.rows, unit) : undefined}>
      {([['self', self], ['total', all]] as const).map(([name, columns]) => (
        <span key={name}>
          {name === 'total' && ' · '}
          {name} <OneChange columns={columns} total={answer.total} unit={unit} />
        </span>
      ))}
      {isScaled(answer.total) && ' · after is scaled'}
    </span>
  );
}

function OneChange({ columns, total, unit }: { columns: ChangeColumns; total: DiffTotal; unit: Unit }): JSX.Element {
  const [before, verdict] = [withUnit(columns.before[0]!, unit), verdictOf(columns, 0)];
  if (verdict === 'none') return <>{before} in both</>;
  return (
    <>
      {before} → {withUnit(comparedAfter(columns, 0, total), unit)}, <Words verdict={verdict} text={`${signedWithUnit(columns.change[0]!, unit)} (${verdict})`} />
    </>
  );
}

function recordedText({ self, all }: ChangedRows, unit: Unit): string {
  return `after, as recorded: self ${withUnit(self.after[0]!, unit, all.after[0]!)}, total ${withUnit(all.after[0]!, unit)}`;
}
