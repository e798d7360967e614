// Real drops of files and folders in Chromium, folders in inputs, and symbols that are dropped later.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT } from '../command.mjs';
import { functionsOf } from '../page/asked.mjs';
import { exportOf } from '../made_export.mjs';
import { waitFor } from '../page/tab.mjs';

const fixture = (path) => join(ROOT, 'fixtures', path);

export const DROP_CASES = {
  async 'a folder is searched to its bottom'(tab, { app, orchard, folder }) {
    if (!canGiveFolders(tab)) return;
    const root = join(folder, `folder-${tab.browser.name}`);
    mkdirSync(join(root, 'a/b/c'), { recursive: true });
    cpSync(orchard, join(root, 'a/b/c/run.xml'));
    // More than a browser lists at once.
    for (let at = 0; at < 250; at += 1) writeFileSync(join(root, 'a', `${at}.txt`), '');
    for (const way of ['drop', 'choose']) {
      await tab.open(app);
      await tab[way]([root]);
      equal(await tab.read(), null, way);
      match(await tab.text('h1'), /run\.xml$/);
      match(await tab.text('[data-part=recording]'), /250 unused files/);
    }
  },

  async 'the page shows that it takes drops, anywhere'(tab, { app, orchard }) {
    if (tab.browser.name !== 'chromium') return;
    await tab.openWith(app, [orchard]);
    for (const type of ['dragEnter', 'dragOver']) await tab.drag(type, [orchard], { x: 640, y: 120 });
    match(await tab.text('[data-part=drop-over]'), /Drop a recording to open it, two to compare them, or symbols to add names/);
    await waitFor(async () => (await tab.count('[data-part=drop-over]')) === 0, 'the end of the drag');
    await tab.drop([orchard], { x: 640, y: 120 });
    equal(await tab.read(), null);
  },

  async 'symbols that are dropped later add names'(tab, { app, folder, orchard }) {
    if (!canGiveFolders(tab)) return;
    const [dsym, others] = ['arm64-dwarf5/Demo5.dSYM', 'names/Names.dSYM'].map((name) => fixture(`symbols/built/${name}`));
    const demo = join(folder, `demo-${tab.browser.name}.xml`);
    writeFileSync(demo, exportOf('4C4C4407-5555-3144-A1F8-1A9B7107AB5E', Array.from({ length: 60 }, (_, at) => 0x480 + 8 * at)));
    await tab.openWith(app, [demo], 'v=1&tab=functions&op=hide-system');
    match(await tab.text('[data-part=recording]'), /\d+ addresses without names/);
    await tab.click('#functions .row .name', '0x1000004a0');
    match(await tab.fragment(), /&fn=0x1000004a0/);
    await tab.give([dsym]);
    equal(await tab.read(), null);
    match(await tab.text('[data-part=said]'), /Read again with Demo5\.dSYM\./);
    equal(await tab.fragment(), 'v=1&tab=functions&op=hide-system');
    deepEqual((await tab.tables()).functions, await functionsOf(demo, ['--hide-system', '--dsym', dsym]));
    // Not the symbols of this recording: the command's sentence appears.
    await tab.give([others]);
    equal(await tab.read(), null);
    match(await tab.text('[data-part=recording]'), /warning/);
    deepEqual((await tab.tables()).functions, await functionsOf(demo, ['--hide-system', '--dsym', dsym]));
    await tab.give([orchard]);
    await tab.read();
    await tab.give([dsym]);
    await tab.read();
    ok(!(await tab.text('[data-part=recording]')).includes(basename(demo)));
  },

  async 'symbols that come after the recording changed are refused'(tab, { app, folder, orchard }) {
    const demo = join(folder, `changed-${tab.browser.name}.xml`);
    writeFileSync(demo, readFileSync(orchard));
    await tab.openWith(app, [demo], 'v=1&tab=functions');
    const before = await tab.tables();
    writeFileSync(demo, 'changed');
    await tab.give([fixture('symbols/built/arm64-dwarf5/Demo5')]);
    match(await tab.read(), /^changed-\w+\.xml: it changed since it was dropped/);
    deepEqual(await tab.tables(), before);
  },

  async 'a single file of symbols adds names'(tab, { app, folder }) {
    const demo = join(folder, `single-${tab.browser.name}.xml`);
    writeFileSync(demo, exportOf('4C4C4407-5555-3144-A1F8-1A9B7107AB5E', Array.from({ length: 60 }, (_, at) => 0x480 + 8 * at)));
    const binary = fixture('symbols/built/arm64-dwarf5/Demo5');
    await tab.openWith(app, [demo], 'v=1&tab=functions');
    await tab.give([binary]);
    equal(await tab.read(), null);
    deepEqual((await tab.tables()).functions, await functionsOf(demo, ['--dsym', binary]));
  },
};

if (process.env.TRACEPARSE_CORPUS !== undefined) {
  const zip = join(process.env.TRACEPARSE_CORPUS, 'xctrace/16.0/four-runs.trace.zip');
  DROP_CASES['a bundle opens as a zip and as a folder'] = async (tab, { app, folder }) => {
    if (!canGiveFolders(tab)) return;
    const bundle = unzipped(zip, join(folder, `bundle-${tab.browser.name}`));
    await tab.openWith(app, [zip], 'v=1&tab=threads');
    const { threads } = await tab.tables();
    ok(threads.length > 0);
    await tab.openWith(app, [bundle], 'v=1&tab=threads');
    deepEqual((await tab.tables()).threads, threads);
  };
}

/** The drivers of other browsers can choose files, but no folders. */
function canGiveFolders(tab) {
  return tab.browser.name === 'chromium';
}

function unzipped(zip, folder) {
  execFileSync('unzip', ['-q', zip, '-d', folder]);
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.trace')));
}
