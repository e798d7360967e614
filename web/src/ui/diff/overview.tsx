// What changed: the totals, the smallest detectable change, and the functions that changed most.

import type { JSX } from 'preact';
import type { AnswerOf, DiffFacts, DiffTotal, Normalize } from '../../host/protocol.ts';
import { binaryOf } from '../../state/names.ts';
import { freshState, selectsAlike } from '../../state/state.ts';
import { useAnswer, useApp, useStore } from '../app_context.ts';
import { FunctionName } from '../cells.tsx';
import { type Unit, counted, grouped, withUnit } from '../format.ts';
import { Facts, Pending } from '../panel.tsx';
import { Words, afterText, isMadeEqual, isScaled, signedPercent, signedWithUnit, verdictOf, wordsOf } from './changes.tsx';
import { useScaling } from './use_changes.ts';

/** With fewer samples in a recording, the total is not judged, as in the command (`src/output/diff/overview.rs`). */
const FEW_SAMPLES = 30;
/** The number of standard deviations from which a change is marked, and the normal distribution's quantile of four in five. */
const BEYOND_NOISE = 1.96;
const POWER = 0.8416;

export function DiffOverviewView(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const normalize = useScaling();
  const { answer, asked, unit, isOld, fault } = useAnswer('view', { kind: 'diff-overview', normalize });
  if (answer === null || asked === null) return <Pending fault={fault} />;
  const { facts } = app.names.sides!;
  const isPair = facts.comparison === null;
  // The command's sentences describe the selection that the command compared.
  const isWhole = asked.normalize === facts.normalize && selectsAlike(state, { ...freshState(state.series, 'compared'), normalize: state.normalize });
  return (
    <div class={`overview${isOld ? ' is-old' : ''}`} data-part="overview">
      <div class="answer">
        {isWhole && !isOld && <Sentences facts={facts} />}
        <Totals total={answer.total} unit={unit} isPair={isPair} />
        {!(isWhole && !isOld && facts.sentences.functions !== '') && (
          <p class="note" data-part="told">
            {toldText(answer, isPair)}
          </p>
        )}
      </div>
      {isWhole && !isOld && <Alerts facts={facts} />}
      <div class="columns">
        <Changed id="top-own" title="Your functions that changed most" note="including the system code they call" part={answer.own} answer={answer} unit={unit} />
        <Changed id="top-all" title="All functions that changed most" note="by self weight" part={answer.all} answer={answer} unit={unit} />
      </div>
    </div>
  );
}

function Sentences({ facts: { sentences } }: { facts: DiffFacts }): JSX.Element {
  return (
    <div data-part="sentences">
      {sentences.answer !== '' && <p class="lead">{sentences.answer}</p>}
      {[sentences.activity, sentences.functions].filter((text) => text !== '').map((text) => <p key={text}>{text}</p>)}
    </div>
  );
}

type Fact = readonly [string, JSX.Element | string];

function Totals({ total, unit, isPair }: { total: DiffTotal; unit: Unit; isPair: boolean }): JSX.Element {
  const { all } = total.rows;
  const rows: Fact[] = [
    ['before', withUnit(all.before[0]!, unit)],
    ['after', afterText(all, 0, total, unit)],
    ...(isMadeEqual(total) ? [['change', 'none: totals were scaled to be equal, so that shares are compared'] as const] : judgement(total, unit, isPair)),
    ['scaling', scalingText(total)],
  ];
  return <Facts class="facts" data-part="totals" rows={rows} />;
}

/** What changes are compared with: for sums of many runs, also how much these vary. */
const noiseOf = (isPair: boolean): string => (isPair ? 'sampling' : 'chance');

/** The change of the total, and whether noise explains it. */
function judgement(total: DiffTotal, unit: Unit, isPair: boolean): Fact[] {
  const { all } = total.rows;
  const [before, change, noise] = [all.before[0]!, all.change[0]!, all.noise[0]!];
  const isJudged = Math.min(...total.samples) >= FEW_SAMPLES;
  const verdict = isJudged ? verdictOf(all, 0) : 'within noise';
  const [marked, likely] = [BEYOND_NOISE * noise, (BEYOND_NOISE + POWER) * noise];
  const whole = (weight: number): string => withUnit(BigInt(Math.round(weight)), unit);
  const judged = verdict === 'within noise' ? `within noise: ${noiseOf(isPair)} may explain it` : `${verdict}: beyond noise${isPair ? '; whether runs vary as much is unknown' : ''}`;
  const changed = (words: string): Fact => [
    'change',
    <Words verdict={verdict} text={`${signedWithUnit(change, unit)} (${signedPercent(change, before)} of the weight before), ${words}`} />,
  ];
  if (!Number.isFinite(noise)) return [changed(`how much of it ${noiseOf(isPair)} explains is unknown without sample counts`)];
  return [
    changed(isJudged ? judged : 'too few samples to judge'),
    ['noise', `± ${whole(noise)}, one standard deviation`],
    ['smallest effect', `a change of ${whole(marked)} would be marked; a true change of ${whole(likely)} is marked in four of five pairs`],
  ];
}

/** The quantity that is equal in both recordings after scaling. */
const MADE_EQUAL: Record<Normalize, string> = { none: '', duration: ', for the same length', samples: ', for the same total' };

function scalingText(total: DiffTotal): string {
  if (!total.isScaled) return 'one recording lacks a length or weight to scale by; weights are compared unscaled';
  if (!isScaled(total)) return `weights are compared unscaled${total.normalize === 'none' ? '' : ': the factor is 1'}`;
  return `weights after are multiplied by ${total.factor.toFixed(4)}${MADE_EQUAL[total.normalize]}`;
}

/** The scaling in the controls of views, if there is any. */
export function ScalingNote({ total }: { total: DiffTotal }): JSX.Element | null {
  if (total.normalize === 'none') return null;
  return (
    <span class="note" data-part="scaling">
      {scalingText(total)}
    </span>
  );
}

function toldText({ functions, isOwn, told, changed }: AnswerOf<'diff-overview'>, isPair: boolean): string {
  const whose = isOwn ? ' of yours' : '';
  if (told === 0) return `${counted(functions, 'function')}${whose}, none with 20 samples or more: with so few samples, marks beyond noise mean little.`;
  const byChance = Math.round(0.05 * told);
  const many = byChance === 0 ? 'less than one' : `about ${byChance}`;
  return `Of ${counted(told, 'function')}${whose} with 20 samples or more, ${grouped(changed)} changed by more than ${BEYOND_NOISE} standard deviations; ${noiseOf(isPair)} alone would mark ${many}.`;
}

function Alerts({ facts: { alerts = [] } }: { facts: DiffFacts }): JSX.Element | null {
  if (alerts.length === 0) return null;
  return (
    <section class="alerts" aria-labelledby="alerts-title" data-part="alerts">
      <h2 id="alerts-title">Alerts</h2>
      <ul>
        {alerts.map(({ rule, state }) => (
          <li key={rule}>
            <strong>{state}</strong>: <span class="name">{rule}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Changed(props: { id: string; title: string; note: string; part: AnswerOf<'diff-overview'>['own']; answer: AnswerOf<'diff-overview'>; unit: Unit }): JSX.Element {
  const { id, title, note, part, answer, unit } = props;
  const app = useApp();
  const { self } = part.rows;
  const before = answer.total.rows.all.before[0]!;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {title}{' '}
        <span class="note">
          {note} <span class="of-percent">% of the total before</span>
        </span>
      </h2>
      {part.rows.count === 0 && <p class="note">None changed.</p>}
      <ol class="top" data-part={id}>
        {Array.from(part.label, (label, row) => {
          const verdict = verdictOf(self, row);
          return (
            <li key={label}>
              <button type="button" class="top-row is-change" onClick={() => app.store.set({ chosen: label < 0 ? null : label, tab: 'functions' })}>
                <span class="amount">
                  <Words verdict={verdict} text={signedWithUnit(self.change[row]!, unit)} />
                </span>
                <span class="amount dim" title="of the total before">
                  {signedPercent(self.change[row]!, before)}
                </span>
                <FunctionName names={app.names} label={label} />
                <span class="dim">
                  {[wordsOf(part.rows, 'self', row), binaryOf(app.names, label)].filter((text) => text !== null).join(' · ')}
                </span>
              </button>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
