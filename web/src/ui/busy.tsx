// Long computations are announced and can be cancelled.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useApp } from './app_context.ts';

const SHOWN_AFTER_MS = 1_500;
const SETTLED_AFTER_MS = 50;

export function Busy(): JSX.Element | null {
  const { client, store, say } = useApp();
  const [since, setSince] = useState<number | null>(null);
  const [isLong, setLong] = useState(false);
  useEffect(() => client.onBusy(setSince), [client]);
  useEffect(() => {
    const root = document.documentElement;
    // A change shows as busy immediately; its question is sent a moment later.
    const settle = (): void => {
      root.dataset['state'] = client.isBusy ? 'busy' : 'ready';
    };
    const unsettle = (): void => {
      root.dataset['state'] = 'busy';
      setTimeout(settle, SETTLED_AFTER_MS);
    };
    unsettle();
    const ends = [store.subscribe(unsettle), client.onBusy((since) => (since === null ? unsettle() : settle()))];
    return () => ends.forEach((end) => end());
  }, [client, store]);
  useEffect(() => {
    setLong(false);
    if (since === null) return;
    const timer = setTimeout(() => setLong(true), SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, [since]);
  if (!isLong) return null;
  const cancel = (): void => {
    client.cancel();
    say('Cancelled.');
    // The same question is not sent again.
    if (store.state.search !== '') store.set({ search: '' });
    else if (store.canUndo) store.undo();
    else store.set({ operations: [] });
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
