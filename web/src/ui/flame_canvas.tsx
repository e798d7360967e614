// Shared by flame graphs and flame charts in the page: choosing boxes, menus, and requesting more detail.

import type { JSX, RefObject } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { FlameChartCanvas, FlameGraphCanvas, type FlameCallbacks, type FlameModel } from '../canvas/index.ts';
import type { TreePlace } from '../host/protocol.ts';
import { useApp } from './app_context.ts';
import { CanvasHost, type Drawing, useSeenBoxes } from './canvas_host.tsx';
import { download } from './copy.ts';
import { functionAt } from './labels.ts';
import type { MenuTarget } from './menu_target.ts';

/** The part of a graph that is zoomed to: all null for what can be seen of everything. */
export interface Detail {
  readonly from: number | null;
  readonly to: number | null;
  readonly least: number | null;
}

const WHOLE: Detail = { from: null, to: null, least: null };

/** The detail of the graph of a key; another graph begins with everything. */
export function useDetail(key: string): { detail: Detail; isZoomed: boolean; setDetail: (detail: Detail) => void } {
  const [held, hold] = useState({ key, detail: WHOLE });
  const detail = held.key === key ? held.detail : WHOLE;
  return { detail, isZoomed: detail !== WHOLE, setDetail: (detail) => hold({ key, detail }) };
}

type DrawingRef = RefObject<Drawing<FlameModel> | null>;

interface Props {
  readonly kind: 'flame-graph' | 'flame-chart';
  readonly model: FlameModel | null;
  readonly isOld: boolean;
  /** The direction of the tree of the boxes; null while it does not match the state. */
  readonly tree: TreePlace['direction'] | null;
  readonly drawing: DrawingRef;
  readonly onDetail?: (detail: Detail) => void;
}

export function FlameBoxes(props: Props): JSX.Element {
  const app = useApp();
  const current = useRef(props);
  current.current = props;
  const canvas = useRef<FlameGraphCanvas | FlameChartCanvas | null>(null);
  const [isWhole, setWhole] = useState(true);
  useSeenBoxes(props.kind, props.model);
  const targetOf = (label: number, stack: () => number[]): MenuTarget => {
    const { tree } = current.current;
    const inward = (): number[] => stack().map((place) => functionAt(app.names, place));
    return { label: functionAt(app.names, label), stack: tree === 'up' ? () => inward().reverse() : inward, tree: tree ?? undefined };
  };
  const callbacks: FlameCallbacks = {
    onPick: (label, _, stack) => {
      const target = label === null ? { label: null } : targetOf(label, stack);
      // The root is not a function to choose.
      app.store.set({ chosen: target.label === null || target.label < 0 ? null : target.label });
      app.aim(target);
    },
    onMenu: (label, _, x, y, stack) => app.openMenu(targetOf(label, stack), x, y),
    onDetail: (from, to, least) => current.current.onDetail?.({ from, to, least }),
    onWhole: setWhole,
  };
  const Canvas = props.kind === 'flame-graph' ? FlameGraphCanvas : FlameChartCanvas;
  return (
    <>
      <CanvasHost
        part={props.kind}
        model={props.model}
        isOld={props.isOld}
        onMade={(made) => (props.drawing.current = made)}
        make={(host) => (canvas.current = new Canvas(host, callbacks))}
      />
      {!isWhole && (
        <button type="button" class="show-whole" title="Zoom out (0); Escape goes back by one" data-part="show-whole" onClick={() => canvas.current?.showWhole()}>
          Show all
        </button>
      )}
    </>
  );
}

/** A button that saves the drawing with its caption. */
export function SaveSvg({ name, drawing }: { name: string; drawing: DrawingRef }): JSX.Element {
  const app = useApp();
  const save = (): void => {
    download(`${name}.svg`, 'image/svg+xml', drawing.current?.exportSvg() ?? '');
    app.say(`Saved ${name}.svg.`);
  };
  return (
    <button type="button" data-part="export-svg" onClick={save}>
      Save SVG
    </button>
  );
}
