// The search in smart case.

import { deepEqual, equal, match, ok } from 'node:assert/strict';

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
    // An older link still distinguishes case.
    await tab.open(orchard.page, 'v=1&tab=functions');
    await tab.follow('v=1&tab=functions&q=press');
    equal(await tab.browser.run(() => document.getElementById('search').value), '(?-i)press');
    if (matching(/press/).length > 0) deepEqual((await tab.tables()).functions, matching(/press/));
  },
};
