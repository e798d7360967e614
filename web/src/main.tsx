// The start of the page, and of the worker that is created from the same script. A report contains a recording, and the app opens others.

import { render } from 'preact';
import { Session } from './app/session.ts';
import { Shell } from './app/shell.tsx';
import { swatches } from './canvas/index.ts';
import { Client } from './host/client.ts';
import { fromBase64 } from './host/embedded.ts';
import { compiled } from './host/engine.ts';
import type { Payloads } from './host/protocol.ts';
import { serve } from './host/worker.ts';
import { Application } from './ui/app.tsx';
import type { ReadingNotes } from './ui/app_context.ts';
import { writeInertTexts } from './ui/inert_text.ts';
import { openNames, show } from './ui/shown.ts';
import { readTheme, setTheme } from './ui/theme.ts';

if (typeof document === 'undefined') serve(self as unknown as Parameters<typeof serve>[0]);
else void start(document.currentScript?.textContent ?? null);

async function start(script: string | null): Promise<void> {
  const main = document.getElementById('workbench');
  const [isReport, isApp] = [['engine', 'profile'], ['reader']].map((ids) => ids.every((id) => document.getElementById(id) !== null));
  if (main === null || (!isReport && !isApp)) return;
  const root = document.documentElement;
  const page = isApp ? (root.cloneNode(true) as HTMLElement) : null;
  root.dataset['state'] = 'busy';
  setTheme(readTheme());
  // Squares next to names have the colours of boxes.
  for (const [name, color] of swatches()) root.style.setProperty(name, color);
  addEventListener('error', ({ message }) => {
    // A browser that has no time left in a frame reports sizes in the next one: this is not an error.
    if (!message.startsWith('ResizeObserver loop')) root.dataset['state'] = 'error';
  });
  addEventListener('unhandledrejection', () => (root.dataset['state'] = 'error'));
  writeInertTexts();
  if (page === null) await showReport(main, script);
  else showApp(main, script, page);
}

async function showReport(main: HTMLElement, script: string | null): Promise<void> {
  // Until here, the paragraph reports that the page is incomplete: the script is its last part.
  const opening = document.getElementById('opening')!;
  opening.textContent = 'Opening the recording …';
  try {
    // The page compiles the engine while its worker starts.
    const engine = compiled(bytesOf('engine')!);
    const payloads = async (): Promise<Payloads> => ({ engine: await engine, isCompressed: true, payload: bytesOf('profile')!, before: bytesOf('before'), facts: textOf('diff') });
    const client = new Client(payloads, script);
    // Only reports that the app saved have both.
    const [notes, view] = ['notes', 'view'].map((id) => JSON.parse(textOf(id) ?? 'null') as unknown) as [ReadingNotes | null, string | null];
    const names = await openNames(client);
    const shown = location.hash === '' && view !== null ? show(client, names, view, 'itself') : show(client, names, location.hash);
    main.replaceChildren();
    render(<Application {...shown} notes={notes} />, main);
  } catch (error) {
    document.documentElement.dataset['state'] = 'error';
    opening.textContent = `The recording cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function showApp(main: HTMLElement, script: string | null, page: HTMLElement): void {
  const engine = compiled(bytesOf('reader')!);
  // The first reading reports why it cannot be compiled.
  engine.catch(() => {});
  main.replaceChildren();
  render(<Shell session={new Session(engine, script, page)} />, main);
  document.documentElement.dataset['state'] = 'ready';
}

function textOf(id: string): string | null {
  return document.getElementById(id)?.textContent ?? null;
}

function bytesOf(id: string): Uint8Array<ArrayBuffer> | null {
  const text = textOf(id);
  return text === null ? null : fromBase64(text);
}
