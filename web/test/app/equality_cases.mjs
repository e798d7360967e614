// For recordings of all kinds: overview, functions and other tables equal those of the command.

import { equal, match, ok } from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, jsonOf } from '../command.mjs';
import { compareTables, comparisonOf } from '../comparison.mjs';
import { READ_CORPUS } from '../read_corpus.mjs';

const MOST_FIXTURES = 12;
/** Only the command demangles Swift names in bundles, so tables without names of functions are compared. */
const MANGLED = /\.trace\.zip$/;
const WITHOUT_NAMES = { names: ['binaries', 'threads', 'cores'], link: '', options: [] };

/** Returns a case for each recording. */
export async function equalsTheCommand() {
  const fixtures = readdirSync(join(ROOT, 'fixtures'), { recursive: true }).filter((path) => /input\.xml$|\.sample\.txt$/.test(path) && !path.startsWith('toc'));
  const corpus = process.env.TRACEPARSE_CORPUS;
  const real = corpus === undefined ? [] : READ_CORPUS.map((path) => join(corpus, path));
  const files = [...fixtures.sort().slice(0, MOST_FIXTURES).map((path) => join(ROOT, 'fixtures', path)), ...real];
  return Object.fromEntries(files.map((file, number) => [`shows the numbers of ${file.split('/').slice(-3).join(' ')}`, equalsIt(file, number)]));
}

function equalsIt(file, number) {
  return async (tab, { app }) => {
    const { json, error } = await jsonOf([file], ['--view', 'overview']);
    if (error !== undefined) return expectRefusal(tab, app, file, error);
    // A report of such a file is empty.
    if (json.series.length === 0) return expectRefusal(tab, app, file, /it contains no samples \(.*the report has no stacks/);
    await tab.openWith(app, [file]);
    const comparison = { ...(await comparisonOf(file, number)), ...(MANGLED.test(file) ? WITHOUT_NAMES : {}) };
    if (!MANGLED.test(file)) await expectOverview(tab, file, comparison.series);
    await compareTables(tab, comparison, (fragment) => tab.follow(fragment));
  };
}

async function expectRefusal(tab, app, file, error) {
  await tab.open(app);
  await tab.give([file]);
  if (error instanceof RegExp) return match(await tab.read(), error);
  const sentence = error.replaceAll(`${file.slice(0, file.lastIndexOf('/'))}/`, '').trim().replace(/^error: /, '').replaceAll('\n  caused by: ', ': ');
  equal((await tab.read()).toLowerCase().replace(/\.$/, ''), sentence.toLowerCase().replace(/\.$/, ''));
}

/** Compares the sentences about the total and about the owners of code. */
async function expectOverview(tab, file, series) {
  const { overview } = (await jsonOf([file], ['--view', 'overview'])).json;
  const { stop, sentences: { activity, shares } } = overview.find((one) => one.series === series);
  const shown = await tab.text('[data-part=overview] .answer');
  // Long facts are shortened.
  const facts = Object.values(stop?.facts ?? {}).map((text) => text.slice(0, 20));
  for (const sentence of [activity, shares, ...facts]) ok(shown.includes(sentence), `${sentence} is not in ${shown}`);
}
