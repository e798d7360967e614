// The answer in sentences, in the words of the command's overview.

import type { ComponentChildren, JSX } from 'preact';
import type { Exact, Origin, OverviewAnswer, OverviewFunction, SelectedTime } from '../../host/protocol.ts';
import { type Names, binaryOf, nameOf, threadName } from '../../state/names.ts';
import { useApp, useStore } from '../app_context.ts';
import { FunctionName } from '../cells.tsx';
import { type Unit, counted, percent, timeText, withUnit } from '../format.ts';

/** Fewer samples than this give no reliable shares; with this many, a share is within 10 points of the truth 95 times of 100. */
const FEW_SAMPLES = 10;
const MANY_SAMPLES = 100;
/** A function with less than this share does not stand out. */
const STANDS_OUT = 0.1;
/** Two functions are close if the lighter one has this share of the heavier one. */
const CLOSE = 0.85;
/** Below this percentage of one core, a program was mostly idle. */
const IDLE = 5;

const ORIGINS: Record<Origin, string> = {
  'main-queue': 'from the main queue',
  queue: 'from a dispatch queue',
  'swift-task': 'from a Swift task',
  timer: 'from a timer',
  'display-link': 'for each frame of the screen',
  input: 'for an input event',
  layout: 'for layout and drawing',
  notification: 'for a notification',
  'run-loop': 'from the run loop',
  launch: 'at launch',
  initializer: 'before main, by an initializer',
  thread: 'on a separate thread',
};

interface Props {
  readonly answer: OverviewAnswer;
  readonly unit: Unit;
}

export function Sentences({ answer, unit }: Props): JSX.Element {
  const app = useApp();
  const state = useStore();
  const { total, time, cpuPercent } = answer;
  const samples = Number(total.samples);
  const isPresence = app.names.tables.series[state.series]!.meaning === 'presence';
  return (
    <>
      <p class="lead">
        <strong>{withUnit(total.weight, unit)}</strong>
        {unit !== 'samples' && <> in {counted(total.samples, 'sample')}</>}
        {cpuPercent !== null && <>, {cpuPercent.toFixed(1)}% of one core</>}
        {time.length > 0 && <> over {baseText(time)}</>}.
        {cpuPercent !== null && cpuPercent < IDLE && <> The CPU was mostly idle.</>}
        {isPresence && <> Samples show where threads were, whether running or not.</>}
        {samples < FEW_SAMPLES && <> Only {counted(samples, 'sample')}: too few to show where the time goes.</>}
      </p>
      <Waiting answer={answer} />
      <Heaviest answer={answer} unit={unit} />
    </>
  );
}

/** The base of a rate, in the command's words. */
function baseText({ length, isPart, isRecorded }: SelectedTime): string {
  if (isPart) return `the selected ${timeText(length)}`;
  return isRecorded ? `the recorded ${timeText(length)}` : `the ${timeText(length)} from the first sample to the last`;
}

/** True if threads wait in more than half of the samples. */
function mostlyWaits({ answer, total }: OverviewAnswer): boolean {
  return 2 * Number(answer.shares.waiting.samples) > Number(total.samples);
}

function Waiting({ answer }: { answer: OverviewAnswer }): JSX.Element | null {
  const { names } = useApp();
  const { shares, wait } = answer.answer;
  if (!mostlyWaits(answer)) return null;
  return (
    <p class="lead">
      Threads wait in <strong>{percent(shares.waiting.samples, answer.total.samples)}</strong> of the samples
      {wait !== null && (
        <>
          ; {threadText(names, wait.thread)} in {percent(wait.waiting, wait.samples)} of its own samples, mostly in <FunctionLink label={wait.label} />
          {wait.askedBy !== null && (
            <>
              , called by <FunctionLink label={wait.askedBy} />
            </>
          )}
        </>
      )}
      .
    </p>
  );
}

function Heaviest({ answer, unit }: Props): JSX.Element | null {
  const { names } = useApp();
  const { answers, answersIn } = answer.answer;
  const { total } = answer;
  const [first, second] = answers;
  if (first === undefined) return null;
  const share = Number(first.weight) / Number(total.weight);
  if (mostlyWaits(answer) && share < 0.01) return null;
  const shareText = percent(first.weight, total.weight);
  const place = (
    <>
      <FunctionLink label={first.label} />
      <Binary names={names} label={first.label} />
    </>
  );
  const where = (
    <>
      <Where answer={first} />
      {answersIn === 'own' && <Called answer={first} />}
    </>
  );
  const isClose = second !== undefined && Number(second.weight) >= CLOSE * Number(first.weight);
  return (
    <p class="lead" data-part="heaviest">
      {mostlyWaits(answer) ? (
        <>
          The heaviest code that ran is {place}, with <strong>{shareText}</strong>, {where}.
        </>
      ) : share < STANDS_OUT ? (
        <>
          {answersIn === 'own' ? 'None of your functions' : 'No function'} stands out: the heaviest is {place}, with <strong>{shareText}</strong>, {where}.
        </>
      ) : (
        <>
          <strong>{shareText}</strong> is in {place}, {where}.
          {isClose && (
            <>
              {' '}
              {percent(second.weight, total.weight)} is in <FunctionLink label={second.label} />.
            </>
          )}
        </>
      )}
      <span class="note">
        {' '}
        <Doubt answer={answer} share={share} unit={unit} />
      </span>
    </p>
  );
}

/** How reliable the answer is, and why it is not app code. */
function Doubt({ answer, share }: { answer: OverviewAnswer; share: number; unit: Unit }): JSX.Element {
  const { names } = useApp();
  const samples = Number(answer.total.samples);
  const points = 196 * Math.sqrt((share * (1 - share)) / Math.max(1, samples));
  const said: string[] = [];
  if (answer.answer.answersIn === 'all') said.push(whyNotOwn(names, answer.answer.shares.unknown.samples));
  if (samples >= FEW_SAMPLES && samples < MANY_SAMPLES && points >= 1) {
    said.push(`With only ${samples} samples, that share may well be off by ${points.toFixed(0)} points.`);
  }
  return <>{said.join(' ')}</>;
}

function whyNotOwn({ tables }: Names, unknown: Exact): string {
  if (tables.binaries.some(({ is_own }) => is_own)) return 'Of your code, only the entry point was seen.';
  if (tables.binaries.length > 0 && Number(unknown) === 0) return 'This is system code; none of your code ran.';
  return 'It is unknown which binaries belong to your app, so your code cannot be distinguished from system code.';
}

function Where({ answer }: { answer: OverviewFunction }): JSX.Element {
  const { names } = useApp();
  const share = Number(answer.onThread.weight) / Number(answer.weight);
  if (share <= 0.5) return <>on several threads</>;
  return (
    <>
      {share < 1 && `${(100 * share).toFixed(0)}% of it `}on {threadText(names, answer.thread)}
    </>
  );
}

function Called({ answer: { callers, origin } }: { answer: OverviewFunction }): JSX.Element | null {
  const nearest = callers.at(-1);
  const outermost = callers.length > 1 ? callers[0] : undefined;
  // The text already mentions a separate thread.
  const from = origin === null || (origin === 'thread' && nearest === undefined) ? null : ORIGINS[origin];
  if (nearest === undefined && from === null) return null;
  return (
    <>
      , called
      {nearest !== undefined && (
        <>
          {' '}
          by <FunctionLink label={nearest} />
        </>
      )}
      {outermost !== undefined && (
        <>
          {' '}
          and, further up, by <FunctionLink label={outermost} />
        </>
      )}
      {from !== null && ` ${from}`}
    </>
  );
}

function Binary({ names, label }: { names: Names; label: number }): JSX.Element | null {
  const binary = binaryOf(names, label);
  return binary === null ? null : <span class="note"> ({binary})</span>;
}

function threadText(names: Names, id: number): ComponentChildren {
  const name = threadName(names, id);
  return name.toLowerCase().includes('thread') ? name : `thread ${name}`;
}

function FunctionLink({ label }: { label: number }): JSX.Element {
  const app = useApp();
  return (
    <button
      type="button"
      class="link"
      title={`${nameOf(app.names, label)}: show its callers and callees`}
      onClick={() => app.store.set({ chosen: label, tab: 'callers' })}
    >
      <FunctionName names={app.names} label={label} />
    </button>
  );
}
