// Intervals of all tables: their lanes, their lists, the hangs in the overview, and what they select. Numbers are the command's.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { COMMAND } from '../command.mjs';
import { askedJson } from './asked.mjs';
import { timeOf } from './cases.mjs';

const MILLI = 1_000_000;

/** Writes the recording with hangs, signposts, hitches and Swift tasks; `tasks` is the number of the latter. */
export function writeIntervals(file, path, tasks = 40) {
  const main = '<thread fmt="Main Thread (0x2a101) (Orchard, pid: 4150)"><tid fmt="0x2a101">172289</tid><process fmt="Orchard (4150)"><pid fmt="4150">4150</pid></process></thread>';
  const process = '<process fmt="Orchard (4150)"><pid fmt="4150">4150</pid></process>';
  const duration = (length) => (length === null ? '<sentinel/>' : `<duration>${length}</duration>`);
  const rows = {
    'potential-hangs': {
      columns: { start: 'start-time', duration: 'duration', 'hang-type': 'hang-type', thread: 'thread', process: 'process' },
      rows: [[312, 130 * MILLI, 'Severe Hang'], [480, 60 * MILLI, 'Hang'], [560, null, 'Hang']].map(([start, length, type]) => [`<start-time>${start * MILLI}</start-time>`, duration(length), `<hang-type>${type}</hang-type>`, main, process]),
    },
    'os-signpost-interval': {
      columns: { start: 'start-time', duration: 'duration', name: 'string', process: 'process', 'start-thread': 'thread' },
      rows: [[300, 100, 'Layout'], [320, 20, 'Draw'], [350, 20, 'Draw'], [500, 30, 'Layout']].map(([start, length, name]) => [`<start-time>${start * MILLI}</start-time>`, duration(length * MILLI), `<string>${name}</string>`, process, main]),
    },
    hitches: {
      columns: { start: 'start-time', duration: 'duration', process: 'process', 'narrative-description': 'string' },
      rows: [[330, 17, 'Expensive app update'], [420, 33, 'Expensive app update']].map(([start, length, name]) => [`<start-time>${start * MILLI}</start-time>`, duration(length * MILLI), process, `<string>${name}</string>`]),
    },
    SwiftTaskLifetime: {
      columns: { start: 'start-time', duration: 'duration', task: 'analysis-core-swift-task', process: 'process' },
      rows: Array.from({ length: tasks }, (_, at) => {
        const name = ['View.task @ Grove.swift:41', 'Store.save() @ Store.swift:7', '0x229fdcf57'][at % 3];
        return [`<start-time>${300 * MILLI + Math.floor((270 * MILLI * at) / tasks)}</start-time>`, duration(((at * 7919) % 40) * MILLI + 5_000), `<analysis-core-swift-task fmt="${name} (${at})"><swift-task-id fmt="${at}">${at}</swift-task-id>${process}</analysis-core-swift-task>`, process];
      }),
    },
  };
  const table = ([schema, { columns, rows }], place) => {
    const heads = Object.entries(columns).map(([mnemonic, type]) => `<col><mnemonic>${mnemonic}</mnemonic><name>${mnemonic}</name><engineering-type>${type}</engineering-type></col>`);
    return `<node xpath='//trace-toc[1]/run[1]/data[1]/table[${place + 30}]'><schema name="${schema}">${heads.join('')}</schema>${rows.map((cells) => `<row>${cells.join('')}</row>`).join('\n')}</node>`;
  };
  let id = 100_000;
  const tables = Object.entries(rows).map(table).join('\n');
  // Each element has an id, as in exports.
  const numbered = tables.replace(/<(start-time|duration|hang-type|string|thread|tid|process|pid|analysis-core-swift-task|swift-task-id)(?=[ >])/g, (found) => `${found} id="${(id += 1)}"`);
  writeFileSync(path, readFileSync(file, 'utf8').replace('</trace-query-result>', `${numbered}</trace-query-result>`));
  return path;
}

const commandJson = (command, file) => JSON.parse(execFileSync(COMMAND, [command, file, '--format', 'json'], { encoding: 'utf8' }));

export const INTERVAL_CASES = {
  async 'names of intervals have the command’s numbers, and select their time'(tab, { intervals: { page, file } }) {
    await tab.open(page, 'v=1&tab=intervals&list=names');
    const rows = (await tab.tables())['interval-names'];
    const cpu = (value) => value?.weight ?? null;
    const expected = commandJson('intervals', file).intervals.map((row) => ({
      name: row.name ?? '(no name)', table: row.table, count: row.count, total: row.total_ns, max: row.longest?.duration_ns ?? null,
      ...Object.fromEntries([50, 95, 99].map((percent) => [`P${percent}`, row.quantiles[`p${percent}`]?.duration_ns ?? null])),
      'thread-cpu': cpu(row.thread_cpu), cpu: cpu(row.cpu),
    }));
    const keys = Object.keys(expected[0]);
    const sorted = (rows) => rows.map((row) => JSON.stringify(keys.map((key) => row[key]))).sort();
    deepEqual(sorted(rows), sorted(expected));
    await tab.click('#interval-names .check', 'Draw');
    await tab.ready();
    match(await tab.fragment(), /during=Draw(&|$)/);
    const total = async () => Number((await tab.tables()).threads.reduce((sum, { all }) => sum + all, 0));
    const ofCommand = async (options) => (await askedJson([file], ['--view', 'threads', ...options])).threads.reduce((sum, row) => sum + row.all_weight, 0);
    await tab.show('threads');
    equal(await total(), await ofCommand(['--during', 'Draw']));
    await tab.follow('v=1&tab=threads&during=potential-hangs: Severe Hang');
    equal(await total(), await ofCommand(['--during', 'potential-hangs: Severe Hang']));
    await tab.follow('v=1&tab=threads&during=hitches: Expensive app update');
    const inHitches = await Promise.all(['330ms..347ms', '420ms..453ms'].map((time) => ofCommand(['--time', time])));
    equal(await total(), inHitches[0] + inHitches[1]);
  },

  async 'an interval selects its time by key, and Escape clears it'(tab, { intervals: { page } }) {
    await tab.open(page, 'v=1&tab=intervals');
    const rows = (await tab.tables()).intervals;
    equal(rows.length, 49);
    equal(rows.filter(({ table }) => table === 'SwiftTaskLifetime').length, 40);
    deepEqual([rows[0].name, rows[0].start, rows[0].process], ['Layout', 300 * MILLI, 'Orchard (4150)']);
    await tab.click('#intervals [role=row]', 'Layout');
    await tab.press('Enter');
    deepEqual(timeOf(await tab.fragment()), ['--time', '0.3s..0.4s']);
    await tab.press('Escape');
    match(await tab.fragment(), /^(?!.*t=)/);
  },

  async 'the overview describes hangs as the command does'(tab, { intervals: { page, file }, orchard }) {
    await tab.open(page);
    const text = await tab.text('[data-part=hangs]');
    const { hangs } = commandJson('hangs', file);
    equal(hangs.length, 3);
    match(text, /^3 hangs/);
    for (const { type, activity, signposts } of hangs) {
      const word = { busy: 'Busy: ', waiting: 'Waiting', 'off-cpu': 'Off the CPU: ', 'partly-busy': 'Partly busy: ', 'not-busy': 'Not busy: ', unknown: 'Unknown: ' }[activity.verdict];
      ok(word !== undefined && text.includes(word), `${type}, ${activity.verdict}: ${text}`);
      for (const name of signposts) ok(text.includes(name), name);
      const leaf = activity.heaviest_stack?.at(-1)?.function;
      if (leaf !== undefined) ok(text.includes(leaf.slice(0, 12)), leaf);
    }
    await tab.click('[data-part=hangs] .is-hang', 'Severe Hang');
    deepEqual(timeOf(await tab.fragment()), ['--time', '0.312s..0.442s']);
    await tab.open(orchard.page);
    equal(await tab.count('[data-part=hangs]'), 0, 'nothing without hangs');
  },
};
