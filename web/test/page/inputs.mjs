// The tested pages, written by the command.

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT, pageOf } from '../command.mjs';
import { writeIntervals } from './interval_cases.mjs';
import { writeTies } from './layout_cases.mjs';
import { writeChanged, writeOfTwoProcesses, writeRuns } from './pair.mjs';
import { inflated, removedNames, writeSecret } from './secret.mjs';

/** A function name that would run a script if names were markup. */
export const HOSTILE = `<img src=x onerror="globalThis.pwned='name'">`;
const FIXTURES = ['27/signposts/input.xml', '27/several-tables/input.xml', '27/time-profile-waiting/input.xml'];
const CORPUS = ['xctrace/12.5/time-profile.xml', 'xctrace/14.0.1/cpu-profile.xml', 'xctrace/14.3.1/time-profile.xml', 'xctrace/16.0/four-runs.trace.zip', 'xctrace/26.4/time-sample.xml', 'xctrace/27/cpu-profile.xml', 'other/sample/inferno_sample.txt'];

/** Writes pages to a folder; fresh pages contain the current build of the script. */
export async function writeInputs(folder, isFresh) {
  const swap = isFresh ? (await import('../../dev.mjs')).withBuild : (page) => page;
  const written = async (files, options = []) => {
    const { page, error } = await pageOf(files, options);
    if (error !== undefined) throw new Error(`${files.join(' ')}: ${error}`);
    return page;
  };
  const write = async (file, name, options) => {
    const page = await written([file].flat(), options);
    const path = join(folder, `${name}.html`);
    writeFileSync(path, await swap(page));
    return { file, page: path };
  };
  const writeRedacted = async (file) => {
    const [page, redacted] = await Promise.all([written([file]), written([file], ['--redact'])]);
    const path = join(folder, 'redacted.html');
    writeFileSync(path, await swap(redacted));
    return { page: path, whole: inflated(page), removed: await removedNames(page, redacted) };
  };
  /** Writes a page without times. It is the smallest possible page; the command reports its size if less is allowed. */
  const writeReduced = async (file) => {
    const { error } = await pageOf([file], ['--max-size', '1K']);
    const [, size] = /would have (\d+) bytes/.exec(error);
    return write(file, 'reduced', ['--max-size', size]);
  };
  const fixture = (name) => join(ROOT, 'fixtures', name);
  const corpus = process.env.TRACEPARSE_CORPUS;
  const others = [...FIXTURES.map(fixture), ...(corpus === undefined ? [] : CORPUS.map((path) => join(corpus, path)))];
  const orchard = fixture('27/orchard/input.xml');
  writeFileSync(join(folder, 'Press.cpp'), Array.from({ length: 140 }, (_, index) => `press(${index + 1});`).join('\n'));
  const changed = writeChanged(orchard, join(folder, 'changed.xml'));
  return {
    orchard: await write(orchard, 'orchard'),
    runnable: await write(allRunnable(orchard, join(folder, 'runnable.xml')), 'runnable'),
    ties: await write(writeTies(fixture('sample/demo.sample.txt'), join(folder, 'ties.txt')), 'ties'),
    dots: await write(writeDots(join(folder, 'dots.xml')), 'dots'),
    mixed: await write(fixture('26.4/time-profile/input.xml'), 'mixed'),
    events: await write(fixture('14.3/counters-profile/input.xml'), 'events'),
    sources: await write(orchard, 'sources', ['--source', folder]),
    counters: await write(fixture('27/cpu-profile/input.xml'), 'counters'),
    hostile: { ...(await write(hostileRecording(orchard, join(folder, 'hostile.xml')), 'hostile')), name: HOSTILE },
    pair: await write(['diff', orchard, changed], 'pair'),
    unlike: await write(['diff', orchard, fixture('27/time-profile-waiting/input.xml'), '--normalize', 'duration'], 'unlike'),
    runs: await write(['compare', writeRuns(orchard, join(folder, 'base'), 8), '--against', writeRuns(orchard, join(folder, 'new'), 2), '--fail-on', 'unknown'], 'runs'),
    processes: await write(['diff', ...writeOfTwoProcesses(orchard, folder)], 'processes'),
    intervals: await write(writeIntervals(orchard, join(folder, 'intervals.xml')), 'intervals'),
    reduced: await writeReduced(orchard),
    redacted: await writeRedacted(writeSecret(orchard, folder)),
    others: await Promise.all(others.map((file, index) => write(file, `other-${index}`))),
    axe: createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  };
}

/** Writes a thread that ran for a millisecond of every ten, for a minute. */
function writeDots(path) {
  const columns = { time: 'sample-time', thread: 'thread', process: 'process', core: 'core', 'thread-state': 'thread-state', weight: 'weight', stack: 'tagged-backtrace' };
  const heads = Object.entries(columns).map(([mnemonic, type]) => `<col><mnemonic>${mnemonic}</mnemonic><name>${mnemonic}</name><engineering-type>${type}</engineering-type></col>`);
  const process = '<process id="1" fmt="dots (7)"><pid id="2" fmt="7">7</pid></process>';
  const first = [
    `<thread id="3" fmt="main (0x9) (dots, pid: 7)"><tid id="4" fmt="0x9">9</tid>${process}</thread><process ref="1"/><core id="5" fmt="CPU 0">0</core><thread-state id="6" fmt="Running">Running</thread-state>`,
    '<weight id="7" fmt="1.00 ms">1000000</weight><tagged-backtrace id="8"><frame id="9" name="dot" addr="0x100"><binary id="10" name="dots" UUID="0F5C8B1A-7C1E-3C55-8D5A-9A41E0B7C6D2" arch="arm64" load-addr="0x0" path="/dots"/></frame></tagged-backtrace>',
  ].join('');
  const others = '<thread ref="3"/><process ref="1"/><core ref="5"/><thread-state ref="6"/><weight ref="7"/><tagged-backtrace ref="8"/>';
  const rows = Array.from({ length: 6_000 }, (_, at) => `<row><sample-time id="${at + 20}" fmt="">${at * 10_000_000}</sample-time>${at === 0 ? first : others}</row>`);
  const schema = `<schema name="time-profile">${heads.join('')}</schema>`;
  writeFileSync(path, `<?xml version="1.0"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>${schema}${rows.join('\n')}</node></trace-query-result>\n`);
  return path;
}

/** Returns the recording in which all threads lack a core. */
function allRunnable(file, path) {
  writeFileSync(path, readFileSync(file, 'utf8').replace('fmt="Running">Running<', 'fmt="Runnable">Runnable<'));
  return path;
}

/** Returns the recording with other names for a function, its binary, its process and a thread. */
export function hostileRecording(file, path) {
  const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
  const text = readFileSync(file, 'utf8')
    .replaceAll('name="fruit_copy_fast"', `name="${escape(HOSTILE)}"`)
    .replaceAll('Main Thread', escape(`</script><script>globalThis.pwned='thread'</script>`))
    .replaceAll('name="libfruit.dylib"', `name="${escape(`"><svg onload=globalThis.pwned=1>.dylib`)}"`);
  writeFileSync(path, text);
  return path;
}
