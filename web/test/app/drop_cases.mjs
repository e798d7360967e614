// Real drops of files and folders in Chromium, folders in inputs, and symbols that are dropped later.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import { ROOT, jsonOf } from '../command.mjs';
import { compareTables } from '../comparison.mjs';
import { functionsOf } from '../page/asked.mjs';
import { exportOf } from '../made_export.mjs';
import { waitFor } from '../page/tab.mjs';
import { VIEWS } from '../shown_tables.mjs';

const fixture = (path) => join(ROOT, 'fixtures', path);

const HANGS = `<?xml version="1.0"?>
<trace-query-result>
<node xpath='//trace-toc[1]/run[1]/data[1]/table[9]'><schema name="potential-hangs"><col><mnemonic>start</mnemonic><name>Start</name><engineering-type>start-time</engineering-type></col><col><mnemonic>duration</mnemonic><name>Duration</name><engineering-type>duration</engineering-type></col><col><mnemonic>hang-type</mnemonic><name>Hang Type</name><engineering-type>hang-type</engineering-type></col><col><mnemonic>process</mnemonic><name>Process</name><engineering-type>process</engineering-type></col></schema>
<row><start-time id="1" fmt="00:00.100">100000000</start-time><duration id="2" fmt="300 ms">300000000</duration><hang-type id="3" fmt="Microhang">Microhang</hang-type><process id="4" fmt="Orchard (4150)"><pid id="5" fmt="4150">4150</pid></process></row>
</node></trace-query-result>
`;

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
      match(await tab.text('[data-part=recording]'), /250 unused items/);
    }
  },

  async 'a page from a server finds files with every name'(tab, { app, orchard, folder }) {
    if (tab.browser.name !== 'chromium') return;
    const root = join(folder, 'all names');
    mkdirSync(root);
    cpSync(orchard, join(root, 'run.xml'));
    for (const name of ['a:b', 'a"b', 'a*b', 'a?b', 'a.', 'a.lnk']) writeFileSync(join(root, name), '');
    const server = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(readFileSync(app)));
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      await tab.browser.page.goto(`http://127.0.0.1:${server.address().port}/`);
      await tab.drop([root]);
      equal(await tab.read(), null);
      match(await tab.text('[data-part=recording]'), /6 unused/);
    } finally {
      server.closeAllConnections();
      server.close();
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
    const demo = writtenDemo(join(folder, `demo-${tab.browser.name}.xml`));
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
    // WebKit compares whole seconds, and after a change in the same second it reads zeros in place of what is missing.
    utimesSync(demo, 1_000_000_000, 1_000_000_000);
    await tab.openWith(app, [demo], 'v=1&tab=functions');
    const before = await tab.tables();
    writeFileSync(demo, 'changed');
    await tab.give([fixture('symbols/built/arm64-dwarf5/Demo5')]);
    match(await tab.read(), /^changed-\w+\.xml: it changed since it was dropped/);
    deepEqual(await tab.tables(), before);
  },

  async 'a drop without symbols does not read the open recording again'(tab, { app, orchard, notes, damaged, folder }) {
    await tab.openWith(app, [orchard]);
    await tab.browser.run(() => {
      const { prototype } = Worker;
      const post = prototype.postMessage;
      globalThis.readFiles = [];
      prototype.postMessage = function (message, transfer) {
        if (message.kind === 'read') globalThis.readFiles.push(...message.files.map(({ path }) => path));
        return post.call(this, message, transfer);
      };
    });
    const store = join(folder, '.DS_Store');
    writeFileSync(store, '');
    for (const [paths, sentence] of [[[notes], /not an xctrace export/], [[notes, fixture('symbols/README.md')], /no recording/], [[damaged], /truncated/], [[store], /no recording/]]) {
      await tab.give(paths);
      match(await tab.read(), sentence);
    }
    const read = await tab.browser.run(() => globalThis.readFiles);
    ok(read.includes('notes.txt') && !read.includes('input.xml'), read.join());
  },

  async 'the same files again keep the selection'(tab, { app, orchard, waiting }) {
    await tab.openWith(app, [orchard], 'v=1&tab=functions&op=hide-system&q=press');
    await tab.give([orchard]);
    equal(await tab.read(), null);
    match(await tab.text('[data-part=said]'), /Read again with input\.xml\./);
    equal(await tab.fragment(), 'v=1&tab=functions&op=hide-system&q=press');
    // Another file with this name is another recording.
    await tab.give([waiting]);
    equal(await tab.read(), null);
    equal(await tab.fragment(), '');
  },

  async 'unusable files are named, and the others open'(tab, { app, orchard, damaged, folder }) {
    const zip = join(folder, 'broken.zip');
    writeFileSync(zip, 'PK\u0003\u0004');
    await tab.open(app);
    await tab.give([damaged, zip, orchard]);
    const faults = await tab.read();
    match(faults, /broken\.zip/);
    match(faults, /damaged\.xml:64:18841: the file is truncated.* Export it again, or pass it to the command with --allow-truncated/);
    equal(await tab.text('h1'), 'Orchard · input.xml');
  },

  async 'reports of users are summed, and every view shows the sum'(tab, { app, orchard, damaged, folder }) {
    const payload = readFileSync(join(ROOT, 'tests/fuzz/corpus/metrickit/payload'), 'utf8');
    const root = join(folder, `reports-${tab.browser.name}`);
    mkdirSync(root);
    const written = (name, text) => {
      writeFileSync(join(root, name), text);
      return join(root, name);
    };
    const reports = [1, 2, 3].map((seconds) => written(`${seconds}.json`, payload.replace('9 sec', `${seconds} sec`)));
    const tree = (options) => jsonOf(['fleet', 'tree', root], options);
    const names = ['functions', 'binaries'];
    const answers = new Map(names.map((name) => [name, tree(VIEWS[name].options)]));
    // Before the other files are in the folder.
    const [{ json }] = await Promise.all(answers.values());
    await tab.open(app);
    await tab.give([...reports, written('copy.json', readFileSync(reports[0])), written('cut.json', payload.slice(0, 900))]);
    match(await tab.read(), /copy\.json: a copy of 1\.json[^]*cut\.json/);
    await compareTables(tab, { link: '', options: [], series: json.series[0].series, names, answers }, (fragment) => tab.follow(fragment));
    for (const name of ['overview', 'tree', 'flame', 'categories']) {
      await tab.follow(`v=1&tab=${name}`);
      ok(!(await tab.text('#workbench')).includes('Computing'), `${name} shows nothing`);
    }
    await tab.follow('v=1');
    ok(!(await tab.text('[data-part=overview]')).includes('addresses'), 'sums have no addresses');
    // A damaged file is no reason against a comparison.
    writeFileSync(join(root, 'b.xml'), readFileSync(orchard, 'utf8').replaceAll('orchard::', 'garden::'));
    await tab.give([orchard, join(root, 'b.xml'), damaged]);
    match(await tab.read(), /damaged\.xml:[^]*truncated/);
    match(await tab.text('h1'), /→/);
  },

  async 'an export of hangs belongs to the recording beside it'(tab, { app, orchard, folder }) {
    const hangs = join(folder, 'hangs.xml');
    writeFileSync(hangs, HANGS);
    await tab.openWith(app, [hangs, orchard]);
    equal(await tab.text('h1'), 'Orchard · input.xml, hangs.xml');
    match(await tab.text('[data-part=hangs]'), /1 hang/);
    await tab.open(app);
    await tab.give([hangs]);
    match(await tab.read(), /No CPU table here, only: potential-hangs \(1 row\)/);
  },

  async 'a table of contents of another recording is refused'(tab, { app, orchard, folder }) {
    const toc = join(folder, 'other-toc.xml');
    writeFileSync(toc, '<?xml version="1.0"?><trace-toc><run number="1"><info><target><process name="Finder" pid="751"/></target></info></run></trace-toc>');
    await tab.openWith(app, [orchard, toc]);
    equal(await tab.text('h1'), 'Orchard · input.xml, other-toc.xml');
    await tab.click('[data-part=recording]');
    match(await tab.text('dialog'), /run 1 recorded Finder \(pid 751\), but the export has samples of Orchard \(pid 4150\)/);
  },

  async 'a folder with the name of the open one adds names'(tab, { app, folder }) {
    if (!canGiveFolders(tab)) return;
    const [first, second, third] = ['1', '2', '3'].map((number) => join(folder, 'same', number, 'build'));
    for (const build of [first, second, third]) mkdirSync(build, { recursive: true });
    const demo = writtenDemo(join(first, 'demo.xml'));
    const dsym = join(second, 'Demo5.dSYM');
    cpSync(fixture('symbols/built/arm64-dwarf5/Demo5.dSYM'), dsym, { recursive: true });
    for (const build of [second, third]) writeFileSync(join(build, 'notes.txt'), 'hello');
    await tab.openWith(app, [first], 'v=1&tab=functions');
    await tab.give([third]);
    match(await tab.read(), /no recording/);
    await tab.give([second]);
    equal(await tab.read(), null);
    match(await tab.text('[data-part=said]'), /Read again with build\./);
    deepEqual((await tab.tables()).functions, await functionsOf(demo, ['--dsym', dsym]));
    await tab.give([fixture('symbols/built/names/Names.dSYM')]);
    await tab.read();
    deepEqual((await tab.tables()).functions, await functionsOf(demo, ['--dsym', dsym]));
  },

  async 'files of one name are told apart by a number'(tab, { app, orchard, folder }) {
    const paths = ['1', '2'].map((number) => join(folder, `named-${tab.browser.name}`, number, 'a.xml'));
    for (const path of paths) cpSync(orchard, path, { recursive: true });
    await tab.open(app);
    await tab.choose(paths);
    equal(await tab.read(), null);
    match(await tab.text('[data-part=said]'), /^Before: a\.xml; after: 2\/a\.xml \(as dropped\)\.$/);
  },

  async 'drops during a reading wait for its end'(tab, { variants, orchard, waiting, notes }) {
    if (tab.browser.name === 'webkit') return; // It reads copies, which is not slow here.
    await tab.open(variants.slowFiles);
    for (const isCancelled of [false, true]) {
      await tab.give([waiting]);
      await waitFor(async () => (await tab.count('[data-part=reading]')) > 0, 'the reading');
      await tab.give([notes]);
      await waitFor(async () => /then notes\.txt/.test(await tab.text('[data-part=reading]')), 'the drop that waits');
      await tab.give([orchard]);
      await waitFor(async () => /then 2 items/.test(await tab.text('[data-part=reading]')), 'both drops');
      if (isCancelled) {
        const { x, y } = await tab.place('[data-part=reading] button');
        await tab.browser.click(x, y);
      }
      equal(await tab.read(), null);
      equal(await tab.text('h1'), 'Orchard · input.xml');
      match(await tab.text('[data-part=recording]'), /1 unused/);
    }
  },

  async 'the fault of a reading stays while the next drop is read'(tab, { variants, orchard, damaged }) {
    if (tab.browser.name === 'webkit') return;
    await tab.open(variants.slowFiles);
    await tab.give([damaged]);
    await tab.give([orchard]);
    match(await tab.read(), /^damaged\.xml.*truncated[^\n]*$/);
    equal(await tab.text('h1'), 'Orchard · input.xml');
  },

  async 'a single file of symbols adds names'(tab, { app, folder }) {
    const demo = writtenDemo(join(folder, `single-${tab.browser.name}.xml`));
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

/** Writes an export of the program in the fixtures, with addresses in place of names. */
function writtenDemo(path) {
  writeFileSync(path, exportOf('4C4C4407-5555-3144-A1F8-1A9B7107AB5E', Array.from({ length: 60 }, (_, at) => 0x480 + 8 * at)));
  return path;
}

/** The drivers of other browsers can choose files, but no folders. */
function canGiveFolders(tab) {
  return tab.browser.name === 'chromium';
}

function unzipped(zip, folder) {
  execFileSync('unzip', ['-q', zip, '-d', folder]);
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.trace')));
}
