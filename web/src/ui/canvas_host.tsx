// Canvases of `canvas/` in the page: made once, given each model, and ended with the view.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export interface Drawing<M> {
  update(model: M): void;
  focus(): void;
  destroy(): void;
  exportSvg(): string;
}

interface Props<M> {
  readonly part: string;
  readonly make: (host: HTMLElement) => Drawing<M>;
  readonly model: M | null;
  readonly isOld?: boolean;
  /** Gets the drawing, to export it. */
  readonly onMade?: (drawing: Drawing<M> | null) => void;
}

export function CanvasHost<M>({ part, make, model, isOld, onMade }: Props<M>): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing<M> | null>(null);
  useEffect(() => {
    const made = make(host.current!);
    drawing.current = made;
    onMade?.(made);
    return () => {
      onMade?.(null);
      made.destroy();
      drawing.current = null;
    };
  }, []);
  useEffect(() => {
    if (model !== null) drawing.current?.update(model);
  }, [model]);
  return <div ref={host} class={`canvas-host${isOld ? ' is-old' : ''}`} data-part={part} />;
}
