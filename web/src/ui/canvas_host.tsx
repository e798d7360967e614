// Canvases of `canvas/` in the page: created once, given each model, and destroyed with the view.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { FlameModel } from '../canvas/index.ts';
import type { State } from '../state/state.ts';
import { type App, useApp, useStore } from './app_context.ts';
import { operationName, selectionChips } from './chips.tsx';
import { tsvCell } from './copy.ts';
import type { Seek } from './seen.ts';
import { documentsOf, summariesOf } from './summary.ts';

interface Drawing<M> {
  /** The height in pixels that shows all content, if it needs one. */
  readonly contentHeight?: number | undefined;
  update(model: M): void;
  destroy(): void;
  /** `caption` has lines below the drawing's description. */
  exportSvg?(caption: readonly string[]): string;
  exportPng?(caption: readonly string[]): Promise<Blob>;
}

interface Props<M> {
  readonly part: string;
  readonly make: (host: HTMLElement) => Drawing<M>;
  readonly model: M | null;
  readonly isOld?: boolean;
}

export function CanvasHost<M extends { readonly title: string }>({ part, make, model, isOld }: Props<M>): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing<M> | null>(null);
  const app = useApp();
  const state = useStore();
  const caption = useRef<() => string[]>(() => []);
  const titleOf = useRef(model);
  titleOf.current = model;
  caption.current = () => captionOf(app, state);
  useEffect(() => {
    const made = make(host.current!);
    drawing.current = made;
    const title = (): string => titleOf.current?.title ?? '';
    // A chart's title names its thread.
    const file = (): string => (part === 'flame-graph' ? title().toLowerCase().replaceAll(' ', '-') : part);
    const svg = (): string => made.exportSvg!(caption.current());
    const png = (): Promise<Blob> => made.exportPng!(caption.current());
    const forget = made.exportSvg === undefined ? null : app.seen.draw(part, { name: title, file, svg, png });
    return () => {
      forget?.();
      made.destroy();
      drawing.current = null;
    };
  }, []);
  useEffect(() => {
    if (model !== null) drawing.current?.update(model);
  }, [model]);
  return <div ref={host} class={`canvas-host${isOld ? ' is-old' : ''}`} data-part={part} />;
}

/** The recording, the selection and the operations. */
function captionOf(app: App, state: State): string[] {
  const inputs = summariesOf(app.names, state.side).flatMap(documentsOf).map((path) => path.replace(/^.*[/\\]/, ''));
  const selected = selectionChips(app, state).map(({ text }) => text);
  const done = state.operations.map(operationName);
  return [
    ...(inputs.length === 0 ? [] : [inputs.join(' → ')]),
    selected.length === 0 ? 'All samples' : `Selected: ${selected.join('; ')}`,
    ...(done.length === 0 ? [] : [`Done: ${done.join('; ')}`]),
  ];
}

/** Allows saving the boxes of a drawing as a table: callers before callees. */
export function useSeenBoxes(id: string, model: FlameModel | null, seek: Seek): void {
  const { seen } = useApp();
  useEffect(() => {
    if (model === null) return;
    const rows = (): Record<string, string | number>[] => Array.from({ length: model.count }, (_, box) => boxRow(model, box));
    const tsv = (): string => {
      const all = rows();
      const heads = Object.keys(all[0] ?? {});
      return [heads.map((head) => headOf(model, head)).join('\t'), ...all.map((row) => heads.map((head) => tsvCell(String(row[head]))).join('\t'))].join('\n');
    };
    return seen.show(id, { name: `boxes of the ${id.replaceAll('-', ' ')}`, tsv, rows, seek });
  }, [model]);
}

/** The heading of a column with its unit: places in a chart are times. */
function headOf({ unit, weight }: FlameModel, id: string): string {
  if (id === 'start' || id === 'width') return `${id} ${weight === undefined ? unit : 'ns'}`;
  return id === 'weight' || id === 'self' ? `${id} ${unit}` : id;
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
