// The owners of code, and the calls from app code into other code.

import type { JSX } from 'preact';
import { useAnswer, useApp, useStore } from '../app_context.ts';
import { labelColumn, nameColumn, textColumn, weightColumns } from '../cells.tsx';
import { functionRows } from '../functions.ts';
import { Panel, Pending } from '../panel.tsx';
import { useSearch } from '../search.tsx';
import { Table, type TableColumn } from '../table.tsx';
import { NO_STACK_NAME, kindOfCategory } from '../../state/names.ts';

const TELLS: Record<string, string> = {
  user: 'your app and its libraries',
  system: 'Apple’s frameworks and libraries',
  runtime: 'language runtimes, memory and synchronization',
  kernel: 'the kernel and its drivers',
  unknown: 'code in no known binary',
};

export function CategoriesView(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const search = useSearch();
  const { answer, unit, isOld, fault } = useAnswer('view', { kind: 'categories' });
  if (answer === null) return <Pending fault={fault} />;
  const nameAt = (row: number): string => answer.category[row] ?? NO_STACK_NAME;
  const columns: TableColumn[] = [
    ...weightColumns({ sums: answer.sums, total: answer.total.weight, unit }, 'self'),
    nameColumn('category', '9rem', nameAt, (row) => kindOfCategory(answer.category[row])),
    textColumn('tells', 'minmax(8rem, 1fr)', (row) => TELLS[answer.category[row] ?? ''] ?? '', 'meaning'),
  ];
  const { caller, callee, sums } = answer.transitions;
  const calls: TableColumn[] = [
    ...weightColumns({ sums, total: answer.total.weight, unit }, 'self'),
    labelColumn(app.names, 'caller', 'minmax(8rem, 1fr)', (row) => caller[row]!),
    labelColumn(app.names, 'callee', 'minmax(8rem, 1fr)', (row) => callee[row]!),
  ];
  return (
    <Panel>
      <div class="stacked">
        <section class="side is-short" aria-label="Categories">
          <Table id="categories" label="Categories" columns={columns} count={answer.category.length} isOld={isOld} target={() => ({ label: null })} />
        </section>
        <section class="side" aria-label="Transitions">
          <h2>
            Transitions <span class="note">calls from your code into other code; self: samples that did not return to your code</span>
          </h2>
          <Table
            id="transitions"
            label="Transitions"
            columns={calls}
            count={caller.length}
            isOld={isOld}
            {...functionRows(app, state, search, (row) => callee[row]!)}
            empty="In the selection, your code calls no other code."
          />
        </section>
      </div>
    </Panel>
  );
}
