// Loads what `traceparse INPUT --format firefox` writes with Firefox's profiler-cli, and compares what it says of every thread
// with what traceparse says: functions with their self and total, without its filters, and with them: then with operations.mjs,
// and with what the same operations of traceparse leave.
//
//   node firefox.mjs TRACEPARSE PROFILER-CLI FOLDER INPUT [OPTION...]
//
// FOLDER is for files of its own. The options are given to traceparse, all of its commands. Where something differs, it is
// printed, and the exit code is 1.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Comparison, Ours, output } from './ours.mjs';
import { NO_STACK, charged, functionsOf, keyOf, nameOf } from './operations.mjs';

const [traceparse, profilerCli, folder, input, ...options] = process.argv.slice(2);
/** How many functions of a thread are filtered by, and of how many threads. */
const FUNCTIONS = 3;
const THREADS = 2;
const FILTERS = { excludes: '--excludes-function', includes: '--includes-function', merge: '--merge', 'root-at': '--root-at' };
/** The same on our command line. */
const OPTIONS = { excludes: '--prune', includes: '--focus', merge: '--charge', 'root-at': '--root-at' };

const comparison = new Comparison();
let operations = 0;
/** How many whole stacks were merged. */
let stacks = 0;
const ours = new Ours(traceparse, input, options);
const path = join(folder, 'firefox.json');
writeFileSync(path, ours.run('--format', 'firefox'));
const file = JSON.parse(readFileSync(path, 'utf8'));

const environment = { ...process.env, PROFILER_CLI_SESSION_DIR: folder };
const cli = (...args) => output(process.execPath, [profilerCli, ...args, '--session', 'test'], environment);
const cliJson = (...args) => JSON.parse(cli(...args, '--json'));

await load();
try {
  const listed = cliJson('thread', 'list').threads;
  comparison.ensure(listed.length === ours.threads.length, `${listed.length} threads there, ${ours.threads.length} here`);
  for (const [index, thread] of ours.threads.entries()) {
    const there = listed.find((row) => row.threadIndex === index);
    comparison.ensure(there !== undefined, `thread ${index} is not listed`);
    if (there !== undefined) compareThread(index, thread, there);
  }
} finally {
  cli('stop');
}
comparison.ensure(operations > 0, 'no operation was compared');
comparison.finish(`${input} ${options.join(' ')}: ${ours.threads.length} threads, ${ours.samples.length} samples, ${operations} operations, ${stacks} of whole stacks`);

/** Loads the file. The program that answers has half a second to start, which is too little on a busy machine. */
async function load() {
  try {
    cli('load', path);
  } catch (error) {
    for (let attempt = 0; ; attempt += 1) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      try {
        cli('status');
        return;
      } catch {
        if (attempt === 60) throw error;
      }
    }
  }
}

function compareThread(index, thread, there) {
  const number = (text) => text.split('.')[0];
  const known = (value) => (value === null ? 'unknown' : String(value));
  comparison.ensure(number(there.pid) === known(thread.pid), `pid ${there.pid} there, ${thread.pid} here`);
  comparison.ensure(number(there.tid) === known(thread.tid), `tid ${there.tid} there, ${thread.tid} here`);
  comparison.ensure(thread.thread === '' || there.name === thread.thread, `thread ${there.name} there, ${thread.thread} here`);
  const handle = there.threadHandle;
  const samples = ours.samplesOf(thread);
  // Rows without stack say that the thread does not run.
  const rows = file.threads[index].samples.stack.filter((stack) => stack !== null).length;
  comparison.ensure(samples.length === rows, `${samples.length} samples of ${thread.thread}, ${rows} rows`);
  const functions = functionsThere(handle);
  comparison.ensureEqual(`${thread.thread}, --view functions`, functions, ours.functionsOf(thread));
  comparison.ensureEqual(`${thread.thread}, samples added up`, functions, functionsOf(samples));
  if (index < THREADS) compareFilters(thread, handle, samples, functions);
}

/** Filters by some functions, and compares with what is left of our samples, and with our operations. */
function compareFilters(thread, handle, samples, functions) {
  const nameCounts = new Map();
  for (const key of new Set(samples.flatMap((sample) => sample.stack))) {
    nameCounts.set(nameOf(key), (nameCounts.get(nameOf(key)) ?? 0) + 1);
  }
  // Our operations choose functions by name, in any binary. A missing stack is not a function.
  const isOneName = ({ key }) => nameCounts.get(nameOf(key)) === 1 && nameOf(key) !== NO_STACK;
  const compare = (operation, rows) => {
    const left = functionsThere(handle, FILTERS[operation], rows.map((row) => row.handles[0]).join(','));
    const keys = rows.map((row) => row.key);
    comparison.ensureEqual(`${thread.thread}, ${operation} ${keys}`, left, functionsOf(samples, operation, new Set(keys)));
    if (rows.every(isOneName)) compareOperation(thread, samples, operation, keys, left);
  };
  // Of two functions that are called the same in binaries that are called the same, one handle knows one only.
  const candidates = [...functions.values()].filter((row) => row.handles.length === 1);
  candidates.sort((a, b) => b.all - a.all || (a.key < b.key ? -1 : 1));
  const named = candidates.filter(isOneName);
  comparison.ensure(named.length > 0 || samples.every((sample) => sample.stack[0] === keyOf(NO_STACK, null)), `${thread.thread}: no function`);
  for (const row of new Set([...spread(candidates), ...spread(named)])) {
    for (const operation of Object.keys(FILTERS)) compare(operation, [row]);
  }
  if (named.length > 2) {
    for (const operation of ['includes', 'merge']) compare(operation, named.slice(1, 3));
  }
  // All of a stack: the viewer drops its samples, and our command keeps their weight.
  const isNamed = (sample) => sample.stack.every((key) => named.some((row) => row.key === key));
  const [shortest] = samples.filter(isNamed).sort((a, b) => a.stack.length - b.stack.length);
  if (shortest !== undefined) {
    compare('merge', named.filter((row) => shortest.stack.includes(row.key)));
    stacks += 1;
  }
}

/** The heaviest, those in the middle, and the lightest. */
function spread(rows) {
  const step = Math.max(1, (rows.length - 1) / (FUNCTIONS - 1));
  const places = Array.from({ length: FUNCTIONS }, (_, index) => Math.round(index * step));
  return places.filter((place) => place < rows.length).map((place) => rows[place]);
}

/** What the viewer left, and what our command leaves when it is asked for the same. */
function compareOperation(thread, samples, operation, keys, left) {
  const expected = operation === 'merge' ? charged(samples, new Set(keys), left) : left;
  const names = keys.map((key) => nameOf(key).replace(/[\\^$.|?*+()[\]{}&~#-]/g, '\\$&'));
  const after = ours.operated(thread, OPTIONS[operation], `^(?:${names.join('|')})$`);
  const what = `${thread.thread}, ${OPTIONS[operation]} ${keys}`;
  comparison.ensureEqual(what, expected, after.functions);
  const total = [...expected.values()].reduce((sum, row) => sum + row.self, 0);
  comparison.ensure(after.total === total, `${what}: ${total} is left there, ${after.total} here`);
  const whole = samples.reduce((sum, sample) => sum + sample.weight, 0);
  // If nothing is left, there is no answer, only an error.
  const removed = after.removed ?? whole;
  comparison.ensure(removed === whole - total, `${what}: ${whole - total} is removed there, ${removed} here`);
  operations += 1;
}

/** What the viewer says of a thread: by function, in units of ours. */
function functionsThere(handle, ...filters) {
  const said = cliJson('thread', 'functions', '--thread', handle, '--limit', '0', '--include-idle', ...filters);
  const whole = (value) => {
    const number = said.weightType === 'tracing-ms' ? value * 1e6 : value;
    // The viewer adds up doubles of milliseconds.
    comparison.ensure(Math.abs(number - Math.round(number)) < 0.01, `${value} is no whole number of units`);
    return Math.round(number);
  };
  const rows = new Map();
  for (const row of said.functions) {
    const key = keyOf(row.name, row.library ?? null);
    const { self, all, handles } = rows.get(key) ?? { self: 0, all: 0, handles: [] };
    const added = { self: self + whole(row.selfSamples), all: all + whole(row.totalSamples) };
    rows.set(key, { key, ...added, handles: [...handles, row.functionHandle] });
  }
  return rows;
}
