// Makes the whole page a drop target, and shows this while something is dragged over it.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Listing, droppedFiles } from './listing.ts';

/** Browsers report a drag over the page at least three times a second. */
const ENDED_AFTER_MS = 1_000;

export function DropTarget({ text, onDrop }: { text: string; onDrop: (listing: Promise<Listing>) => void }): JSX.Element | null {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const end = new AbortController();
    let timer = 0;
    const show = (isShown: boolean): void => {
      clearTimeout(timer);
      setOver(isShown);
      // Not every browser reports a drag that was cancelled.
      if (isShown) timer = setTimeout(() => setOver(false), ENDED_AFTER_MS);
    };
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
      show(true);
    });
    // The drag leaves the window, not just an element.
    listen('dragleave', ({ relatedTarget }) => show(relatedTarget !== null));
    listen('drop', (_, transfer) => {
      show(false);
      onDrop(droppedFiles(transfer));
    });
    return () => {
      end.abort();
      clearTimeout(timer);
    };
  }, [onDrop]);
  if (!isOver) return null;
  return (
    <div class="drop-over" aria-hidden="true" data-part="drop-over">
      <p>{text}</p>
    </div>
  );
}
