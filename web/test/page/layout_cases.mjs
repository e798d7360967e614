// The space of the parts of the page, and how they save space, in every browser.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { askedJson } from './asked.mjs';
import { brush, showTab } from './cases.mjs';
import { TABS, waitFor } from './tab.mjs';

/** The indentation of a level of a tree. */
const LEVEL = 14;

/** Writes a report of nine equally busy threads, of which the main thread is the last, and a thread with one sample. */
export function writeTies(file, path) {
  const [before, , after] = readFileSync(file, 'utf8').split(/(?<=Call graph:\n)|(?=\nTotal number)/);
  const thread = (number, count, name = '') => `    ${count} Thread_${172_300 + number}${name}\n    + ${count} free  (in libsystem_malloc.dylib) + 8  [0x188690e00]\n`;
  const main = thread(8, 3_000, '   DispatchQueue_1: com.apple.main-thread  (serial)').replace(/    \+.*/, '    + 3000 start  (in dyld) + 6992  [0x1882b84e4]');
  const threads = Array.from({ length: 8 }, (_, number) => thread(number, 3_000));
  writeFileSync(path, [before, ...threads, main, thread(9, 1), after.replaceAll('libsystem_pthread', 'libsystem_malloc')].join(''));
  return path;
}

export const LAYOUT_CASES = {
  async 'a folded name in the answer unfolds, and then leads to its callers'(tab, { orchard }) {
    await tab.open(orchard.page);
    const name = () => tab.browser.run(() => document.querySelectorAll('[data-part=heaviest] .link')[1].textContent);
    equal(await name(), 'orchard::Press::grind(…)');
    await tab.click('[data-part=heaviest] .link', 'grind');
    equal(await name(), 'orchard::Press::grind(orchard::Apple const*, unsigned long)');
    await tab.press('Enter');
    match(await tab.fragment(), /tab=callers&fn=orchard::Press::grind/);
  },

  async 'the timeline remembers its height, of whole rows in at most a third of the window'(tab, { orchard, pair }) {
    const isHigh = async (expected) => Math.abs((await tab.place('[data-part=timeline]')).height - expected) < 1;
    const expectHeight = (expected) => waitFor(() => isHigh(expected), `a height of ${expected}`);
    // The fixed part at the top, four threads, and the cores; in a comparison, one thread in half of a third of the window.
    for (const [page, height, most] of [[orchard.page, 231, 200], [pair.page, 109, 100]]) {
      await tab.open(page);
      await expectHeight(height);
      await dragLowerEdge(tab, -30);
      // Without `tab.open`, which clears the storage.
      await tab.browser.open(page);
      await tab.ready();
      await expectHeight(height - 30);
      await tab.browser.resize(1280, 600);
      await tab.browser.run(() => void (Storage.prototype.setItem = () => JSON.parse('no storage')));
      await dragLowerEdge(tab, 200);
      await expectHeight(most);
      const { x, y } = await tab.place('[data-part=lower-edge]');
      await tab.browser.click(x, y, { count: 2 });
      await tab.browser.resize(1280, 800);
      await expectHeight(height);
    }
  },

  async 'the timeline writes which part of the recording and which height it shows'(tab, { orchard }) {
    await tab.open(orchard.page);
    await tab.browser.run(keepTexts);
    await brush(tab, 0.55, 0.6);
    await tab.press('z');
    await waitFor(async () => (await tab.browser.run(() => globalThis.texts)).includes('13 ms of 260 ms'), 'the shown part');
    const texts = await tab.browser.run(() => globalThis.texts);
    for (const text of ['height: 5 cores', 'height: one core']) ok(texts.includes(text), text);
  },

  async 'the overview begins below the timeline, which the first chip does not move'(tab, { orchard }) {
    await tab.open(orchard.page);
    const before = await tab.place('[data-part=timeline] canvas');
    ok(before.top < 80, `${before.top}`);
    await brush(tab, 0.55, 0.6);
    equal((await tab.place('[data-part=timeline] canvas')).top, before.top);
  },

  async 'the overview explains its columns and colours, and counts small threads'(tab, { ties, dots, orchard }) {
    await tab.open(ties.page);
    match(await tab.text('#top-title'), /^Heaviest functions\s+by self weight\s+runtime$/);
    const threads = await tab.browser.run(() => [...document.querySelectorAll('[aria-labelledby=threads-title] li')].map((row) => row.innerText.replaceAll(/\s+/g, ' ').trim()));
    deepEqual([threads.length, ...threads.slice(0, 2), threads.at(-1)], [10, 'total samples thread', '11.1% 3,000 Main Thread (0x2a114)', '11.1% 3,001 2 more']);
    await tab.click('[aria-labelledby=threads-title] button', '2 more');
    match(await tab.fragment(), /tab=threads/);
    await tab.open(dots.page);
    match(await tab.text('[data-part=top]'), /^total\s+▾ own\+sys\s+s\s+function in dots\s+100/);
    await tab.open(orchard.page);
    equal(await tab.text('#top-title'), 'Your heaviest functions\nby own+sys, which includes the system code they call');
    const cut = await tab.browser.run(() => [...document.querySelectorAll('[data-part=top] .dim')].filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).map(({ textContent }) => textContent));
    deepEqual(cut, [], 'binaries have space');
  },

  async 'the lane of all CPUs and its scale stay the same if the timeline is zoomed'(tab, { orchard, pair }) {
    for (const { page } of [orchard, pair]) {
      await tab.open(page);
      const before = await tab.browser.run(overviewPicture);
      await brush(tab, 0.55, 0.6);
      await tab.press('z');
      await waitFor(async () => (await tab.browser.run(overviewPicture)).hasFrame, 'the frame of the visible time');
      await tab.press('Escape');
      await tab.ready();
      const after = await tab.browser.run(overviewPicture);
      ok(before.drawn.filter((isDrawn) => isDrawn).length > 200, 'the recording is busy');
      equal(after.drawn.filter((isDrawn, column) => after.isOutside[column] && isDrawn !== before.drawn[column]).length, 0, 'no column changes outside of the visible time');
      equal(after.scale, before.scale, 'the scale next to the lane');
    }
  },

  async 'functions open with the heaviest if the chosen one has no self weight'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=functions');
    const { functions } = await tab.tables();
    const [outer, lightest] = [functions.findLast(({ self }) => self === 0), functions.findLast(({ self, function: name }) => self > 0 && name.startsWith('orchard::'))];
    ok(functions.indexOf(outer) > functions.indexOf(lightest) + 10);
    for (const [{ function: name, binary }, seen] of [[outer, functions[0]], [lightest, lightest]]) {
      await tab.follow(`v=1&tab=overview&fn=${encodeURIComponent(name + (binary === '' ? '' : `@${binary}`))}`);
      await tab.show('functions');
      equal(await tab.browser.run(() => document.querySelector('[data-part=chosen] .name').title), name);
      const titles = await tab.browser.run(() => {
        const table = document.getElementById('functions').getBoundingClientRect();
        const isSeen = ({ top, bottom }) => top >= table.top && bottom <= table.bottom;
        return [...document.querySelectorAll('#functions .row:not(.table-head)')].filter((row) => isSeen(row.getBoundingClientRect())).map((row) => row.querySelector('.name').title);
      });
      ok(titles.includes(seen.function), `${name}: ${titles}`);
    }
  },

  async 'trees open where they fork, and a button leads to the levels above'(tab, { orchard, pair }) {
    await tab.browser.resize(1280, 500);
    await tab.open(orchard.page, 'v=1&tab=tree&by=thread');
    const top = () => tab.browser.run(() => document.getElementById('tree').scrollTop / 24);
    const { tree } = await tab.tables();
    const weights = tree.map(({ all }) => all);
    const fork = weights.findIndex((weight, row) => !(weights[row + 1] >= 0.9 * weight));
    ok(fork >= 5, `${fork}`);
    ok(Math.abs((await top()) - fork) < 1, `${await top()} instead of ${fork}`);
    equal(await tab.text('[data-part=levels-above]'), `↑ ${fork} callers above`);
    await tab.click('[data-part=levels-above]');
    equal(await top(), 0);
    // The tree of a comparison is in the order of changes.
    await tab.open(pair.page, 'v=1&tab=tree&main=only');
    const rows = (await tab.tables()).tree;
    const both = rows.map((row) => row['all-before'] + row['all-after']);
    const branch = both.findIndex((weight, row) => !(both[row + 1] >= 0.9 * weight));
    ok(branch >= 5, `${branch}`);
    ok(Math.abs((await top()) - branch) < 1, `${await top()} instead of ${branch}`);
    equal(await tab.text('[data-part=levels-above]'), `↑ ${branch} callers above`);
    await tab.click('[data-part=levels-above]');
    equal(await top(), 0);
    await tab.open(orchard.page, 'v=1&tab=flame&by=thread');
    const [, levels] = /^↑ (\d+) levels? more$/.exec(await tab.text('[data-part=show-whole]'));
    ok(Number(levels) >= 5, levels);
    await tab.click('[data-part=show-whole]');
    await waitFor(async () => (await tab.count('[data-part=show-whole]')) === 0, 'all levels');
    await tab.browser.resize(1280, 800);
  },

  async 'the overview names the processes of threads if there are several'(tab, { mixed, orchard }) {
    const names = () => tab.browser.run(() => [...document.querySelectorAll('[aria-labelledby=threads-title] .name')].map((name) => name.textContent));
    const { threads } = await askedJson([mixed.file], ['--view', 'threads']);
    await tab.open(mixed.page, 'v=1');
    for (const name of await names()) ok(threads.some(({ process, pid }) => name.endsWith(` of ${process} (${pid})`)), name);
    await tab.open(orchard.page, 'v=1');
    for (const name of await names()) ok(!name.includes(' of '), name);
  },

  async 'a view gets the complete window'(tab, { orchard, pair }) {
    for (const [{ page }, timelines] of [[orchard, 1], [pair, 2]]) {
      await tab.open(page, 'v=1&tab=flame');
      const height = async () => (await tab.place('#view')).height;
      const before = await height();
      await tab.click('[data-part=full-window]');
      ok((await height()) > 640 && before < 500, `${before}, then ${await height()}`);
      await tab.click('[data-part=full-window][aria-pressed=true]');
      equal(await height(), before);
      equal(await tab.count('[data-part=timeline] canvas'), timelines);
    }
  },

  async 'buttons zoom the timeline to the selected time, and back'(tab, { orchard }) {
    await tab.open(orchard.page);
    equal(await tab.count('.timeline-tools button'), 0);
    await brush(tab, 0.3, 0.6);
    await tab.click('[data-part=zoom-selection]');
    await waitFor(async () => (await tab.browser.run(overviewPicture)).hasFrame, 'the frame of the visible time');
    await waitFor(async () => (await tab.count('[data-part=zoom-selection]')) === 0, 'the selected time fills the timeline');
    await tab.click('[data-part=zoom-all]');
    await waitFor(async () => (await tab.count('[data-part=zoom-all]')) === 0, 'everything is visible');
    equal(await tab.count('[data-part=zoom-selection]'), 1);
  },

  async 'keys of one letter can be switched off, and the browser remembers it'(tab, { orchard }) {
    await tab.open(orchard.page);
    await tab.press('h');
    match(await tab.fragment(), /op=hide-system/);
    await tab.click('[data-part=keys]');
    await tab.click('[data-part=letter-keys]');
    await tab.press('Escape');
    // Without \`tab.open\`, which clears the storage.
    await tab.browser.open(orchard.page);
    await tab.ready();
    for (const key of ['h', '2', '?', '/']) await tab.press(key);
    equal(await tab.fragment(), '');
    equal(await tab.count('dialog'), 0);
    equal(await tab.browser.run(() => document.activeElement.id), '');
    await tab.press('Control+f');
    equal(await tab.browser.run(() => document.activeElement.id), 'search');
    await tab.click('[data-part=keys]');
    await tab.click('[data-part=letter-keys]');
    await tab.press('Escape');
    await tab.browser.run(() => document.activeElement.blur());
    await tab.press('h');
    match(await tab.fragment(), /op=hide-system/);
    await tab.browser.run(() => localStorage.clear());
  },

  async 'the flame chart is as full as its thread was busy'(tab, { dots }) {
    await tab.open(dots.page, 'v=1&tab=chart');
    const share = await tab.browser.run(() => {
      const canvas = document.querySelector('[data-part=flame-chart] canvas');
      const ratio = canvas.width / canvas.clientWidth;
      // The first row, below the axis.
      const [top, height] = [22 * ratio, 17 * ratio];
      const { data } = canvas.getContext('2d').getImageData(0, top, canvas.width, height);
      const background = data.slice(0, 3).join();
      let drawn = 0;
      for (let at = 0; at < data.length; at += 4) drawn += data.slice(at, at + 3).join() === background ? 0 : 1;
      return drawn / (canvas.width * height);
    });
    ok(Math.abs(share - 0.1) < 0.03, `${share} instead of 0.1`);
  },

  async 'on a phone, the view has half of the window'(tab, { orchard, pair }) {
    await tab.browser.resize(390, 844);
    for (const { page } of [orchard, pair]) {
      await tab.open(page);
      for (const name of [...TABS, 'flame']) {
        await tab.follow(`v=1&tab=${name}`);
        const { top, bottom } = await tab.browser.run(() => document.getElementById('view').getBoundingClientRect().toJSON());
        ok(Math.min(bottom, 844) - top >= 421, `${name}: from ${top} to ${bottom}`);
      }
      const [height, mask, room] = await tab.browser.run(() => {
        const bar = document.querySelector('.toggles');
        bar.scrollLeft = 1_000;
        return [document.querySelector('p.chosen')?.offsetHeight ?? 0, getComputedStyle(bar).maskImage, bar.getBoundingClientRect().right - bar.lastElementChild.getBoundingClientRect().right];
      });
      equal(height, 0, 'there is no bar at the bottom until a function is chosen');
      ok(/gradient/.test(mask) && room > 27, `what is cut off fades: ${mask} ${room}`);
    }
    await tab.browser.resize(1280, 800);
  },

  'calls without siblings take one level of indentation': (tab, { orchard }) => expectChains(tab, orchard.page),
  'calls without siblings take one level of indentation in a comparison': (tab, { pair }) => expectChains(tab, pair.page),

  async 'tabs without content are in a menu'(tab, { orchard, reduced, pair }) {
    for (const [{ page }, empty] of [[orchard, ['intervals']], [reduced, ['chart', 'cores', 'intervals']], [pair, ['callers', 'chart', 'categories', 'source', 'threads', 'states', 'cores', 'intervals']]]) {
      await tab.open(page);
      const listed = await tab.browser.run(() => [...document.querySelectorAll('[role=tab]')].map(({ id }) => id.slice('tab-'.length)));
      deepEqual(listed, TABS.filter((name) => !empty.includes(name)));
      await showTab(tab, 'intervals');
      equal(await tab.count('#tab-intervals.is-empty[aria-selected=true]'), 1);
      match(await tab.text('#view'), /no signposts|one recording at a time/);
    }
  },

  async 'names are shortened only if they do not fit, namespaces first'(tab, { orchard }) {
    for (const [width, expected] of [[1280, 'orchard::Press::filter(float*, unsigned long, float)'], [840, '…::Press::filter(float*, unsigned long, float)'], [760, '…::Press::filter(…)']]) {
      await tab.browser.resize(width, 800);
      await tab.open(orchard.page, 'v=1&tab=functions');
      const names = await tab.browser.run(fittedNames);
      ok(names.some(({ text }) => text === expected), names.map(({ text }) => text).join('\n'));
      // The widths of letters do not add up exactly.
      for (const { text, whole, room, needed } of names) ok(text === whole ? needed <= room + 1 : needed > room - 6, `${text} of ${whole}: ${needed} in ${room}`);
    }
    await tab.browser.resize(1280, 800);
  },

  async 'the number of matches can be read, and the heaviest comes first'(tab, { orchard, pair }) {
    for (const [{ page }, text] of [[pair, /^3 functions/], [orchard, /^3 functions, 53\.6%/]]) {
      await tab.open(page, 'v=1&tab=functions');
      await tab.search('press::');
      match(await tab.text('.count'), text);
      const [count, result] = await tab.browser.run(() => ['.count', '#search-result'].map((one) => document.querySelector(one).getBoundingClientRect().toJSON()));
      ok(count.right <= result.right && count.bottom <= result.bottom + 1, 'the count is not cut off');
    }
    await tab.click('#functions-head-function');
    match(await seekFirst(tab, 'functions', 'press::'), /filter/);
    // In the order of the tree, a lighter match comes first.
    await tab.open(orchard.page, 'v=1&tab=flame');
    const matches = (await tab.tables())['flame-graph'].filter(({ function: name }) => /fruit_free|visit/.test(name));
    const heaviest = matches.reduce((best, box) => (box.weight > best.weight ? box : best));
    await tab.show('tree');
    equal(await seekFirst(tab, 'tree', 'fruit_free|visit'), `${(heaviest.weight / 1e6).toFixed(3)} ${heaviest.function}`);
  },

  async 'an edge of the selected time is dragged by mouse and by finger'(tab, { orchard }) {
    const times = async () => /t=([\d.]+)s\.\.([\d.]+)s/.exec(await tab.fragment()).slice(1).map(Number);
    for (const [pointerType, off] of [['mouse', 4], ['touch', 16]]) {
      await tab.open(orchard.page);
      await brush(tab, 0.3, 0.6);
      const [start, end] = await times();
      const { left, top, width } = await tab.place('[data-part=timeline] canvas');
      await tab.browser.run(dragAs, { pointerType, x: left + 220 + (width - 220) * 0.6 + off, y: top + 30, by: 100 });
      await tab.ready();
      const [from, to] = await times();
      equal(from, start, pointerType);
      ok(Math.abs(to - end - (100 / (width - 220)) * 0.26) < 0.001, `${pointerType}: from ${end} to ${to}`);
    }
  },

  async 'source text has line numbers, and opens at its heaviest line'(tab, { sources }) {
    await tab.open(sources.page, 'v=1&tab=source');
    const rows = await tab.browser.run(() => [...document.querySelectorAll('#source .row:not(.table-head)')].map((row) => [...row.querySelectorAll('code')].map(({ textContent }) => textContent)));
    for (const [line, text] of rows) equal(text, `press(${line});`);
    equal(await tab.text('#source .row.is-active code'), '113');
  },
};

/**
 * Returns what the first timeline shows of all CPUs: for each column outside of the visible time whether something is drawn at its bottom,
 * and the picture of the name and the scale on the left.
 */
function overviewPicture() {
  const canvas = document.querySelector('[data-part=timeline] canvas');
  const copy = Object.assign(document.createElement('canvas'), { width: canvas.width, height: canvas.height });
  const context = copy.getContext('2d', { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  const [ratio, left] = [canvas.width / canvas.clientWidth, 240];
  const pixels = context.getImageData(left * ratio, 0, canvas.width - left * ratio, 50 * ratio);
  const at = (x, y) => pixels.data.slice(4 * (Math.round(y * ratio) * pixels.width + x), 4 * (Math.round(y * ratio) * pixels.width + x) + 3).join();
  const columns = Array.from({ length: pixels.width }, (_, x) => x);
  // The frame of the visible time is at the top, where no weight is drawn.
  const framed = columns.filter((x) => at(x, 0) !== at(x, 2));
  const isOutside = (x) => framed.length === 0 || x < framed[0] - 2 || x > framed.at(-1) + 2;
  const margin = context.getImageData(0, 0, 200 * ratio, 50 * ratio).data;
  let scale = 0;
  for (const value of margin) scale = (Math.imul(scale, 31) + value) | 0;
  return { hasFrame: framed.length > 0, drawn: columns.map((x) => at(x, 48) !== at(x, 2)), isOutside: columns.map(isOutside), scale };
}

/** Keeps the texts that canvases draw from now on. */
function keepTexts() {
  globalThis.texts = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    globalThis.texts.push(text);
    fillText.call(this, text, ...place);
  };
}

async function dragLowerEdge(tab, by) {
  const { x, y } = await tab.place('[data-part=lower-edge]');
  await tab.browser.move(x, y);
  await tab.browser.down();
  for (const part of [0.5, 1]) await tab.browser.move(x, y + by * part);
  await tab.browser.up();
  await tab.ready();
}

/** Rows are indented if their caller has several callees, and all rows if chains are not compact. A chain has one triangle. */
async function expectChains(tab, page) {
  await tab.open(page, 'v=1&tab=tree');
  const rows = (await tab.tables()).tree.map(({ function: name }) => name);
  const depths = rows.map((name) => (name.length - name.trimStart().length) / 2);
  const callerOf = depths.map((depth, row) => depths.slice(0, row).lastIndexOf(depth - 1));
  const shown = () => tab.browser.run(() => [...document.querySelectorAll('#tree .tree-name')].map((name) => [parseFloat(getComputedStyle(name).paddingInlineStart), name.querySelector('.is-chain:not(.twisty)') !== null]));
  const levels = [];
  for (const [row, seen] of (await shown()).entries()) {
    const caller = depths[row] === 0 ? -1 : callerOf[row];
    const isChain = caller >= 0 && callerOf.filter((other) => other === caller).length === 1;
    levels[row] = caller < 0 ? 0 : levels[caller] + (isChain ? 0 : 1);
    deepEqual(seen, [levels[row] * LEVEL, isChain], `row ${row}`);
  }
  ok(levels.length > 12 && depths.some((depth) => depth > 5));
  await tab.click('[data-part=compact-chains][aria-pressed=true]');
  deepEqual(await shown(), depths.slice(0, levels.length).map((depth) => [depth * LEVEL, false]));
  const fork = levels.indexOf(1);
  ok(fork > 2, 'the first row begins a chain');
  for (const expected of [rows.slice(0, 1), rows.slice(0, fork + 1)]) {
    await tab.click('#tree-0 .twisty');
    deepEqual((await tab.tables()).tree.slice(0, expected.length).map(({ function: name }) => name), expected);
    equal(await tab.count('#tree-1[aria-level="2"]'), expected.length > 1 ? 1 : 0);
  }
}

/** Searches, presses Enter, and returns the row that has the focus then: in a tree, its weight and its function. */
async function seekFirst(tab, table, text) {
  await tab.search(text);
  await tab.press('Enter');
  await waitFor(async () => (await tab.browser.run(() => document.activeElement.id)) === table, table);
  await tab.ready();
  return tab.browser.run((table) => {
    const row = document.querySelector(`#${table} .row.is-active`);
    return `${row.children[1].textContent} ${row.querySelector('.name').title}`;
  }, table);
}

/** Returns the names in a table: the shown text, the complete name, its width, and the available width. */
function fittedNames() {
  return [...document.querySelectorAll('#functions .name')].map((element) => {
    const copy = Object.assign(element.cloneNode(), { textContent: element.title, style: 'position: absolute; display: inline-block; visibility: hidden' });
    element.parentElement.append(copy);
    const needed = copy.getBoundingClientRect().width;
    copy.remove();
    return { text: element.textContent, whole: element.title, room: element.clientWidth, needed };
  });
}

/** Drags on the timeline without hovering first, as a finger does. */
function dragAs({ pointerType, x, y, by }) {
  const canvas = document.querySelector('[data-part=timeline] canvas');
  // The browser has no pointer with this number.
  canvas.setPointerCapture = () => {};
  const send = (type, clientX) => canvas.dispatchEvent(new PointerEvent(type, { pointerType, pointerId: 7, button: type === 'pointermove' ? -1 : 0, clientX, clientY: y }));
  send('pointerdown', x);
  for (const part of [0.5, 1]) send('pointermove', x + by * part);
  send('pointerup', x + by);
}
