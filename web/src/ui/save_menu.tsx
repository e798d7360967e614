// Saves the displayed content: tables as TSV and JSON, drawings as SVG and PNG; the selection for other programs; and the page.

import type { JSX } from 'preact';
import { fragmentOf } from '../state/fragment.ts';
import type { State } from '../state/state.ts';
import { type App, unitOf, useApp } from './app_context.ts';
import { download } from './copy.ts';
import { type Item, MenuButton } from './menu_box.tsx';
import { selectionItems } from './save_selection.ts';
import { type SeenDrawing, saveDrawing } from './seen.ts';

export function SaveMenu(): JSX.Element {
  const app = useApp();
  return <MenuButton part="save" name="Save" title="Save what is shown" groups={() => [drawingItems(app), tableItems(app), selectionItems(app), reportItems(app)]} />;
}

function drawingItems(app: App): Item[] {
  return app.seen.drawings().flatMap((drawing: SeenDrawing) => [
    { id: 'save-svg', name: `${drawing.name()} as SVG`, tells: 'Full height, with a caption', run: () => void saveDrawing(app.say, drawing, 'svg') },
    { id: 'save-png', name: `${drawing.name()} as PNG`, tells: 'Full height, with a caption', run: () => void saveDrawing(app.say, drawing, 'png') },
  ]);
}

/** The tables of a view are saved as one file. */
function tableItems(app: App): Item[] {
  const { seen, store } = app;
  const names = seen.names();
  if (names.length === 0) return [{ id: 'save-none', name: 'No table is shown', run: () => app.say('This view does not have a table to save.') }];
  const what = `${names.length > 1 ? 'These tables' : 'This table'} (${names.join(', ')})`;
  const save = (kind: 'tsv' | 'json', type: string, text: string | null): void => {
    const file = `${store.state.tab}.${kind}`;
    download(file, type, text ?? '');
    app.say(`Saved ${file}.`);
  };
  return [
    { id: 'save-tsv', name: `${what} as TSV`, run: () => save('tsv', 'text/tab-separated-values', seen.tsv()) },
    { id: 'save-json', name: `${what} as JSON`, run: () => save('json', 'application/json', seen.json(about(app, store.state))) },
  ];
}

function about(app: App, state: State): object {
  const side = app.names.sides === undefined ? {} : { side: state.side };
  return { format: 'traceparse-view', version: 1, view: state.tab, ...side, unit: unitOf(app, state), selected: fragmentOf(state, app.names) };
}

/** The page with its recording, if it was opened in the app. */
function reportItems({ opener, say }: App): Item[] {
  if (opener === null) return [];
  const save = async (): Promise<void> => {
    try {
      const report = await opener.saveReport();
      download('report.html', report.type, report);
      say(`Saved report.html (${(report.size / 1e6).toFixed(1)} MB).`);
    } catch (error) {
      say(`The report cannot be saved: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  return [{ id: 'save-report', name: 'Self-contained report (HTML)', tells: 'This page with the complete recording, which opens without the original files', run: () => void save() }];
}
