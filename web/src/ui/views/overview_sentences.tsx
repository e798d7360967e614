// The answer in the sentences of the command's overview. The engine writes them; this makes functions in them clickable.

import type { JSX } from 'preact';
import type { OverviewAnswer } from '../../host/protocol.ts';
import { nameOf } from '../../state/names.ts';
import { useApp } from '../app_context.ts';

export function Sentences({ answer: { sentences } }: { readonly answer: OverviewAnswer }): JSX.Element {
  const { activity, leftOut, answer, caution, shares, advice } = sentences;
  return (
    <>
      <Sentence text={activity} />
      <p class="lead" data-part="heaviest">
        <Marked text={answer} />
        {caution !== '' && <span class="note"> {caution}</span>}
      </p>
      {[shares, leftOut, advice].map((text) => text !== '' && <p key={text} class="note"><Marked text={text} /></p>)}
    </>
  );
}

function Sentence({ text }: { readonly text: string }): JSX.Element | null {
  return text === '' ? null : <p class="lead"><Marked text={text} /></p>;
}

/** A function in a sentence: its label, and its name, which is folded if it is long. */
const FUNCTION = /\u0001(\d+)\u0002([^\u0003]*)\u0003/;

function Marked({ text }: { readonly text: string }): JSX.Element {
  // The texts between functions, and of each function its label and its name.
  const parts = text.split(FUNCTION);
  return <>{parts.map((part, at) => (at % 3 === 0 ? part : at % 3 === 1 ? <FunctionLink key={at} label={Number(part)} name={parts[at + 1]!} /> : null))}</>;
}

function FunctionLink({ label, name }: { readonly label: number; readonly name: string }): JSX.Element {
  const app = useApp();
  return (
    <button
      type="button"
      class="link"
      title={`${nameOf(app.names, label)}: show its callers and callees`}
      onClick={() => app.store.set({ chosen: label, tab: 'callers' })}
    >
      {name}
    </button>
  );
}
