// The chosen function, with its weight and its actions: a menu for users without a right button. Views in which a click chooses a function
// always have the bar: if it appeared with the first click, it would be under the pointer at the second click of a double click.

import type { JSX } from 'preact';
import { binaryOf } from '../state/names.ts';
import type { Tab } from '../state/state.ts';
import { ACTIONS } from './actions.ts';
import { useAnswer, useApp, useStore } from './app_context.ts';
import { ChosenChange } from './diff/chosen.tsx';
import { FunctionName } from './cells.tsx';
import { percent, withUnit } from './format.ts';
import { showCallers } from './functions.ts';

const SHOWN = ['root-at', 'prune'];
const CHOOSING: readonly Tab[] = ['flame', 'tree', 'functions', 'chart', 'source'];

export function ChosenBar(): JSX.Element | null {
  const app = useApp();
  const state = useStore();
  const label = state.chosen;
  const { answer, unit, isOld } = useAnswer('chosen', label === null || label < 0 || state.side === 'compared' ? null : { kind: 'sandwich', label });
  if (label === null || label < 0) {
    return CHOOSING.includes(state.tab) ? <p class="chosen note" data-part="unchosen">Choose a function to see its weight and operations here.</p> : null;
  }
  const target = { label };
  return (
    <section class="chosen" aria-label="Chosen function" data-part="chosen">
      <span class="chosen-name">
        <FunctionName names={app.names} label={label} />
        <span class="dim">{binaryOf(app.names, label)}</span>
      </span>
      {state.side === 'compared' && <ChosenChange label={label} />}
      {state.side !== 'compared' && answer !== null && !isOld && (
        <span class="note">
          {Number(answer.all.samples) === 0
            ? 'not in the selection'
            : `self ${withUnit(answer.self.weight, unit, answer.all.weight)} · total ${withUnit(answer.all.weight, unit)} (${percent(answer.all.weight, answer.total.weight)})`}
        </span>
      )}
      <span class="buttons">
        {state.tab !== 'callers' && (
          <button type="button" onClick={() => showCallers(app, label)}>
            Callers & callees
          </button>
        )}
        {ACTIONS.filter(({ id }) => SHOWN.includes(id)).map((action) => (
          <button
            key={action.id}
            type="button"
            class="is-wide"
            title={`${action.tells} (${action.key})`}
            onClick={() => {
              const change = action.change(state, app.names, target);
              if (change !== null) app.store.set(change);
            }}
          >
            {action.name}
          </button>
        ))}
        <button
          type="button"
          aria-haspopup="menu"
          onClick={(event) => {
            const { left, top } = event.currentTarget.getBoundingClientRect();
            const aimed = app.aimed();
            app.openMenu(aimed.label === label ? aimed : target, left, top);
          }}
        >
          More
        </button>
        <button type="button" aria-label="Clear the chosen function" onClick={() => app.store.set({ chosen: null })}>
          ×
        </button>
      </span>
    </section>
  );
}
