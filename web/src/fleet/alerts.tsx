// Alerts as cards: fired ones first.

import type { ComponentChildren, JSX } from 'preact';
import { Facts } from '../ui/panel.tsx';
import { RunName, intervalText } from './cells.tsx';
import type { Alert } from './document.ts';
import { type Measures, capitalized, count, cut, many, measure, measureWithUnit, measuresOf, statisticName } from './measure.ts';
import { cohortName, usePage } from './page_context.ts';
import { Folded, Hidden } from './table.tsx';

/** More cards than this with a harmless state are folded. */
const UNFOLDED = 3;
/** Cards of one state; the others are counted. */
const MOST_CARDS = 60;

const STATES = [
  ['fired', 'beyond their limit'],
  ['undecided', 'too few runs to decide, or chance may explain it'],
  ['quiet', 'within their limit'],
] as const;

const COMPARISONS = { '>': 'above', '>=': 'at or above', '<': 'below', '<=': 'at or below' };

export function Alerts(): JSX.Element {
  const { report } = usePage();
  return (
    <>
      <h2>Alerts</h2>
      {STATES.map(([state, reason]) => {
        const alerts = report.alerts.filter((alert) => alert.state === state);
        if (alerts.length <= UNFOLDED || state === 'fired') return <Cards key={state} alerts={alerts} />;
        return (
          <Folded key={state} summary={<>{`${count(alerts.length)} ${state} `}<small>{reason}</small></>}>
            <Cards alerts={alerts} />
          </Folded>
        );
      })}
    </>
  );
}

function Cards({ alerts }: { alerts: readonly Alert[] }): JSX.Element | null {
  if (alerts.length === 0) return null;
  return (
    <>
      <div class="cards">{alerts.slice(0, MOST_CARDS).map((alert, at) => <Card key={at} alert={alert} />)}</div>
      <Hidden count={alerts.length - MOST_CARDS}>{(more) => `${count(more)} more are not shown.`}</Hidden>
    </>
  );
}

function Card({ alert }: { alert: Alert }): JSX.Element {
  const page = usePage();
  const { words, report } = page;
  const unit = alert.value_unit ?? 'percent-of-one-core';
  const measures = measuresOf(unit, Math.max(alert.value ?? 0, alert.limit));
  const statistic = statisticOf(alert);
  const interval = alert.percentile === null ? null : intervalText(page, alert.percentile, measures);
  // A limit is shown as typed.
  const limit = unit === 'percent-of-one-core' ? `${alert.limit} %` : measureWithUnit(alert.limit, measures);
  const together = (alert.judged ?? 0) > 1 ? ` for ${count(alert.judged!)} names together` : '';
  const facts: (readonly [string, string])[] = [
    ...alert.causes.slice(0, 1).map(({ name }) => ['of', name === '' ? '(no name)' : name] as const),
    [statistic, alert.value === null ? 'none' : measureWithUnit(alert.value, measures)],
    ['fires', `${COMPARISONS[alert.asks.comparison]} ${limit}`],
    ...(interval === null ? [] : [[`${words.confidence} interval${together}${words.assumption}`, interval] as const]),
    ['runs', count(alert.count)],
  ];
  const isTooFew = alert.state === 'undecided' && alert.needed !== null && alert.value !== null;
  return (
    <article class={`card ${alert.state}`}>
      <h3><span class={`badge ${alert.state}`}>{capitalized(alert.state)}</span> <code>{alert.rule}</code></h3>
      {report.cohorts.length > 1 && <p class="of">{cohortName(report.cohorts[alert.cohort])}</p>}
      <Facts rows={facts} />
      {isTooFew && (
        <p class="note">
          {`${many(alert.count, 'run')} ${alert.count === 1 ? 'is' : 'are'} too few to decide: ${statistic} needs ${count(alert.needed!)}${alert.count < alert.needed! ? '' : ' of equal weight'}. The value shown is preliminary.`}
        </p>
      )}
      {alert.note !== null && <p class="note">{capitalized(alert.note)}.</p>}
      {alert.causes_count >= 2 && <Beyond alert={alert} measures={measures} what="name" all={alert.causes_count} rows={alert.causes.map(({ name, value }) => [cut(name), value])} />}
      {alert.beyond.length > 0 && <Beyond alert={alert} measures={measures} what="run" all={alert.beyond_count} rows={alert.beyond.map((run) => [<RunName run={run} />, run.value])} />}
    </article>
  );
}

/** `P95`, or `lower end of P95` for a rule about an end of its interval, such as `cpu.p95.lower > 80`. */
function statisticOf({ asks: { end, statistic } }: Alert): string {
  return `${end === null ? '' : `${end} end of `}${statisticName(statistic)}`;
}

/** The names or runs beyond the limit, and how many the list leaves out. */
function Beyond(props: { alert: Alert; measures: Measures; what: string; all: number; rows: readonly (readonly [ComponentChildren, number])[] }): JSX.Element {
  const { alert, measures, what, all, rows } = props;
  return (
    <Folded summary={`${many(all, what)} ${COMPARISONS[alert.asks.comparison]} the limit`}>
      <ol>
        {rows.map(([name, value], at) => <li key={at}><code>{name}</code> <b>{measure(value, measures)}</b></li>)}
      </ol>
      {all > rows.length && <p>and {count(all - rows.length)} more</p>}
    </Folded>
  );
}
