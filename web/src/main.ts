// The page: for now a heading and a table of functions, so that everything from the command to the screen stands.

import { NO_STACK_NAME, Workbench, binaryName, decodePayload, functionName, functions } from './engine/index.ts';

const ROWS = 200;

async function start(): Promise<void> {
  const element = document.getElementById('profile');
  const main = document.getElementById('workbench');
  if (element === null || main === null) return;
  const profile = await decodePayload(element.textContent ?? '');
  element.remove();
  const view = new Workbench(profile).view();
  profile.series.forEach((series, index) => {
    const heading = document.createElement('h2');
    heading.textContent = `${series.schema}, run ${profile.runs[series.run]!.number} (${series.unit})`;
    const table = document.createElement('table');
    append(table.createTHead().insertRow(), 'th', ['self', 'all', 'function', 'binary']);
    const body = table.createTBody();
    for (const row of functions(view, index).slice(0, ROWS)) {
      const isFunction = row.label >= 0;
      const name = isFunction ? functionName(profile, row.label) : NO_STACK_NAME;
      const binary = (isFunction ? binaryName(profile, row.label) : null) ?? '';
      append(body.insertRow(), 'td', [String(row.self_weight), String(row.all_weight), name, binary]);
    }
    main.append(heading, table);
  });
}

function append(row: HTMLTableRowElement, kind: 'th' | 'td', texts: readonly string[]): void {
  for (const text of texts) {
    const cell = document.createElement(kind);
    cell.textContent = text;
    row.append(cell);
  }
}

start().catch((error: unknown) => {
  const paragraph = document.createElement('p');
  paragraph.textContent = `The recording cannot be shown: ${String(error)}`;
  document.getElementById('workbench')?.append(paragraph);
});
