// The runs behind the rows of a table, with the command that opens the heaviest one.

import type { JSX } from 'preact';
import type { Behind } from './document.ts';
import { cut } from './measure.ts';
import { Folded } from './table.tsx';

/** Rows of the list. */
const MOST_ROWS = 20;

export function RunsBehind({ rows }: { rows: readonly (readonly [name: string, behind: Behind | null])[] }): JSX.Element | null {
  const shown = rows.slice(0, MOST_ROWS).filter(([, behind]) => behind !== null);
  if (shown.length === 0) return null;
  return (
    <Folded class="behind" summary="Runs behind the numbers">
      <dl>
        {shown.map(([name, behind], at) => [
          <dt key={`${at} name`}>{cut(name)}</dt>,
          <dd key={at}>
            {cut(behind!.runs)}
            {behind!.command !== null && <code>{behind!.command}</code>}
          </dd>,
        ])}
      </dl>
    </Folded>
  );
}
