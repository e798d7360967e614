// The app: the start screen or the open recording, and what belongs to both.

import type { JSX } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Application } from '../ui/app.tsx';
import type { Opener } from '../ui/app_context.ts';
import { type Choice, Inputs, canChooseFolders } from './choosing.tsx';
import { DropTarget } from './drop_target.tsx';
import type { Listing } from './listing.ts';
import { ReadingBar } from './reading_bar.tsx';
import type { OpenRecording, Session } from './session.ts';
import { StartScreen } from './start_screen.tsx';

export function Shell({ session }: { session: Session }): JSX.Element {
  const { open, current, next, fault } = useSession(session);
  useFocus(open);
  useQuestion(session);
  const inputs = { files: useRef<HTMLInputElement>(null), folder: useRef<HTMLInputElement>(null) };
  const choose = (choice: Choice): void => inputs[choice].current?.click();
  const drop = useCallback((listing: Promise<Listing>): void => session.drop(listing), [session]);
  const opener = useMemo((): Opener => {
    const swap = open?.shown.names.sides === undefined ? null : () => session.swap();
    return { choose, canChooseFolders: canChooseFolders(), saveReport: () => session.report(), swap };
  }, [session, open]);
  const bar = current !== null && <ReadingBar current={current} next={next} onCancel={() => session.cancel()} />;
  const refusal = fault !== null && <Fault text={fault} onClose={() => session.dismiss()} />;
  return (
    <>
      {open === null ? (
        <StartScreen onChoose={choose}>
          {bar}
          {refusal}
        </StartScreen>
      ) : (
        <>
          <Application key={open} {...open.shown} opener={opener} notes={open.notes} />
          {bar}
          {refusal}
        </>
      )}
      <Inputs {...inputs} onChoose={(listing) => drop(Promise.resolve(listing))} />
      <DropTarget text={open === null ? 'Drop to open' : 'Drop a recording to open it, two to compare them, or symbols to add names'} onDrop={drop} />
    </>
  );
}

function useSession(session: Session): Session {
  const [, draw] = useState(0);
  useEffect(() => session.subscribe(() => draw((count) => count + 1)), [session]);
  return session;
}

/** Browsers then ask before they leave the page. */
function useQuestion(session: Session): void {
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => {
      if (session.isUnsaved) event.preventDefault();
    };
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [session]);
}

/** Opening a recording replaces everything, so the focus goes to the new heading. */
function useFocus(open: OpenRecording | null): void {
  useEffect(() => {
    if (open !== null && document.activeElement === document.body) focusHeading();
  }, [open]);
}

function focusHeading(): void {
  const heading = document.querySelector('h1')!;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/** Why a drop was not opened. If this message had the focus, the focus returns to its previous place. */
function Fault({ text, onClose }: { text: string; onClose: () => void }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const before = useRef(document.activeElement);
  useEffect(() => {
    // Handles keys before the page does. Menus keep their keys.
    const press = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented || document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      event.stopPropagation();
      close();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  const close = (): void => {
    const hadFocus = box.current!.contains(document.activeElement);
    onClose();
    if (!hadFocus) return;
    if (before.current instanceof HTMLElement && before.current.isConnected && before.current !== document.body) before.current.focus();
    else focusHeading();
  };
  const enter = ({ relatedTarget }: FocusEvent): void => {
    if (!box.current!.contains(relatedTarget as Node | null)) before.current = relatedTarget as Element | null;
  };
  return (
    <div ref={box} class="drop-fault" role="alert" data-part="drop-fault" onFocusIn={enter}>
      <p>{text.split('\n').flatMap((line, at) => (at === 0 ? [line] : [<br />, line]))}</p>
      <button type="button" aria-label="Close" onClick={close}>
        ×
      </button>
    </div>
  );
}
