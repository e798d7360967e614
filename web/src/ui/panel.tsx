// The frame of a view: its controls, its content, and a placeholder while there is no content.

import type { ComponentChildren, JSX } from 'preact';

export function Panel({ controls, children }: { controls?: ComponentChildren; children: ComponentChildren }): JSX.Element {
  return (
    <div class="panel">
      {controls !== undefined && <div class="controls">{controls}</div>}
      <div class="panel-body">{children}</div>
    </div>
  );
}

/** A sentence that replaces a view. */
export function Notice({ children }: { children: ComponentChildren }): JSX.Element {
  return <p class="notice">{children}</p>;
}

/** The placeholder for a missing answer. */
export function Pending({ fault }: { fault: string | null }): JSX.Element {
  return <Notice>{fault === null ? 'Computing …' : sentence(fault)}</Notice>;
}

export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** Names with their values. */
export function Facts({ rows, ...list }: {
  rows: readonly (readonly [name: ComponentChildren, value: ComponentChildren, style?: string | undefined])[];
  class?: string;
  'data-part'?: string;
}): JSX.Element {
  return (
    <dl {...list}>
      {rows.map(([name, value, style], at) => (
        <div key={at} class={style}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A row of buttons of which one is pressed. */
export function Choice<T extends string>(props: {
  label: string;
  value: T;
  options: readonly { id: T; name: string; title?: string }[];
  onChange: (value: T) => void;
}): JSX.Element {
  return (
    <div class="choice" role="group" aria-label={props.label}>
      {props.options.map(({ id, name, title }) => (
        <button key={id} type="button" title={title} aria-pressed={id === props.value} onClick={() => props.onChange(id)} data-part={`choice-${id}`}>
          {name}
        </button>
      ))}
    </div>
  );
}

/** A labelled list to choose from. */
export function Select(props: {
  label: string;
  value: string;
  options: readonly { value: string; name: string }[];
  onChange: (value: string) => void;
}): JSX.Element {
  return (
    <label class="select">
      <span>{props.label}</span>
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.options.map(({ value, name }) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
