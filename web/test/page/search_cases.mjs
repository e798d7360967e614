// The search: smart case, and names as they are pasted.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { functionsOf } from './asked.mjs';

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
    // A link may say that case counts.
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
      if (found.length === 0) match(await tab.text('#search-result'), /group is not closed/, typed);
      else match(await tab.text('#search-result'), new RegExp(`^${found.length} function.*, as plain text$`), typed);
      if (found.length > 0) deepEqual((await tab.tables()).functions, found, typed);
      equal(await tab.count('#search[aria-invalid=true]'), found.length === 0 ? 1 : 0, typed);
    }
    // A regular expression that matches is one.
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
};
