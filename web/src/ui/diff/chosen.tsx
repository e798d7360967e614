// The change of the function that is looked at.

import type { JSX } from 'preact';
import { useAnswer } from '../app_context.ts';
import { withUnit } from '../format.ts';
import { Words, signedWithUnit, verdictOf } from './changes.tsx';
import { useScaling } from './use_changes.ts';

export function ChosenChange({ label }: { label: number }): JSX.Element | null {
  const { answer, unit, isOld } = useAnswer('chosen', { kind: 'diff-of', normalize: useScaling(), label });
  if (answer === null || isOld) return null;
  if (answer.rows.count === 0) return <span class="note">in no sample that counts</span>;
  const { self, all } = answer.rows;
  return (
    <span class="note">
      {([['self', self], ['all', all]] as const).map(([name, columns]) => (
        <span key={name}>
          {name === 'all' && ' · '}
          {name} {withUnit(columns.before[0]!, unit)} → {withUnit(columns.after[0]!, unit)},{' '}
          <Words verdict={verdictOf(columns, 0)} text={`${signedWithUnit(columns.change[0]!, unit)} (${verdictOf(columns, 0)})`} />
        </span>
      ))}
    </span>
  );
}
