// Warnings as a list.

import type { JSX } from 'preact';

export function Cautions({ sentences }: { sentences: readonly string[] }): JSX.Element | null {
  if (sentences.length === 0) return null;
  return <ul class="cautions">{sentences.map((sentence) => <li key={sentence}>{sentence}</li>)}</ul>;
}
