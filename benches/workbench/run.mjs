#!/usr/bin/env node
// Measures the size and speed of the page that `traceparse X -o report.html` writes, and of speedscope with the same profile: file size, time
// to the first paint, time until it is ready, and time per frame while zooming; for our page, also the time to select a time range.
//
//   (cd web && npm ci)
//   cargo build --release --bin traceparse --example generate-export
//   benches/workbench/run.mjs [--work FOLDER] [--speedscope FOLDER] [--rounds N] [RECORDING or PAGE.html …]
//
// Without recordings, it generates one with 1.2 million samples and 300,000 stacks, and uses one with deep stacks from `TRACEPARSE_CORPUS`.
// `--speedscope` is the folder of its npm package; by default, the package is searched for in TRACEPARSE_NODE_MODULES. Each round uses a
// separate Chromium process without a graphics card, so drawing takes processor time. Ratios on one machine say more than times.
//
// A frame is a task of the page's main thread in which the browser produces a frame: script, style, layout and paint. Tasks come from the
// browser's trace, so speedscope is measured in the same way.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { chromium } = createRequire(join(ROOT, 'web/package.json'))('playwright-core');
const RELEASE = join(process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target'), 'release');
const GENERATED = { rows: '1200000', stacks: '300000', seed: '7', xcode: '27' };
const DEEP = 'xctrace/14.0.1/cpu-profile.xml';
const [WIDTH, HEIGHT] = [1440, 900];
const ZOOMS = 60;
const SELECTIONS = 20;
/** The number of steps of a drag. */
const STEPS = 10;
/** In milliseconds: more than enough time to draw any selection. */
const SETTLED_AFTER = 1_000;
/** In milliseconds: shorter tasks draw no change. */
const A_FRAME_OF_NOTHING = 1;
const CATEGORIES = ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline'];
/** In milliseconds: longer than anyone would wait. */
const PATIENCE = 180_000;

const asked = argumentsOf(process.argv.slice(2));
mkdirSync(asked.work, { recursive: true });
for (const recording of asked.recordings.length > 0 ? asked.recordings : usualRecordings()) {
  console.log(`\n${recording}`);
  report('traceparse', await ours(recording));
  if (asked.speedscope !== null) report('speedscope', await theirs(recording));
}

function argumentsOf(words) {
  const modules = process.env.TRACEPARSE_NODE_MODULES;
  const found = modules === undefined ? null : join(modules, 'speedscope');
  const asked = { work: join(ROOT, 'target/workbench'), speedscope: found !== null && existsSync(found) ? found : null, rounds: 3, recordings: [] };
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--work') asked.work = words.shift();
    else if (word === '--speedscope') asked.speedscope = words.shift();
    else if (word === '--rounds') asked.rounds = Number(words.shift());
    else asked.recordings.push(word);
  }
  return asked;
}

function usualRecordings() {
  const { rows, stacks, seed, xcode } = GENERATED;
  const large = join(asked.work, 'large.xml');
  if (!existsSync(large)) {
    writeFileSync(large, execFileSync(join(RELEASE, 'examples/generate-export'), [rows, stacks, seed, xcode], { maxBuffer: 1 << 30 }));
  }
  const corpus = process.env.TRACEPARSE_CORPUS;
  const deep = corpus === undefined ? [] : [join(corpus, DEEP)].filter((path) => existsSync(path));
  return [large, ...deep];
}

function written(recording, ending, options = []) {
  const path = join(asked.work, `${basename(recording)}.${ending}`);
  execFileSync(join(RELEASE, 'traceparse'), [recording, ...options, '-o', path, '--memory', '4G'], { stdio: ['ignore', 'ignore', 'inherit'] });
  return path;
}

/** Our page, which reports when it is ready and when it is busy. */
async function ours(recording) {
  // An existing page is measured unchanged, so pages of two versions can be compared.
  const path = recording.endsWith('.html') ? recording : written(recording, 'html');
  const isReady = () => document.documentElement.dataset.state === 'ready';
  return rounds(statSync(path).size, async (tab) => {
    const times = await load(tab, pathToFileURL(path).href, isReady);
    await tab.page.getByRole('tab', { name: 'Flame graph' }).click();
    await tab.page.locator('[data-part=flame-graph] canvas').first().waitFor();
    await tab.page.waitForFunction(isReady);
    const selections = await selectTimes(tab);
    await tab.page.keyboard.press('Escape');
    const graph = await tab.page.locator('[data-part=flame-graph] canvas').first().boundingBox();
    return { ...times, selections, frames: await zoom(tab, graph) };
  });
}

/** speedscope's page, with the profile in a script next to it, as speedscope's command opens it. */
async function theirs(recording) {
  const profile = written(recording, 'speedscope.json', ['--format', 'speedscope']);
  const script = join(asked.work, `${basename(recording)}.speedscope.js`);
  writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(basename(recording))}, "${readFileSync(profile).toString('base64')}")`);
  const url = `${pathToFileURL(join(asked.speedscope, 'dist/release/index.html')).href}#localProfilePath=${encodeURIComponent(script)}`;
  // The canvases of the minimap and the flame chart.
  const isReady = () => document.querySelectorAll('canvas').length >= 2 && !/Loading/.test(document.body.innerText);
  return rounds(statSync(profile).size, async (tab) => {
    const times = await load(tab, url, isReady);
    return { ...times, selections: [], frames: await zoom(tab, { x: 0, y: HEIGHT / 3, width: WIDTH, height: HEIGHT / 2 }) };
  });
}

async function rounds(size, work) {
  const found = { size, firstPaint: [], ready: [], selections: [], frames: [], error: null };
  for (let round = 0; round < asked.rounds; round += 1) {
    const browser = await chromium.launch({ executablePath: process.env.TRACEPARSE_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--allow-file-access-from-files'] });
    try {
      const page = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT } });
      page.setDefaultTimeout(PATIENCE);
      const times = await work({ browser, page });
      found.firstPaint.push(times.firstPaint);
      found.ready.push(times.ready);
      found.selections.push(...times.selections);
      found.frames.push(...times.frames);
    } catch (error) {
      found.error = String(error).split('\n')[0];
      break;
    } finally {
      await browser.close();
    }
  }
  return found;
}

/** The milliseconds from the start of the navigation to the first paint, and until a function of the page returns true after a frame. */
async function load({ page }, url, isReady) {
  await page.goto(url, { waitUntil: 'commit' });
  await page.waitForFunction(isReady, undefined, { polling: 'raf', timeout: PATIENCE });
  return page.evaluate(() => ({
    ready: performance.now(),
    firstPaint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN,
  }));
}

/** The milliseconds from the end of each drag over the timeline to the end of the last task that drew the selection. Views are updated during the drag. */
async function selectTimes({ browser, page }) {
  await browser.startTracing(page, { categories: CATEGORIES });
  for (let count = 0; count < SELECTIONS; count += 1) {
    const box = await page.locator('[data-part=timeline-canvas]').boundingBox();
    const [from, to] = [0.25 + (count % 7) / 20, 0.5 + (count % 9) / 20].map((share) => box.x + box.width * share);
    const y = box.y + Math.min(20, box.height / 2);
    await page.mouse.move(from, y);
    await page.mouse.down();
    for (let step = 1; step <= STEPS; step += 1) {
      await page.mouse.move(from + ((to - from) * step) / STEPS, y);
      await page.waitForTimeout(16);
    }
    await page.mouse.up();
    await page.waitForTimeout(SETTLED_AFTER);
  }
  const { traceEvents } = JSON.parse(String(await browser.stopTracing()));
  const ends = traceEvents.filter(({ name, args }) => name === 'EventDispatch' && args?.data?.type === 'pointerup').sort((a, b) => a.ts - b.ts);
  return ends.map(({ ts, pid, tid, dur }) => {
    const after = tasksOf(traceEvents, pid, tid).filter((task) => task.ts + task.dur > ts && task.ts < ts + SETTLED_AFTER * 1_000);
    const working = after.filter((task) => task.dur >= 1_000 * A_FRAME_OF_NOTHING).at(-1);
    return ((working === undefined ? dur : working.ts + working.dur - ts)) / 1_000;
  });
}

/** The milliseconds of each frame in the page's main thread while zooming in and out at the pointer. */
async function zoom({ browser, page }, box) {
  if (box === null) return [];
  await page.mouse.move(box.x + box.width * 0.3, box.y + box.height * 0.3);
  await browser.startTracing(page, { categories: CATEGORIES });
  await page.keyboard.down('Control');
  for (let count = 0; count < ZOOMS; count += 1) {
    await page.mouse.wheel(0, count < ZOOMS / 2 ? -60 : 60);
    await page.waitForTimeout(16);
  }
  await page.keyboard.up('Control');
  const trace = JSON.parse(String(await browser.stopTracing()));
  return framesOf(trace.traceEvents);
}

/** The length of the tasks in which the main thread of the busiest page made a frame. */
function framesOf(events) {
  const frames = events.filter((event) => event.name === 'FireAnimationFrame' && event.ph === 'X');
  const main = mostOften(frames.map(({ pid, tid }) => `${pid} ${tid}`));
  const [pid, tid] = (main ?? '').split(' ').map(Number);
  const own = frames.filter((frame) => frame.pid === pid && frame.tid === tid);
  const hasFrame = (task) => own.some((frame) => frame.ts >= task.ts && frame.ts <= task.ts + task.dur);
  return tasksOf(events, pid, tid).filter(hasFrame).map((task) => task.dur / 1_000);
}

function tasksOf(events, pid, tid) {
  return events.filter((event) => event.ph === 'X' && /RunTask$/.test(event.name) && event.pid === pid && event.tid === tid).sort((a, b) => a.ts - b.ts);
}

function mostOften(texts) {
  const counts = new Map();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
}

function report(name, { size, firstPaint, ready, selections, frames, error }) {
  const at = (times, share) => times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))];
  const shown = (times, share = 0.5) => (times.length === 0 ? '–' : `${at(times, share).toFixed(at(times, share) < 100 ? 1 : 0)} ms`);
  const cells = [
    `${(size / 2 ** 20).toFixed(1)} MiB`,
    `first paint ${shown(firstPaint)}`,
    `ready ${shown(ready)}`,
    `select a time ${shown(selections)}, p95 ${shown(selections, 0.95)}`,
    `frame of zoom ${shown(frames)}, p95 ${shown(frames, 0.95)} (${frames.length})`,
  ];
  console.log(`  ${name.padEnd(11)} ${cells.join('   ')}${error === null ? '' : `   ${error}`}`);
}
