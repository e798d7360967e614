// Operations at one place of the tree, by menu, keyboard and link.

import { deepEqual, equal, match, ok } from 'node:assert/strict';

const treeOf = async (tab) => (await tab.tables()).tree;

/** Returns the total weight after operations. */
async function totalOf(tab) {
  const { tab: shown } = await tab.browser.run(() => ({ tab: document.documentElement.dataset.tab }));
  await tab.show('functions');
  const { functions } = await tab.tables();
  await tab.show(shown);
  return functions.reduce((sum, { self }) => sum + self, 0);
}

/** Returns rows with their paths. Saved rows are indented by two spaces per level. */
function withPaths(rows) {
  const path = [];
  return rows.map((row) => {
    const level = /^ */.exec(row.function)[0].length / 2;
    path.length = level;
    path.push(row.function.trim());
    return { ...row, path: [...path], level };
  });
}

/** Returns a row inside the heaviest path, which is open. */
function innerRow(rows) {
  const placed = withPaths(rows);
  return placed.find(({ level }, at) => level > 2 && (placed[at + 1]?.level ?? 0) > level);
}

/** Selects the row with a path. */
async function choose(tab, { path }, options = {}) {
  const rows = withPaths((await tab.tables()).tree);
  const at = rows.findIndex((row) => row.path.join('\n') === path.join('\n'));
  ok(at >= 0, path.join(' › '));
  // Rows outside the visible area are not in the page, and the first row may be under the heading.
  await tab.browser.run((at) => void (document.getElementById('tree').scrollTop = Math.max(0, 24 * at - 100)), at);
  await tab.ready();
  await tab.click(`#tree-${at} .name`, null, options);
}

/** Returns a point on a canvas in a box with callers, and the box's name. The box is selected. */
export async function boxOf(tab, part) {
  const { left, top, width } = await tab.place(`[data-part=${part}] canvas`);
  // A flame chart has gaps while its thread waits.
  for (const [share, down] of [[0.2, 90], [0.25, 90], [0.63, 90], [0.81, 90], [0.81, 60], [0.07, 60]]) {
    const [x, y] = [left + width * share, top + down];
    await tab.browser.click(x, y);
    await tab.ready();
    const name = await tab.browser.run(() => document.querySelector('[data-part=chosen] .name')?.title ?? null);
    if (name !== null) return { x, y, name };
  }
  throw new Error(`${part}: no box`);
}

async function menuOfBox(tab, orchard, name, part) {
  await tab.open(orchard.page, `v=1&tab=${name}`);
  const { x, y, name: chosen } = await boxOf(tab, part);
  await tab.browser.click(x, y, { button: 'right' });
  await tab.ready();
  equal(await tab.text('[data-part=menu] .menu-title'), chosen);
  const menu = await tab.place('[data-part=menu]');
  ok(Math.abs(menu.left - x) < 40 && Math.abs(menu.top - y) < 400, `the menu is at ${menu.left} ${menu.top}, and not at ${x} ${y}`);
  await tab.press('Escape');
  await tab.browser.click(x, y);
  await tab.ready();
  await tab.press('Shift+F');
  match(await tab.fragment(), /op=root-at-place:down:[^&]+;/);
  ok((await tab.fragment()).includes(`${chosen}@`));
  await tab.press('Control+z');
  equal(await tab.count('[data-chip=op-0]'), 0);
}

export const PLACE_CASES = {
  async 'a place of the tree is focused, dropped and merged by menu'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=tree');
    const rows = await treeOf(tab);
    const row = innerRow(rows);
    const total = await totalOf(tab);
    const expected = { 'root-at-place': row.all, 'prune-place': total - row.all, 'charge-place': total };
    for (const [action, left] of Object.entries(expected)) {
      await choose(tab, row, { button: 'right' });
      equal(await tab.text('[data-part=menu] .menu-title'), row.function.trim());
      await tab.click(`[data-part=menu] [data-action=${action}]`);
      match(await tab.fragment(), new RegExp(`op=${action}:down:`));
      equal(await tab.count('[data-chip=op-0]'), 1);
      equal(await totalOf(tab), left, action);
      const now = await treeOf(tab);
      ok(!withPaths(now).some(({ path }) => path.join('\n') === row.path.join('\n')), `${action}: the place is gone`);
      if (action === 'root-at-place') deepEqual([now[0].function, now[0].all], [row.function.trim(), row.all]);
      await tab.press('Control+z');
      equal(await totalOf(tab), total, 'undone');
    }
  },

  async 'keys act on the place that was chosen'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=tree');
    const row = innerRow(await treeOf(tab));
    const total = await totalOf(tab);
    for (const [key, left] of [['F', row.all], ['D', total - row.all], ['M', total]]) {
      await choose(tab, row);
      await tab.press(`Shift+${key}`);
      equal(await tab.count('[data-chip=op-0]'), 1, key);
      equal(await totalOf(tab), left, key);
      await tab.press('Control+z');
    }
    // In other views, functions have no place in the tree.
    await tab.show('functions');
    await tab.press('ArrowDown');
    await tab.press('Shift+F');
    match(await tab.text('[data-part=said]'), /First choose a row of the call tree/);
    equal(await tab.count('[data-chip=op-0]'), 0);
    await tab.click('#functions .row.is-active .name', null, { button: 'right' });
    equal(await tab.count('[data-part=menu]'), 1);
    equal(await tab.count('[data-action=root-at-place]'), 0);
    equal(await tab.count('[data-action=root-at]'), 1);
  },

  async 'places of the tree from the leaves up'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=tree&tree=up');
    const total = await totalOf(tab);
    const open = async () => {
      await tab.click('#tree .row .name');
      await tab.press('Home');
      await tab.press('*');
    };
    await open();
    const row = withPaths(await treeOf(tab)).find(({ level }) => level === 1);
    await choose(tab, row);
    await tab.press('Shift+D');
    match(await tab.fragment(), /op=prune-place:up:/);
    equal(await totalOf(tab), total - row.all);
    await tab.press('Control+z');
    await open();
    await choose(tab, row);
    await tab.press('Shift+F');
    const [first] = await treeOf(tab);
    deepEqual([first.function, first.all], [row.path[1], row.all], 'stacks end where they were focused');
    equal(await totalOf(tab), row.all);
  },

  async 'a link holds a place'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=tree');
    await choose(tab, innerRow(await treeOf(tab)));
    await tab.press('Shift+F');
    await tab.press('h');
    const sent = await tab.browser.run(() => location.hash.slice(1));
    const [rows, chips] = [await treeOf(tab), await tab.text('[data-part=chips]')];
    await tab.open(orchard.page);
    await tab.follow(sent);
    deepEqual(await treeOf(tab), rows);
    equal(await tab.text('[data-part=chips]'), chips);
    for (const wrong of ['root-at-place:down:nobody@nothing', 'prune-place:sideways:main@orchard', 'prune-place:down:~AAAAAAAA']) {
      await tab.open(orchard.page);
      await tab.follow(`v=1&op=${encodeURIComponent(wrong)}`);
      match(await tab.text('[data-part=said]'), /link/, wrong);
      equal(await tab.count('[data-chip=op-0]'), 0, wrong);
    }
  },

  // Two cases: a driver that cannot release Shift needs a separate browser for each.
  'the menu of a box of the flame graph is that of its function and its place': (tab, { orchard }) => menuOfBox(tab, orchard, 'flame', 'flame-graph'),
  'the menu of a box of the flame chart is that of its function and its place': (tab, { orchard }) => menuOfBox(tab, orchard, 'chart', 'flame-chart'),

  async 'places of compared trees are those of both recordings'(tab, { pair }) {
    await tab.open(pair.page, 'v=1&tab=tree');
    await tab.click('#tree .row .name');
    await tab.press('*');
    const row = innerRow(await treeOf(tab));
    await choose(tab, row);
    await tab.press('Shift+F');
    match(await tab.fragment(), /op=root-at-place:down:/);
    const [focused] = (await tab.tables()).tree;
    equal(focused.function, row.function.trim());
    deepEqual([focused['all-before'], focused['all-after']], [row['all-before'], row['all-after']]);
    for (const side of ['before', 'after']) {
      await tab.click(`[data-part=choice-${side}]`);
      const [first] = (await tab.tables()).tree;
      deepEqual([first.function, first.all], [row.function.trim(), row[`all-${side}`]], side);
    }
  },
};
