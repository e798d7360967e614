// The whole page takes drops, and shows that while something is dragged over it.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Dropped } from '../host/dropped.ts';
import { droppedFiles } from './listing.ts';

export function DropTarget({ text, onDrop }: { text: string; onDrop: (files: Promise<Dropped[]>) => void }): JSX.Element | null {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const end = new AbortController();
    const listen = (name: 'dragover' | 'dragleave' | 'drop', handle: (event: DragEvent, transfer: DataTransfer) => void): void => {
      const listener = (event: DragEvent): void => {
        const { dataTransfer } = event;
        // Selected text can be dragged as well.
        if (dataTransfer?.types.includes('Files') !== true) return;
        event.preventDefault();
        handle(event, dataTransfer);
      };
      addEventListener(name, listener, { signal: end.signal });
    };
    listen('dragover', (_, transfer) => {
      transfer.dropEffect = 'copy';
      setOver(true);
    });
    // Leaves the window, not only an element.
    listen('dragleave', ({ relatedTarget }) => setOver(relatedTarget !== null));
    listen('drop', (_, transfer) => {
      setOver(false);
      onDrop(droppedFiles(transfer));
    });
    return () => end.abort();
  }, [onDrop]);
  if (!isOver) return null;
  return (
    <div class="drop-over" aria-hidden="true" data-part="drop-over">
      <p>{text}</p>
    </div>
  );
}
