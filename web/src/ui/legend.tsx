// The colours of kinds of code that a recording has.

import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { KINDS, type Kind } from '../canvas/index.ts';
import { useApp } from './app_context.ts';
import { labelsFor } from './labels.ts';

const NAMES: Record<Kind, string> = { own: 'your code', system: 'system', runtime: 'runtime', kernel: 'kernel', unknown: 'unknown', idle: 'waiting' };

export function Legend(): JSX.Element {
  const { names } = useApp();
  const kinds = useMemo(() => {
    const found = new Set(labelsFor(names).kinds.subarray(0, names.tables.functions.count));
    return KINDS.filter((_, place) => found.has(place));
  }, [names]);
  return (
    <ul class="legend" aria-label="Colours">
      {kinds.map((kind) => (
        <li key={kind} class={`name kind-${kind}`}>
          {NAMES[kind]}
        </li>
      ))}
    </ul>
  );
}
