// A menu of grouped actions, usable by mouse or keyboard.

import type { JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface Item {
  readonly id: string;
  readonly name: string;
  readonly key?: string | null;
  readonly tells?: string;
  readonly run: () => void;
}

interface BoxProps {
  readonly title: string;
  readonly groups: readonly (readonly Item[])[];
  /** The corner, in the window. */
  readonly x: number;
  readonly y: number;
  readonly onClose: () => void;
  /** The button that opens and closes it. */
  readonly opener?: RefObject<HTMLElement | null>;
}

export function MenuBox(props: BoxProps): JSX.Element {
  const { title, x, y, onClose } = props;
  const element = useRef<HTMLDivElement>(null);
  const groups = props.groups.filter((group) => group.length > 0);

  useLayoutEffect(() => {
    const box = element.current!;
    const { width, height } = box.getBoundingClientRect();
    box.style.setProperty('left', `${Math.max(4, Math.min(x, innerWidth - width - 4))}px`);
    box.style.setProperty('top', `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`);
  }, [x, y]);

  useEffect(() => {
    const before = document.activeElement;
    element.current?.querySelector('button')?.focus();
    const leave = (event: Event): void => {
      const isInside = [element, props.opener].some((one) => one?.current?.contains(event.target as Node) === true);
      if (!isInside) onClose();
    };
    document.addEventListener('pointerdown', leave, true);
    addEventListener('blur', onClose);
    addEventListener('resize', onClose);
    return () => {
      document.removeEventListener('pointerdown', leave, true);
      removeEventListener('blur', onClose);
      removeEventListener('resize', onClose);
      if (before instanceof HTMLElement) before.focus();
    };
  }, [x, y]);

  const onKeyDown = (event: KeyboardEvent): void => {
    event.stopPropagation();
    const buttons = [...element.current!.querySelectorAll('button')];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 };
    if (event.key === 'Escape' || event.key === 'Tab') onClose();
    else if (event.key in steps) buttons.at(steps[event.key]! % buttons.length)?.focus();
    else if (event.key !== 'Enter' && event.key !== ' ') {
      const item = groups.flat().find(({ key }) => key === event.key);
      if (item === undefined) return;
      item.run();
      onClose();
    } else return;
    event.preventDefault();
  };

  return (
    <div ref={element} class="menu" role="menu" aria-label={title} data-part="menu" onKeyDown={onKeyDown}>
      <p class="menu-title" title={title}>
        {title}
      </p>
      {groups.map((group, index) => (
        <div key={index} role="group">
          {group.map((item) => (
            <button
              key={item.id}
              type="button"
              role="menuitem"
              tabIndex={-1}
              title={item.tells}
              data-action={item.id}
              onClick={() => {
                onClose();
                item.run();
              }}
            >
              <span>{item.name}</span>
              {item.key !== undefined && item.key !== null && <kbd>{item.key}</kbd>}
            </button>
          ))}
        </div>
      ))}
    </div>
  );
}

/** A button that opens a menu below itself. Nothing happens until an item is chosen. */
export function MenuButton(props: { part: string; name: string; title: string; groups: () => readonly (readonly Item[])[] }): JSX.Element {
  const button = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState<{ x: number; y: number } | null>(null);
  const toggle = (): void => {
    const { left, bottom } = button.current!.getBoundingClientRect();
    setOpen(open === null ? { x: left, y: bottom + 2 } : null);
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class="opens"
        title={props.title}
        aria-haspopup="menu"
        aria-expanded={open !== null}
        data-part={props.part}
        onClick={toggle}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' || open !== null) return;
          event.preventDefault();
          event.stopPropagation();
          toggle();
        }}
      >
        {props.name}
      </button>
      {open !== null && <MenuBox title={props.title} groups={props.groups()} x={open.x} y={open.y} opener={button} onClose={() => setOpen(null)} />}
    </>
  );
}
