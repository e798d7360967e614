// The answer in the sentences of the command's overview. The engine writes them; this makes functions in them links, and unfolds their names.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { OverviewAnswer } from '../../host/protocol.ts';
import { fragmentOf } from '../../state/fragment.ts';
import { nameOf } from '../../state/names.ts';
import { useApp } from '../app_context.ts';

export function Sentences({ answer: { sentences } }: { readonly answer: OverviewAnswer }): JSX.Element {
  const { activity, leftOut, answer, shares, advice } = sentences;
  return (
    <>
      {activity !== '' && <p class="lead"><Marked text={`${activity}.`} /></p>}
      <ul class="lead" data-part="heaviest">{answer.map((text) => <li key={text}><Marked text={text} /></li>)}</ul>
      {[shares, leftOut, advice].map((text) => text !== '' && <p key={text} class="note"><Marked text={text} /></p>)}
    </>
  );
}

/** A function in a sentence: its label, and its name, which is folded if it is long. */
const FUNCTION = /\u0001(\d+)\u0002([^\u0003]*)\u0003/;

function Marked({ text }: { readonly text: string }): JSX.Element {
  // The text between functions, and the label and name of each function.
  const parts = text.split(FUNCTION);
  return <>{parts.map((part, at) => (at % 3 === 0 ? part : at % 3 === 1 ? <FunctionLink key={`${at} ${part}`} label={Number(part)} name={parts[at + 1]!} /> : null))}</>;
}

/** A click on a folded name shows the complete name, and the next click its callers and callees. */
function FunctionLink({ label, name }: { readonly label: number; readonly name: string }): JSX.Element {
  const app = useApp();
  const whole = nameOf(app.names, label);
  const [isOpen, setOpen] = useState(name === whole);
  const callers = { chosen: label, tab: 'callers' } as const;
  return (
    <a
      class="link"
      data-label={label}
      href={`#${fragmentOf({ ...app.store.state, ...callers }, app.names)}`}
      title={isOpen ? 'Show callers and callees' : `Show the complete name: ${whole}`}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        if (isOpen) app.store.set(callers);
        else setOpen(true);
      }}
    >
      {isOpen ? whole : name}
    </a>
  );
}
