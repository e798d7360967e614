// Drops recordings of all kinds onto the module that reads them (`npm run app`), and compares the payload, the functions and the sentences with
// the command's.
//
//   node test/reader.mjs [TEXT]
//
// TEXT selects cases by name. Without `TRACEPARSE_CORPUS`, only fixtures are read.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, readSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { ROOT, jsonOf, load, pageOf, textOf } from './command.mjs';
import { exportOf } from './made_export.mjs';
import { writeChanged } from './page/pair.mjs';
import { READ_CORPUS, READ_PAIRS } from './read_corpus.mjs';

const COMPARED = 50;
const MANGLED = /^a Swift name stays mangled; to demangle it, use the command/;

const { Engine } = await load('host/engine.ts');
const module = await WebAssembly.compile(readFileSync(join(ROOT, 'web/dist/reader.wasm')));
const folder = mkdtempSync(join(tmpdir(), 'reader-'));
const corpus = (path) => join(process.env.TRACEPARSE_CORPUS, path);
const fixture = (path) => join(ROOT, 'fixtures', path);
const made = (name, content) => {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
};

/** All files at a path, as a browser lists those of a dropped folder. */
function dropped(path) {
  const isFolder = statSync(path).isDirectory();
  const files = isFolder ? readdirSync(path, { recursive: true }).map((name) => join(path, name)) : [path];
  return files.filter((file) => statSync(file).isFile()).map((disk) => ({ path: relative(dirname(path), disk), disk }));
}

/** Reads files in a new instance, with `node:fs` in place of the browser. */
async function read(files, options = {}) {
  const engine = await Engine.start(module, (file, offset, place) => {
    const descriptor = openSync(files[file].disk, 'r');
    const count = readSync(descriptor, place, 0, place.length, offset);
    closeSync(descriptor);
    return count;
  });
  const listed = files.map(({ path, disk, size }) => ({ path, size: size ?? statSync(disk).size, modified: 0 }));
  return { engine, reading: engine.read({ files: listed, ...options }) };
}

/** Compares a dropped recording, with what is dropped next to it, with the command. */
async function compare(recording, { beside = [], options = beside.flatMap((path) => ['--dsym', path]) } = {}) {
  const shorten = (text) => [recording, ...beside].reduce((shorter, path) => shorter.replaceAll(`${dirname(path)}/`, ''), text);
  const { page, notes, error } = await pageOf([recording], ['--no-cache', ...options]);
  const given = await read([recording, ...beside].flatMap(dropped)).catch((refused) => ({ refused }));
  if (error !== undefined) {
    const sentence = shorten(error).trim().replace(/^error: /, '').replaceAll('\n  caused by: ', ': ');
    equal(given.refused?.message, sentence);
    return sentence;
  }
  if (given.refused !== undefined) throw given.refused;
  const { engine, reading } = given;
  // The module has no demangler for Swift, which is C++.
  const isMangled = reading.warnings.some((sentence) => MANGLED.test(sentence));
  if (!isMangled) equalPayload(page, reading, shorten);
  const warned = [...shorten(notes).matchAll(/^warning: (.*)$/gm)].map(([, sentence]) => sentence);
  deepEqual(new Set(reading.warnings.filter((sentence) => !MANGLED.test(sentence))), new Set(warned));
  deepEqual(reading.unmatched, []);
  const { tables } = engine.openPlain(reading.payload);
  const { series, functions } = (await jsonOf([recording], ['--view', 'functions', ...options])).json;
  series.forEach((one, place) => {
    const shown = engine.ask({ series: place, selection: {}, operations: [] }, { kind: 'functions' });
    deepEqual([shown.total.weight, shown.total.samples].map(String), [one.all_weight, one.samples].map(String));
    const rows = functions.filter((row) => row.series === place).slice(0, COMPARED);
    const name = ([name, ...sums]) => (isMangled ? sums : [name, ...sums]);
    deepEqual(rows.map((_, row) => name(shownRow(tables, shown, row))), rows.map(commandRow).map(name));
  });
  return `${series.length} series, ${functions.length} functions, ${reading.payload.length} bytes`;
}

/** Compares two dropped recordings with the page of `traceparse diff`, for which one of them is the first. */
async function comparePair(files) {
  const { engine, reading } = await read(files);
  const [, before, after] = /^Before: (.*); after: (.*) \(/.exec(reading.notes[0]);
  const [first, second] = [before, after].map((path) => files.find((file) => file.path === path).disk);
  const { page, error } = await pageOf(['diff', first, second], ['--force', '--no-cache']);
  if (error !== undefined) throw new Error(error);
  const shorten = (text) => [[first, before], [second, after]].reduce((shorter, [disk, path]) => shorter.replaceAll(disk, path), text);
  equalPayload(page, reading, shorten);
  equalPayload(page, { payload: reading.before }, shorten, 'before');
  // The squares of noise are summed in another order.
  const rounded = (facts) => facts.replace(/("noise\w*"):([^,}]*)/g, (_, name, noise) => `${name}:${Number(noise).toPrecision(9)}`);
  equal(rounded(reading.facts), rounded(shorten(textOf(page, 'diff'))));
  const { pair } = engine.openPlain(reading.payload, reading.before, reading.facts);
  return `${reading.notes[0]} ${pair.matching.name.length} functions`;
}

/** Compares the heads, apart from the folders of symbols, and all columns. */
/** The sum of reports is that of `fleet tree`. */
async function compareSum(paths) {
  const { engine, reading } = await read(paths.map((disk) => ({ path: basename(disk), disk })));
  const { series, functions } = (await jsonOf(['fleet', 'tree', dirname(paths[0])], ['--view', 'functions'])).json;
  const { tables } = engine.openPlain(reading.payload);
  const shown = engine.ask({ series: 0, selection: {}, operations: [] }, { kind: 'functions' });
  deepEqual([shown.total.weight, shown.total.samples].map(String), [series[0].all_weight, series[0].samples].map(String));
  deepEqual(functions.map((_, row) => shownRow(tables, shown, row)), functions.map(commandRow));
  return `${reading.title}: ${functions.length} functions`;
}

function equalPayload(page, { payload }, shorten, id = 'profile') {
  const [expected, expectedColumns] = partsOf(gunzipSync(Buffer.from(textOf(page, id), 'base64')));
  const [head, columns] = partsOf(Buffer.from(payload));
  equal(head, shorten(expected));
  ok(columns.equals(expectedColumns), 'other columns');
}

/** The head of a payload, and the bytes after it. */
function partsOf(payload) {
  let [at, length] = [4, 0];
  for (let shift = 0; ; shift += 7, at += 1) {
    length += (payload[at] & 127) << shift;
    if (payload[at] < 128) break;
  }
  return [payload.subarray(at + 1, at + 1 + length).toString(), payload.subarray(at + 1 + length)];
}

function shownRow({ functions, textBytes, textEnds }, { label, sums }, row) {
  const text = functions.name[label[row]];
  const name = label[row] < 0 ? '[no stack recorded]' : new TextDecoder().decode(textBytes.subarray(text === 0 ? 0 : textEnds[text - 1], textEnds[text]));
  return [name, ...[sums.self, sums.all, sums.samples].map((column) => String(column[row]))];
}

function commandRow({ function: name, self_weight: own, all_weight: all, samples }) {
  return [name, ...[own, all, samples].map(String)];
}

/** Expects a sentence instead of a recording. */
const refuses = (files, sentence, options) => async () => {
  const message = await read(files, options).then(() => 'it was read', (error) => error.message);
  match(message, sentence);
  return message;
};

/** Expects a sentence about a file that is left out, beside a recording. */
const leavesOut = (files, sentence) => async () => {
  const { reading: { refused } } = await read(files);
  equal(refused.length, 1);
  match(refused[0], sentence);
  return refused[0];
};

function* cases() {
  const inputs = readdirSync(fixture(''), { recursive: true }).filter((path) => /input\.xml$|\.sample\.txt$/.test(path) && !path.startsWith('toc'));
  for (const path of inputs.sort()) yield [path, () => compare(fixture(path))];
  const orchard = fixture('27/orchard/input.xml');
  const text = readFileSync(orchard);
  yield ['gzip', () => compare(made('orchard.xml.gz', gzipSync(text)))];
  yield ['an export in a tar', () => compare(made('orchard.tar', execFileSync('tar', ['-c', '-C', fixture('27'), 'orchard/input.xml'])))];
  yield ['zstd', () => compare(made('orchard.xml.zst', execFileSync('zstd', ['-c', '--check', orchard])))];
  const offsets = Array.from({ length: 60 }, (_, at) => 0x480 + 8 * at);
  const demo = made('demo.xml', exportOf('4C4C4407-5555-3144-A1F8-1A9B7107AB5E', offsets));
  const [dsym, binary] = ['Demo5.dSYM', 'Demo5'].map((name) => fixture(`symbols/built/arm64-dwarf5/${name}`));
  for (const beside of [[dsym], [binary], [dsym, binary], [fixture('symbols/built/names/Names.dSYM')]]) {
    yield [`symbols ${beside.map((path) => basename(path)).join(' ')}`, () => compare(demo, { beside })];
  }
  yield* errors(orchard, text, dsym);
  if (process.env.TRACEPARSE_CORPUS !== undefined) yield* ofCorpus();
}

function* errors(orchard, text, dsym) {
  const [one, other] = [dropped(orchard), { path: 'b.xml', disk: orchard }];
  yield ['nothing', refuses([], /nothing was dropped/)];
  yield ['a cut export', refuses(dropped(made('cut.xml', text.subarray(0, text.length / 2))), /the file is truncated: it ends at byte/)];
  yield ['a cut gzip', refuses(dropped(made('cut.xml.gz', gzipSync(text).subarray(0, 9_000))), /truncated|cut|end of file/)];
  yield ['a damaged gzip', refuses(dropped(made('bad.xml.gz', damaged(gzipSync(text)))), /corrupt|damaged|invalid/)];
  const zstd = execFileSync('zstd', ['-c', '--check', orchard]);
  yield ['a damaged zstd', refuses(dropped(made('bad.xml.zst', damaged(zstd))), /reading failed: the zstd data is damaged/)];
  yield ['a cut zstd', refuses(dropped(made('cut.xml.zst', zstd.subarray(0, 9_000))), /truncated/)];
  yield ['two recordings', () => comparePair([...one, { path: 'b.xml', disk: writeChanged(orchard, join(folder, 'b.xml')) }])];
  yield ['three recordings', refuses([...one, ...[' ', '\n'].map((end, at) => ({ path: 'bc'[at] + '.xml', disk: made(`three/${at}.xml`, `${text}${end}`) }))], /3 recordings were dropped: b\.xml, c\.xml, input\.xml; drop one, two to compare, or several/)];
  const crash = made('crash.ips', readFileSync(join(ROOT, 'tests/fuzz/corpus/crash/json')));
  yield ['two recordings and a crash', refuses([...one, { path: 'b.xml', disk: made('two/b.xml', `${text} `) }, ...dropped(crash)], /3 recordings were dropped/)];
  const payload = readFileSync(join(ROOT, 'tests/fuzz/corpus/metrickit/payload'), 'utf8');
  const reports = [1, 2, 3].map((seconds) => made(`reports/${seconds}.json`, payload.replace('9 sec', `${seconds} sec`)));
  yield ['several reports', () => compareSum(reports)];
  yield ['only symbols', refuses(dropped(dsym), /there is no recording in what was dropped \(Demo5\.dSYM\)/)];
  yield ['a text', refuses(dropped(made('notes.txt', 'hello')), /this is not an xctrace export/)];
  for (const path of ['../x', '/etc/passwd', 'a//b', 'a/./b', '', 'x'.repeat(5_000), 'a\0b']) {
    yield [`the path ${path.slice(0, 12)}`, refuses([{ path, disk: orchard }], /this is not the path of a dropped file/)];
  }
  yield ['a path twice', leavesOut([...one, ...one], /it was dropped twice/)];
  yield ['a file and a folder', leavesOut([other, { path: 'b.xml/c', disk: orchard }], /a file and a folder/)];
  yield ['a bad path beside a recording', leavesOut([...one, { path: '../x', disk: orchard }], /this is not the path of a dropped file/)];
  yield ['more than 4 GiB', refuses([{ ...other, size: 5 * 2 ** 30 }], /it is larger than 4GiB/)];
  yield ['a file that shrank', refuses([{ ...other, size: 2 ** 31 }], /it changed since it was dropped/)];
  yield ['little memory', refuses(one, /more memory is needed than the limit of 1MB allows/, { memory: 1_000_000 })];
  const many = Array.from({ length: 10_000 }, (_, at) => ({ path: `folder/${at}.txt`, disk: dropped(dsym)[0].disk }));
  yield ['10,000 files', refuses(many, /there is no recording in what was dropped \(folder\)/)];
  yield ['a recording among 10,000 files', async () => {
    const { reading } = await read([...many, { path: 'folder/a/run.xml', disk: orchard }, { path: 'folder/.DS_Store', disk: orchard }]);
    deepEqual([reading.title, reading.unmatched.length], ['folder/a/run.xml', 10_000]);
    return reading.unmatched[0];
  }];
}

/** Changes bytes in the middle. */
function damaged(bytes) {
  const copy = Buffer.from(bytes);
  copy.fill(0x55, copy.length >> 1, (copy.length >> 1) + 40);
  return copy;
}

function* ofCorpus() {
  for (const path of READ_CORPUS) yield [path, () => compare(corpus(path))];
  for (const zip of ['xctrace/16.0/four-runs.trace.zip', 'xctrace/26.2/finder.trace.zip']) {
    const target = join(folder, basename(zip, '.zip'));
    execFileSync('unzip', ['-q', corpus(zip), '-d', `${target}.unpacked`]);
    const bundle = readdirSync(`${target}.unpacked`).find((name) => name.endsWith('.trace'));
    cpSync(join(`${target}.unpacked`, bundle), target, { recursive: true });
    yield [`${zip} as a folder`, () => compare(target)];
    for (const [end, option] of [['tar', '-c'], ['tgz', '-cz'], ['tar.zst', ['--zstd', '-c']]].map(([name, given]) => [name, [given].flat()])) {
      const tar = `${target}.${end}`;
      execFileSync('tar', ['-C', folder, ...option, '-f', tar, basename(target)]);
      yield [`${zip} as ${end}`, () => compare(tar)];
    }
  }
  yield ['a recording with its dSYM', () => compare(corpus('xctrace/16.0/four-runs.trace.zip'), { beside: [corpus('dsym/four-runs/main.dSYM')] })];
  const uuid = 'D9A37B67-F10A-35AA-A852-ABFBBECC03AE';
  const named = made('apple.xml', exportOf(uuid, Array.from({ length: 200 }, (_, at) => 0x1000 + 64 * at)));
  yield ['.symbols', () => compare(named, { beside: [corpus(`symbols/${uuid}.symbols`)] })];
  yield ['an export with its table of contents', async () => {
    const [recording, toc] = ['xctrace/26.2/finder_cpu_profile.xml', 'xctrace/26.2/finder_toc.xml'].map(corpus);
    const { reading } = await read([recording, toc].flatMap(dropped));
    const { page } = await pageOf([recording, toc]);
    equalPayload(page, reading, (text) => text);
    return reading.title;
  }];
  for (const pair of READ_PAIRS) yield [`two recordings: ${pair.join(' ')}`, () => comparePair(pair.map((path) => ({ path: path.split('/').slice(-2).join('/'), disk: corpus(path) })))];
  yield ['a report of memory', refuses(dropped(corpus('inputs/ips/298-jetsam-27.0-cut.ips')), /Jetsam/)];
  yield ['a bomb', refuses(dropped(corpus('reproducers/bomb.tar.zst')), /./)];
}

let [passed, failed] = [0, 0];
for (const [name, run] of cases()) {
  if (!name.includes(process.argv[2] ?? '')) continue;
  const fault = await run().then((result) => { console.log(`${name}: ${result.slice(0, 200)}`); }, (error) => error);
  if (fault === undefined) passed += 1;
  else failed += 1;
  if (fault !== undefined) console.log(`FAILED ${name}:\n  ${String(fault.message).slice(0, 1_500).replaceAll('\n', '\n  ')}`);
}
rmSync(folder, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
