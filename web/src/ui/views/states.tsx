// States of threads and kinds of core.

import type { JSX } from 'preact';
import type { Exact } from '../../host/protocol.ts';
import { useAnswer, useApp, useStore } from '../app_context.ts';
import { countColumn, pair, textColumn } from '../cells.tsx';
import { scaleOf } from '../format.ts';
import { Choice, Notice, Panel, Pending } from '../panel.tsx';
import { Table, type TableColumn } from '../table.tsx';

export function StatesView(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const { answer, unit, isOld, fault } = useAnswer('view', { kind: 'states' });
  if (answer === null) return <Pending fault={fault} />;
  const rows = answer.states;
  const columns: TableColumn[] = [
    ...pair('all', rows.map((row) => row.weight), answer.total.weight, scaleOf(answer.total.weight, unit), true),
    countColumn('samples', (row) => rows[row]!.samples),
    { ...textColumn('state', 'minmax(9rem, 1fr)', (row) => rows[row]!.state ?? 'no state recorded'), isMinor: false },
    textColumn('counts', 'minmax(6rem, 1fr)', (row) => (rows[row]!.is_counted ? 'yes' : 'no'), 'in totals'),
  ];
  const chosen = state.states === 'running' ? 'running' : state.states === 'all' ? 'all' : 'some';
  const only = (row: number): void => {
    const name = rows[row]!.state;
    if (name !== null) app.store.set({ states: [name] });
  };
  return (
    <Panel
      controls={
        <>
          <Choice
            label="States that count"
            value={chosen}
            options={[
              { id: 'running', name: 'Running counts' },
              { id: 'all', name: 'All states' },
              ...(chosen === 'some' ? [{ id: 'some' as const, name: `Only ${(state.states as readonly string[]).join(', ')}` }] : []),
            ]}
            onChange={(states) => states !== 'some' && app.store.set({ states })}
          />
          <span class="note">Press Enter on a state to select only that state.</span>
        </>
      }
    >
      <Table id="states" label="Thread states" columns={columns} count={rows.length} isOld={isOld} target={() => ({ label: null })} onOpen={only} />
    </Panel>
  );
}

export function CoresView(): JSX.Element {
  const { answer, unit, isOld, fault } = useAnswer('view', { kind: 'cores' });
  if (answer === null) return <Pending fault={fault} />;
  const rows = answer.cores.flatMap(({ kind, cores, weight, samples }): CoreLine[] => [
    { name: kind ?? 'no kind recorded', level: 1, weight, samples },
    ...cores.map((row): CoreLine => ({ name: row.core === null ? 'no core recorded' : `core ${row.core}`, level: 2, weight: row.weight, samples: row.samples })),
  ]);
  if (!rows.some(({ level, name }) => level === 2 && name !== 'no core recorded')) {
    return <Notice>This table does not record on which core a sample was taken.</Notice>;
  }
  const columns: TableColumn[] = [
    ...pair('all', rows.map((row) => row.weight), answer.total.weight, scaleOf(answer.total.weight, unit), true),
    countColumn('samples', (row) => rows[row]!.samples),
    {
      id: 'core',
      title: 'core',
      width: 'minmax(10rem, 1fr)',
      cell: (row) => <span class={`name level-${rows[row]!.level}`}>{rows[row]!.name}</span>,
      text: (row) => rows[row]!.name,
    },
  ];
  return (
    <Panel>
      <Table id="cores" label="Cores" columns={columns} count={rows.length} isOld={isOld} hasOneOrder target={() => ({ label: null })} />
    </Panel>
  );
}

interface CoreLine {
  readonly name: string;
  readonly level: 1 | 2;
  readonly weight: Exact;
  readonly samples: Exact;
}
