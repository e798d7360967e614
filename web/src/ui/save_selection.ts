// Saves the selection, after operations, in the formats of other programs, with the same content as the command.

import { Superseded } from '../host/client.ts';
import type { FileFormat } from '../host/protocol.ts';
import { placeOf } from '../state/state.ts';
import type { App } from './app_context.ts';
import { download } from './copy.ts';
import type { Item } from './menu_box.tsx';

interface FileKind {
  readonly name: string;
  readonly file: string;
  readonly tells: string;
}

const FILES: Readonly<Record<FileFormat, FileKind>> = {
  csv: { name: 'Functions as CSV', file: 'functions.csv', tells: 'The table of functions, for programs' },
  folded: { name: 'Folded stacks', file: 'stacks.folded', tells: 'For flame graph tools: process;thread;frame;…;leaf WEIGHT' },
  firefox: { name: 'Firefox Profiler', file: 'firefox.json', tells: 'A profile for profiler.firefox.com' },
  speedscope: { name: 'speedscope', file: 'profile.speedscope.json', tells: 'A profile for speedscope.app' },
  pprof: { name: 'pprof', file: 'profile.pb.gz', tells: 'For pprof and other readers of its format' },
};

/**
 * The items for saving the selection. There are none in a comparison, since a file contains one recording, and none on pages that the command
 * wrote, since their smaller engine does not write these formats.
 */
export function selectionItems(app: App): Item[] {
  if (app.notes === null || app.store.state.side === 'compared') return [];
  const kinds = Object.entries(FILES) as [FileFormat, FileKind][];
  return kinds.map(([format, kind]) => ({ id: `save-${format}`, name: `Selection: ${kind.name}`, tells: kind.tells, run: () => void saveSelection(app, format, kind) }));
}

let saves = 0;

async function saveSelection({ client, store, names, say }: App, format: FileFormat, { file }: FileKind): Promise<void> {
  try {
    // Each save has a separate channel, since a later request in the same channel would replace it.
    saves += 1;
    const { bytes } = await client.ask(`save ${saves}`, placeOf(store.state, names.tables), { kind: 'file', format });
    download(file, 'application/octet-stream', new Blob([bytes as Uint8Array<ArrayBuffer>]));
    say(`Saved ${file}.`);
  } catch (error) {
    if (!(error instanceof Superseded)) say(`This cannot be saved as ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
