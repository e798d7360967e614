// Compares tables that the page shows with the command's JSON, in browsers: all fixtures and 20 real recordings, each with one of twelve
// selections and operations. Weights, samples, names and the order of rows must be equal.
//
//   node test/equality.mjs [--browser NAME]… [--fresh] [FILE …]
//
// Every browser shows the functions of each recording, and three other tables in turn. `--fresh` replaces the page's script with the
// current build of web/. Without `TRACEPARSE_CORPUS`, only fixtures are compared.

import { deepEqual, ok } from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BROWSERS, launch } from './browsers/index.mjs';
import { ROOT, jsonOf, pageOf } from './command.mjs';
import { Tab } from './page/tab.mjs';
import { forEach } from './pool.mjs';
import { VIEWS } from './shown_tables.mjs';

const CORPUS = [
  'xctrace/12.5/time-profile.xml', 'xctrace/14-16/time-profile.xml', 'xctrace/14.0.1/cpu-profile.xml', 'xctrace/14.3.1/counters-time-profile.xml',
  'xctrace/14.3.1/cpu-profile.xml', 'xctrace/14.3.1/time-profile.xml', 'xctrace/16.0/four-runs.trace.zip', 'xctrace/26.2/finder.trace.zip',
  'xctrace/26.2/finder_cpu_profile.xml', 'xctrace/26.4/time-sample.xml', 'xctrace/26.4.1/time-profile.xml', 'xctrace/26.5/cpu-profile.xml',
  'xctrace/27/cpu-profile.xml', 'xctrace/27/time-sample.xml', 'inputs/sample/10.8-chrome.sample.txt', 'inputs/sample/26.6.1-tillandsias.sample.txt',
  'other/sample/inferno_sample.txt', 'reproducers/demangle-bomb.xml', 'reproducers/lost_thread.xml', 'reproducers/rust-legacy/rust-named.xml',
];
/** Selections and operations, in a link and as options. */
const REQUESTS = [
  ['', []],
  ['&main=only', ['--only-main-thread']],
  ['&state=all', ['--state', 'all']],
  ['&metric=samples&op=hide-system', ['--metric', 'samples', '--hide-system']],
  ['&t=middle', ['--time', 'middle']],
  ['&op=flatten-recursion&op=skip-idle', ['--flatten-recursion', '--skip-idle']],
  ['&op=charge-system&op=focus:(?i)m', ['--charge-system', '--focus=(?i)m']],
  ['&op=charge:^[a-m]', ['--charge=^[a-m]']],
  ['&op=prune:(?i)^_?(objc|swift)_|press', ['--prune=(?i)^_?(objc|swift)_|press']],
  ['&op=root-at:[aA]p', ['--root-at=[aA]p']],
  ['&state=all&op=collapse:::|[A-Z][a-z]%2B%5C(', ['--state', 'all', '--collapse=::|[A-Z][a-z]+\\(']],
  ['&t=middle&op=charge:%5Cd%24&op=hide-system', ['--time', 'middle', '--charge=\\d$', '--hide-system']],
];
const NOTHING = /no sample passes the filters|no samples are left|no main thread|no thread|do not record when/;
const WINDOWS = 2;

const { values: asked, positionals } = parseArgs({ allowPositionals: true, options: { browser: { type: 'string', multiple: true, default: BROWSERS }, fresh: { type: 'boolean' } } });
const folder = mkdtempSync(join(tmpdir(), 'equality-'));
const swap = asked.fresh ? (await import('../dev.mjs')).withBuild : (page) => page;
const counts = { tables: 0, empty: 0, failed: 0 };
const start = performance.now();
const recordings = await Promise.all((positionals.length > 0 ? positionals : [...fixtures(), ...corpus()]).map(prepared));
console.log(`pages after ${((performance.now() - start) / 1000).toFixed(1)} s`);
await Promise.all(asked.browser.map(compareIn));
rmSync(folder, { recursive: true });
console.log(`${recordings.length} recordings: ${counts.tables} tables compared, ${counts.empty} requests that select nothing, ${counts.failed} failed`);
process.exitCode = counts.failed > 0 || counts.tables === 0 ? 1 : 0;

function fixtures() {
  const found = readdirSync(join(ROOT, 'fixtures'), { recursive: true }).filter((path) => /input\.xml$|\.sample\.txt$|\.trace\.zip$/.test(path));
  return found.filter((path) => !path.startsWith('toc')).sort().map((path) => join(ROOT, 'fixtures', path));
}

function corpus() {
  const folder = process.env.TRACEPARSE_CORPUS;
  return folder === undefined ? [] : CORPUS.map((path) => join(folder, path));
}

/** Writes the page of a recording, and gets the command's JSON for its request and tables. */
async function prepared(file, number) {
  const { page, error } = await pageOf([file]);
  if (error !== undefined) throw new Error(`${file}: ${error}`);
  const path = join(folder, `${number}.html`);
  writeFileSync(path, await swap(page));
  const { series } = (await jsonOf([file], ['--view', 'summary', '--state', 'all'])).json;
  const shown = series.reduce((best, one) => (rank(one) > rank(best) ? one : best));
  const [link, options] = await requestFor(file, number, shown);
  const others = Object.keys(VIEWS).filter((name) => name !== 'functions');
  const names = ['functions', ...[0, 1, 2].map((place) => others[(3 * number + place) % others.length])];
  return { file, page: path, link, options, series: shown.series, names, answers: new Map() };
}

/** The next request of the list that selects something of a recording. */
async function requestFor(file, number, shown) {
  const requests = REQUESTS.map((_, place) => REQUESTS[(number + place) % REQUESTS.length].map((part) => withTime(part, shown)));
  for (const request of requests) {
    const { json } = await jsonOf([file], ['--view', 'functions', '--top', '1', ...request[1]]);
    if (json?.functions.some(({ series }) => series === shown.series)) return request;
  }
  return requests[0];
}

/** The page shows the first of these first. */
function rank({ meaning, samples }) {
  return (meaning === 'on-cpu' ? 2 : 0) + (samples > 0 ? 1 : 0);
}

/** Puts the middle half of a recording into a request; all of it if it has no times. */
function withTime(part, { first_time_ns: first, last_time_ns: last }) {
  const quarter = first === null ? null : Math.floor((last - first) / 4);
  const span = quarter === null || quarter === 0 ? null : `${seconds(first + quarter)}..${seconds(last - quarter)}`;
  if (typeof part === 'string') return span === null ? part.replace('&t=middle', '') : part.replace('middle', span);
  return part.flatMap((option, at) => (option === '--time' || part[at - 1] === '--time' ? (span === null ? [] : [option.replace('middle', span)]) : [option]));
}

function seconds(nanos) {
  return `${(nanos / 1e9).toFixed(9)}s`;
}

async function compareIn(name) {
  const windows = await Promise.all(Array.from({ length: WINDOWS }, () => launch(name)));
  await forEach(recordings, WINDOWS, async (recording, _, window) => {
    const tab = new Tab(windows[window]);
    const fault = await compare(tab, recording).catch((error) => error.message);
    if (fault === undefined) return;
    counts.failed += 1;
    console.log(`${name}: ${recording.file} ${recording.options.join(' ')}:\n  ${fault.slice(0, 1_500).replaceAll('\n', '\n  ')}`);
  });
  await Promise.all(windows.map((browser) => browser.close()));
}

async function compare(tab, recording) {
  for (const [place, name] of recording.names.entries()) {
    const { link, tables } = VIEWS[name];
    const { function: chosen, json, error } = await answerTo(recording, name);
    if (error !== undefined && !NOTHING.test(error)) throw new Error(`${name}: ${error}`);
    const fragment = `v=1&${link}${recording.link}${chosen ?? ''}`;
    await (place === 0 ? tab.open(recording.page, fragment) : tab.follow(fragment));
    const isTable = (await tab.count(Object.keys(tables).map((table) => `#${table}`).join())) > 0;
    const shown = isTable ? await tab.tables() : {};
    const ofSeries = (rows) => rows.filter(({ series }) => series === recording.series);
    for (const [table, rowsOf] of Object.entries(tables)) {
      const rows = json === undefined ? [] : rowsOf(json, ofSeries, shown);
      if (shown[table] === undefined && hasNoTable(table, rows)) continue;
      ok(shown[table] !== undefined, `${name}: the table ${table} is missing`);
      deepEqual(shown[table].map((row) => commonFields(row, rows[0])), rows, `${name}: ${table}`);
      counts.tables += 1;
    }
    if (json === undefined) counts.empty += 1;
  }
}

/** True if the page shows a sentence, or nothing, instead of these rows. */
function hasNoTable(table, rows) {
  const isKnown = { lines: ({ line }) => line !== '', cores: ({ core }) => core.startsWith('core '), processes: (_, at) => at > 0 }[table];
  return isKnown === undefined ? rows.length === 0 : !rows.some(isKnown);
}

/** Leaves out fields that the command's rows lack, such as the role of a thread. */
function commonFields(row, other = row) {
  return Object.fromEntries(Object.entries(row).filter(([field]) => field in other));
}

/** Returns the command's JSON, once for all browsers; for callers, of the heaviest function with a unique name. */
async function answerTo(recording, name) {
  const { file, options, answers } = recording;
  if (!answers.has(name)) answers.set(name, name === 'callers' ? callersOf(recording) : jsonOf([file], [...VIEWS[name].options, ...options.filter((option) => !isThreads(name) || option !== '--only-main-thread')]));
  return answers.get(name);
}

/** The page lists all threads, from which one selects some. */
function isThreads(name) {
  return name === 'threads' || name === 'processes';
}

async function callersOf(recording) {
  const { json, error } = await answerTo(recording, 'functions');
  if (error !== undefined) return { error };
  const rows = json.functions.filter(({ series }) => series === recording.series);
  const row = rows.find((one) => !/^[/[]|^$/.test(one.function) && json.functions.filter((other) => other.function === one.function).length === 1);
  if (row === undefined) return { error: 'no samples are left with a unique name' };
  const fn = row.binary === null ? row.function : `${row.function}@${row.binary}`;
  return { ...(await jsonOf([recording.file], [`--function=${row.function}`, ...recording.options])), function: `&fn=${encodeURIComponent(fn)}` };
}
