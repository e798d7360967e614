// Names removed by `--redact` appear nowhere on the page, and not in saved files.

import { deepEqual, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { showTab } from './cases.mjs';
import { inflated, PLANTED } from './secret.mjs';
import { TABS } from './tab.mjs';

export const REDACTION_CASES = {
  async 'tells no name that is redacted'(tab, { redacted }) {
    const told = (text, where) => deepEqual(redacted.removed.filter((name) => text.toLowerCase().includes(name.toLowerCase())), [], where);
    for (const name of PLANTED) ok(redacted.whole.toLowerCase().includes(name.toLowerCase()), `${name} is in the page without --redact`);
    ok(redacted.removed.length > PLANTED.length + 4, `${redacted.removed.length} names are removed`);
    const file = readFileSync(redacted.page, 'utf8');
    told(file, 'the file');
    told(inflated(file), 'the payload');
    await tab.open(redacted.page);
    for (const name of TABS) {
      await showTab(tab, name);
      told(await shownBy(tab), name);
      if ((await tab.count('#view .row .name')) > 0) {
        await tab.click('#view .row .name');
        told(await shownBy(tab), `${name}, with a row chosen`);
        for (const kind of ['tsv', 'json']) told(await tab.savedTables(kind), `${name} as ${kind}`);
      }
      if ((await tab.count('[data-part=export-svg]')) > 0) told(await tab.saved(() => tab.click('[data-part=export-svg]')), `${name} as SVG`);
    }
    await tab.follow('v=1&tab=tree');
    await tab.click('#tree .row .name');
    await tab.press('*');
    told(await shownBy(tab), 'the whole tree');
    await tab.click('[data-part=recording]');
    told(await shownBy(tab), 'what was read');
  },
};

/** Returns everything on the screen, in attributes and in the address. */
function shownBy(tab) {
  return tab.browser.run(() => {
    const { innerText, outerHTML } = document.body;
    const script = [...document.querySelectorAll('script')].reduce((html, { outerHTML }) => html.replace(outerHTML, () => ''), outerHTML);
    return [document.title, innerText, script, decodeURIComponent(location.hash)].join('\n');
  });
}
