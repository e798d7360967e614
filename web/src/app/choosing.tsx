// The inputs that choose files and folders. They are not visible: buttons open them.

import type { JSX, RefObject } from 'preact';
import { type Listing, chosenFiles } from './listing.ts';

export type Choice = 'files' | 'folder';

/** False on phones. */
export function canChooseFolders(): boolean {
  return 'webkitdirectory' in HTMLInputElement.prototype;
}

export function Inputs({ files, folder, onChoose }: Record<Choice, RefObject<HTMLInputElement | null>> & { onChoose: (listing: Listing) => void }): JSX.Element {
  const change = ({ currentTarget: input }: { currentTarget: HTMLInputElement }): void => {
    const chosen = chosenFiles(input.files!);
    // Otherwise, choosing the same files again would not be a change.
    input.value = '';
    if (chosen.files.length > 0) onChoose(chosen);
  };
  return (
    <>
      <input ref={files} type="file" multiple hidden onChange={change} data-part="input-files" />
      <input ref={folder} type="file" {...{ webkitdirectory: true }} hidden onChange={change} data-part="input-folder" />
    </>
  );
}
