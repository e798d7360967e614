// The differential flame graph: with the widths of one recording, coloured by the changes.

import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { AnswerOf } from '../../host/protocol.ts';
import { placeOf } from '../../state/state.ts';
import { unitOf, useAnswer, useApp, useStore } from '../app_context.ts';
import { FlameBoxes, SaveSvg, screenPixels, useDetail } from '../flame_canvas.tsx';
import { type Unit, withUnit } from '../format.ts';
import { ChangeLegend } from '../legend.tsx';
import { Choice, Notice, Panel, Pending } from '../panel.tsx';
import { afterText, isMadeEqual, signedWithUnit, verdictOf } from './changes.tsx';
import { ScalingNote } from './overview.tsx';
import { useScaling } from './use_changes.ts';

export function DiffFlameView(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const normalize = useScaling();
  const [widths, setWidths] = useState<'before' | 'after'>('after');
  const key = JSON.stringify([placeOf(state, app.names.tables), normalize, widths]);
  const { detail, isZoomed, setDetail } = useDetail(key);
  const { answer, asked, place, unit, isOld, fault } = useAnswer('view', {
    kind: 'diff-flame',
    normalize,
    widths,
    unit: unitOf(app, state),
    key,
    tree: JSON.stringify(state.operations),
    pixels: screenPixels(),
    ...detail,
  });
  const model = useMemo(() => {
    if (answer === null || asked === null) return null;
    return { ...answer.model, of: asked.widths, notes: notesOf(answer, unit), title: 'Differential flame graph' };
  }, [answer, unit]);
  if (answer === null) return <Pending fault={fault} />;
  return (
    <Panel
      controls={
        <>
          <Choice
            label="Widths"
            value={widths}
            options={[
              { id: 'after', name: 'Widths after', title: 'Box widths show weights in the second recording' },
              { id: 'before', name: 'Widths before', title: 'Box widths show weights in the first recording, including functions that are gone in the second' },
            ]}
            onChange={setWidths}
          />
          <SaveSvg />
          <ScalingNote total={answer.total} />
          <ChangeLegend />
        </>
      }
    >
      {model?.total === 0 && <Notice>The selection contains nothing of this recording.</Notice>}
      <FlameBoxes
        kind="flame-graph"
        model={model}
        isOld={isOld && !isZoomed}
        tree={place.operations === state.operations ? 'down' : null}
        onDetail={setDetail}
      />
    </Panel>
  );
}

/** By box: both weights, and the change in words. */
function notesOf({ rows, total, model }: AnswerOf<'diff-flame'>, unit: Unit): [string, string][][] {
  const { all } = rows;
  return Array.from({ length: rows.count }, (_, box) => [
    ['before', withUnit(all.before[box]!, unit)],
    ['after', afterText(all, box, total, unit)],
    ['change', model.depth[box] === 0 && isMadeEqual(total) ? 'none: totals were scaled to be equal' : `${signedWithUnit(all.change[box]!, unit)}: ${verdictOf(all, box)}`],
  ]);
}
