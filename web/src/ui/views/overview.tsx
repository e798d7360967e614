// The answer first: what is heavy in the program's own code, where, and called by what.

import type { JSX } from 'preact';
import type { OverviewAnswer } from '../../host/protocol.ts';
import { binaryOf, nameOf, threadName } from '../../state/names.ts';
import { type App, unitOf, useAnswer, useApp, useStore } from '../app_context.ts';
import { FunctionName, Share } from '../cells.tsx';
import { counted, percent, timeText, withUnit } from '../format.ts';
import { Pending } from '../panel.tsx';

/** Fewer samples cannot say where time goes. */
const FEW = 10;
/** Below this share of one core, a recording was mostly idle. */
const IDLE = 0.1;

export function OverviewView(): JSX.Element {
  const app = useApp();
  const state = useStore();
  const { answer, isOld, fault } = useAnswer('view', { kind: 'overview' });
  if (answer === null) return <Pending fault={fault} />;
  const unit = unitOf(app, state);
  const { total, shares, top } = answer;
  if (Number(total.samples) === 0) {
    return <p class="notice">No samples count in what is selected. Remove a choice above, or let all thread states count.</p>;
  }
  return (
    <div class={`overview${isOld ? ' is-old' : ''}`} data-part="overview">
      <div class="answer">
        <Sentences answer={answer} />
      </div>
      <div class="columns">
        <section aria-labelledby="top-title" class="wide">
          <h3 id="top-title">
            {answer.isOwn ? 'Heaviest own functions' : 'Heaviest functions'}
            {answer.isOwn && <span class="note"> with the system code they call</span>}
          </h3>
          <ol class="top" data-part="top">
            {top.map((row) => (
              <li key={row.label}>
                <button type="button" class="top-row" onClick={() => app.store.set({ chosen: row.label, tab: 'callers' })}>
                  <Share part={row.weight} total={total.weight} />
                  <span class="amount">{withUnit(row.weight, unit)}</span>
                  <FunctionName names={app.names} label={row.label} />
                  <span class="dim">{binaryOf(app.names, row.label)}</span>
                </button>
              </li>
            ))}
          </ol>
        </section>
        <div class="beside">
          <section aria-labelledby="threads-title">
            <h3 id="threads-title">Busiest threads</h3>
            <ol class="top">
              {answer.threads.slice(0, 8).map((row) => (
                <li key={row.id}>
                  <button type="button" class="top-row" title="Show only this thread" onClick={() => app.store.set({ threads: [row.id] })}>
                    <Share part={row.weight} total={total.weight} />
                    <span class="amount">{withUnit(row.weight, unit)}</span>
                    <span class="name">{threadName(app.names, row.id)}</span>
                  </button>
                </li>
              ))}
            </ol>
          </section>
          <section aria-labelledby="owners-title">
            <h3 id="owners-title">Owners of code</h3>
            <Owners shares={shares} total={total.weight} />
          </section>
          {answer.cores.some(({ kind }) => kind !== null) && (
            <section aria-labelledby="cores-title">
              <h3 id="cores-title">Kinds of core</h3>
              <ul class="top">
                {answer.cores.map((row) => (
                  <li key={row.kind} class="top-row">
                    <Share part={row.weight} total={total.weight} />
                    <span class="amount">{withUnit(row.weight, unit)}</span>
                    <span class="name">{row.kind ?? 'no kind recorded'}</span>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
      </div>
    </div>
  );
}

function Owners({ shares, total }: { shares: OverviewAnswer['shares']; total: OverviewAnswer['total']['weight'] }): JSX.Element {
  const rows = [
    { kind: 'own', name: 'own code, with the system code it calls', amount: shares.own },
    { kind: 'system', name: 'other system, runtime and kernel code', amount: shares.system },
    { kind: 'unknown', name: 'code of no known owner', amount: shares.unknown },
    { kind: 'unknown', name: 'no stack recorded', amount: shares.noStack },
  ].filter(({ amount }) => Number(amount.samples) > 0);
  return (
    <ul class="top">
      {rows.map(({ kind, name, amount }) => (
        <li key={name} class="top-row">
          <Share part={amount.weight} total={total} />
          <span class={`name kind-${kind}`}>{name}</span>
        </li>
      ))}
    </ul>
  );
}

function Sentences({ answer }: { answer: OverviewAnswer }): JSX.Element {
  const app = useApp();
  const state = useStore();
  const { total, span, top, heaviest } = answer;
  const unit = unitOf(app, state);
  const isTime = unit === 'ns' && span !== null && span.end > span.start;
  const cores = isTime ? Number(total.weight) / (span.end - span.start) : null;
  const isPresence = app.names.tables.series[state.series]!.meaning === 'presence';
  const first = top[0];
  return (
    <>
      <p class="lead">
        <strong>{withUnit(total.weight, unit)}</strong>
        {unit !== 'samples' && <> in {counted(total.samples, 'sample')}</>}
        {cores !== null && <>, {cores >= 1.05 ? `${cores.toFixed(cores >= 10 ? 0 : 1)} cores busy` : `${percent(cores, 1)} of one core`},</>}
        {span !== null && <> over the {timeText(span.end - span.start)} from the first sample to the last</>}.
        {isPresence && <> Samples tell where threads were, running or not.</>}
        {cores !== null && cores < IDLE && <> The CPU was mostly idle.</>}
        {Number(total.samples) < FEW && <> That is too few to say where the time goes.</>}
      </p>
      {first !== undefined && (
        <p class="lead">
          <strong>{percent(first.weight, total.weight)}</strong> is in <FunctionLink app={app} label={first.label} />
          {binaryOf(app.names, first.label) !== null && <> ({binaryOf(app.names, first.label)})</>}
          {heaviest !== null && <Where app={app} heaviest={heaviest} first={first} />}.
        </p>
      )}
      {!answer.isOwn && <p class="note">None of the program’s own code ran in what is selected; these are functions of other code.</p>}
    </>
  );
}

function Where(props: {
  app: App;
  heaviest: NonNullable<OverviewAnswer['heaviest']>;
  first: OverviewAnswer['top'][number];
}): JSX.Element {
  const { app, heaviest, first } = props;
  const [caller, ...further] = heaviest.callers;
  const outer = further.at(-1);
  const share = Number(heaviest.onThread.weight) / Number(first.weight);
  return (
    <>
      , {share < 0.995 && `${percent(share, 1)} of it `}on thread {threadName(app.names, heaviest.thread)}
      {caller !== undefined && (
        <>
          , called by <FunctionLink app={app} label={caller} />
        </>
      )}
      {outer !== undefined && outer !== caller && (
        <>
          {' '}
          and, further up, by <FunctionLink app={app} label={outer} />
        </>
      )}
    </>
  );
}

function FunctionLink({ app, label }: { app: App; label: number }): JSX.Element {
  const name = nameOf(app.names, label);
  if (label < 0) return <span>{name}</span>;
  return (
    <button type="button" class="link" title="Show its callers and callees" onClick={() => app.store.set({ chosen: label, tab: 'callers' })}>
      <FunctionName names={app.names} label={label} />
    </button>
  );
}
