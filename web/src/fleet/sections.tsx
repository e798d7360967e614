// The sections of the page, in order.

import type { JSX } from 'preact';
import { Alerts } from './alerts.tsx';
import { AcrossRuns, WithinRuns } from './cohorts.tsx';
import { Contrasts } from './contrasts.tsx';
import { Crashes } from './crashes.tsx';
import { Durations } from './durations.tsx';
import { Method } from './method.tsx';
import type { Page } from './page_context.ts';
import { Runs } from './runs.tsx';
import { Scopes } from './scopes.tsx';
import { OverTime } from './over_time.tsx';
import { Trends } from './trends.tsx';

/** The sections that a report has. */
export function sectionsOf({ report: { alerts, trends, crashes, cohorts, histograms, contrasts, runs } }: Page) {
  const all: (readonly [isThere: boolean, id: string, title: string, Content: () => JSX.Element])[] = [
    [alerts.length > 0, 'alerts', 'Alerts', Alerts],
    [crashes.length > 0, 'crashes', 'Crashes', Crashes],
    [trends.length > 0, 'trend', 'Trend', Trends],
    [cohorts.length > 0, 'across-runs', 'Across runs', AcrossRuns],
    [histograms.length > 0, 'durations', 'Durations', Durations],
    [cohorts.some(({ timeline }) => timeline.length > 0), 'over-time', 'Over time', OverTime],
    [cohorts.some(({ within_runs: windows }) => windows !== null), 'within-runs', 'Within runs', WithinRuns],
    [contrasts.some(({ rows }) => rows.length > 0), 'contrasts', 'Differences', Contrasts],
    [cohorts.some(({ tables }) => tables.length > 0), 'scopes', 'Where it goes', Scopes],
    [runs.length > 0, 'runs', 'Runs', Runs],
    [cohorts.length > 0 || histograms.length > 0, 'method', 'Method', Method],
  ];
  return all.filter(([isThere]) => isThere).map(([, id, title, Content]) => ({ id, title, Content }));
}
