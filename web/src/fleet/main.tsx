// The start of the page of a fleet: reads its document, and draws it.

import { render } from 'preact';
import { fromBase64, inflated } from '../host/embedded.ts';
import { writeInertTexts } from '../ui/inert_text.ts';
import { readTheme, setTheme } from '../ui/theme.ts';
import type { FleetDocument } from './document.ts';
import { FleetPage } from './fleet_page.tsx';

void start();

async function start(): Promise<void> {
  const [place, data] = ['fleet', 'report'].map((id) => document.getElementById(id));
  if (!place || !data) return;
  const { dataset } = document.documentElement;
  dataset['state'] = 'busy';
  setTheme(readTheme());
  addEventListener('error', () => (dataset['state'] = 'error'));
  try {
    const bytes = fromBase64(data.textContent ?? '');
    const read = (await new Response(inflated(bytes)).json()) as FleetDocument;
    writeInertTexts();
    place.replaceChildren();
    render(<FleetPage document={read} />, place);
    dataset['state'] = 'ready';
    // The browser looked for the section of the address before it was there.
    if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  } catch (error) {
    dataset['state'] = 'error';
    place.append(`The report cannot be shown: ${error instanceof Error ? error.message : String(error)}`);
  }
}
