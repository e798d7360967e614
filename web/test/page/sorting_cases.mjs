// The order of tables, by default and by a column, with mouse and keyboard.

import { deepEqual, equal, match, ok } from 'node:assert/strict';

const NAMES = new Intl.Collator('en', { numeric: true });

/** Returns the values of a column, starting with the first row. */
async function valuesOf(tab, table, column) {
  return (await tab.tables())[table].map((row) => row[column]);
}

/** Sorts values, with missing ones last. */
function sorted(values, sign) {
  return [...values].sort((a, b) => (typeof a !== 'string' ? sign * (a - b) : (a === '') - (b === '') || (a !== '' && sign * NAMES.compare(a, b))));
}

const directions = (tab, table) => tab.browser.run((table) => [...document.querySelectorAll(`#${table} [aria-sort]`)].map((element) => [element.id, element.getAttribute('aria-sort')]), table);
const heading = (table, column) => `#${table}-head-${column}`;

export const SORTING_CASES = {
  async 'a heading sorts, reverses, and goes back to the table’s own order'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=functions');
    const own = (await tab.tables()).functions;
    match(await tab.text('#view .controls'), /by self weight, heaviest first/);
    for (const [column, first] of [['all', -1], ['function', 1], ['binary', 1], ['all-share', -1]]) {
      const value = column === 'all-share' ? 'all' : column;
      for (const [sign, name] of [[first, first > 0 ? 'ascending' : 'descending'], [-first, first > 0 ? 'descending' : 'ascending']]) {
        await tab.click(heading('functions', column));
        deepEqual(await valuesOf(tab, 'functions', value), sorted(own.map((row) => row[value]), sign), `${column} ${name}`);
        deepEqual((await directions(tab, 'functions')).filter(([, direction]) => direction !== 'none'), [[`functions-head-${column}`, name]]);
        ok(!/heaviest/.test(await tab.text('#view .controls')), 'the note is about another order');
      }
      await tab.click(heading('functions', column));
      deepEqual((await tab.tables()).functions, own, column);
      match(await tab.text('#view .controls'), /by self weight, heaviest first/);
    }
    // Tables are sorted by their default column at the start.
    equal(await tab.count(`${heading('functions', 'self')}[aria-sort=descending]`), 1);
    await tab.click(heading('functions', 'self'));
    deepEqual(await valuesOf(tab, 'functions', 'self'), own.map(({ self }) => self).reverse());
    await tab.click(heading('functions', 'function'));
    await tab.click(heading('functions', 'self'));
    deepEqual((await tab.tables()).functions, own);
  },

  async 'what has one order is not sorted'(tab, { orchard }) {
    for (const [link, table] of [['tab=tree&tree=heaviest', 'heaviest'], ['tab=tree', 'tree'], ['tab=source', 'source'], ['tab=cores', 'cores']]) {
      await tab.open(orchard.page, `v=1&${link}`);
      if (table === 'source') await tab.click('[data-part=choice-files]');
      ok((await tab.count(`#${table} [role=columnheader]`)) > 2, table);
      equal(await tab.count(`#${table} [aria-sort]`), 0, table);
      const rows = (await tab.tables())[table];
      await tab.click(`#${table} [role=columnheader]:nth-child(2)`);
      deepEqual((await tab.tables())[table], rows, table);
    }
  },

  async 'keys go to the headings and sort'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=functions');
    const own = (await tab.tables()).functions;
    await tab.click('#functions .row .name');
    await tab.press('Home');
    const active = () => tab.browser.run(() => document.activeElement.getAttribute('aria-activedescendant'));
    await tab.press('ArrowUp');
    equal(await active(), 'functions-head-self');
    await tab.press('End');
    await tab.press('ArrowLeft');
    equal(await active(), 'functions-head-function');
    await tab.press('Enter');
    deepEqual(await valuesOf(tab, 'functions', 'function'), sorted(own.map((row) => row.function), 1));
    await tab.press(' ');
    deepEqual(await valuesOf(tab, 'functions', 'function'), sorted(own.map((row) => row.function), -1));
    await tab.press('Enter');
    deepEqual((await tab.tables()).functions, own);
    equal(await tab.count('#tab-functions[aria-selected=true]'), 1, 'Enter opens no row meanwhile');
    await tab.press('ArrowDown');
    equal(await active(), 'functions-0');
    equal(await tab.count('#functions .table-head [tabindex], #functions .table-head button'), 0, 'no further tab stops');
  },

  async 'threads, signposts and verdicts are sorted by what they are'(tab, { others, pair }) {
    const signposts = others.find(({ file }) => file.includes('27/signposts'));
    await tab.open(signposts.page, 'v=1&tab=intervals');
    const own = await valuesOf(tab, 'intervals', 'start');
    equal(await tab.count(`${heading('intervals', 'start')}[aria-sort=ascending]`), 1);
    await tab.click(heading('intervals', 'start'));
    deepEqual(await valuesOf(tab, 'intervals', 'start'), own.reverse());
    await tab.show('threads');
    await tab.click(heading('threads', 'thread'));
    const threads = await valuesOf(tab, 'threads', 'thread');
    deepEqual(threads, sorted(threads, 1));
    await tab.open(pair.page, 'v=1&tab=functions');
    match(await tab.text('#view .controls'), /the largest changes first/);
    await tab.click(heading('functions', 'verdict'));
    const verdicts = await valuesOf(tab, 'functions', 'verdict');
    deepEqual(verdicts, sorted(verdicts, 1));
    ok(!/largest changes first/.test(await tab.text('#view .controls')));
  },
};
