// The space of the parts of the page, and how they save space, in every browser.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { brush, showTab } from './cases.mjs';
import { TABS, waitFor } from './tab.mjs';

/** The indentation of a level of a tree. */
const LEVEL = 14;

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

  async 'the timeline remembers its height, of at most a third of the window, and hides its hint for good'(tab, { orchard, pair }) {
    const expectHeight = async (expected) => {
      const { height } = await tab.place('[data-part=timeline]');
      ok(Math.abs(height - expected) < 1, `${height} instead of ${expected}`);
    };
    // The fixed part at the top, four threads, and the cores; in a comparison, half of a third of the window.
    for (const [page, height, most] of [[orchard.page, 231, 200], [pair.page, 133, 100]]) {
      await tab.open(page);
      await expectHeight(height);
      await dragLowerEdge(tab, -40);
      await tab.click('[data-part=hint] button');
      // Without `tab.open`, which clears the storage.
      await tab.browser.open(page);
      await tab.ready();
      await expectHeight(height - 40);
      equal(await tab.count('[data-part=hint]'), 0);
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
