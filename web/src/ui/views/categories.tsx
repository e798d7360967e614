// The owners of code, and the calls from app code into other code.

import type { JSX } from 'preact';
import { useAnswer, useApp, useStore } from '../app_context.ts';
import { FunctionName, KindName, weightColumns } from '../cells.tsx';
import { Panel, Pending } from '../panel.tsx';
import { matchOf, useSearch } from '../search.tsx';
import { Table, type TableColumn } from '../table.tsx';
import { type Kind, NO_STACK_NAME, nameOf } from '../../state/names.ts';
import { text } from './binaries.tsx';

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
  const kindAt = (row: number): Kind => (answer.category[row] === 'user' ? 'own' : (answer.category[row] ?? 'unknown'));
  const columns: TableColumn[] = [
    ...weightColumns({ sums: answer.sums, total: answer.total.weight, unit }, 'self'),
    {
      id: 'category',
      title: 'category',
      width: '9rem',
      cell: (row) => <KindName kind={kindAt(row)} name={nameAt(row)} />,
      text: nameAt,
    },
    text('tells', 'minmax(8rem, 1fr)', (row) => TELLS[answer.category[row] ?? ''] ?? '', 'meaning'),
  ];
  const { caller, callee, sums } = answer.transitions;
  const calls: TableColumn[] = [
    ...weightColumns({ sums, total: answer.total.weight, unit }, 'self'),
    functionColumn('caller', caller),
    functionColumn('callee', callee),
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
            target={(row) => ({ label: callee[row]! })}
            isChosen={(row) => callee[row] === state.chosen}
            isMatch={matchOf(search, (row) => callee[row]!)}
            onChoose={(row) => app.store.set({ chosen: callee[row]! })}
            onOpen={(row) => app.store.set({ chosen: callee[row]!, tab: 'callers' })}
            empty="In the selection, your code calls no other code."
          />
        </section>
      </div>
    </Panel>
  );

  function functionColumn(id: string, labels: Int32Array): TableColumn {
    return {
      id,
      title: id,
      width: 'minmax(8rem, 1fr)',
      cell: (row) => <FunctionName names={app.names} label={labels[row]!} />,
      text: (row) => nameOf(app.names, labels[row]!),
    };
  }
}
