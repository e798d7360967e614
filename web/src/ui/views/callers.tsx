// One function between its callers and its callees.

import type { JSX } from 'preact';
import { nameOf } from '../../state/names.ts';
import type { AnswerOf } from '../../host/protocol.ts';
import { useAnswer, useApp, useStore } from '../app_context.ts';
import { FunctionName, functionColumns, pair } from '../cells.tsx';
import { type Unit, percent, scaleOf, withUnit } from '../format.ts';
import { Notice, Panel, Pending } from '../panel.tsx';
import { matchOf, useSearch } from '../search.tsx';
import { Table } from '../table.tsx';

export function CallersView(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const label = state.chosen;
  const { answer, asked, unit, isOld, fault } = useAnswer('view', label === null ? null : { kind: 'sandwich', label });
  if (label === null || label < 0) {
    return <Notice>Choose a function in any view, such as Functions, to see its callers and callees here.</Notice>;
  }
  if (answer === null || asked === null) return <Pending fault={fault} />;
  const isMissing = Number(answer.all.samples) === 0;
  if (isMissing) {
    return (
      <Panel controls={app.address.before === null ? undefined : <Before />}>
        <Notice>{nameOf(app.names, asked.label)} is not in the selection.</Notice>
      </Panel>
    );
  }
  return (
    <Panel
      controls={
        <span class="sandwich-head">
          <Before />
          <FunctionName names={app.names} label={asked.label} />
          <span class="note">
            all {withUnit(answer.all.weight, unit)} ({percent(answer.all.weight, answer.total.weight)}), self{' '}
            {withUnit(answer.self.weight, unit, answer.all.weight)} ({percent(answer.self.weight, answer.total.weight)})
            {Number(answer.recursive.samples) > 0 && `, recursive in ${withUnit(answer.recursive.weight, unit)}: its calls to itself are left out`}
          </span>
        </span>
      }
    >
      <div class="sandwich">
        <Side id="callers" title="Callers" rows={answer.callers} answer={answer} unit={unit} isOld={isOld} empty={`In the selection, nothing calls ${nameOf(app.names, asked.label)}.`} />
        <Side id="callees" title="Callees" rows={answer.callees} answer={answer} unit={unit} isOld={isOld} empty="It calls nothing in the selection." />
      </div>
    </Panel>
  );
}

/** Goes back to the function that was in the middle before. */
function Before(): JSX.Element | null {
  const { address } = useApp();
  const { before } = address;
  if (before === null) return null;
  return (
    <button type="button" class="before" title={`Back to ${before}`} onClick={() => address.back()} data-part="before">
      <span aria-hidden="true">← </span>
      {before}
    </button>
  );
}

function Side(props: {
  id: string;
  title: string;
  rows: AnswerOf<'sandwich'>['callers'];
  answer: AnswerOf<'sandwich'>;
  unit: Unit;
  isOld: boolean;
  empty: string;
}): JSX.Element {
  const app = useApp();
  const search = useSearch();
  const { rows, answer, unit } = props;
  const labelOf = (row: number): number => rows.label[row]!;
  const scale = scaleOf(answer.total.weight, unit);
  const columns = [...pair('all', rows.weight, answer.total.weight, scale, true), ...functionColumns(app.names, labelOf)];
  const choose = (row: number): void => {
    if (labelOf(row) >= 0) app.store.set({ chosen: labelOf(row) });
  };
  return (
    <section class={`side${rows.label.length === 0 ? ' is-empty' : ''}`} aria-label={props.title}>
      <h2>{props.title}</h2>
      <Table
        id={props.id}
        label={props.title}
        columns={columns}
        count={rows.label.length}
        isOld={props.isOld}
        target={(row) => ({ label: labelOf(row) })}
        isMatch={matchOf(search, labelOf)}
        onOpen={choose}
        empty={props.empty}
      />
    </section>
  );
}
