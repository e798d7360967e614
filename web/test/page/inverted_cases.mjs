// The inverted flame graph: its boxes are the rows of the bottom-up tree, and it is used like the other flame graph.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { boxOf } from './place_cases.mjs';

const namesBelowRoot = (rows) => rows.filter(({ depth }) => depth === 1).map(({ function: name, weight }) => [name, weight]);

export const INVERTED_CASES = {
  async 'the inverted flame graph begins with the functions by self weight'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=tree&tree=up');
    const { tree } = await tab.tables();
    const roots = tree.filter(({ function: name }) => !name.startsWith(' ')).map(({ function: name, all }) => [name, all]);
    await tab.show('flame');
    await tab.press('Shift+I');
    equal(await tab.fragment(), 'v=1&tab=flame&tree=up&flame=up');
    const found = namesBelowRoot((await tab.tables())['flame-graph']);
    // Boxes narrower than a pixel are omitted.
    ok(found.length > 5);
    deepEqual(found, roots.slice(0, found.length));
    await tab.press('h');
    await tab.show('tree');
    const hidden = (await tab.tables()).tree.filter(({ function: name }) => !name.startsWith(' ')).map(({ function: name, all }) => [name, all]);
    await tab.show('flame');
    const after = namesBelowRoot((await tab.tables())['flame-graph']);
    deepEqual(after, hidden.slice(0, after.length));
    await tab.press('Shift+I');
    equal(await tab.count('[data-part=choice-down][aria-pressed=true]'), 1);
    await tab.press('Control+z');
    equal(await tab.fragment(), 'v=1&tab=flame&tree=up', 'undo takes back the operation, and leaves what is looked at');
  },

  async 'an inverted box has a menu, is a place, and is saved as SVG'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=flame&flame=up');
    const { x, y, name } = await boxOf(tab, 'flame-graph');
    await tab.browser.click(x, y, { button: 'right' });
    await tab.ready();
    equal(await tab.text('[data-part=menu] .menu-title'), name);
    await tab.click('[data-part=menu] [data-action=root-at-place]');
    match(await tab.fragment(), /op=root-at-place:up:[^&]+;/);
    const rows = (await tab.tables())['flame-graph'];
    deepEqual([rows[1].function, rows[1].weight], [name, rows[0].weight], 'its samples end there');
    const sent = await tab.browser.run(() => location.hash.slice(1));
    await tab.press('Control+z');
    await tab.follow(sent);
    deepEqual((await tab.tables())['flame-graph'], rows);
    const svg = await tab.saved(() => tab.click('[data-part=export-svg]'));
    match(svg, /Inverted flame graph/);
    await tab.search('orchard');
    match(await tab.text('#search-result'), /^[1-9]\d* functions?,/);
  },

  async 'the key that inverts turns the call tree, too'(tab, { orchard, pair }) {
    await tab.open(orchard.page, 'v=1&tab=tree');
    await tab.press('Shift+I');
    match(await tab.fragment(), /tree=up/);
    await tab.press('Shift+I');
    equal(await tab.fragment(), 'v=1&tab=tree');
    await tab.open(pair.page, 'v=1&tab=flame');
    await tab.press('Shift+I');
    equal(await tab.fragment(), 'v=1&tab=flame', 'differences are of one direction');
  },
};
