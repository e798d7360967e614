// The flame graph: left heavy, the root on top, over everything or one part.

import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { FlameGraphCanvas, type FlameModel } from '../../canvas/index.ts';
import { placeOf } from '../../state/state.ts';
import { unitOf, useAnswer, useApp, useStore } from '../app_context.ts';
import { CanvasHost, type Drawing, useSeenBoxes } from '../canvas_host.tsx';
import { withUnit } from '../format.ts';
import { functionAt, labelsFor } from '../labels.ts';
import { Choice, Notice, Panel, Pending } from '../panel.tsx';
import { Legend } from '../legend.tsx';
import { PartControls } from '../parts.tsx';
import { SaveSvg } from '../save_svg.tsx';
import { useSearch } from '../search.tsx';

interface Detail {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  readonly least: number;
}

export function FlameView(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const search = useSearch();
  const [direction, setDirection] = useState<'icicle' | 'flame'>('icicle');
  const [detail, setDetail] = useState<Detail | null>(null);
  const drawing = useRef<Drawing<FlameModel> | null>(null);
  const key = JSON.stringify([placeOf(state, app.names.tables), state.by, state.part]);
  const tree = JSON.stringify([state.series, state.operations]);
  const wanted = detail?.key === key ? detail : null;
  const { answer, asked, unit, isOld, fault } = useAnswer('view', {
    kind: 'flame',
    by: state.by,
    part: state.part,
    unit: unitOf(app, state),
    key,
    tree,
    pixels: Math.round(document.documentElement.clientWidth * devicePixelRatio),
    least: wanted?.least ?? null,
    from: wanted?.from ?? null,
    to: wanted?.to ?? null,
  });
  const model = useMemo((): FlameModel | null => {
    if (answer === null) return null;
    const labels = labelsFor(app.names);
    const { matches } = search;
    return {
      ...answer.model,
      labels,
      matches,
      matchText: search.answer === null ? '' : `${withUnit(search.answer.all.weight, unit)} in samples that match`,
      selected: state.chosen === null || state.chosen < 0 ? null : state.chosen,
      direction,
      title: 'Flame graph',
    };
  }, [answer, search.matches, search.answer, state.chosen, direction]);
  useSeenBoxes('flame-graph', model);
  const current = useRef({ model, key });
  current.current = { model, key };
  if (answer === null || asked === null) return <Pending fault={fault} />;
  if (model !== null && model.total === 0) return <Notice>Nothing here in what is selected.</Notice>;
  const stackOf = (box: number): number[] => boxStack(current.current.model!, box).map((place) => functionAt(app.names, place));
  return (
    <Panel
      controls={
        <>
          <Choice
            label="Direction"
            value={direction}
            options={[
              { id: 'icicle', name: 'Root on top' },
              { id: 'flame', name: 'Root at the bottom' },
            ]}
            onChange={setDirection}
          />
          <PartControls by={asked.by} parts={answer.parts} part={answer.part} unit={unit} />
          <SaveSvg name="flame-graph" drawing={drawing} />
          <Legend />
        </>
      }
    >
      <CanvasHost
        part="flame-graph"
        model={model}
        isOld={isOld && wanted === null}
        onMade={(made) => (drawing.current = made)}
        make={(host) =>
          new FlameGraphCanvas(host, {
            onPick: (label) => app.store.set({ chosen: label === null ? null : pickable(functionAt(app.names, label)) }),
            onMenu: (box, x, y) => {
              const { model } = current.current;
              if (model === null) return;
              app.openMenu({ label: functionAt(app.names, model.label[box]!), stack: () => stackOf(box) }, x, y);
            },
            onDetail: (from, to, least) => setDetail({ key: current.current.key, from, to, least }),
          })
        }
      />
    </Panel>
  );
}

/** The root is no function to choose. */
export function pickable(label: number): number | null {
  return label < 0 ? null : label;
}

/** The labels on the way to a box, from the outermost function on. */
export function boxStack({ depth, label, start, width }: FlameModel, box: number): number[] {
  const found: number[] = [];
  let level = depth[box]!;
  found.unshift(label[box]!);
  // Callers stand before those they call, and cover them.
  for (let at = box - 1; at >= 0 && level > 0; at -= 1) {
    const covers = start[at]! <= start[box]! && start[at]! + width[at]! >= start[box]! + width[box]!;
    if (depth[at] !== level - 1 || !covers) continue;
    level -= 1;
    found.unshift(label[at]!);
  }
  return found;
}
