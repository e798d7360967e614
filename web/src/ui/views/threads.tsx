// Processes and threads, of which some can be selected.

import type { JSX } from 'preact';
import type { Part } from '../../host/protocol.ts';
import { processName, threadName } from '../../state/names.ts';
import { placeOf } from '../../state/state.ts';
import { useAnswer, useApp, useStore } from '../app_context.ts';
import { CheckName, countColumn, nameColumn, pair, textColumn } from '../cells.tsx';
import { scaleOf } from '../format.ts';
import { Panel, Pending } from '../panel.tsx';
import { Table, type TableColumn } from '../table.tsx';

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
  const chooser = (id: 'thread' | 'process', field: 'threads' | 'processes', rows: readonly Part[], nameOf: typeof threadName): TableColumn => {
    const name = (row: number): string => nameOf(app.names, rows[row]!.id);
    const check = (row: number): JSX.Element => {
      const { id } = rows[row]!;
      return <CheckName name={name(row)} isChecked={state[field]?.includes(id) ?? false} onToggle={() => app.store.set({ [field]: toggle(state[field], id) })} />;
    };
    return { ...nameColumn(id, 'minmax(10rem, 1fr)', name), cell: check };
  };
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
              columns={[...weights(processes), samples(processes), chooser('process', 'processes', processes, processName)]}
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
              chooser('thread', 'threads', threads, threadName),
              textColumn('process', 'minmax(6rem, 1fr)', (row) => processName(app.names, main[threads[row]!.id]!.process)),
              textColumn('main', '4rem', (row) => (main[threads[row]!.id]!.is_main ? 'main' : ''), 'role'),
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
