// The start of the page, and of the worker that is made of the same script.

import { render } from 'preact';
import { swatches } from './canvas/index.ts';
import { Client } from './host/client.ts';
import { fromBase64 } from './host/embedded.ts';
import { compiled } from './host/engine.ts';
import type { Payloads } from './host/protocol.ts';
import { RefusedError } from './host/refused.ts';
import { serve } from './host/worker.ts';
import { readFragment } from './state/fragment.ts';
import type { Names } from './state/names.ts';
import { pairNames } from './state/sides.ts';
import { Store } from './state/store.ts';
import { Texts } from './state/texts.ts';
import { Address } from './ui/address.ts';
import { Application } from './ui/app.tsx';
import { Greetings } from './ui/greetings.ts';
import { writeInertTexts } from './ui/inert_text.ts';
import { sentence } from './ui/panel.tsx';
import { readTheme, setTheme } from './ui/theme.ts';

if (typeof document === 'undefined') serve(self as unknown as Parameters<typeof serve>[0]);
else void start(document.currentScript?.textContent ?? null);

async function start(script: string | null): Promise<void> {
  const main = document.getElementById('workbench');
  const textOf = (id: string): string | null => document.getElementById(id)?.textContent ?? null;
  if (main === null || textOf('engine') === null || textOf('profile') === null) return;
  const root = document.documentElement;
  root.dataset['state'] = 'busy';
  setTheme(readTheme());
  // Squares next to names have the colours of boxes.
  for (const [name, color] of swatches()) root.style.setProperty(name, color);
  addEventListener('error', ({ message }) => {
    // A browser that has no time left in a frame reports sizes in the next one: this is not an error.
    if (!message.startsWith('ResizeObserver loop')) root.dataset['state'] = 'error';
  });
  addEventListener('unhandledrejection', () => (root.dataset['state'] = 'error'));
  // Until here, the paragraph reports that the page is incomplete: the script is its last part.
  const opening = document.getElementById('opening')!;
  opening.textContent = 'Opening the recording …';
  try {
    const bytesOf = (id: string): Payloads['before'] => {
      const text = textOf(id);
      return text === null ? null : fromBase64(text);
    };
    // The page compiles the engine while its worker starts.
    const engine = compiled(bytesOf('engine')!);
    const payloads = async (): Promise<Payloads> => ({ engine: await engine, payload: bytesOf('profile')!, before: bytesOf('before'), facts: textOf('diff') });
    const client = new Client(payloads, script);
    const { tables, pair } = await client.open();
    if (tables.series.length === 0) throw new RefusedError('it contains no samples');
    if (pair?.before.series.length === 0) throw new RefusedError('the first recording contains no samples to compare with');
    const own: Names = { tables, texts: new Texts(tables) };
    const names = pair === null ? own : pairNames(own, { tables: pair.before, texts: new Texts(pair.before) }, pair);
    const { store, greeting } = openStore(names);
    main.replaceChildren();
    writeInertTexts();
    const greetings = new Greetings(greeting);
    const address = new Address(store, names, (text) => greetings.say(text));
    render(<Application client={client} names={names} store={store} address={address} greetings={greetings} />, main);
  } catch (error) {
    root.dataset['state'] = 'error';
    opening.textContent = `The recording cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The state of the link, or a fresh one and the reason. */
function openStore(names: Names): { store: Store; greeting: string | null } {
  try {
    return { store: new Store(readFragment(location.hash, names)), greeting: null };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return { store: new Store(readFragment('', names)), greeting: refusal(error) };
  }
}

function refusal(error: RefusedError): string {
  return `${sentence(error.message)} The complete recording is shown.`;
}
