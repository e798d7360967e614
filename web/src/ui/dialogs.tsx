// Dialogs: the list of keys, and the summary of the input.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Summary } from '../host/protocol.ts';
import { type ReadingNotes, useApp, useStore } from './app_context.ts';
import { counted, grouped } from './format.ts';
import { KEY_GROUPS, hasLetterKeys } from './keys.ts';
import { Facts } from './panel.tsx';
import { remember } from './remembered.ts';
import { diagnosticsOf, documentsOf, reductionOf, rejectedOf, summariesOf } from './summary.ts';

function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog
      ref={element}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === element.current) element.current?.close();
      }}
    >
      <div class="dialog-body">
        <header>
          <h2>{title}</h2>
          <button type="button" aria-label="Close" onClick={() => element.current?.close()}>
            ×
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** Without a key, since a choice of files looks different in each browser. */
const OPENING = { keys: 'Drop, or Open', tells: 'Open another recording, or add symbols: drop files anywhere, or choose them in the menu Open' };

export function KeysDialog({ onClose }: { onClose: () => void }): JSX.Element {
  const { opener } = useApp();
  return (
    <Dialog title="Keys" onClose={onClose}>
      <label class="check">
        <input type="checkbox" checked={hasLetterKeys()} onChange={(event) => remember('letter-keys', event.currentTarget.checked ? null : 'off')} data-part="letter-keys" />
        Keys of one letter, digit or sign, such as f and /
      </label>
      <div class="key-groups">
        {KEY_GROUPS.map(({ title, rows }) => (
          <section key={title}>
            <h3>{title}</h3>
            <Facts rows={(opener !== null && title === 'Everything' ? [...rows, OPENING] : rows).map(({ keys, tells }) => [<kbd>{keys}</kbd>, tells])} />
          </section>
        ))}
      </div>
    </Dialog>
  );
}

export function RecordingDialog({ onClose }: { onClose: () => void }): JSX.Element {
  const { names, notes } = useApp();
  const { side } = useStore();
  const summaries = summariesOf(names, side);
  const reduction = reductionOf(names);
  return (
    <Dialog title="What was read" onClose={onClose}>
      {reduction !== null && <p data-part="reduction">{reduction.sentences}</p>}
      {notes !== null && <NotesOfReading notes={notes} />}
      {summaries.map((summary, index) => (
        <section key={index}>
          {summaries.length > 1 && <h2>{index === 0 ? 'Before' : 'After'}</h2>}
          <Recording summary={summary} />
        </section>
      ))}
    </Dialog>
  );
}

/** The sentences that the command prints while it reads. */
function NotesOfReading({ notes: { warnings, notes, unmatched } }: { notes: ReadingNotes }): JSX.Element {
  return (
    <>
      <Sentences title="Warnings" texts={[...warnings, ...notes]} />
      <Sentences title="Not used" texts={unmatched} />
    </>
  );
}

function Sentences({ title, texts }: { title: string; texts: readonly string[] }): JSX.Element | null {
  if (texts.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="sentences">
        {texts.map((text, index) => (
          <li key={index}>{text}</li>
        ))}
      </ul>
    </>
  );
}

function Recording({ summary }: { summary: Summary }): JSX.Element {
  const { notes } = useApp();
  return (
    <>
      <h3>Inputs</h3>
      <ul>
        {documentsOf(summary).map((input) => (
          <li key={input}>{input}</li>
        ))}
      </ul>
      <h3>Tables</h3>
      <div class="scroll">
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">run</th>
              <th scope="col">table</th>
              <th scope="col" class="is-number">
                rows
              </th>
              <th scope="col" class="is-number">
                samples
              </th>
              <th scope="col">rejected</th>
            </tr>
          </thead>
          <tbody>
            {(summary.tables ?? []).map((table) => (
              <tr key={`${table.run}/${table.position}`}>
                <td>{table.run}</td>
                <td>{table.schema}</td>
                <td class="is-number">{grouped(table.rows)}</td>
                <td class="is-number">{table.samples === 0 ? '' : grouped(table.samples)}</td>
                <td>{rejectedOf(table)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <h3>Names</h3>
      <Unnamed unnamed={summary.unnamed} />
      {notes === null && <Sentences title="Notes" texts={diagnosticsOf(summary)} />}
    </>
  );
}

function Unnamed({ unnamed: all }: { unnamed: Summary['unnamed'] }): JSX.Element {
  const { opener, notes } = useApp();
  if (all === undefined || all.frames === 0) return <p>There are no addresses.</p>;
  if (all.unnamed === 0) return <p>Every address has a name.</p>;
  const { unnamed, frames, without_binary, binaries } = all;
  const again = notes === null ? 'write the page again with --dsym and the dSYMs of these UUIDs' : 'open the recording together with the dSYMs of these UUIDs, and save the report again';
  const how = opener === null ? again : 'drop the dSYMs of these UUIDs onto this page';
  return (
    <>
      <p>
        {grouped(unnamed)} of {counted(frames, 'address', 'addresses')} {unnamed === 1 ? 'has' : 'have'} no name:
      </p>
      <ul data-part="unnamed">
        {binaries.map(({ name, uuid, frames }) => (
          <li key={`${name}${uuid}`}>
            {name} <span class="dim">{uuid ?? 'without UUID'}</span>: {grouped(frames)}
          </li>
        ))}
        {without_binary > 0 && <li>in no known binary: {grouped(without_binary)}</li>}
      </ul>
      {binaries.length > 0 && <p class="note">To name them, {how}.</p>}
    </>
  );
}
