// What takes long says so, and can be ended: a pattern may take JavaScript for ever.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useApp } from './app_context.ts';

const SHOWN_AFTER_MS = 1_500;

export function Busy(): JSX.Element | null {
  const { client, store, say } = useApp();
  const [since, setSince] = useState<number | null>(null);
  const [isLong, setLong] = useState(false);
  useEffect(() => client.onBusy(setSince), [client]);
  useEffect(() => {
    document.documentElement.dataset['state'] = since === null ? 'ready' : 'busy';
    setLong(false);
    if (since === null) return;
    const timer = setTimeout(() => setLong(true), SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, [since]);
  if (!isLong) return null;
  const cancel = (): void => {
    client.cancel();
    say('Cancelled.');
    // What was asked for is not asked again.
    if (store.state.search !== '') store.set({ search: '' });
    else store.undo();
  };
  return (
    <div class="busy" role="status" data-part="busy">
      <span>Computing …</span>
      <button type="button" onClick={cancel}>
        Cancel
      </button>
    </div>
  );
}
