// The main answer: what is heavy in app code, where, and its callers.

import type { JSX } from 'preact';
import type { OverviewAnswer } from '../../host/protocol.ts';
import { binaryOf, processName, threadName } from '../../state/names.ts';
import { useAnswer, useApp } from '../app_context.ts';
import { FunctionName, Share } from '../cells.tsx';
import { counterName } from '../counter_name.ts';
import { withUnit } from '../format.ts';
import { Pending } from '../panel.tsx';
import { Hangs } from './hangs.tsx';
import { Sentences } from './overview_sentences.tsx';

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
  if (Number(total.samples) === 0) {
    const hasOthers = app.names.tables.states.some((name) => name !== 'Running');
    return <p class="notice">The selection contains no samples. Remove a choice above{hasOthers ? ', or include all thread states' : ''}.</p>;
  }
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
            {isOwn && <span class="note"> own+sys includes the system code they call</span>}
          </h2>
          {answers.length === 0 && <p class="note">No sample has a stack.</p>}
          <ol class="top" data-part="top">
            <li class="top-row is-functions note">
              {['total', isOwn ? 'own+sys' : 'self', ''].map((head) => <span key={head} class="amount">{head}</span>)}
              <span>function</span>
              <span class="dim">binary</span>
            </li>
            {answers.map((row) => (
              <li key={row.label}>
                <button type="button" class="top-row is-functions" onClick={() => app.store.set({ chosen: row.label, tab: 'callers' })}>
                  <Share part={row.all} total={total.weight} />
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
            <h2 id="threads-title">{Number(shares.waiting.samples) > 0 ? 'Threads with the most samples' : 'Busiest threads'}</h2>
            <ol class="top">
              {answer.threads.slice(0, 8).map((row) => (
                <li key={row.id}>
                  <button type="button" class="top-row" title="Show only this thread" onClick={() => app.store.set({ threads: [row.id] })}>
                    <Share part={row.weight} total={total.weight} />
                    <span class="amount">{withUnit(row.weight, unit)}</span>
                    <span class="name">{threadOf(row.id)}</span>
                  </button>
                </li>
              ))}
            </ol>
          </section>
          <section aria-labelledby="owners-title">
            <h2 id="owners-title">Code owners</h2>
            <Owners shares={shares} total={total.weight} />
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

function Owners({ shares, total }: { shares: OverviewAnswer['answer']['shares']; total: OverviewAnswer['total']['weight'] }): JSX.Element {
  const rows = [
    { kind: 'own', name: 'your code, including the system code it calls', amount: shares.own },
    { kind: 'system', name: 'other system and runtime code', amount: shares.system },
    { kind: 'unknown', name: 'code that may be yours or the system’s', amount: shares.unknown },
    { kind: 'idle', name: 'waiting for a core', amount: shares.queued },
    { kind: 'idle', name: 'waiting', amount: shares.waiting },
    { kind: 'idle', name: 'idle cores', amount: shares.idle },
    { kind: 'unknown', name: 'samples without a stack', amount: shares.noStack },
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
