// Processes and threads, of which some can be selected.

import type { JSX } from 'preact';
import type { Part } from '../../host/protocol.ts';
import { processName, threadName } from '../../state/names.ts';
import { placeOf } from '../../state/state.ts';
import { useAnswer, useApp, useStore } from '../app_context.ts';
import { pair } from '../cells.tsx';
import { scaleOf } from '../format.ts';
import { Panel, Pending } from '../panel.tsx';
import { Table, type TableColumn } from '../table.tsx';
import { countColumn, text } from './binaries.tsx';

export function ThreadsView(): JSX.Element {
  const app = useApp();
  const state = useStore();
  // Threads that are not selected stay in the list, so that they can be selected.
  const all = placeOf({ ...state, threads: null, processes: null, mainOnly: false }, app.names.tables);
  const { answer, unit, isOld, fault } = useAnswer('view', { kind: 'threads' }, all);
  if (answer === null) return <Pending fault={fault} />;
  const { threads, processes } = answer;
  const weights = (rows: readonly Part[]): TableColumn[] =>
    pair('all', rows.map((row) => row.weight), answer.total.weight, scaleOf(answer.total.weight, unit), true);
  const samples = (rows: readonly Part[]): TableColumn => countColumn('samples', (row) => rows[row]!.samples);
  const toggle = (list: readonly number[] | null, id: number): readonly number[] | null => {
    const next = list === null ? [id] : list.includes(id) ? list.filter((one) => one !== id) : [...list, id];
    return next.length === 0 ? null : next;
  };
  const chooser = (field: 'threads' | 'processes', rows: readonly Part[], name: (id: number) => string): TableColumn => ({
    id: field === 'threads' ? 'thread' : 'process',
    title: field === 'threads' ? 'thread' : 'process',
    width: 'minmax(10rem, 1fr)',
    cell: (row) => {
      const { id } = rows[row]!;
      return (
        <label class="check">
          <input
            type="checkbox"
            tabIndex={-1}
            checked={state[field]?.includes(id) ?? false}
            onChange={() => app.store.set({ [field]: toggle(state[field], id) })}
          />
          <span class="name" title={name(id)}>
            {name(id)}
          </span>
        </label>
      );
    },
    text: (row) => name(rows[row]!.id),
  });
  const main = app.names.tables.threads;
  return (
    <Panel
      controls={
        <>
          {(state.mainOnly || main.some(({ is_main }) => is_main)) && (
            <label class="check">
              <input type="checkbox" checked={state.mainOnly} onChange={(event) => app.store.set({ mainOnly: event.currentTarget.checked })} />
              <span>only main threads</span>
            </label>
          )}
          <span class="note">Checked threads are selected in every view; if none is checked, all are selected. Press Enter to select only one.</span>
        </>
      }
    >
      <div class="stacked">
        {processes.length > 1 && (
          <section class="side is-short" aria-label="Processes">
            <Table
              id="processes"
              label="Processes"
              columns={[...weights(processes), samples(processes), chooser('processes', processes, (id) => processName(app.names, id))]}
              count={processes.length}
              isOld={isOld}
              target={(row) => ({ label: null, process: processes[row]!.id })}
              isChosen={(row) => state.processes?.includes(processes[row]!.id) ?? false}
              onOpen={(row) => app.store.set({ processes: toggle(null, processes[row]!.id) })}
            />
          </section>
        )}
        <section class="side" aria-label="Threads">
          <Table
            id="threads"
            label="Threads"
            columns={[
              ...weights(threads),
              samples(threads),
              chooser('threads', threads, (id) => threadName(app.names, id)),
              text('process', 'minmax(6rem, 1fr)', (row) => processName(app.names, main[threads[row]!.id]!.process)),
              text('main', '4rem', (row) => (main[threads[row]!.id]!.is_main ? 'main' : ''), 'role'),
            ]}
            count={threads.length}
            isOld={isOld}
            target={(row) => ({ label: null, thread: threads[row]!.id, process: main[threads[row]!.id]!.process })}
            isChosen={(row) => state.threads?.includes(threads[row]!.id) ?? false}
            onOpen={(row) => app.store.set({ threads: toggle(null, threads[row]!.id) })}
          />
        </section>
      </div>
    </Panel>
  );
}
