// The browser's Back and Forward: they show what was shown.

import { equal, match, ok } from 'node:assert/strict';
import { brush } from './cases.mjs';

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

  async 'Back and Forward go through selections and operations, and undo is a step'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=functions');
    await tab.click('#functions .row .name', 'orchard::Press::filter');
    await tab.show('callers');
    await brush(tab, 0.3, 0.6);
    const brushed = await tab.fragment();
    match(brushed, /tab=callers&t=[^&]+/);
    await tab.press('h');
    await tab.search('press');
    await tab.browser.run(() => document.activeElement.blur());
    await go(tab, -1);
    equal(await tab.fragment(), brushed, 'an operation is a step, and a search is not');
    await go(tab, -1);
    // A drag is one step.
    await isShown(tab, 'callers', 'orchard::Press::filter');
    ok(!/t=|op=|q=/.test((await tab.fragment()).replace('tab=', '')), await tab.fragment());
    await go(tab, -1);
    await isShown(tab, 'functions');
    for (const expected of [/tab=callers/, /t=\d/, /op=hide-system.*&q=press$/]) {
      await go(tab, 1);
      match(await tab.fragment(), expected);
    }
    await tab.search('');
    await tab.browser.run(() => document.activeElement.blur());
    await tab.press('Control+z');
    await isShown(tab, 'callers', 'orchard::Press::filter');
    ok(!(await tab.fragment()).includes('op='), await tab.fragment());
    await go(tab, -1);
    match(await tab.fragment(), /op=hide-system/, 'the undone operation');
    equal(await tab.count('[data-part=before]'), 0, 'no other function is one step back');
  },

  async 'a pasted link is read as a whole, and Back leaves it'(tab, { orchard }) {
    await tab.open(orchard.page);
    await tab.show('tree');
    await tab.follow('v=1&tab=functions&op=hide-system&q=press');
    await isShown(tab, 'functions');
    equal(await tab.fragment(), 'v=1&tab=functions&op=hide-system&q=press');
    await go(tab, -1);
    await isShown(tab, 'tree');
    ok(!(await tab.fragment()).includes('op='), await tab.fragment());
    await go(tab, 1);
    await isShown(tab, 'functions');
    for (const isOpened of [false, true]) {
      if (isOpened) await tab.open(orchard.page, 'v=1&tab=nowhere');
      else await tab.follow('v=1&tab=nowhere');
      match(await tab.text('[data-part=said]'), /unknown view/);
      await isShown(tab, isOpened ? 'overview' : 'functions');
      equal(await tab.fragment(), 'v=1&tab=nowhere');
      // The refused link stays one step back.
      await tab.search('a');
      match(await tab.fragment(), /&q=a$/);
      await go(tab, -1);
      equal(await tab.fragment(), 'v=1&tab=nowhere');
    }
  },

  async 'Back from a function of a comparison shows both recordings again'(tab, { pair }) {
    await tab.open(pair.page, 'v=1&tab=functions');
    await tab.click('#functions .row .name', 'orchard::Press::filter');
    await tab.press('Enter');
    match(await tab.fragment(), /side=after.*tab=callers/);
    await tab.press('h');
    await go(tab, -1);
    await isShown(tab, 'callers', 'orchard::Press::filter');
    match(await tab.fragment(), /^(?!.*op=).*side=after/);
    await go(tab, -1);
    await isShown(tab, 'functions');
    match(await tab.fragment(), /^(?!.*(side|op)=).*fn=orchard::Press::filter/);
    for (const _ of 'ab') await go(tab, 1);
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
