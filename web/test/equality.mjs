// Compares tables that the page shows with the command's JSON, in browsers: all fixtures and 20 real recordings, each with one of twelve
// selections and operations. Weights, samples, names and the order of rows must be equal.
//
//   node test/equality.mjs [--browser NAME]… [--fresh] [FILE …]
//
// Every browser shows the functions of each recording, and three other tables in turn. `--fresh` replaces the page's script with the
// current build of web/. Without `TRACEPARSE_CORPUS`, only fixtures are compared.

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BROWSERS, launch } from './browsers/index.mjs';
import { ROOT, pageOf } from './command.mjs';
import { comparisonOf, compareTables } from './comparison.mjs';
import { Tab } from './page/tab.mjs';
import { forEach } from './pool.mjs';

const CORPUS = [
  'xctrace/12.5/time-profile.xml', 'xctrace/14-16/time-profile.xml', 'xctrace/14.0.1/cpu-profile.xml', 'xctrace/14.3.1/counters-time-profile.xml',
  'xctrace/14.3.1/cpu-profile.xml', 'xctrace/14.3.1/time-profile.xml', 'xctrace/16.0/four-runs.trace.zip', 'xctrace/26.2/finder.trace.zip',
  'xctrace/26.2/finder_cpu_profile.xml', 'xctrace/26.4/time-sample.xml', 'xctrace/26.4.1/time-profile.xml', 'xctrace/26.5/cpu-profile.xml',
  'xctrace/27/cpu-profile.xml', 'xctrace/27/time-sample.xml', 'inputs/sample/10.8-chrome.sample.txt', 'inputs/sample/26.6.1-tillandsias.sample.txt',
  'other/sample/inferno_sample.txt', 'reproducers/demangle-bomb.xml', 'reproducers/lost_thread.xml', 'reproducers/rust-legacy/rust-named.xml',
];
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

/** Writes the page of a recording, and chooses what is compared. */
async function prepared(file, number) {
  const { page, error } = await pageOf([file]);
  if (error !== undefined) throw new Error(`${file}: ${error}`);
  const path = join(folder, `${number}.html`);
  writeFileSync(path, await swap(page));
  return { ...(await comparisonOf(file, number)), page: path };
}

async function compareIn(name) {
  const windows = await Promise.all(Array.from({ length: WINDOWS }, () => launch(name)));
  await forEach(recordings, WINDOWS, async (recording, _, window) => {
    const tab = new Tab(windows[window]);
    const found = await compareTables(tab, recording, (fragment) => tab.open(recording.page, fragment)).catch((error) => error.message);
    if (typeof found !== 'string') {
      counts.tables += found.tables;
      counts.empty += found.empty;
      return;
    }
    counts.failed += 1;
    console.log(`${name}: ${recording.file} ${recording.options.join(' ')}:\n  ${found.slice(0, 1_500).replaceAll('\n', '\n  ')}`);
  });
  await Promise.all(windows.map((browser) => browser.close()));
}
