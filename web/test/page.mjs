// Tries the page in browsers: opens it from a file, and uses it by mouse and by key.
//
//   node test/page.mjs [--browser NAME]… [--case TEXT] [--fresh] [--verbose]
//
// Pages are written by the command; `--fresh` puts what web/ builds now into them. `TRACEPARSE_CORPUS` adds real recordings. Every case
// also fails where anything stands in the console.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BROWSERS, launch } from './browsers/index.mjs';
import { ROOT, pageOf } from './command.mjs';
import { CASES } from './page/cases.mjs';
import { COMPARED_CASES } from './page/compared_cases.mjs';
import { SAVING_CASES } from './page/saving_cases.mjs';
import { writeChanged } from './page/pair.mjs';
import { INVERTED_CASES } from './page/inverted_cases.mjs';
import { PLACE_CASES } from './page/place_cases.mjs';
import { SEARCH_CASES } from './page/search_cases.mjs';
import { Tab } from './page/tab.mjs';

/** A function's name that would do something where names were markup, and one on which patterns take for ever. */
const HOSTILE = `<img src=x onerror="globalThis.pwned='name'">`;
const SLOW = `${'a'.repeat(40)}!`;
const CORPUS = ['xctrace/12.5/time-profile.xml', 'xctrace/14.0.1/cpu-profile.xml', 'xctrace/14.3.1/time-profile.xml', 'xctrace/16.0/four-runs.trace.zip', 'xctrace/26.4/time-sample.xml', 'xctrace/27/cpu-profile.xml', 'other/sample/inferno_sample.txt'];

const PATIENCE = 120_000;

const asked = argumentsOf(process.argv.slice(2));
const folder = mkdtempSync(join(tmpdir(), 'workbench-page-'));
const inputs = await writeInputs();
let [passed, failed] = [0, 0];
for (const name of asked.browsers) {
  let browser = await launch(name);
  for (const [title, run] of Object.entries({ ...CASES, ...COMPARED_CASES, ...SAVING_CASES, ...PLACE_CASES, ...INVERTED_CASES, ...SEARCH_CASES })) {
    if (!title.includes(asked.title)) continue;
    if (name === 'webkit' && passed + failed > 0) {
      // Its driver forgets nothing of keys that were held once, and types `8` for `*` from then on.
      await browser.close();
      browser = await launch(name);
    }
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
  await browser.close();
}
rmSync(folder, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

/** A case that hangs fails. */
function late() {
  return new Promise((resolve) => setTimeout(() => resolve(`not within ${PATIENCE / 1_000} s`), PATIENCE).unref());
}

function argumentsOf(words) {
  const asked = { browsers: [], title: '', isFresh: false, isVerbose: false, shots: join(ROOT, 'target/workbench-shots') };
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--browser') asked.browsers.push(words.shift());
    else if (word === '--case') asked.title = words.shift();
    else if (word === '--fresh') asked.isFresh = true;
    else if (word === '--verbose') asked.isVerbose = true;
    else throw new Error(`${word}: no option`);
  }
  mkdirSync(asked.shots, { recursive: true });
  return { ...asked, browsers: asked.browsers.length > 0 ? asked.browsers : BROWSERS };
}

async function writeInputs() {
  const swap = asked.isFresh ? (await import('../dev.mjs')).withBuild : (page) => page;
  const write = async (file, name) => {
    const { page, error } = pageOf([file].flat());
    if (error !== undefined) throw new Error(`${file}: ${error}`);
    const path = join(folder, `${name}.html`);
    writeFileSync(path, await swap(page));
    return { file, page: path };
  };
  const fixture = (name) => join(ROOT, 'fixtures', name);
  const corpus = process.env.TRACEPARSE_CORPUS;
  const others = ['27/signposts/input.xml', '27/several-tables/input.xml', '27/time-profile-waiting/input.xml'].map(fixture);
  if (corpus !== undefined) others.push(...CORPUS.map((path) => join(corpus, path)));
  return {
    orchard: await write(fixture('27/orchard/input.xml'), 'orchard'),
    events: await write(fixture('14.3/counters-profile/input.xml'), 'events'),
    counters: await write(fixture('27/cpu-profile/input.xml'), 'counters'),
    hostile: { ...(await write(hostileRecording(fixture('27/orchard/input.xml')), 'hostile')), name: HOSTILE },
    pair: await write(['diff', fixture('27/orchard/input.xml'), writeChanged(fixture('27/orchard/input.xml'), join(folder, 'changed.xml'))], 'pair'),
    unlike: await write(['diff', fixture('27/orchard/input.xml'), fixture('27/time-profile-waiting/input.xml'), '--normalize', 'duration'], 'unlike'),
    others: await Promise.all(others.map((file, index) => write(file, `other-${index}`))),
    axe: createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  };
}

/** The recording with other names: of a function, its binary, its process and a thread. */
function hostileRecording(file) {
  const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
  const path = join(folder, 'hostile.xml');
  const text = readFileSync(file, 'utf8')
    .replaceAll('name="fruit_copy_fast"', `name="${escape(HOSTILE)}"`)
    .replaceAll('name="ok_blend_row_neon"', `name="${SLOW}"`)
    .replaceAll('Main Thread', escape(`</script><script>globalThis.pwned='thread'</script>`))
    .replaceAll('name="libfruit.dylib"', `name="${escape(`"><svg onload=globalThis.pwned=1>.dylib`)}"`);
  writeFileSync(path, text);
  return path;
}
