// The search: smart case, and pasted names.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { functionsOf } from './asked.mjs';
import { waitFor } from './tab.mjs';

const PASTED = 'orchard::Press::filter(float*, unsigned long, float)';

export const SEARCH_CASES = {
  async 'a search ignores case until a capital letter is typed'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=functions');
    const { functions } = await tab.tables();
    const matching = (pattern) => functions.filter(({ function: name }) => pattern.test(name));
    ok(matching(/press/i).length > matching(/press/).length && matching(/Press/).length > 0, 'the recording has both');
    for (const [typed, pattern] of [['press', /press/i], ['Press', /Press/], ['PRESS', /PRESS/], ['(?-i)press', /press/]]) {
      await tab.search(typed);
      const found = matching(pattern);
      if (found.length === 0) match(await tab.text('#search-result'), /^No function matches/, typed);
      else match(await tab.text('#search-result'), new RegExp(`^${found.length} function`), typed);
      if (found.length > 0) deepEqual((await tab.tables()).functions, found, typed);
    }
    await tab.search('press');
    match(await tab.fragment(), /&q=press$/);
    await tab.click('[data-part=apply-search]');
    await tab.click('[data-part=menu] [data-action=focus]');
    await tab.ready();
    match(await tab.fragment(), /op=focus:\(\?i\)press/);
    // A link may request a case-sensitive search.
    await tab.open(orchard.page, 'v=1&tab=functions');
    await tab.follow('v=1&tab=functions&q=(?-i)press');
    equal(await tab.browser.run(() => document.getElementById('search').value), '(?-i)press');
    if (matching(/press/).length > 0) deepEqual((await tab.tables()).functions, matching(/press/));
  },

  async 'a pasted name is found, as plain text'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=functions');
    const { functions } = await tab.tables();
    const containing = (text) => functions.filter(({ function: name }) => name.includes(text));
    for (const [typed, found] of [[PASTED, containing(PASTED)], ['filter(float', containing('filter(float')], ['FILTER(float', []], ['void*)', containing('void*)')]]) {
      await tab.search(typed);
      if (found.length === 0) match(await tab.text('#search-result'), /regular expression cannot be used/, typed);
      else match(await tab.text('#search-result'), new RegExp(`^${found.length} function.*, as plain text$`), typed);
      if (found.length > 0) deepEqual((await tab.tables()).functions, found, typed);
      equal(await tab.count('#search[aria-invalid=true]'), found.length === 0 ? 1 : 0, typed);
    }
    // Text that matches as a regular expression is read as one.
    await tab.search('press|grind');
    ok(!/plain/.test(await tab.text('#search-result')));
    for (const [typed, pattern] of [[PASTED, 'orchard::Press::filter\\(float\\*, unsigned long, float\\)'], ['filter(float*', '(?i)filter\\(float\\*']]) {
      await tab.open(orchard.page, 'v=1&tab=functions');
      await tab.follow(`v=1&tab=functions&q=${encodeURIComponent(typed)}`);
      match(await tab.text('#search-result'), /as plain text/);
      await tab.click('[data-part=apply-search]');
      await tab.click('[data-part=menu] [data-action=focus]');
      ok((await tab.fragment()).endsWith(`op=focus:${pattern}`), await tab.fragment());
      deepEqual((await tab.tables()).functions, await functionsOf(orchard.file, [`--focus=${pattern}`]));
    }
  },

  async 'comparisons read a pasted name alike on every side'(tab, { pair }) {
    await tab.open(pair.page, 'v=1&tab=functions');
    await tab.search(PASTED);
    for (const side of ['after', 'before', 'compared']) {
      await tab.click(`[data-part=choice-${side}]`);
      match(await tab.text('#search-result'), /^1 function.*, as plain text$/, side);
      const { functions } = await tab.tables();
      deepEqual(functions.map((row) => row.function), [PASTED], side);
    }
  },

  'keys go from match to match through the whole tree': (tab, { orchard }) => goFromMatchToMatch(tab, orchard.page, ''),
  'keys go from match to match through the whole tree from the leaves up': (tab, { orchard }) => goFromMatchToMatch(tab, orchard.page, '&tree=up'),
  'keys go from match to match through the whole tree of a comparison': (tab, { pair }) => goFromMatchToMatch(tab, pair.page, ''),

  async 'Enter in the search goes to a match'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=tree');
    await tab.search('shake');
    await tab.press('Enter');
    await waitFor(async () => (await tab.browser.run(() => document.activeElement.id)) === 'tree', 'the focus');
    await waitFor(async () => /shake/.test((await activePath(tab)).at(-1)), 'the first match');
    await tab.ready();
    const isSeen = await tab.browser.run(() => {
      const [row, table] = [document.querySelector('#tree .row.is-active'), document.querySelector('#tree')].map((element) => element.getBoundingClientRect());
      return row.top >= table.top && row.bottom <= table.bottom;
    });
    ok(isSeen, 'the match is in sight');
    // As soon as the matches are computed.
    await tab.click('#search');
    await tab.press('Control+a');
    await tab.browser.type('filter(');
    await tab.press('Enter');
    await waitFor(async () => /filter\(/.test((await activePath(tab)).at(-1)), 'the first match');
    const first = await activePath(tab);
    for (const [keys, isFirst] of [['Enter', false], ['Shift+Enter', true]]) {
      await tab.press('/');
      await tab.press(keys);
      await waitFor(async () => (String(await activePath(tab)) === String(first)) === isFirst, keys);
    }
  },

  async 'typing scrolls to the heaviest match and counts the matches, and Enter goes on'(tab, { orchard }) {
    const place = () => tab.text('[data-part=match-place]');
    const focus = () => tab.browser.run(() => document.activeElement.id || document.activeElement.tagName);
    for (const name of ['tree', 'flame', 'chart', 'functions']) {
      await tab.open(orchard.page, `v=1&tab=${name}`);
      await tab.search('grind');
      await waitFor(async () => (await place()) !== null, `${name}: the number of the match`);
      await tab.ready();
      const [, first, all] = /^(\d+) of (\d+)$/.exec(await place());
      ok(Number(all) > 0 && Number(first) <= Number(all), `${name}: ${await place()}`);
      equal(await focus(), 'search', name);
      ok(!(await tab.fragment()).includes('fn='), `${name}: nothing is chosen`);
      if (name === 'tree') {
        const isSeen = await tab.browser.run(() => {
          const active = document.querySelector('#tree .row.is-active');
          const [row, table] = [active, document.querySelector('#tree')].map((element) => element.getBoundingClientRect());
          return active.textContent.includes('grind') && row.top >= table.top && row.bottom <= table.bottom;
        });
        ok(isSeen, 'the match is in sight');
      }
      await tab.press('Enter');
      await waitFor(async () => (await tab.fragment()).includes('fn='), `${name}: the match is chosen`);
      await tab.ready();
      match(await tab.fragment(), /fn=orchard::Press::grind/, name);
      equal((await place()).split(' ')[0], first, `${name}: the same match`);
      ok((await focus()) !== 'search', name);
      if (Number(all) === 1) continue;
      await tab.press('/');
      await tab.press('Enter');
      await waitFor(async () => (await place()).split(' ')[0] === String((Number(first) % Number(all)) + 1), `${name}: the next match after ${first} of ${all}`);
    }
  },

  async 'the search finds rows and names without functions, and goes from one to the next'(tab, { orchard, intervals }) {
    const place = () => tab.text('[data-part=match-place]');
    const found = () => tab.browser.run(() => (document.querySelector('#view .row.is-active.is-match') ?? document.querySelector('#view [data-found]'))?.textContent ?? '');
    const searches = [['threads', 'orchard'], ['states', 'run'], ['binaries', 'libsystem'], ['categories', 'code'], ['cores', '1'], ['overview', 'main thread'], ['overview', 'grind'], ['intervals', 'draw', intervals]];
    for (const [name, text, { page } = orchard] of searches) {
      await tab.open(page, `v=1&tab=${name}`);
      await tab.search(text);
      await waitFor(async () => (await place()) !== null, `${name}: the number of the match of ${text}`);
      const [, first, all] = /^(\d+) of (\d+)$/.exec(await place());
      ok((await found()).toLowerCase().includes(text), `${name}: ${await found()}`);
      equal(await tab.browser.run(() => document.activeElement.id), 'search', name);
      for (const steps of [0, 1]) {
        await tab.click('#search');
        await tab.press('Enter');
        const expected = ((Number(first) - 1 + steps) % Number(all)) + 1;
        await waitFor(async () => (await place()) === `${expected} of ${all}`, `${name}: match ${expected} of ${all} instead of ${await place()}`);
      }
      ok(!(await tab.browser.run(() => document.activeElement.id === 'search')), `${name}: the focus is on the match`);
      await tab.search('');
      equal(await tab.count('[data-found], .is-match'), 0, name);
    }
  },

  async 'Ctrl Enter keeps only samples with a match'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=functions');
    await tab.search('grind');
    await tab.press('Control+Enter');
    await waitFor(async () => (await tab.fragment()).includes('op=focus:(?i)grind'), 'the filter');
    await tab.ready();
    ok(!(await tab.fragment()).includes('q='));
    deepEqual((await tab.tables()).functions, await functionsOf(orchard.file, ['--focus=(?i)grind']));
  },

  async 'a tree without a match says so'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=tree');
    await tab.search('shake');
    await tab.browser.run(() => {
      const select = [...document.querySelectorAll('#view select')][0];
      select.value = 'thread';
      select.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await tab.ready();
    const [said, found] = [[], []];
    const parts = await tab.browser.run(() => [...document.querySelectorAll('#view select')[1].options].map(({ value }) => value));
    for (const part of parts) {
      await tab.browser.run((part) => {
        const select = document.querySelectorAll('#view select')[1];
        select.value = part;
        select.dispatchEvent(new Event('change', { bubbles: true }));
      }, part);
      await tab.ready();
      await tab.click('#tree .row .name');
      if (await toMatch(tab, 'n')) found.push(part);
      else said.push(await tab.text('[data-part=said]'));
      if (said.length > 0 && found.length > 0) break;
    }
    ok(said.length > 0 && found.length > 0, `of ${parts.length} trees, ${said.length} without a match and ${found.length} with one were seen`);
    for (const text of said) match(text, /the matches are in the tree of another thread/);
    await tab.search('');
    await tab.click('#tree .row .name');
    await tab.press('n');
    match(await tab.text('[data-part=said]'), /Search for something first/);
  },
};

/** Goes through all matches of a tree, wraps around, and goes back. */
async function goFromMatchToMatch(tab, page, link) {
  await tab.open(page, `v=1&tab=tree${link}`);
  // The matches, in the order of the complete tree.
  await tab.click('#tree .row .name');
  await expandAll(tab);
  const names = (await tab.tables()).tree.map((row) => row.function);
  const all = names.map((name) => name.trim()).filter((name) => name.startsWith('orchard::Tree::shake'));
  ok(all.length > 0);
  await tab.open(page, `v=1&tab=tree${link}`);
  await tab.search('shake');
  await tab.click('#tree .row .name');
  await tab.press('Home');
  // The first row is not a match.
  const seen = [];
  for (let step = 0; step <= all.length; step += 1) {
    await toMatch(tab, 'n');
    seen.push(await activePath(tab));
    ok(seen.at(-1).at(-1).startsWith('orchard::Tree::shake'), `${step}: ${seen.at(-1)}`);
  }
  deepEqual(seen.at(-1), seen[0], 'on from the other end');
  equal(new Set(seen.map(String)).size, all.length);
  deepEqual(seen.slice(0, -1), allPaths(names).filter((path) => path.at(-1).startsWith('orchard::Tree::shake')), 'the order of the tree');
  for (let step = all.length - 1; step >= 0; step -= 1) {
    await toMatch(tab, 'N');
    deepEqual(await activePath(tab), seen[step], `back to ${step}`);
  }
}

/** Expands everything below each row of the first level, starting with the last. */
async function expandAll(tab) {
  await tab.press('End');
  for (;;) {
    const [level, place] = await tab.browser.run(() => {
      const row = document.querySelector('#tree .row.is-active');
      return [row.getAttribute('aria-level'), row.id];
    });
    if (level === '1') await tab.press('*');
    if (place === 'tree-0') return;
    await tab.press(level === '1' ? 'ArrowUp' : 'ArrowLeft');
    if (level !== '1') await tab.press('ArrowLeft');
  }
}

/**
 * Presses a key that leads to a match of `shake`. Returns true after another matching row is highlighted, which happens a few frames
 * after the answer.
 */
async function toMatch(tab, key) {
  const highlighted = () =>
    tab.browser.run(() => {
      const id = document.querySelector('#tree').getAttribute('aria-activedescendant');
      return [id, document.getElementById(id)?.textContent ?? ''];
    });
  const [before] = await highlighted();
  await tab.press(key);
  const isThere = async () => {
    const [id, text] = await highlighted();
    return id !== before && text.includes('shake');
  };
  return waitFor(isThere, key, 2_000).then(() => true, () => false);
}

/** Returns the path of the highlighted row. */
async function activePath(tab) {
  const place = await tab.browser.run(() => Number(document.querySelector('#tree').getAttribute('aria-activedescendant').slice('tree-'.length)));
  return allPaths((await tab.tables()).tree.map((row) => row.function))[place];
}

/** Returns the path of each row. Saved names are indented by level. */
function allPaths(names) {
  const path = [];
  return names.map((name) => {
    path.length = (name.length - name.trimStart().length) / 2;
    path.push(name.trim());
    return [...path];
  });
}
