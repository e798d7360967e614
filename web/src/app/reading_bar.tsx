// The progress of a reading, which can be cancelled. Short readings show nothing.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Progress } from '../host/dropped.ts';
import type { Current } from './session.ts';

const SHOWN_AFTER_MS = 300;
const STEPS = { listing: 'Listing the files …', reading: 'Reading …', opening: 'Opening the recording …' };

export function ReadingBar({ current: { step, progress, isAgain }, onCancel }: { current: Current; onCancel: () => void }): JSX.Element | null {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isLong) return null;
  const name = progress?.path.split('/').at(-1);
  const again = isAgain ? ' again, without times, for lack of memory' : '';
  return (
    <div class="busy reading" data-part="reading">
      <span role="status">{name === undefined && !isAgain ? STEPS[step] : `Reading ${name ?? ''}${again} …`.replaceAll('  ', ' ')}</span>
      {progress !== null && (
        <>
          <progress max={progress.size} value={progress.done} aria-label={`Progress in ${name}`} />
          <span class="note">{amountText(progress)}</span>
        </>
      )}
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}

function amountText({ done, size }: Progress): string {
  const [unit, bytes] = size < 1e6 ? ['kB', 1e3] : ['MB', 1e6];
  return `${Math.round(done / bytes)} of ${Math.ceil(size / bytes)} ${unit}`;
}
