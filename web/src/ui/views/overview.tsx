// The main answer: what is heavy in app code, where, and its callers.

import type { JSX } from 'preact';
import { KINDS } from '../../canvas/index.ts';
import type { OverviewAnswer, Part } from '../../host/protocol.ts';
import { binaryOf, kindOf, processName, threadName } from '../../state/names.ts';
import { freshState, selectsAlike } from '../../state/state.ts';
import { useAnswer, useApp, useStore } from '../app_context.ts';
import { FunctionName, Share } from '../cells.tsx';
import { counterName } from '../counter_name.ts';
import { grouped, inScale, scaleOf, withUnit } from '../format.ts';
import { Legend } from '../legend.tsx';
import { Pending } from '../panel.tsx';
import { Hangs } from './hangs.tsx';
import { Sentences } from './overview_sentences.tsx';

/** The maximum number of listed threads, and the share of the total below which a thread is only counted. */
const [MOST_THREADS, LEAST_SHARE] = [8, 0.0005];

export function OverviewView(): JSX.Element {
  const app = useApp();
  const { answer, place, unit, isOld, fault } = useAnswer('view', { kind: 'overview' });
  if (answer === null) return <Pending fault={fault} />;
  const { total } = answer;
  const { shares, answersIn, answers } = answer.answer;
  const isOwn = answersIn === 'own';
  const { processes, threads, series } = app.names.tables;
  const hasSeveral = processes.filter(({ run }) => run === series[place.series]!.run).length > 1;
  const threadOf = (id: number): string => `${threadName(app.names, id)}${hasSeveral ? ` of ${processName(app.names, threads[id]!.process)}` : ''}`;
  if (Number(total.samples) === 0) return <NoSamples answer={answer} />;
  const scale = scaleOf(answers[0]?.weight ?? 0, unit);
  const binaries = answers.map(({ label }) => binaryOf(app.names, label) ?? '');
  const only = new Set(binaries).size === 1 && binaries[0] !== '' ? binaries[0] : null;
  const owners = ownersOf(shares);
  const kinds = new Set(answers.map(({ label }) => kindOf(app.names, label)));
  const isExplained = [...kinds].every((kind) => owners.some((owner) => owner.kind === kind));
  return (
    <div class={`overview${isOld ? ' is-old' : ''}`} data-part="overview">
      <div class="answer">
        <Sentences answer={answer} />
      </div>
      <Hangs />
      <div class="columns">
        <section aria-labelledby="top-title" class="wide">
          <h2 id="top-title">
            {isOwn ? 'Your heaviest functions' : 'Heaviest functions'}
            <span class="note">by {isOwn ? 'own+sys, which includes the system code they call' : 'self weight'}</span>
            {!isExplained && <Legend kinds={KINDS.filter((kind) => kinds.has(kind))} />}
          </h2>
          {answers.length === 0 && <p class="note">No sample has a stack.</p>}
          <ol class="top" data-part="top" style={{ '--binary': `${only === null ? Math.max(6, ...binaries.map((name) => 0.9 * name.length)) : 0}ch` }}>
            <li class="top-row is-functions note">
              <span class="amount">total</span>
              <span class="amount">
                <span aria-hidden="true">▾ </span>
                {isOwn ? 'own+sys' : 'self'}
              </span>
              <span class="amount">{scale.unit}</span>
              <span class="name">{only === null ? 'function' : `function in ${only}`}</span>
              {only === null && <span class="dim">binary</span>}
            </li>
            {answers.map((row, place) => (
              <li key={row.label}>
                <button type="button" class="top-row is-functions" onClick={() => app.store.set({ chosen: row.label, tab: 'callers' })}>
                  <Share part={row.all} total={total.weight} />
                  <Share part={row.weight} total={total.weight} />
                  <span class="amount">{inScale(row.weight, scale)}</span>
                  <FunctionName names={app.names} label={row.label} />
                  {only === null && <span class="dim" title={binaries[place]}>{binaries[place]}</span>}
                </button>
              </li>
            ))}
          </ol>
        </section>
        <div class="beside">
          <BusiestThreads title={Number(shares.waiting.samples) > 0 ? 'Threads with the most samples' : 'Busiest threads'} nameOf={threadOf} />
          <section aria-labelledby="owners-title">
            <h2 id="owners-title">Code owners</h2>
            <Owners owners={owners} total={total.weight} />
          </section>
          {answer.counters.length > 0 && <Counters sums={answer.counters} />}
          {answer.cores.some(({ kind }) => kind !== null) && (
            <section aria-labelledby="cores-title">
              <h2 id="cores-title">Kinds of core</h2>
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

/** Without a choice, threads did something else than run, which the sentences say. */
function NoSamples({ answer }: { answer: OverviewAnswer }): JSX.Element {
  const { tables } = useApp().names;
  const state = useStore();
  if (selectsAlike(state, freshState(state.series, state.side))) {
    return (
      <div class="overview" data-part="overview">
        <div class="answer">
          <Sentences answer={answer} />
        </div>
        <Hangs />
      </div>
    );
  }
  const hasOthers = tables.states.some((name) => name !== 'Running');
  return <p class="notice">The selection contains no samples. Remove a choice above{hasOthers ? ', or include all thread states' : ''}.</p>;
}

/** The heaviest threads; in a tie, main threads come first. All other threads share one row. */
function BusiestThreads({ title, nameOf }: { title: string; nameOf: (id: number) => string }): JSX.Element | null {
  const { store, names } = useApp();
  // The overview's answer contains only twelve threads.
  const { answer, unit } = useAnswer('overview-threads', { kind: 'threads' });
  if (answer === null) return null;
  const total = answer.total.weight;
  const isMain = ({ id }: Part): number => Number(names.tables.threads[id]!.is_main);
  const rows = [...answer.threads].sort((a, b) => Number(b.weight) - Number(a.weight) || isMain(b) - isMain(a));
  const listed = rows.slice(0, MOST_THREADS).filter(({ weight }) => Number(weight) >= LEAST_SHARE * Number(total));
  const others = rows.slice(listed.length);
  const more = { id: null, weight: others.reduce((sum, { weight }) => sum + BigInt(weight), 0n) };
  const scale = scaleOf(rows[0]?.weight ?? 0, unit);
  return (
    <section aria-labelledby="threads-title">
      <h2 id="threads-title">{title}</h2>
      <ol class="top">
        <li class="top-row is-thread note">
          <span class="amount">total</span>
          <span class="amount">{scale.unit}</span>
          <span>thread</span>
        </li>
        {[...listed, ...(others.length > 0 ? [more] : [])].map(({ id, weight }) => (
          <li key={id}>
            <button
              type="button"
              class="top-row is-thread"
              title={id === null ? 'Show all threads' : 'Show only this thread'}
              onClick={() => store.set(id === null ? { tab: 'threads' } : { threads: [id] })}
            >
              <Share part={weight} total={total} />
              <span class="amount">{inScale(weight, scale)}</span>
              {id === null ? <span>{grouped(others.length)} more</span> : <span class="name">{nameOf(id)}</span>}
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** The performance counters of the selection. */
function Counters({ sums }: { sums: OverviewAnswer['counters'] }): JSX.Element {
  const app = useApp();
  return (
    <section aria-labelledby="counters-title">
      <h2 id="counters-title">Performance counters</h2>
      <ul class="top" data-part="counters">
        {sums.map(({ number, name, events }) => (
          <li key={number}>
            <button type="button" class="top-row" title="Weigh samples by the events of this counter" onClick={() => app.store.set({ metric: `counter:${number}` })}>
              <span class="amount">{withUnit(events, 'events')}</span>
              <span class="name">{counterName(number, name)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function ownersOf(shares: OverviewAnswer['answer']['shares']) {
  return [
    { kind: 'own', name: 'your code, including the system code it calls', amount: shares.own },
    { kind: 'system', name: 'other system and runtime code', amount: shares.system },
    { kind: 'unknown', name: 'code that may be yours or the system’s', amount: shares.unknown },
    { kind: 'idle', name: 'waiting for a core', amount: shares.queued },
    { kind: 'idle', name: 'waiting', amount: shares.waiting },
    { kind: 'idle', name: 'idle cores', amount: shares.idle },
    { kind: 'unknown', name: 'samples without a stack', amount: shares.noStack },
  ].filter(({ amount }) => Number(amount.samples) > 0);
}

function Owners({ owners, total }: { owners: ReturnType<typeof ownersOf>; total: OverviewAnswer['total']['weight'] }): JSX.Element {
  return (
    <ul class="top">
      {owners.map(({ kind, name, amount }) => (
        <li key={name} class="top-row">
          <Share part={amount.weight} total={total} />
          <span class={`name kind-${kind}`}>{name}</span>
        </li>
      ))}
    </ul>
  );
}
