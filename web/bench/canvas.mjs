// Times of frames in a browser: of zooming and panning flame graph, flame chart and timeline, and of selecting a time.
//
//   node bench/canvas.mjs PAGE.html [WIDTH]
//
// PAGE is one that the command wrote. `CHROMIUM` and `PLAYWRIGHT` are the paths of a browser and of the package playwright-core. Script is
// the time of a frame's calls; with drawing, the browser has also made its pixels, which reading one of them back waits for.

import { createRequire } from 'node:module';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeDevPage } from '../dev/canvas.mjs';

const require = createRequire(import.meta.url);
const { chromium } = require(process.env.PLAYWRIGHT ?? 'playwright-core');
const FRAMES = 120;

const folder = mkdtempSync(join(tmpdir(), 'canvas-'));
const file = join(folder, 'page.html');
await writeDevPage(process.argv[2], file);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  const page = await browser.newPage({ viewport: { width: Number(process.argv[3] ?? 1280), height: 1200 }, reducedMotion: 'reduce' });
  page.on('pageerror', (error) => console.error(error));
  const start = performance.now();
  await page.goto(`file://${file}`);
  await page.waitForFunction(() => document.documentElement.dataset.state === 'ready', null, { timeout: 120_000 });
  console.log(`ready after ${(performance.now() - start).toFixed(0)} ms`);
  for (const what of ['graph zoom', 'graph pan', 'chart zoom', 'timeline zoom', 'timeline brush']) {
    const { script, drawn, frames } = await page.evaluate(measure, [what, FRAMES]);
    console.log(`${what.padEnd(16)} script ${show(script)} | with drawing ${show(drawn)} | between frames ${show(frames)}`);
  }
  const { drawn } = await page.evaluate(measure, ['select', 30]);
  console.log(`${'select a time'.padEnd(16)} engine, script and drawing ${show(drawn)}`);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}

function show(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(1).padStart(6);
  return `p50 ${at(0.5)} ms  p95 ${at(0.95)} ms  most ${at(1)} ms`;
}

/** Runs in the page: a frame for each step, whose drawing is forced to end within it by reading a pixel back. */
async function measure([what, count]) {
  const { page } = window;
  const canvasOf = (id) => document.querySelector(`#${id} canvas`);
  const { range } = page;
  const total = Number(page.view.byFunction(page.series).all.weight(0));
  const share = (frame) => Math.abs(((2 * frame) / count) % 2 - 1);
  const window_ = (start, end, frame) => {
    const length = (end - start) * 10 ** (-2.5 * (1 - share(frame)));
    const from = start + (end - start - length) * 0.3;
    return { start: from, end: from + length };
  };
  const timeline = (more) => page.timeline.update({ ...page.timelineModel(), ...more });
  const steps = {
    'graph zoom': ['graph', (frame) => page.graph.show(window_(0, total, frame))],
    'graph pan': ['graph', (frame) => page.graph.show({ start: (total * frame) / count / 2, end: (total * frame) / count / 2 + total / 4 })],
    'chart zoom': ['chart', (frame) => page.chart.show(window_(range.start, range.end, frame))],
    'timeline zoom': ['timeline', (frame) => timeline({ visible: window_(range.start, range.end, frame) })],
    'timeline brush': ['timeline', (frame) => timeline({ brush: { start: range.start, end: range.start + ((frame + 1) / count) * (range.end - range.start) } })],
    select: ['graph', (frame) => page.select({ start: range.start + ((range.end - range.start) * frame) / (3 * count), end: range.end }, true)],
  };
  const [id, act] = steps[what];
  const context = canvasOf(id).getContext('2d');
  const [script, drawn, frames] = [[], [], []];
  let last = 0;
  for (let frame = 0; frame < count; frame += 1) {
    const now = await new Promise((resolve) => requestAnimationFrame(resolve));
    if (last > 0) frames.push(now - last);
    last = now;
    const start = performance.now();
    act(frame);
    page[id].paint();
    script.push(performance.now() - start);
    context.getImageData(0, 0, 1, 1);
    drawn.push(performance.now() - start);
  }
  return { script, drawn, frames };
}
