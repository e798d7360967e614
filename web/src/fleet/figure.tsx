// Plots with their titles and keys, side by side.

import type { ComponentChildren, JSX } from 'preact';
import { WIDTH } from './axis.tsx';
import { many } from './measure.ts';

export function Figure(props: { class?: string; title: string; more: ComponentChildren; children: ComponentChildren }): JSX.Element {
  return (
    <figure class={props.class}>
      <figcaption><strong>{props.title}</strong> {props.more}</figcaption>
      {props.children}
    </figure>
  );
}

/** `label` describes the plot for people who cannot see it. */
export function Plot({ height, label, children }: { height: number; label: string; children: ComponentChildren }): JSX.Element {
  return <svg class="plot" viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={label}>{children}</svg>;
}

/** Adjacent plots: four are two by two, not three and one. */
export function SideBySide({ count, children }: { count: number; children: ComponentChildren }): JSX.Element {
  return <div class={`figures ${count === 1 ? 'single' : count === 2 || count === 4 ? 'pairs' : ''}`}>{children}</div>;
}

/** A sentence on comparing plots by eye, and the number of cohorts without a plot. */
export function Legend({ sentence, hidden }: { sentence: string; hidden: number }): JSX.Element | null {
  const text = `${sentence} ${hidden > 0 ? `${many(hidden, 'cohort')} more have no plot here.` : ''}`.trim();
  return text === '' ? null : <p class="legend">{text}</p>;
}

/** The key to lines, by class and name. */
export function Keys({ keys }: { keys: readonly (readonly [style: string, name: string])[] }): JSX.Element {
  return (
    <span class="keys">
      {keys.map(([style, name]) => (
        <span key={name}>
          <i class={`key ${style}`} />
          {name}
        </span>
      ))}
    </span>
  );
}
