// The comparison of many runs: the verdict, the runs of both sides, and the functions that changed.

import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { RunsBlock, RunsComparison } from '../../host/protocol.ts';
import { useApp } from '../app_context.ts';
import { counted, grouped } from '../format.ts';
import { Notice } from '../panel.tsx';
import { Forest } from './forest.tsx';
import { SIDES, Strips, axesOf, number } from './strips.tsx';

/** The number of blocks and functions that are shown before the user requests all. */
const [FEW_BLOCKS, FEW_FUNCTIONS] = [12, 20];

const CLASSES: Record<RunsComparison['verdict'], string> = { slower: 'is-more', faster: 'is-less', 'no-slowdown': 'is-less', unknown: 'is-noise', invalid: 'is-more' };

export function RunsView(): JSX.Element {
  const { names } = useApp();
  const comparison = names.sides?.facts.comparison ?? null;
  if (comparison === null) return <Notice>This page has no comparison of many runs.</Notice>;
  const remarks = [...comparison.compared, ...comparison.warnings, ...comparison.differences];
  return (
    <div class="overview runs" data-part="runs">
      <h2 class={`verdict change ${CLASSES[comparison.verdict]}`} data-part="verdict">
        {comparison.sentence}
      </h2>
      <p class="note">{comparison.scope}</p>
      {remarks.length > 0 && (
        <ul class="remarks" data-part="remarks">
          {remarks.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      <div class="columns">
        <Blocks comparison={comparison} />
        <Functions comparison={comparison} />
      </div>
    </div>
  );
}

function Blocks({ comparison }: { comparison: RunsComparison }): JSX.Element {
  const { blocks } = comparison;
  const few = useFew(blocks, FEW_BLOCKS, 'blocks');
  const axes = useMemo(() => axesOf(blocks), [blocks]);
  const leftOut = leftOutText(blocks);
  return (
    <section aria-labelledby="runs-blocks">
      <h2 id="runs-blocks">
        {`${comparison.quantity} of the runs`}{' '}
        <span class="note">
          dots are runs, boxes reach from the first to the third quartile with the median, triangles are geometric means{leftOut}
        </span>
      </h2>
      <div class="strips-grid">
        {few.shown.map((block, place) => (
          <Strips key={place} block={block} axis={axes[place]!} comparison={comparison} />
        ))}
      </div>
      {few.button}
      <details>
        <summary>The same as a table</summary>
        <Summaries comparison={comparison} />
      </details>
    </section>
  );
}

/** The number of runs without a dot. */
function leftOutText(blocks: readonly RunsBlock[]): string {
  const sides = blocks.flatMap(({ count, runs }) => SIDES.map((side) => [count[side], runs[side].length] as const));
  const [all, shown] = [0, 1].map((of) => sides.reduce((sum, counts) => sum + counts[of]!, 0)) as [number, number];
  return shown === all ? '' : `; ${grouped(all - shown)} of ${counted(all, 'run')}, evenly chosen, have no dot`;
}

function Summaries({ comparison: { blocks, block: by, quantity, shown_unit: unit } }: { comparison: RunsComparison }): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`${quantity} of the runs`}>
      <table class="summaries" data-part="summaries">
        <thead>
          <tr>
            {[by.length === 0 ? 'runs' : by.join(' · '), 'side', 'runs', 'P25', 'P50', 'P75', `geometric mean, ${unit.name}`].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {blocks.flatMap((block, place) =>
            SIDES.map((side) => {
              const { p25, p50, p75, geometric_mean: mean } = block.summary[side];
              return (
                <tr key={`${place} ${side}`}>
                  <th scope="row">{by.length === 0 ? 'all' : block.name}</th>
                  <td>{side}</td>
                  <td class="amount">{grouped(block.count[side])}</td>
                  {[p25, p50, p75].map((value, column) => (
                    <td key={column} class="amount">
                      {number(value, unit)}
                    </td>
                  ))}
                  <td class="amount">{mean === null ? 'all idle' : number(mean, unit)}</td>
                </tr>
              );
            }),
          )}
        </tbody>
      </table>
    </div>
  );
}

function Functions({ comparison }: { comparison: RunsComparison }): JSX.Element {
  const { functions, family } = comparison;
  const few = useFew(functions ?? [], FEW_FUNCTIONS, 'functions');
  const tested = counted(family?.size ?? 0, 'function');
  return (
    <section aria-labelledby="runs-functions">
      <h2 id="runs-functions">
        Functions that changed <span class="note">{functions === null ? '' : `${grouped(functions.length)} of ${tested} tested, by self weight; * slower`}</span>
      </h2>
      {functions === null && <p class="note">Functions were not compared.</p>}
      {functions?.length === 0 && <p class="note">{`No change was shown in ${tested}.`}</p>}
      {functions !== null && functions.length > 0 && <Forest functions={few.shown} comparison={comparison} />}
      {few.button}
    </section>
  );
}

/** The first rows, until a button shows all. */
function useFew<T>(rows: readonly T[], few: number, what: string): { shown: readonly T[]; button: JSX.Element | null } {
  const [isAll, setAll] = useState(false);
  if (isAll || rows.length <= few) return { shown: rows, button: null };
  const button = (
    <p class="buttons-below">
      <button type="button" onClick={() => setAll(true)}>
        {`Show all ${grouped(rows.length)} ${what}`}
      </button>
    </p>
  );
  return { shown: rows.slice(0, few), button };
}
