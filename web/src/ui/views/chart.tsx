// The flame chart: the functions of one thread in order of time.

import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { threadName } from '../../state/names.ts';
import { placeOf } from '../../state/state.ts';
import { unitOf, useAnswer, useApp, useStore } from '../app_context.ts';
import { FlameBoxes, SaveSvg, screenPixels, useDetail } from '../flame_canvas.tsx';
import { timeText, withUnit } from '../format.ts';
import { Legend } from '../legend.tsx';
import { Notice, Panel, Pending, Select } from '../panel.tsx';
import { withoutTimes } from '../summary.ts';

export function ChartView(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const span = app.names.tables.spans[state.series] ?? null;
  const range = state.time ?? span;
  const key = JSON.stringify([placeOf(state, app.names.tables), state.chartThread]);
  const { detail, isZoomed, setDetail } = useDetail(key);
  const { answer, place, unit, isOld, fault } = useAnswer(
    'view',
    range === null ? null : { kind: 'chart', thread: state.chartThread, range, unit: unitOf(app, state), key, tree: key, pixels: screenPixels(), ...detail },
  );
  const model = useMemo(() => {
    if (answer === null || answer.model === null) return null;
    return { ...answer.model, title: `Flame chart of ${answer.thread === null ? '' : threadName(app.names, answer.thread)}` };
  }, [answer]);
  if (range === null) return <Notice>{withoutTimes(app.names, 'order of time')}</Notice>;
  if (answer === null) return <Pending fault={fault} />;
  if (model === null || model.count === 0) return <Notice>The selection contains nothing to show here.</Notice>;
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
          <SaveSvg />
          <Legend />
          {answer.typicalGap !== null && <span class="note">{`Times are estimated: each sample begins at the thread’s previous sample, which is typically ${timeText(answer.typicalGap)} earlier.`}</span>}
        </>
      }
    >
      <FlameBoxes kind="flame-chart" model={model} isOld={isOld && !isZoomed} tree={place.operations === state.operations ? 'down' : null} onDetail={setDetail} />
    </Panel>
  );
}
