// Tests the page in browsers: opens it from a file, and uses mouse and keyboard.
//
//   node test/page.mjs [--browser NAME]… [--case TEXT] [--everywhere] [--fresh] [--verbose]
//
// The command writes the pages; `--fresh` replaces their script and style with the current build of web/. `TRACEPARSE_CORPUS` adds real
// recordings. A case also fails if the console contains anything. All browsers run at the same time, with two windows each. Cases that
// cannot differ between browsers run in only one of them, in turn; `--everywhere` runs them in all.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BROWSERS, launch } from './browsers/index.mjs';
import { ROOT } from './command.mjs';
import { CASES } from './page/cases.mjs';
import { COMPARED_CASES } from './page/compared_cases.mjs';
import { writeInputs } from './page/inputs.mjs';
import { INTERVAL_CASES } from './page/interval_cases.mjs';
import { INVERTED_CASES } from './page/inverted_cases.mjs';
import { LAYOUT_CASES } from './page/layout_cases.mjs';
import { HISTORY_CASES } from './page/history_cases.mjs';
import { FITTING_CASES, OPENING_CASES, opensEach } from './page/opening_cases.mjs';
import { PLACE_CASES } from './page/place_cases.mjs';
import { REDACTION_CASES } from './page/redaction_cases.mjs';
import { SAVING_CASES } from './page/saving_cases.mjs';
import { SEARCH_CASES } from './page/search_cases.mjs';
import { SORTING_CASES } from './page/sorting_cases.mjs';
import { Tab } from './page/tab.mjs';
import { forEach } from './pool.mjs';

const PATIENCE = 120_000;
/** The number of windows per browser. Each is a separate browser process, since background windows rarely draw. */
const WINDOWS = 2;

const asked = argumentsOf(process.argv.slice(2));
const folder = mkdtempSync(join(tmpdir(), 'workbench-page-'));
const inputs = await writeInputs(folder, asked.isFresh);
/** Cases where browsers may differ: opening, drawing, keys, the mouse, links and saving. The slowest come first. */
const inEach = casesOf(OPENING_CASES, COMPARED_CASES, REDACTION_CASES, SAVING_CASES, HISTORY_CASES, LAYOUT_CASES, INTERVAL_CASES, CASES);
/** Cases that depend mostly on the page's state and answers. `equality.mjs` opens more recordings in every browser. */
const inOne = casesOf(FITTING_CASES, opensEach(inputs), SEARCH_CASES, PLACE_CASES, SORTING_CASES, INVERTED_CASES);
let [passed, failed] = [0, 0];
await Promise.all(asked.browsers.map(tryIn));
rmSync(folder, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

function casesOf(...groups) {
  return groups.flatMap(Object.entries).filter(([title]) => title.includes(asked.title));
}

/** Runs the cases of one of the requested browsers. */
async function tryIn(name, place, { length }) {
  const cases = [...inEach, ...inOne.filter((_, index) => asked.isEverywhere || index % length === place)];
  const windows = Array.from({ length: WINDOWS }, () => null);
  await forEach(cases, WINDOWS, async (one, _, window) => {
    if (windows[window]?.isWorn) {
      await windows[window].close();
      windows[window] = null;
    }
    windows[window] ??= await launch(name);
    await tryCase(windows[window], one);
  });
  await Promise.all(windows.map((browser) => browser?.close()));
}

async function tryCase(browser, [title, run]) {
  const { name } = browser;
  const before = name === 'webkit' ? 0 : (await browser.messages).length;
  const start = performance.now();
  const fault = await Promise.race([run(new Tab(browser), inputs).then(() => null, (error) => error.message), late()]);
  if (asked.isVerbose) console.log(`${name}: ${title}: ${((performance.now() - start) / 1_000).toFixed(1)} s`);
  const messages = (await browser.messages).slice(before);
  const faults = [fault, ...messages.map((text) => `the console says: ${text}`)].filter((text) => text !== null);
  if (faults.length === 0) passed += 1;
  else {
    failed += 1;
    console.log(`${name}: ${title}\n  ${faults.join('\n').slice(0, 2_000).replaceAll('\n', '\n  ')}`);
    await browser.screenshot(join(asked.shots, `${name} ${title}.png`.replaceAll(/[^\w. ]/g, '')));
  }
}

/** Fails a case that hangs. */
function late() {
  return new Promise((resolve) => setTimeout(() => resolve(`not within ${PATIENCE / 1_000} s`), PATIENCE).unref());
}

function argumentsOf(words) {
  const asked = { browsers: [], title: '', isEverywhere: false, isFresh: false, isVerbose: false, shots: join(ROOT, 'target/workbench-shots') };
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--browser') asked.browsers.push(words.shift());
    else if (word === '--case') asked.title = words.shift();
    else if (word === '--everywhere') asked.isEverywhere = true;
    else if (word === '--fresh') asked.isFresh = true;
    else if (word === '--verbose') asked.isVerbose = true;
    else throw new Error(`${word}: no option`);
  }
  mkdirSync(asked.shots, { recursive: true });
  return { ...asked, browsers: asked.browsers.length > 0 ? asked.browsers : BROWSERS };
}
