// The page before a recording is open: what it is, and the ways to open one.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ThemeButton } from '../ui/theme_button.tsx';
import { type Choice, canChooseFolders } from './choosing.tsx';

export function StartScreen({ onChoose, children }: { onChoose: (choice: Choice) => void; children: ComponentChildren }): JSX.Element {
  const hasLink = useLink();
  return (
    <div class="start" data-part="start">
      <header>
        <strong>traceparse</strong>
        <ThemeButton />
      </header>
      <div class="start-body">
        <h1>See where an app spends its CPU time</h1>
        <p class="start-lead">Open a recording from Apple’s Instruments: a timeline, flame graphs, call trees and functions, without a Mac or Xcode.</p>
        <section class="drop-zone" aria-label="Open a recording">
          <DropSign />
          <h2>
            <span class="is-drop">Drop</span>
            <span class="is-tap">Choose</span> {hasLink ? 'the recording of this link' : 'a recording'}
            <span class="is-drop"> here</span>
          </h2>
          <p>Add the dSYM of the app to see function names instead of addresses. Two recordings are compared.</p>
          <div class="start-buttons">
            <button type="button" class="is-main" onClick={() => onChoose('files')} data-part="choose-files">
              Choose files
            </button>
            {canChooseFolders() && (
              <button type="button" onClick={() => onChoose('folder')} data-part="choose-folder">
                Choose a folder
              </button>
            )}
          </div>
          {hasLink && <p class="note">The link contains no recording. Its selection is applied as soon as you open the recording that it was made from.</p>}
          {children}
        </section>
        <p class="start-promise">
          <strong>Nothing leaves your machine.</strong> This page reads the files itself, and its security policy forbids every network connection.
        </p>
        <Kinds />
      </div>
    </div>
  );
}

/** True if the address has a state, which may also be pasted later. */
function useLink(): boolean {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => setFragment(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return fragment.length > 1;
}

/** An arrow into a tray. */
function DropSign(): JSX.Element {
  return (
    <svg class="drop-sign" viewBox="0 0 32 32" aria-hidden="true">
      <path d="M16 4v15m-6-6 6 6 6-6M5 20v7h22v-7" />
    </svg>
  );
}

function Kinds(): JSX.Element {
  return (
    <dl class="start-kinds">
      <div>
        <dt>Recordings</dt>
        <dd>
          <code>.trace</code> bundles of Instruments
        </dd>
      </div>
      <div>
        <dt>Exports and reports</dt>
        <dd>
          Exports of <code>xctrace</code>; reports of <code>sample</code>, <code>spindump</code> and MetricKit
        </dd>
      </div>
      <div>
        <dt>Packed</dt>
        <dd>A zip or tar of one of these; exports and reports with gzip or zstd</dd>
      </div>
      <div>
        <dt>Symbols</dt>
        <dd>
          dSYMs, <code>.symbols</code> files and binaries, with the recording or later
        </dd>
      </div>
      <div>
        <dt>On a Mac</dt>
        <dd>
          Finder shows a <code>.trace</code> as one file. Drop it. If the browser refuses it, choose <b>Compress</b> in the menu of the file, and drop the zip.
        </dd>
      </div>
    </dl>
  );
}
