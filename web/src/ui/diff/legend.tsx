// The colours of changes.

import type { JSX } from 'preact';

const KINDS = [
  { kind: 'more', name: 'more' },
  { kind: 'less', name: 'less' },
  { kind: 'noise', name: 'within noise' },
];

export function ChangeLegend(): JSX.Element {
  return (
    <ul class="legend" aria-label="Colours">
      {KINDS.map(({ kind, name }) => (
        <li key={kind} class={`name kind-${kind}`}>
          {name}
        </li>
      ))}
    </ul>
  );
}
