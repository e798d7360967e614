// Saving the displayed tables, and menus below buttons.

import { deepEqual, equal, match, ok } from 'node:assert/strict';

const TIME = 't=0.35s..0.45s';

/** Opens the save menu and selects an item. */
async function save(tab, action) {
  await tab.click('[data-part=save]');
  await tab.click(`[data-part=menu] [data-action=${action}]`);
}

export const SAVING_CASES = {
  async 'the menu says what it saves, and the page that it did'(tab, { orchard }) {
    await tab.open(orchard.page, `v=1&tab=functions&${TIME}`);
    await tab.click('[data-part=save]');
    deepEqual((await tab.text('[data-part=menu]')).split('\n').filter((line) => line.trim() !== ''), ['Save what is shown', 'This table (Functions) as TSV', 'This table (Functions) as JSON']);
    await tab.press('ArrowDown');
    equal(await tab.text('[data-part=said]'), '', 'arrow keys save nothing');
    await tab.press('Escape');
    const tsv = await tab.saved(() => save(tab, 'save-tsv'));
    equal(await tab.text('[data-part=said]'), 'Saved functions.tsv.');
    const [head, ...rows] = tsv.split('\n').map((line) => line.split('\t'));
    deepEqual(head, ['self %', 'self ms', 'total %', 'total ms', 'function', 'binary']);
    const { functions } = await tab.tables();
    equal(rows.length, functions.length);
    for (const [at, [share, self, , all]] of rows.entries()) {
      equal(Number(self) * 1e6, Number(functions[at].self));
      equal(Number(all) * 1e6, Number(functions[at].all));
      ok(Math.abs(Number(share) - Number(self) / 1.98) < 1e-4, `${share} of ${self}`);
    }
  },

  async 'drawings say what they show'(tab, { orchard }) {
    await tab.open(orchard.page, `v=1&tab=flame&${TIME}&op=hide-system`);
    const svg = await tab.saved(() => save(tab, 'save-svg'));
    for (const text of ['Flame graph: 198.00 ms', 'input.xml', 'Selected: 350 ms – 450 ms', 'Done: hide system code']) ok(svg.includes(`>${text}</text>`), text);
    match(svg, /<title>orchard::Worker::main\(void\*\)\nOrchard[^<]*\nall 1\d\d\.\d+ ms/);
    equal(await tab.text('[data-part=said]'), 'Saved flame-graph.svg.');
    const { type, size } = await tab.savedFile(() => save(tab, 'save-png'));
    deepEqual([type, size > 5000], ['image/png', true]);
  },

  async 'a search is applied by Enter and not by arrow keys'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=functions');
    await tab.search('press');
    await tab.click('[data-part=apply-search]');
    await tab.press('ArrowDown');
    await tab.press('ArrowDown');
    ok(!(await tab.fragment()).includes('op='), 'nothing is applied yet');
    await tab.press('Enter');
    match(await tab.fragment(), /op=prune:/);
  },

  async 'a function outside the selection is reported'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=functions');
    await tab.click('#functions .row .name', 'fruit_copy_fast');
    await tab.press('d');
    await tab.show('callers');
    match((await tab.text('#view')).trim(), /^fruit_copy_fast is not in the selection\.$/);
    match(await tab.text('[data-part=chosen]'), /not in the selection/);
  },

  async 'a side without functions stands below the other on phones'(tab, { orchard }) {
    await tab.browser.resize(390, 844);
    await tab.open(orchard.page, 'v=1&tab=callers&fn=fruit_copy_fast@libfruit.dylib');
    const [callers, callees] = await tab.browser.run(() => [...document.querySelectorAll('.side')].map((side) => side.getBoundingClientRect().toJSON()));
    await tab.browser.resize(1280, 800);
    // As wide as the page, whose width depends on a scroll bar and the window's minimum width.
    ok(callers.left === callees.left && callers.width === callees.width && callers.width > 340, `${callers.width} and ${callees.width}`);
    ok(callees.top > callers.bottom - 2 && callees.height < callers.height, `${callees.top}, ${callees.height} below ${callers.bottom}, ${callers.height}`);
  },

  async 'the first press of the theme button changes what is seen'(tab, { orchard }) {
    await tab.open(orchard.page);
    const back = () => tab.browser.run(() => getComputedStyle(document.body).backgroundColor);
    const before = await back();
    await tab.click('[data-part=theme]');
    ok((await back()) !== before);
  },
};
