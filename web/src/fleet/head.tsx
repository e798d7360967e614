// The first screen: findings, percentiles with their runs, the heaviest runs and failures; then the inputs, and links to the sections.

import type { JSX } from 'preact';
import { Facts } from '../ui/panel.tsx';
import { ThemeButton } from '../ui/theme_button.tsx';
import { Cautions } from './cautions.tsx';
import { RunLink, RunName, WHOLE, intervalText, measured, runCell } from './cells.tsx';
import type { Levels, Mood, Run } from './document.ts';
import { type Measures, capitalized, count, cut, many, measure, measuresOf } from './measure.ts';
import { cohortName, usePage } from './page_context.ts';
import { type Cell, Folded, Table, nothing, number, text } from './table.tsx';
import { secondsCell } from './runs.tsx';
import { sectionsOf } from './sections.tsx';

/** Failed files that are named; the others are counted. */
const MOST_FAILED = 500;

const MOODS: Record<Mood, string | undefined> = { bad: 'fired', doubtful: 'undecided', good: 'quiet', plain: undefined };

export function Head(): JSX.Element {
  const { words, report } = usePage();
  return (
    <header>
      <div class="top">
        <h1>{words.title}</h1>
        <ThemeButton />
      </div>
      <section id="findings" aria-label="Findings">
        <ul>{words.findings.map(([mood, sentence]) => <li key={sentence} class={MOODS[mood]}>{sentence}</li>)}</ul>
      </section>
      <section id="summary" aria-label="Summary">
        {words.levels.flatMap((levels) => {
          const measures = measuresOf(levels.value_unit, levels.rows.at(-1)!.value);
          return [<Distribution key={`${levels.subject} all`} levels={levels} measures={measures} />, <Heaviest key={levels.subject} levels={levels} measures={measures} />];
        })}
        {words.failures.length > 0 && <Failures />}
      </section>
      <Tiles />
      {report.cohorts.length > 0 && <p class="lead">{[words.measure, ...words.narrowed].map(capitalized).join('. ')}. <a href="#method">How the numbers are defined</a></p>}
      <Failed />
      <Cautions sentences={[...words.inputs, ...report.notes]} />
      <nav aria-label="Sections"><ul>{sectionsOf(usePage()).map(({ id, title }) => <li key={id}><a href={`#${id}`}>{title}</a></li>)}</ul></nav>
    </header>
  );
}

interface LevelsProps { readonly levels: Levels; readonly measures: Measures }

/** A row for each percentile, and for the largest value. */
function Distribution({ levels: { subject, rows, outliers }, measures }: LevelsProps): JSX.Element {
  const page = usePage();
  const label = `${capitalized(subject)} across all runs, in ${measures.unit}`;
  const intervals = page.report.options.is_weighted ? [] : [{ title: `${page.words.confidence} interval` }];
  const columns = [{ title: 'Percentile' }, { title: 'Value', isNumber: true }, ...intervals, { title: 'Run' }];
  const cells = rows.map(({ name, value, percentile, runs }): Cell[] => [
    text(name),
    number(value, <RunLink runs={runs} place={WHOLE}>{measure(value, measures)}</RunLink>),
    ...intervals.map(() => text(percentile === null ? '' : (intervalText(page, percentile, measures) ?? ''))),
    text(runs.map(({ source }) => source).join(), runs.map((run, at) => [at > 0 && ' and ', <RunName key={at} run={run} />])),
  ]);
  return (
    <div class="levels">
      <h2>{label}</h2>
      <Table label={label} columns={columns} rows={cells} />
      {outliers !== null && <p>{outliers}.</p>}
    </div>
  );
}

function Heaviest({ levels: { subject, heaviest, has_cohorts: hasCohorts }, measures }: LevelsProps): JSX.Element {
  const page = usePage();
  const label = `Heaviest runs, in ${measures.unit}`;
  // Reports from the field have neither.
  const [hasSeconds, isTimed] = [heaviest.some((run) => run.window_max !== null), heaviest.some((run) => run.wall_ns !== null)];
  const columns = [
    { title: 'Run' },
    { title: capitalized(subject), isNumber: true },
    ...(hasSeconds ? [{ title: 'Busiest second', isNumber: true }] : []),
    ...(hasCohorts ? [{ title: 'Cohort' }] : []),
    ...(isTimed ? [{ title: 'Recorded', isNumber: true }] : []),
  ];
  const cells = (run: Run): Cell[] => [
    runCell(page, run),
    measured(run.value, measures),
    ...(hasSeconds ? [measured(run.window_max, measures)] : []),
    ...(hasCohorts ? [text(cohortName(page.report.cohorts[run.cohort]))] : []),
    ...(isTimed ? [run.wall_ns === null ? nothing : secondsCell(run.wall_ns)] : []),
  ];
  return (
    <div>
      <h2>{label}</h2>
      <Table label={label} columns={columns} rows={heaviest.map(cells)} />
    </div>
  );
}

function Failures(): JSX.Element {
  const { words } = usePage();
  return (
    <div class="failed">
      <h2>{words.failed}</h2>
      <ul>{words.failures.map(([files, reason]) => <li key={files}>{cut(files)} <small>{cut(reason)}</small></li>)}</ul>
    </div>
  );
}

/** Numbers in tiles. */
function Tiles(): JSX.Element {
  const { inputs, options, cohorts, findings } = usePage().report;
  const files = findings.find(({ kind }) => kind === 'inputs')?.files;
  const failed = inputs.failed.length;
  const facts: (readonly [name: string, value: number, hint: string, style?: string])[] = [
    ['Runs', inputs.runs, ''],
    ['Cohorts', cohorts.length, options.by.length > 0 ? `by ${options.by.map((key) => cut(key)).join(', ')}` : ['', 'all runs together'][cohorts.length] ?? 'one for each measure'],
    ['Files that failed', failed, files === undefined ? '' : `of ${many(files, 'file')}`, failed > 0 ? 'doubtful' : ''],
  ];
  const shown = (value: number, hint: string): JSX.Element => <>{count(value)}{hint !== '' && <small>{hint}</small>}</>;
  return <Facts class="facts" rows={facts.map(([name, value, hint, style]) => [name, shown(value, hint), style])} />;
}

/** The files without runs. */
function Failed(): JSX.Element | null {
  const { failed, runs } = usePage().report.inputs;
  if (failed.length === 0) return null;
  return (
    // If there are no runs, these files are the only content.
    <Folded class="failed" summary={`${many(failed.length, 'file')} produced no runs`} isOpen={runs === 0}>
      <ul>
        {failed.slice(0, MOST_FAILED).map(({ source, kind, reason }, at) => (
          <li key={at}><code>{cut(source)}</code> <em>{kind}</em> {cut(reason)}</li>
        ))}
        {failed.length > MOST_FAILED && <li>and {count(failed.length - MOST_FAILED)} more</li>}
      </ul>
    </Folded>
  );
}
