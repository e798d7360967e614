// Compares the tables on the screen with the command's JSON: of a recording, with one of twelve selections and operations. Weights, samples,
// names and the order of rows must be equal.

import { deepEqual, ok } from 'node:assert/strict';
import { jsonOf } from './command.mjs';
import { VIEWS } from './shown_tables.mjs';

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

/** Chooses the request and the tables of a recording in turn by its number. The functions are always compared. */
export async function comparisonOf(file, number) {
  const { json, error } = await jsonOf([file], ['--view', 'summary', '--state', 'all']);
  if (error !== undefined) throw new Error(`${file}: ${error}`);
  const { series } = json;
  const shown = series.reduce((best, one) => (rank(one) > rank(best) ? one : best));
  const [link, options] = await requestFor(file, number, shown);
  const others = Object.keys(VIEWS).filter((name) => name !== 'functions');
  const names = ['functions', ...[0, 1, 2].map((place) => others[(3 * number + place) % others.length])];
  return { file, link, options, series: shown.series, names, answers: new Map() };
}

/** Compares the tables; `open` opens the recording with the link of the first. Returns the number of tables, and of requests that select nothing. */
export async function compareTables(tab, recording, open) {
  const counts = { tables: 0, empty: 0 };
  for (const [place, name] of recording.names.entries()) {
    const { link, tables } = VIEWS[name];
    const { function: chosen, json, error } = await answerTo(recording, name);
    if (error !== undefined && !NOTHING.test(error)) throw new Error(`${name}: ${error}`);
    const fragment = `v=1&${link}${recording.link}${chosen ?? ''}`;
    await (place === 0 ? open(fragment) : tab.follow(fragment));
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
  return counts;
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
