// Runs cases in browsers: each has a title and a function of a tab and the inputs. A case also fails if the console contains anything.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { BROWSERS, launch } from './browsers/index.mjs';
import { ROOT } from './command.mjs';
import { forEach } from './pool.mjs';

const PATIENCE = 120_000;
/** The number of windows per browser. Each is a separate browser process, since background windows rarely draw. */
const WINDOWS = 2;

/**
 * Runs cases in all requested browsers at the same time, and reports how many passed. Cases in `inOne` run in only one of the browsers, in
 * turn. `newTab` returns the tab of a case.
 */
export async function runCases({ asked, inEach, inOne = [], inputs, newTab }) {
  const counts = { passed: 0, failed: 0 };
  const isAsked = ([title]) => title.includes(asked.title);
  const ofAll = inEach.filter(isAsked);
  const ofOne = inOne.filter(isAsked);
  await Promise.all(
    asked.browsers.map((name, place, { length }) => {
      const cases = [...ofAll, ...ofOne.filter((_, index) => asked.isEverywhere || index % length === place)];
      return tryIn(name, cases, { asked, inputs, newTab, counts });
    }),
  );
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0;
}

async function tryIn(name, cases, run) {
  const windows = Array.from({ length: WINDOWS }, () => null);
  await forEach(cases, WINDOWS, async (one, _, window) => {
    if (windows[window]?.isWorn) {
      await windows[window].close();
      windows[window] = null;
    }
    windows[window] ??= await launch(name);
    await tryCase(windows[window], one, run);
  });
  await Promise.all(windows.map((browser) => browser?.close()));
}

async function tryCase(browser, [title, work], { asked, inputs, newTab, counts }) {
  const { name } = browser;
  const before = name === 'webkit' ? 0 : (await browser.messages).length;
  const start = performance.now();
  const fault = await Promise.race([work(newTab(browser), inputs).then(() => null, (error) => error.message), late()]);
  if (asked.isVerbose) console.log(`${name}: ${title}: ${((performance.now() - start) / 1_000).toFixed(1)} s`);
  const messages = (await browser.messages).slice(before);
  const faults = [fault, ...messages.map((text) => `the console says: ${text}`)].filter((text) => text !== null);
  if (faults.length === 0) {
    counts.passed += 1;
    return;
  }
  counts.failed += 1;
  console.log(`${name}: ${title}\n  ${faults.join('\n').slice(0, 2_000).replaceAll('\n', '\n  ')}`);
  await browser.screenshot(join(asked.shots, `${name} ${title}.png`.replaceAll(/[^\w. ]/g, '')));
}

/** Fails a case that hangs. */
function late() {
  return new Promise((resolve) => setTimeout(() => resolve(`not within ${PATIENCE / 1_000} s`), PATIENCE).unref());
}

/** Reads `--browser NAME`, `--case TEXT`, `--everywhere`, `--fresh` and `--verbose`. */
export function argumentsOf(words) {
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
