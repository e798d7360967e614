// The legend of colours.

import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { type Kind, KINDS, KIND_NAMES } from '../canvas/index.ts';
import { useApp } from './app_context.ts';
import { labelsFor } from './labels.ts';

/** Some kinds of code; by default, all kinds in the recording. */
export function Legend({ kinds }: { readonly kinds?: readonly Kind[] }): JSX.Element {
  const { names } = useApp();
  const all = useMemo(() => {
    const found = new Set(labelsFor(names).kinds.subarray(0, names.tables.functions.count));
    return KINDS.filter((_, place) => found.has(place));
  }, [names]);
  return <Colours names={(kinds ?? all).map((kind) => [kind, KIND_NAMES[kind]])} />;
}

export function ChangeLegend(): JSX.Element {
  return <Colours names={[['more', 'more'], ['less', 'less'], ['noise', 'within noise']]} />;
}

function Colours({ names }: { names: readonly (readonly [kind: string, name: string])[] }): JSX.Element {
  return (
    <ul class="legend" aria-label="Colours">
      {names.map(([kind, name]) => (
        <li key={kind} class={`name kind-${kind}`}>
          {name}
        </li>
      ))}
    </ul>
  );
}
