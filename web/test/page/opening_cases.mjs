// Checks of every tab: every recording opens, in windows of any width, and is accessible.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { textOf } from '../command.mjs';
import { showTab } from './cases.mjs';
import { COMPARED } from './compared_cases.mjs';
import { inflated } from './secret.mjs';
import { TABS } from './tab.mjs';

/** The smallest and the largest window, and sizes between. */
const SIZES = [[390, 844], [2200, 1300]];
const SIZES_BETWEEN = [[640, 450], [1280, 800]];
export const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
/** The rules about colours. The results of all others are the same in light and dark themes. */
export const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

export const OPENING_CASES = {
  'is accessible by the rules of axe': (tab, { orchard, axe }) => expectAccessible(tab, axe, orchard.page, TABS),
  'intervals are accessible by the rules of axe': (tab, { intervals, axe }) => expectAccessible(tab, axe, intervals.page, ['overview', 'intervals']),
  'comparisons are accessible by the rules of axe': (tab, { pair, axe }) => expectAccessible(tab, axe, pair.page, [...COMPARED, 'callers']),
  'comparisons of many runs are accessible by the rules of axe': (tab, { runs, axe }) => expectAccessible(tab, axe, runs.page, ['runs', 'flame']),
  async 'shows the program, and has no folder of the sender'(tab, { orchard, pair }) {
    await tab.open(orchard.page);
    equal(await tab.text('h1'), 'Orchard · input.xml');
    for (const { page } of [orchard, pair]) {
      const text = readFileSync(page, 'utf8');
      const parts = [text.replaceAll(/<script[^]*?<\/script>/g, ''), textOf(text, 'diff') ?? '', ...['profile', 'before'].filter((id) => textOf(text, id) !== null).map((id) => inflated(text, id))];
      for (const part of parts) ok(!part.includes(dirname(orchard.file)) && !part.includes(tmpdir()), basename(page));
    }
  },

  async 'a page that was only partly downloaded says so'(tab, { orchard }) {
    const text = readFileSync(orchard.page);
    const path = join(dirname(orchard.page), `part-${tab.browser.name}.html`);
    for (const share of [0.5, 0.9, 0.999]) {
      writeFileSync(path, text.subarray(0, Math.floor(text.length * share)));
      await tab.browser.open(path);
      match(await tab.text('#opening'), /incomplete: download it again/, `${share}`);
    }
    await tab.open(orchard.page);
    equal(await tab.count('#opening'), 0);
  },

  ...Object.fromEntries(SIZES.flatMap(fitting)),
};

export const FITTING_CASES = Object.fromEntries(SIZES_BETWEEN.flatMap(fitting));

/** Returns a case for each recording: it opens, and shows every tab. */
export function opensEach({ others }) {
  const opening = ({ file, page }) => async (tab) => {
    await tab.open(page);
    for (const name of TABS) {
      await showTab(tab, name);
      equal(await tab.count('#view .fault'), 0, name);
    }
  };
  return Object.fromEntries(others.map((other) => [`opens ${other.file.split('/').slice(-3, -1).join(' ')} ${basename(other.file)}`, opening(other)]));
}

/** Returns the cases for a window size: pages and comparisons fit into it. */
function fitting([width, height]) {
  const alone = async (tab, { orchard, counters }) => {
    // Narrow windows also test a second recording, which has more columns.
    for (const { page } of width < 1_000 ? [orchard, counters] : [orchard]) await expectFitting(tab, page, width, height);
  };
  const compared = (tab, { pair }) =>
    expectFitting(tab, pair.page, width, height, async (name) => {
      if (!COMPARED.includes(name)) match(await tab.text('#view'), /one recording at a time/);
    });
  const fit = `fit a window of ${width} × ${height}`;
  return [[`many runs ${fit}`, (tab, { runs }) => expectFitting(tab, runs.page, width, height, async () => {}, ['runs'])], [`fits a window of ${width} × ${height}`, alone], [`comparisons ${fit}`, compared]];
}

async function expectFitting(tab, page, width, height, check = async () => {}, tabs = TABS) {
  await tab.browser.resize(width, height);
  await tab.open(page);
  for (const name of tabs) {
    await tab.follow(`v=1&tab=${name}`);
    const wide = await tab.browser.run(() => [document.documentElement.scrollWidth, innerWidth]);
    ok(wide[0] <= wide[1], `${name}: ${wide[0]} pixels in a window of ${wide[1]}`);
    await check(name);
  }
  await tab.browser.resize(1280, 800);
}

/** Fails if axe finds problems in tabs, in light and dark themes. One browser is enough, since all have the same elements. */
async function expectAccessible(tab, axe, page, tabs) {
  if (tab.browser.name !== 'chromium') return;
  await tab.open(page, 'v=1&op=hide-system');
  for (const [theme, rules] of [['light', { type: 'tag', values: RULES }], ['dark', { type: 'rule', values: COLOUR_RULES }]]) {
    while ((await tab.text('[data-part=theme]')).toLowerCase() !== theme) await tab.click('[data-part=theme]');
    for (const name of tabs) {
      await showTab(tab, name);
      deepEqual(await axeFaults(tab, axe, rules), [], `${theme} ${name}`);
    }
  }
}

export async function axeFaults(tab, axe, rules) {
  const isThere = await tab.browser.run(() => globalThis.axe !== undefined);
  if (!isThere) await tab.browser.run((source) => void (0, eval)(source), readFileSync(axe, 'utf8')).catch(() => tab.browser.page.addScriptTag({ path: axe }));
  return tab.browser.run(async (rules) => {
    const { violations, passes } = await globalThis.axe.run(document, { runOnly: rules, resultTypes: ['violations'] });
    if (passes.length === 0) return ['no rule looked at anything'];
    return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, any }) => `${html.slice(0, 120)} ${any[0]?.message ?? ''}`).join(' | ')}`);
  }, rules);
}
