// The flame graph: left-heavy, of everything or one part, top-down or inverted.

import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { placeOf } from '../../state/state.ts';
import { unitOf, useAnswer, useApp, useStore } from '../app_context.ts';
import { FlameBoxes, SaveSvg, screenPixels, useDetail } from '../flame_canvas.tsx';
import { withUnit } from '../format.ts';
import { Choice, Notice, Panel, Pending } from '../panel.tsx';
import { Legend } from '../legend.tsx';
import { PartControls } from '../parts.tsx';
import { useSearch } from '../search.tsx';

const DIRECTIONS = [
  { id: 'down', name: 'Callers first', title: 'From the outermost functions to the functions they call' },
  { id: 'up', name: 'Inverted', title: 'From the functions in which time is spent to their callers (I)' },
] as const;
const ROOTS = [
  { id: 'icicle', name: 'Root on top' },
  { id: 'flame', name: 'Root at the bottom' },
] as const;

export function FlameView(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const search = useSearch();
  const [root, setRoot] = useState<'icicle' | 'flame'>('icicle');
  const key = JSON.stringify([placeOf(state, app.names.tables), state.by, state.part, state.flame]);
  const tree = JSON.stringify([state.series, state.operations, state.flame]);
  const { detail, isZoomed, setDetail } = useDetail(key);
  const { answer, asked, place, unit, isOld, fault } = useAnswer('view', {
    kind: 'flame',
    direction: state.flame,
    by: state.by,
    part: state.part,
    unit: unitOf(app, state),
    key,
    tree,
    pixels: screenPixels(),
    ...detail,
  });
  const model = useMemo(() => {
    if (answer === null) return null;
    return {
      ...answer.model,
      matchText: search.answer === null ? '' : `${withUnit(search.answer.all.weight, unit)} in samples that match`,
      direction: root,
      title: answer.model.isInverted ? 'Inverted flame graph' : 'Flame graph',
    };
  }, [answer, search.answer, root]);
  if (answer === null || asked === null) return <Pending fault={fault} />;
  if (model !== null && model.total === 0) return <Notice>The selection contains nothing to show here.</Notice>;
  return (
    <Panel
      controls={
        <>
          <Choice label="Direction" value={asked.direction} options={DIRECTIONS} onChange={(flame) => app.store.set({ flame })} />
          <Choice label="Root" value={root} options={ROOTS} onChange={setRoot} />
          <PartControls by={asked.by} parts={answer.parts} part={answer.part} unit={unit} />
          <SaveSvg />
          <Legend />
        </>
      }
    >
      <FlameBoxes
        kind="flame-graph"
        model={model}
        isOld={isOld && !isZoomed}
        tree={place.operations === state.operations ? asked.direction : null}
        onDetail={setDetail}
      />
    </Panel>
  );
}
