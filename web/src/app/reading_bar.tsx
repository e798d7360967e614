// The progress of a reading, which can be cancelled. Short readings show nothing.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Progress } from '../host/dropped.ts';
import { counted } from '../ui/format.ts';
import { rootOf } from './listing.ts';
import type { Current } from './session.ts';

const SHOWN_AFTER_MS = 300;
const STEPS = { listing: 'Listing the files …', reading: 'Reading …', opening: 'Opening the recording …' };
/** Smaller files are read so fast that their number is the better progress. */
const LEAST_SHOWN = 1e6;

export function ReadingBar({ current, next, onCancel }: { current: Current; next: readonly string[]; onCancel: () => void }): JSX.Element | null {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isLong) return null;
  const { step, progress, isAgain } = current;
  const shown = progress === null ? null : shownOf(progress);
  const text = shown === null && !isAgain ? STEPS[step] : `${['Reading', shown?.name, isAgain && 'again, without times, for lack of memory'].filter(Boolean).join(' ')} …`;
  return (
    <div class="busy reading" data-part="reading">
      <span role="status">{text}</span>
      {shown !== null && (
        <>
          <progress max={shown.size} value={shown.done} aria-label={`Progress in ${shown.name}`} />
          <span class="note">{shown.amount}</span>
        </>
      )}
      {next.length > 0 && (
        <span class="note is-next" title={next.join('\n')}>
          then {next.length === 1 ? next[0] : counted(next.length, 'item')}
        </span>
      )}
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}

/** The progress in a large file, or the number of files that were read. */
function shownOf({ path, done, size, read, files }: Progress): { name: string; done: number; size: number; amount: string } {
  if (files > 1 && size < LEAST_SHOWN) return { name: rootOf({ path }), done: read, size: files, amount: `${read} of ${counted(files, 'file')}` };
  const [unit, bytes] = size < 1e6 ? ['kB', 1e3] : ['MB', 1e6];
  return { name: path.split('/').at(-1)!, done, size, amount: `${Math.round(done / bytes)} of ${Math.ceil(size / bytes)} ${unit}` };
}
