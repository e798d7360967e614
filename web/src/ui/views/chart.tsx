// The flame chart: the functions of one thread in order of time.

import type { JSX } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { FlameChartCanvas, type FlameModel } from '../../canvas/index.ts';
import { threadName } from '../../state/names.ts';
import { placeOf } from '../../state/state.ts';
import { unitOf, useAnswer, useApp, useStore } from '../app_context.ts';
import { CanvasHost, type Drawing, useSeenBoxes } from '../canvas_host.tsx';
import { withUnit } from '../format.ts';
import { functionAt, labelsFor } from '../labels.ts';
import { Legend } from '../legend.tsx';
import { Notice, Panel, Pending, Select } from '../panel.tsx';
import { SaveSvg } from '../save_svg.tsx';
import { useSearch } from '../search.tsx';
import { boxStack, pickable } from './flame.tsx';

export function ChartView(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const search = useSearch();
  const drawing = useRef<Drawing<FlameModel> | null>(null);
  const span = app.names.tables.spans[state.series] ?? null;
  const range = state.time ?? span;
  const key = JSON.stringify([placeOf(state, app.names.tables), state.chartThread]);
  const { answer, unit, isOld, fault } = useAnswer(
    'view',
    range === null ? null : { kind: 'chart', thread: state.chartThread, unit: unitOf(app, state), key, range },
  );
  const model = useMemo((): FlameModel | null => {
    if (answer === null || answer.model === null) return null;
    return {
      ...answer.model,
      labels: labelsFor(app.names),
      matches: search.matches,
      selected: state.chosen === null || state.chosen < 0 ? null : state.chosen,
      title: `Flame chart of ${answer.thread === null ? '' : threadName(app.names, answer.thread)}`,
    };
  }, [answer, search.matches, state.chosen]);
  useSeenBoxes('flame-chart', model);
  const current = useRef(model);
  current.current = model;
  if (range === null) return <Notice>This recording does not say when its samples were taken, so there is no order of time.</Notice>;
  if (answer === null) return <Pending fault={fault} />;
  if (model === null || model.count === 0) return <Notice>Nothing here in what is selected.</Notice>;
  return (
    <Panel
      controls={
        <>
          <Select
            label="Thread"
            value={String(answer.thread)}
            options={answer.threads.map(({ id, weight }) => ({ value: String(id), name: `${threadName(app.names, id)} · ${withUnit(weight, unit)}` }))}
            onChange={(id) => app.store.set({ chartThread: Number(id) })}
          />
          <SaveSvg name="flame-chart" drawing={drawing} />
          <Legend />
        </>
      }
    >
      <CanvasHost
        part="flame-chart"
        model={model}
        isOld={isOld}
        onMade={(made) => (drawing.current = made)}
        make={(host) =>
          new FlameChartCanvas(host, {
            onPick: (label) => app.store.set({ chosen: label === null ? null : pickable(functionAt(app.names, label)) }),
            onMenu: (box, x, y) => {
              const drawn = current.current;
              if (drawn === null) return;
              const stack = (): number[] => boxStack(drawn, box).map((place) => functionAt(app.names, place));
              app.openMenu({ label: functionAt(app.names, drawn.label[box]!), stack }, x, y);
            },
          })
        }
      />
    </Panel>
  );
}
