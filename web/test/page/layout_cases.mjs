// The space that parts of the page take, and what they leave out if there is little, in every browser.

import { ok } from 'node:assert/strict';


export const LAYOUT_CASES = {
  async 'names are shortened only if they do not fit, namespaces first'(tab, { orchard }) {
    for (const [width, expected] of [[1280, 'orchard::Press::filter(float*, unsigned long, float)'], [840, '…::Press::filter(float*, unsigned long, float)']]) {
      await tab.browser.resize(width, 800);
      await tab.open(orchard.page, 'v=1&tab=functions');
      const names = await tab.browser.run(fittedNames);
      ok(names.some(({ text }) => text === expected), names.map(({ text }) => text).join('\n'));
      // The widths of letters do not add up exactly.
      for (const { text, whole, room, needed } of names) ok(text === whole ? needed <= room + 1 : needed > room - 6, `${text} of ${whole}: ${needed} in ${room}`);
    }
    await tab.browser.resize(1280, 800);
  },
};

/** Returns the names in a table: the shown text, the complete name, its width, and the available width. */
function fittedNames() {
  return [...document.querySelectorAll('#functions .name')].map((element) => {
    const copy = Object.assign(element.cloneNode(), { textContent: element.title, style: 'position: absolute; display: inline-block; visibility: hidden' });
    element.parentElement.append(copy);
    const needed = copy.getBoundingClientRect().width;
    copy.remove();
    return { text: element.textContent, whole: element.title, room: element.clientWidth, needed };
  });
}
