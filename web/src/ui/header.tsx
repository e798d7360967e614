// The head of the page: the recording, its table, left-out items, and the permanent buttons.

import type { JSX } from 'preact';
import { fragmentOf } from '../state/fragment.ts';
import { runText } from '../state/run_text.ts';
import { freshState, isLeftOut } from '../state/state.ts';
import { type App, useApp, useStore } from './app_context.ts';
import { copyText } from './copy.ts';
import { SideSwitch } from './diff/side_switch.tsx';
import { OpenerMenu } from './opener_menu.tsx';
import { Select } from './panel.tsx';
import { SaveMenu } from './save_menu.tsx';
import { accountOf, documentsOf, reductionOf, summariesOf } from './summary.ts';
import { ThemeButton } from './theme_button.tsx';
import { counted, timeText } from './format.ts';
import { recordedText } from './recorded.ts';
import type { Tables } from '../host/protocol.ts';

export function Header(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const { tables } = app.names;
  const span = tables.spans[state.series];
  const summaries = summariesOf(app.names, state.side);
  const account = [reductionOf(app.names)?.short ?? '', ...new Set(summaries.map((summary) => accountOf(summary, app.notes)))].filter((text) => text !== '').join('; ');
  const inputs = summaries.map((summary) => documentsOf(summary).join(', '));
  const program = programOf(tables, state.series);
  return (
    <header class="head" data-part="head">
      <h1 class={inputs.length > 1 ? 'is-pair' : undefined} title={summaries.flatMap(documentsOf).join('\n')}>{[program, inputs.join(' → ')].filter((text) => text !== '').join(' · ') || 'Recording'}</h1>
      <SideSwitch />
      {tables.series.length > 1 && state.side !== 'compared' ? <SeriesSelect app={app} /> : <span class="note">{tables.series[0]?.schema}</span>}
      {state.side !== 'compared' && <Recorded run={tables.runs[tables.series[state.series]!.run]!} span={span ?? null} />}
      <button type="button" class={account === '' ? 'quiet' : 'quiet has-notes'} data-part="recording" title={account} onClick={() => app.openDialog('recording')}>
        {account === '' ? 'About the input' : account}
      </button>
      <span class="fill" />
      <div class="tools">
        <button type="button" aria-label="Undo" title="Undo (Ctrl Z)" disabled={!app.store.canUndo} onClick={() => app.store.undo()} data-part="undo">
          ↶
        </button>
        <button type="button" aria-label="Redo" title="Redo (Ctrl Shift Z)" disabled={!app.store.canRedo} onClick={() => app.store.redo()} data-part="redo">
          ↷
        </button>
        <button type="button" title="Copy a link to what is shown" onClick={() => void share(app)} data-part="share">
          Link
        </button>
        {app.opener !== null && <OpenerMenu opener={app.opener} />}
        <SaveMenu />
        <ThemeButton />
        <button type="button" aria-label="Keys" title="Keys (?)" onClick={() => app.openDialog('keys')} data-part="keys">
          ?
        </button>
      </div>
    </header>
  );
}

/** The recorded program; empty if there are several. */
function programOf({ processes, runs, series }: Tables, shown: number): string {
  const names = new Set(processes.map(({ name }) => name).filter((name) => name !== ''));
  return runs[series[shown]!.run]!.process ?? (names.size === 1 ? [...names][0]! : '');
}

/** The known ones of device, date and length of a run. */
function Recorded({ run, span }: { run: Tables['runs'][number]; span: { start: number; end: number } | null }): JSX.Element {
  const sampled = span === null ? '' : timeText(span.end - span.start);
  const text = recordedText(run);
  const title = [run.device?.name, run.device?.os_version, run.start_date, sampled === '' ? undefined : `${sampled} from the first sample to the last`];
  return (
    <span class="note is-wide" data-part="recorded" title={title.filter((part) => part !== undefined).join('\n')}>
      {run.duration_ns === undefined ? [text, sampled].filter((part) => part !== '').join(' · ') : text}
    </span>
  );
}

function SeriesSelect({ app }: { app: App }): JSX.Element {
  const state = useStore();
  const { tables } = app.names;
  const options = tables.series.flatMap(({ run, schema, unit, rows }, id) => {
    const name = `${schema}${tables.runs.length > 1 ? ` of run ${runText(tables, run)}` : ''} (${unit}, ${counted(rows, 'row')})`;
    return isLeftOut(tables, id) && id !== state.series ? [] : [{ value: String(id), name }];
  });
  const change = (id: string): void => {
    const { side, normalize, tab, tree, flame, search } = state;
    app.store.set({ ...freshState(Number(id), side), normalize, tab, tree, flame, search });
  };
  return <Select label="Table" value={String(state.series)} options={options} onChange={change} />;
}

async function share(app: App): Promise<void> {
  const link = `${location.href.replace(/#.*$/, '')}#${fragmentOf(app.store.state, app.names)}`;
  const isCopied = await copyText(link);
  const needs = app.opener === null ? '' : ' It contains no recording: send it with the file.';
  app.say(`${isCopied ? 'Copied a link to this view.' : 'The link is in the address bar.'}${needs}`);
}
