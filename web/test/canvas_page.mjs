// Mouse and keys on the canvases in a browser: the events they send, and what is drawn.
//
//   PLAYWRIGHT=…/playwright-core node --test test/canvas_page.mjs
//
// `CHROMIUM` is the path of the browser, and `TRACEPARSE` the path of the command.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { writeDevPage } from '../dev/canvas.mjs';
import { ROOT, pageOf } from './command.mjs';

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT ?? 'playwright-core');
const folder = mkdtempSync(join(tmpdir(), 'canvas-page-'));
let [browser, page] = [];
const complaints = [];

before(async () => {
  const { page: html, error } = await pageOf([join(ROOT, 'fixtures/27/orchard/input.xml')]);
  assert.equal(error, undefined);
  writeFileSync(join(folder, 'page.html'), html);
  await writeDevPage(join(folder, 'page.html'), join(folder, 'dev.html'));
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
});

after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
  assert.deepEqual(complaints, []);
});

beforeEach(async () => {
  await page?.close();
  page = await browser.newPage({ viewport: { width: 1_200, height: 1_200 }, reducedMotion: 'reduce' });
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(`file://${join(folder, 'dev.html')}`);
  await page.waitForFunction(() => document.documentElement.dataset.state === 'ready');
});

const events = (kind) => page.evaluate((kind) => window.page.events.filter(([what]) => what === kind), kind);
const last = async (kind) => (await events(kind)).at(-1);
const svg = (id) => page.evaluate((id) => window.page[id].exportSvg(), id);
const texts = async (id) => [...(await svg(id)).matchAll(/<text [^>]*>([^<]*)</g)].map(([, text]) => text);
const boxOf = (id) => page.locator(`#${id} canvas`).boundingBox();
const at = async (id, x, y) => {
  const box = await boxOf(id);
  return [box.x + x, box.y + y];
};
const nameOf = async (label) => page.evaluate((label) => window.page.labels.names[label], label);
const said = (id) => page.locator(`#${id} [aria-live]`).textContent();

test('a click selects a box, a double click zooms to it, Escape goes back', async () => {
  await page.mouse.click(...(await at('graph', 100, 27)));
  const [, label] = await last('pick');
  assert.equal(await nameOf(label), 'thread_start');
  assert.match(await said('graph'), /^thread_start, libsystem_pthread.dylib · system, all 362\.00 ms · 74\.6% of total, self 0\.00 ms/);
  await page.mouse.dblclick(...(await at('graph', 1_000, 27)));
  const [, node] = await last('zoom');
  assert.ok(node > 0);
  assert.ok(!(await texts('graph')).includes('thread_start'), 'zoomed to its neighbour');
  assert.ok((await texts('graph')).includes('all'), 'callers stay');
  await page.keyboard.press('Escape');
  assert.deepEqual(await last('zoom'), ['zoom', null]);
  assert.ok((await texts('graph')).includes('thread_start'));
});

test('arrows walk to callees, siblings and callers, and Enter zooms', async () => {
  await page.locator('#graph canvas').focus();
  const press = async (...keys) => {
    for (const key of keys) await page.keyboard.press(key);
    const [, label] = await last('pick');
    return nameOf(label);
  };
  assert.equal(await press('ArrowDown'), 'all');
  assert.equal(await press('ArrowDown'), 'thread_start');
  assert.equal(await press('ArrowRight'), 'start');
  assert.equal(await press('ArrowRight'), '[no stack recorded]');
  assert.equal(await press('ArrowRight'), '[no stack recorded]', 'the last of its row');
  assert.equal(await press('ArrowLeft', 'ArrowDown'), 'main');
  await page.keyboard.press('Enter');
  assert.ok(!(await texts('graph')).includes('thread_start'));
  assert.equal(await press('ArrowUp'), 'start');
  await page.keyboard.press('Home');
  assert.ok((await texts('graph')).includes('thread_start'));
  await page.keyboard.press('Shift+F10');
  const [, menuLabel, , x, y] = await last('menu');
  assert.equal(await nameOf(menuLabel), 'start');
  const box = await boxOf('graph');
  assert.ok(x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height);
});

test('the right button asks for a menu where it is', async () => {
  const [x, y] = await at('graph', 100, 27);
  await page.mouse.click(x, y, { button: 'right' });
  const [, label, , menuX, menuY] = await last('menu');
  assert.equal(await nameOf(label), 'thread_start');
  assert.ok(Math.abs(menuX - x) <= 1 && Math.abs(menuY - y) <= 1);
});

test('ctrl and the wheel zoom around the pointer, a drag pans, and more boxes are asked for', async () => {
  const count = async () => (await svg('graph')).split('<rect').length;
  const [x, y] = await at('graph', 1_150, 200);
  await page.mouse.move(x, y);
  await page.keyboard.down('Control');
  for (let turn = 0; turn < 12; turn += 1) await page.mouse.wheel(0, -100);
  await page.keyboard.up('Control');
  await page.waitForTimeout(200);
  assert.ok(!(await texts('graph')).includes('thread_start'));
  assert.ok((await texts('graph')).includes('start'));
  assert.ok((await count()) > 3);
  await page.mouse.down();
  await page.mouse.move(x - 5, y);
  await page.mouse.move(x - 700, y);
  await page.mouse.up();
  assert.deepEqual(await events('pick'), [], 'a drag is no click');
});

test('a drag selects a time, its edges move, a double click and Escape clear it', async () => {
  const { x: left, y: top } = await boxOf('timeline');
  const drag = async (from, to, y = 140) => {
    await page.mouse.move(left + from, top + y);
    await page.mouse.down();
    await page.mouse.move(left + (from + to) / 2, top + y);
    await page.mouse.move(left + to, top + y);
    await page.mouse.up();
    return (await last('brush'))[1];
  };
  const xOf = (time) => page.evaluate((time) => window.page.timeline.xOfTime(time), time);
  const first = await drag(500, 800);
  assert.ok(Math.abs((await xOf(first.start)) - 500) < 1 && Math.abs((await xOf(first.end)) - 800) < 1);
  assert.ok(Number.isInteger(first.start) && Number.isInteger(first.end));
  const wider = await drag(801, 900);
  assert.equal(wider.start, first.start);
  assert.ok(Math.abs((await xOf(wider.end)) - 899) < 2);
  const moved = await drag(600, 550, 62);
  assert.equal(moved.end - moved.start, wider.end - wider.start);
  assert.ok(Math.abs((await xOf(moved.start)) - 450) < 2);
  const total = await page.evaluate(() => Number(window.page.view.byFunction(window.page.series).all.weight(0)));
  assert.ok(total > 0 && total < 485_000_000, 'the flame graph follows');
  await page.locator('#timeline canvas').focus();
  await page.keyboard.press('ArrowRight');
  const [, right] = await last('brush');
  assert.ok(right.start > moved.start && right.end - right.start === moved.end - moved.start);
  await page.keyboard.press('Shift+ArrowRight');
  const [, longer] = await last('brush');
  assert.ok(longer.start === right.start && longer.end > right.end);
  await page.keyboard.press('Escape');
  assert.deepEqual(await last('brush'), ['brush', null]);
  await drag(500, 800);
  await page.mouse.dblclick(left + 1_000, top + 140);
  assert.deepEqual(await last('brush'), ['brush', null]);
});

test('a click picks a track, ctrl adds one, keys walk and pick', async () => {
  await page.mouse.click(...(await at('timeline', 60, 90)));
  const [, first, isAdditive] = await last('tracks');
  assert.deepEqual([first.length, isAdditive], [1, false]);
  await page.keyboard.down('Control');
  await page.mouse.click(...(await at('timeline', 60, 130)));
  await page.keyboard.up('Control');
  const [, second, adds] = await last('tracks');
  assert.equal(adds, true);
  assert.notDeepEqual(second, first);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  assert.deepEqual(await last('tracks'), ['tracks', first, false]);
  assert.match(await said('timeline'), /track 1 of 4$/);
});

test('the timeline zooms with ctrl and the wheel, and back with Home', async () => {
  const [x, y] = await at('timeline', 700, 140);
  const visible = () => page.evaluate(() => window.page.timeline.visible);
  const whole = await visible();
  await page.mouse.move(x, y);
  await page.keyboard.down('Control');
  for (let turn = 0; turn < 5; turn += 1) await page.mouse.wheel(0, -100);
  await page.keyboard.up('Control');
  const zoomed = await visible();
  assert.ok(zoomed.end - zoomed.start < (whole.end - whole.start) / 2);
  assert.ok(zoomed.start > whole.start && zoomed.end < whole.end);
  await page.locator('#timeline canvas').focus();
  await page.keyboard.press('Home');
  assert.deepEqual(await visible(), whole);
});

test('what is drawn is what the SVG says: hostile names stay text', async () => {
  const hostile = '</text><script>alert(1)</script><b onclick="x">\u0000';
  await page.evaluate((hostile) => {
    window.page.labels.names.fill(hostile);
    window.page.key += 1;
    window.page.drawGraph();
  }, hostile);
  const found = await svg('graph');
  assert.equal(found.match(/<script|<b /), null);
  const error = await page.evaluate((text) => new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror')?.textContent ?? null, found);
  assert.equal(error, null);
  await page.mouse.move(...(await at('graph', 100, 27)));
  await page.mouse.move(...(await at('graph', 102, 28)));
  assert.equal(await page.locator('#graph [aria-hidden] script').count(), 0);
  assert.ok((await page.locator('#graph [aria-hidden]').textContent()).includes('</text><script>'));
});

test('every canvas is an SVG that parses, with the names that are seen', async () => {
  for (const [id, name] of [['timeline', 'Main Thread'], ['graph', 'orchard::App::run()'], ['chart', null]]) {
    const found = await svg(id);
    const error = await page.evaluate((text) => new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror')?.textContent ?? null, found);
    assert.equal(error, null, id);
    if (name !== null) assert.ok((await texts(id)).includes(name), `${id}: ${await texts(id)}`);
    assert.ok(found.match(/<(rect|polygon)/g).length > 20, id);
  }
});

test('500 tracks scroll, and only those that are seen are drawn', async () => {
  const result = await page.evaluate(() => {
    const { timeline } = window.page;
    const model = window.page.timelineModel();
    const tracks = Array.from({ length: 500 }, (_, index) => ({ ...model.tracks[index % 4], id: String(index), label: `thread ${index}` }));
    window.page.tracks = () => tracks;
    window.page.drawTimeline();
    return { height: timeline.contentHeight };
  });
  assert.ok(result.height > 500 * 30);
  const threads = async () => (await texts('timeline')).filter((text) => /^thread \d+$/.test(text));
  const first = await threads();
  assert.ok(first.includes('thread 0') && first.length < 12, String(first));
  await page.mouse.move(...(await at('timeline', 700, 200)));
  await page.mouse.wheel(0, 3_300);
  await page.waitForTimeout(50);
  const second = await threads();
  assert.ok(second.includes('thread 103') && second.length < 12, String(second));
  await page.mouse.wheel(0, 100_000);
  await page.waitForTimeout(50);
  const third = await threads();
  assert.ok(third.includes('thread 499'), String(third));
  await page.mouse.click(...(await at('timeline', 60, 200)));
  const [, [picked]] = await last('tracks');
  assert.ok(third.includes(`thread ${picked}`), picked);
});

test('the kept picture of the timeline is what would be drawn anew', async () => {
  const picture = (how) =>
    page.evaluate(async (how) => {
      const { timeline } = window.page;
      // A new model must be redrawn, even if it is equal.
      const model = window.page.timelineModel();
      timeline.update(how === 'anew' ? { ...model, brush: window.page.brush, tracks: [...model.tracks] } : { ...model, brush: window.page.brush });
      timeline.paint();
      return document.querySelector('#timeline canvas').toDataURL();
    }, how);
  const before = await picture('kept');
  const [x, y] = await at('timeline', 500, 140);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 100, y);
  await page.mouse.move(x + 300, y);
  await page.mouse.up();
  const kept = await picture('kept');
  assert.notEqual(kept, before);
  assert.equal(kept, await picture('anew'));
  await page.evaluate(() => document.documentElement.setAttribute('data-theme', 'dark'));
  await page.waitForTimeout(100);
  const dark = await picture('kept');
  assert.notEqual(dark, kept);
  assert.equal(dark, await picture('anew'));
});

test('dark pages are drawn dark as soon as they are', async () => {
  const corner = () =>
    page.evaluate(() => {
      const copy = new OffscreenCanvas(1, 1).getContext('2d');
      copy.drawImage(document.querySelector('#graph canvas'), -5, -400);
      return [...copy.getImageData(0, 0, 1, 1).data];
    });
  await page.evaluate(() => document.documentElement.setAttribute('data-theme', 'light'));
  await page.waitForTimeout(100);
  assert.deepEqual(await corner(), [255, 255, 255, 255]);
  await page.evaluate(() => document.documentElement.setAttribute('data-theme', 'dark'));
  await page.waitForTimeout(100);
  assert.deepEqual(await corner(), [21, 24, 29, 255]);
});
