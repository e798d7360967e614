// The browser's Back and Forward: they switch tabs and functions, and do not change the selection.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { functionsOf } from './asked.mjs';

const MIDDLE = '.sandwich-head > .name';

export const HISTORY_CASES = {
  async 'Back and Forward go through tabs and functions'(tab, { orchard }) {
    await tab.open(orchard.page);
    await tab.show('functions');
    await tab.click('#functions .row .name', 'orchard::Press::filter');
    await tab.press('Enter');
    const [first] = (await tab.tables()).callers;
    await tab.click('#callers .row .name');
    await tab.press('Enter');
    await isShown(tab, 'callers', first.function);
    equal((await tab.text('[data-part=before]')).trim().replace(/^← ?/, ''), 'orchard::Press::filter(float*, unsigned long, float)');
    await go(tab, -1);
    await isShown(tab, 'callers', 'orchard::Press::filter');
    equal(await tab.count('[data-part=before]'), 0, 'the step before was another tab');
    await go(tab, -1);
    await isShown(tab, 'functions');
    await go(tab, -1);
    await isShown(tab, 'overview');
    for (const [name, middle] of [['functions'], ['callers', 'orchard::Press::filter'], ['callers', first.function]]) {
      await go(tab, 1);
      await isShown(tab, name, middle);
    }
    await tab.click('[data-part=before]');
    await isShown(tab, 'callers', 'orchard::Press::filter');
    equal(await tab.browser.run(() => document.documentElement.dataset.state), 'ready', 'the page is still there');
  },

  async 'Back drops nothing that was selected or done, and undo goes nowhere'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=functions');
    await tab.click('#functions .row .name', 'orchard::Press::filter');
    await tab.show('callers');
    const entries = await tab.browser.run(() => history.length);
    await tab.press('h');
    await tab.search('press');
    await tab.browser.run(() => document.activeElement.blur());
    equal(await tab.browser.run(() => history.length), entries, 'operations and searches make no entries');
    await go(tab, -1);
    await isShown(tab, 'functions');
    match(await tab.fragment(), /op=hide-system.*&q=press$/);
    await tab.search('');
    deepEqual((await tab.tables()).functions, await functionsOf(orchard.file, ['--hide-system']));
    await go(tab, 1);
    await isShown(tab, 'callers', 'orchard::Press::filter');
    match(await tab.fragment(), /op=hide-system/);
    ok(!(await tab.fragment()).includes('q='), 'what was searched for since stays');
    await tab.click('#callers .row .name');
    await tab.press('Enter');
    const middle = await tab.text(MIDDLE);
    await tab.press('Control+z');
    await isShown(tab, 'callers', middle);
    ok(!(await tab.fragment()).includes('op='), await tab.fragment());
    await go(tab, -1);
    await isShown(tab, 'callers', 'orchard::Press::filter');
    ok(!(await tab.fragment()).includes('op='), 'what was undone stays undone');
  },

  async 'a pasted link is read as a whole, and Back leaves it'(tab, { orchard }) {
    await tab.open(orchard.page);
    await tab.show('tree');
    await tab.follow('v=1&tab=functions&op=hide-system&q=press');
    await isShown(tab, 'functions');
    equal(await tab.fragment(), 'v=1&tab=functions&op=hide-system&q=press');
    await go(tab, -1);
    await isShown(tab, 'tree');
    match(await tab.fragment(), /op=hide-system/);
    await go(tab, 1);
    await isShown(tab, 'functions');
    await tab.follow('v=1&tab=nowhere');
    match(await tab.text('[data-part=said]'), /unknown view/);
    await isShown(tab, 'functions');
  },

  async 'Back from a function of a comparison shows both recordings again'(tab, { pair }) {
    await tab.open(pair.page, 'v=1&tab=functions');
    await tab.click('#functions .row .name', 'orchard::Press::filter');
    await tab.press('Enter');
    match(await tab.fragment(), /side=after.*tab=callers/);
    await tab.press('h');
    await go(tab, -1);
    await isShown(tab, 'functions');
    match(await tab.fragment(), /^(?!.*side=).*op=hide-system.*fn=orchard::Press::filter/);
    await go(tab, 1);
    await isShown(tab, 'callers', 'orchard::Press::filter');
    match(await tab.fragment(), /side=after.*op=hide-system/);
  },
};

/** Goes this many steps through the browser's history. */
async function go(tab, steps) {
  const before = await tab.fragment();
  await tab.browser.run((steps) => history.go(steps), steps);
  const end = performance.now() + 10_000;
  while ((await tab.fragment()) === before) {
    if (performance.now() > end) throw new Error(`${steps}: no step from ${before}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await tab.ready();
}

async function isShown(tab, name, middle) {
  const end = performance.now() + 10_000;
  while ((await tab.count(`#tab-${name}[aria-selected=true]`)) === 0) {
    if (performance.now() > end) throw new Error(`${name} is not shown: ${await tab.fragment()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await tab.ready();
  if (middle !== undefined) ok((await tab.browser.run((middle) => document.querySelector(middle).title, MIDDLE)).startsWith(middle), `${middle} is in the middle`);
}
