// Shared by flame graphs and flame charts in the page: choosing boxes, menus, and requesting more detail.

import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { type FlameCallbacks, FlameCanvas, type FlameModel } from '../canvas/index.ts';
import type { TreePlace } from '../host/protocol.ts';
import { useApp, useStore } from './app_context.ts';
import { CanvasHost, useSeenBoxes } from './canvas_host.tsx';
import { functionAt, labelsFor } from './labels.ts';
import type { MenuTarget } from './menu_target.ts';
import { useSearch } from './search.tsx';
import { saveDrawing } from './seen.ts';

/** The requested detail of a graph: all fields are null for the visible boxes of the complete graph. */
interface Detail {
  readonly from: number | null;
  readonly to: number | null;
  readonly least: number | null;
}

const WHOLE: Detail = { from: null, to: null, least: null };

/** The width of a drawing in device pixels. */
export function screenPixels(): number {
  return Math.round(document.documentElement.clientWidth * devicePixelRatio);
}

/** The detail for the graph with a key; another graph begins with the complete drawing. */
export function useDetail(key: string): { detail: Detail; isZoomed: boolean; setDetail: (detail: Detail) => void } {
  const [held, hold] = useState({ key, detail: WHOLE });
  const detail = held.key === key ? held.detail : WHOLE;
  return { detail, isZoomed: detail !== WHOLE, setDetail: (detail) => hold({ key, detail }) };
}

interface Props {
  readonly kind: 'flame-graph' | 'flame-chart';
  /** Without labels, matches and the chosen function, which all drawings have. */
  readonly model: Omit<FlameModel, 'labels'> | null;
  readonly isOld: boolean;
  /** The direction of the tree of the boxes; null while it does not match the state. */
  readonly tree: TreePlace['direction'] | null;
  readonly onDetail?: (detail: Detail) => void;
}

export function FlameBoxes(props: Props): JSX.Element {
  const app = useApp();
  const current = useRef(props);
  current.current = props;
  const canvas = useRef<FlameCanvas | null>(null);
  const [{ isWhole, above }, setSight] = useState({ isWhole: true, above: 0 });
  const { chosen } = useStore();
  const { matches } = useSearch();
  const model = useMemo((): FlameModel | null => {
    const selected = chosen === null || chosen < 0 ? null : chosen;
    return props.model === null ? null : { ...props.model, labels: labelsFor(app.names), matches, selected };
  }, [props.model, matches, chosen]);
  const shown = useRef(model);
  shown.current = model;
  useSeenBoxes(props.kind, model, (...how) => {
    // The canvas receives the matches later than the search box.
    const place = canvas.current?.seek(shown.current?.matches ?? null, ...how) ?? null;
    if (place !== null) app.seen.onPlace(place);
    return place !== null;
  });
  const targetOf = (label: number, stack: () => number[]): MenuTarget => {
    const { tree } = current.current;
    const inward = (): number[] => stack().map((place) => functionAt(app.names, place));
    return { label: functionAt(app.names, label), stack: tree === 'up' ? () => inward().reverse() : inward, tree: tree ?? undefined };
  };
  const callbacks: FlameCallbacks = {
    onPick: (label, stack) => {
      const target = label === null ? { label: null } : targetOf(label, stack);
      // The root is not a function to choose.
      app.store.set({ chosen: target.label === null || target.label < 0 ? null : target.label });
      app.aim(target);
    },
    onMenu: (label, x, y, stack) => app.openMenu(targetOf(label, stack), x, y),
    onDetail: (from, to, least) => current.current.onDetail?.({ from, to, least }),
    onWhole: (isWhole, above) => setSight({ isWhole, above }),
  };
  return (
    <>
      <CanvasHost
        part={props.kind}
        model={model}
        isOld={props.isOld}
        make={(host) => (canvas.current = new FlameCanvas(host, callbacks, props.kind === 'flame-chart'))}
      />
      {(!isWhole || above > 0) && (
        <button type="button" class="show-whole" title="Show all, from the root (0); Escape goes back by one" data-part="show-whole" onClick={() => canvas.current?.showWhole()}>
          {isWhole ? `${props.model?.direction === 'flame' ? '↓' : '↑'} ${above} ${above === 1 ? 'level' : 'levels'} more` : 'Show all'}
        </button>
      )}
    </>
  );
}

/** A button that saves the drawing with its caption. */
export function SaveSvg(): JSX.Element {
  const { seen, say } = useApp();
  const save = (): void => seen.drawings().forEach((drawing) => void saveDrawing(say, drawing, 'svg'));
  return (
    <button type="button" data-part="export-svg" onClick={save}>
      Save SVG
    </button>
  );
}
