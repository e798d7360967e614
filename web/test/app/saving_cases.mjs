// What the app saves: the selection for other programs, and the page with its recording. Two recordings that are dropped together.

import { randomUUID } from 'node:crypto';
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { comparisonOf } from '../comparison.mjs';
import { functionsOf } from '../page/asked.mjs';
import { HOSTILE } from '../page/inputs.mjs';
import { writeChanged, RENAMED } from '../page/pair.mjs';
import { waitFor } from '../page/tab.mjs';
import { FORMATS, expectAlike, writtenBy } from './saved_files.mjs';

const CORPUS = [
  'xctrace/12.5/time-profile.xml', 'xctrace/14-16/time-profile.xml', 'xctrace/14.0.1/cpu-profile.xml', 'xctrace/26.4/time-sample.xml',
  'xctrace/26.5/cpu-profile.xml', 'xctrace/27/cpu-profile.xml', 'inputs/sample/10.8-chrome.sample.txt', 'inputs/spindump/10.9-hang.crash.txt',
  'inputs/dart/timeline-simple-1.json', 'inputs/deepcopy/16.0-simple-time-profile.txt',
];

/** Chooses an item of the menu, and returns the saved file in base64, or the sentence about the refusal. */
async function save(tab, action) {
  await tab.browser.run(() => void (globalThis.savedFiles.length = 0));
  await tab.click('[data-part=save]');
  await tab.click(`[data-part=menu] [data-action=${action}]`);
  const isDone = () => tab.browser.run(() => globalThis.savedFiles.length > 0 || document.querySelector('[data-part=said]').textContent.includes('cannot be saved'));
  await waitFor(isDone, action, 30_000);
  return tab.browser.run(async () => {
    const [file] = globalThis.savedFiles;
    if (file === undefined) return { refused: document.querySelector('[data-part=said]').textContent };
    const reader = new FileReader();
    await new Promise((resolve) => {
      reader.onload = resolve;
      reader.readAsDataURL(file);
    });
    return { base64: reader.result.replace(/^[^,]*,/, '') };
  });
}

function savesAlike(path, number) {
  return async (tab, { app, orchard }) => {
    const file = path === null ? orchard : join(process.env.TRACEPARSE_CORPUS, path);
    const { link, options } = await comparisonOf(file, number + 5);
    await tab.openWith(app, [file], `v=1&tab=functions${link}`);
    for (const [format, of] of Object.entries(FORMATS)) {
      const written = writtenBy(file, [...of, ...options]);
      const { base64, refused } = await save(tab, `save-${format}`);
      if (written === null) match(refused, /^This cannot be saved as .*: (this recording|no sample)/);
      else expectAlike(format, Buffer.from(base64 ?? '', 'base64'), written);
    }
  };
}

/** Returns the cases by name: of a fixture, and of real recordings if there are any. */
export function savingCases() {
  const paths = process.env.TRACEPARSE_CORPUS === undefined ? [null] : [null, ...CORPUS];
  const saved = paths.map((path, number) => [`saves the selection of ${path ?? 'the orchard'} as the command does`, savesAlike(path, number)]);
  return { ...Object.fromEntries(saved), ...CASES };
}

/** Saves the open recording as a report, and opens it. */
async function reopen(tab, folder, fragment = '') {
  const { base64 } = await save(tab, 'save-report');
  match(await tab.text('[data-part=said]'), /^Saved report\.html \(\d\.\d MB\)\.$/);
  // Other tabs save at the same time.
  const report = join(folder, `saved-${randomUUID()}.html`);
  writeFileSync(report, Buffer.from(base64, 'base64'));
  await tab.open(report, fragment);
  return report;
}

const CASES = {
  async 'files that are saved one after another are all saved'(tab, { app, orchard }) {
    await tab.openWith(app, [orchard]);
    await tab.browser.run(() => void (globalThis.savedFiles.length = 0));
    for (const action of ['save-firefox', 'save-folded', 'save-csv']) {
      await tab.click('[data-part=save]');
      await tab.click(`[data-part=menu] [data-action=${action}]`);
    }
    await waitFor(() => tab.browser.run(() => globalThis.savedFiles.length === 3), 'three files', 30_000);
  },

  async 'a saved report opens by itself'(tab, { app, orchard, folder }) {
    const link = 'v=1&tab=functions&op=hide-system';
    await tab.openWith(app, [orchard], link);
    const report = await reopen(tab, folder);
    equal(await tab.fragment(), link, 'it opens with the same view');
    equal(await tab.browser.run(() => document.title), 'input.xml – traceparse');
    deepEqual((await tab.tables()).functions, await functionsOf(orchard, ['--hide-system']));
    equal(await tab.count('[data-part=open], [data-part=input-files]'), 0);
    const policyOf = (path) => /Content-Security-Policy" content="([^"]*)"/.exec(readFileSync(path, 'utf8'))[1];
    // The driver of WebKit adds a script to the page that it opens.
    if (tab.browser.name !== 'webkit') equal(policyOf(report), policyOf(app));
    ok(statSync(report).size < statSync(app).size + 200_000, 'the size');
    // The engine of the app.
    const { base64 } = await save(tab, 'save-folded');
    expectAlike('folded', Buffer.from(base64, 'base64'), writtenBy(orchard, [...FORMATS.folded, '--hide-system']));
  },

  async 'a saved report keeps warnings, and the names of no other files'(tab, { app, warned, notes, folder }) {
    await tab.openWith(app, [warned, notes]);
    match(await tab.text('[data-part=recording]'), /1 warning, 1 unused item/);
    const report = await reopen(tab, folder);
    equal(await tab.text('[data-part=recording]'), '1 warning');
    await tab.click('[data-part=recording]');
    match(await tab.text('dialog'), /Warnings\s+warned\.txt:1:0: Instruments rounds the numbers in a Deep Copy/);
    ok(!readFileSync(report, 'utf8').includes('notes.txt'));
  },

  async 'hostile names are text in a saved report'(tab, { app, hostile, folder }) {
    await tab.openWith(app, [hostile]);
    await reopen(tab, folder, 'v=1&tab=functions');
    ok((await tab.tables()).functions.some(({ function: name }) => name === HOSTILE));
    equal(await tab.browser.run(() => typeof globalThis.pwned), 'undefined');
  },

  async 'two recordings are compared, and can be swapped and saved'(tab, { app, orchard, folder }) {
    const changed = writeChanged(orchard, join(folder, `changed pair ${tab.browser.name}.xml`));
    await tab.open(app);
    await tab.give([orchard, changed]);
    equal(await tab.read(), null);
    match(await tab.text('[data-part=said]'), /^Before: changed pair .*\.xml; after: input\.xml \(by name\)\.$/);
    const expectSides = async (sides) => {
      match(await tab.text('h1'), new RegExp(sides.map((file) => file.split('/').at(-1)).join(' → ')));
      for (const [side, file] of [['before', sides[0]], ['after', sides[1]]]) {
        await tab.follow(`v=1&side=${side}&tab=functions`);
        deepEqual((await tab.tables()).functions, await functionsOf(file, []));
      }
      await tab.follow('v=1&tab=functions');
      const row = (await tab.tables()).functions.find(({ function: name }) => name === RENAMED);
      match(row.verdict, sides[1] === changed ? /^new/ : /^gone/);
    };
    await expectSides([changed, orchard]);
    await tab.click('[data-part=open]');
    await tab.click('[data-part=menu] [data-action=swap]');
    equal(await tab.read(), null);
    match(await tab.text('[data-part=said]'), /\(swapped\)\.$/);
    await expectSides([orchard, changed]);
    await reopen(tab, folder);
    await expectSides([orchard, changed]);
  },
};
