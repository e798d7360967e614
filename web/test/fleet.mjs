// Compares the tables of the page of a fleet with the command's JSON, in a browser, and uses the page with keys and for printing.
//
//   node test/fleet.mjs [--browser NAME]… [--fresh] [INPUT …]
//
// The inputs are those of `fleet report`, by default all fixtures. `--fresh` uses the current build of web/.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BROWSERS, launch } from './browsers/index.mjs';
import { ROOT, jsonOf, pageOf } from './command.mjs';
import { waitFor } from './page/tab.mjs';

const { values: asked, positionals } = parseArgs({ allowPositionals: true, options: { browser: { type: 'string', multiple: true, default: BROWSERS }, fresh: { type: 'boolean' } } });
const inputs = ['fleet', 'report', ...(positionals.length > 0 ? positionals : [join(ROOT, 'fixtures')]), '--alert', 'cpu.max>1000', '--alert', 'cpu.p50.lower>1000'];
const folder = mkdtempSync(join(tmpdir(), 'fleet-'));
const path = join(folder, 'fleet.html');
const [{ page, error }, { json: report }] = await Promise.all([pageOf(inputs), jsonOf(inputs, [])]);
ok(page !== undefined, error);
writeFileSync(path, asked.fresh ? await (await import('../dev.mjs')).withBuild(page) : page);

const scopeName = (scope) => ({ process: 'Processes', binary: 'Binaries' })[scope] ?? `${scope[0].toUpperCase()}${scope.slice(1)}s`;
/** The numbers of a summary, in the order of columns; null for what has too few runs. */
const numbers = (summary, hasWeighted) => [
  summary.mean,
  ...(hasWeighted ? [summary.weighted_mean] : []),
  ...summary.percentiles.map(({ support, value }) => (support === 'too-few' ? null : value)),
  summary.max,
];
const runsOf = ({ count, zeros }) => count - zeros;

/** The numbers of tables by their name without the unit, as JSON has them. */
function expectedTables() {
  const tables = new Map();
  const add = (name, row) => tables.set(name, [...(tables.get(name) ?? []), row]);
  for (const { name, runs, across_runs: across, within_runs: within, tables: scopes } of report.cohorts) {
    add('CPU use across runs', [runs, ...numbers(across, true)]);
    if (within !== null) add('The busiest second of each run', [within.runs, ...numbers(within.peaks, false)]);
    for (const { scope, rows } of scopes) {
      const of = (row) => [runsOf(row.summary), ...numbers(row.summary, true), row.samples];
      for (const row of rows.slice(0, 200)) add(`${scopeName(scope)} of ${name}`, of(row));
    }
  }
  const units = [...new Set(report.cohorts.map(({ value_unit: unit }) => unit))];
  const runs = report.runs.toSorted((a, b) => units.indexOf(a.value_unit) - units.indexOf(b.value_unit) || b.value - a.value);
  for (const run of runs) add('Runs', [run.value, run.window_max, run.wall_ns === null ? null : run.wall_ns / 1e9, run.weight, run.samples]);
  return tables;
}

/** The numbers of each table. On paper, a wide table has several parts, of which the first has the name. */
function shownTables() {
  const numberOf = (cell) => ('value' in cell.dataset ? Number(cell.dataset.value) : null);
  const rowsOf = (table) => [...table.tBodies[0].rows].map((row) => [...row.cells].filter((cell) => cell.tagName === 'TD' && !cell.classList.contains('text')).map(numberOf));
  const shown = {};
  for (const first of document.querySelectorAll('table:first-child')) {
    const parts = [...first.parentElement.children].map(rowsOf);
    const name = first.caption.textContent.replace(/, in [^,]*$/, '');
    shown[name] = [...(shown[name] ?? []), ...parts[0].map((_, row) => parts.flatMap((part) => part[row]))];
  }
  return Object.entries(shown);
}

const isPrintable = () => document.querySelector('details:not([open])') === null;

async function useIn(name) {
  const browser = await launch(name);
  await browser.open(path, 'scopes');
  await waitFor(() => browser.run(() => document.documentElement.dataset.state === 'ready'), 'ready');
  await waitFor(() => browser.run(() => document.getElementById('scopes').getBoundingClientRect().top < innerHeight), 'the section of the address');
  await browser.run(() => void dispatchEvent(new Event('beforeprint')));
  await waitFor(() => browser.run(isPrintable), 'everything is printed');
  const shown = new Map(await browser.run(shownTables));
  const expected = expectedTables();
  for (const [table, rows] of expected) deepEqual(shown.get(table), rows, `${name}: ${table}`);
  const statistics = await browser.run(() => [...document.querySelectorAll('.card')].map((card) => [card.querySelector('code').textContent, card.querySelector('dt').textContent]));
  equal(statistics.length, report.alerts.length);
  for (const [rule, statistic] of statistics) equal(statistic, rule.includes('lower') ? 'lower end of P50' : 'max', `${name}: ${rule}`);
  await browser.run(() => void dispatchEvent(new Event('afterprint')));
  // Keys sort a table.
  await browser.run(() => document.querySelector('#runs summary').click());
  await waitFor(() => browser.run(() => document.querySelector('#runs thead') !== null), 'the table is open');
  await browser.run(() => document.querySelector('#runs thead .number button').focus());
  const before = await browser.run(() => document.querySelector('#runs thead .number').ariaSort);
  await browser.press('Enter');
  await waitFor(() => browser.run((before) => document.querySelector('#runs thead .number').ariaSort !== before, before), 'a key sorts');
  deepEqual((await browser.messages).filter((text) => !text.includes('favicon')), [], name);
  await browser.close();
  return expected.size;
}

try {
  const counts = await Promise.all(asked.browser.map(useIn));
  ok(counts.every((count) => count > 5), `${counts}`);
  equal(new Set(counts).size, 1);
  console.log(`${asked.browser.join(', ')}: ${counts[0]} tables are those of the JSON`);
} finally {
  rmSync(folder, { recursive: true });
}
