// Canvases of `canvas/` in the page: made once, given each model, and ended with the view.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { FlameModel } from '../canvas/index.ts';
import { useApp } from './app_context.ts';
import { tsvCell } from './copy.ts';

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

/** Lets the boxes of a drawing be saved as a table: callers before those that they call. */
export function useSeenBoxes(id: string, model: FlameModel | null): void {
  const { seen } = useApp();
  useEffect(() => {
    if (model === null) return;
    const rows = (): Record<string, string | number>[] => Array.from({ length: model.count }, (_, box) => boxRow(model, box));
    const tsv = (): string => {
      const all = rows();
      const heads = Object.keys(all[0] ?? {});
      return [heads.join('\t'), ...all.map((row) => heads.map((head) => tsvCell(String(row[head]))).join('\t'))].join('\n');
    };
    return seen.show(id, { tsv, rows });
  }, [model]);
}

function boxRow(model: FlameModel, box: number): Record<string, string | number> {
  const { labels, label, depth, start, width, self, weight, texts } = model;
  const place = label[box]!;
  return {
    depth: depth[box]!,
    function: labels.names[place]!,
    binary: labels.binaries[place]!,
    start: start[box]!,
    width: width[box]!,
    weight: texts?.weight[box] ?? weight?.[box] ?? width[box]!,
    self: texts?.self[box] ?? self[box]!,
  };
}
