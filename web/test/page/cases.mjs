// The behaviour of the page with mouse and keyboard, in every browser.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { escaped } from '../escaped.mjs';
import { askedJson, functionsOf } from './asked.mjs';
import { TABS, waitFor } from './tab.mjs';

/** Converts the time in a fragment to an option of the command. */
export function timeOf(fragment) {
  const [, span] = /(?:^|&)t=([^&]+)/.exec(fragment) ?? [];
  ok(span !== undefined, `${fragment} has no time`);
  return ['--time', span];
}

export const CASES = {
  async 'opens on the answer'(tab, { orchard }) {
    await tab.open(orchard.page);
    match(await tab.text('[data-part=overview] .lead'), /485\.00 ms in .*[^.]\.$/);
    match(await tab.text('[data-part=overview]'), /53\.2%\s+orchard::Press::filter/);
    const top = await tab.text('[data-part=top]');
    match(top, /^total\s+▾ own\+sys\s+ms\s+function\s+binary\s+53\.2%\s+33\.8%\s+164\.000\s+orchard::Press::filter[^]*14\.2%\s+14\.2%\s+69\.000\s+fruit_copy_fast[^]*orchard::operator<\(…\)/);
  },

  async 'says what threads do if none runs'(tab, { runnable }) {
    await tab.open(runnable.page);
    const { overview: [{ sentences: { answer } }] } = await askedJson([runnable.file], ['--view', 'overview']);
    match(answer[0], /^States: threads were ready to run without a core in 485 of 485 samples/);
    const shown = await tab.text('[data-part=overview]');
    for (const sentence of answer) ok(shown.includes(sentence), `${sentence} is not in ${shown}`);
    await brush(tab, 0.3, 0.6);
    match(await tab.text('#view'), /The selection contains no samples\. Remove a choice above, or include all thread states/);
  },

  async 'tells what was left out of a smaller page'(tab, { reduced, orchard }) {
    await tab.open(reduced.page);
    match(await tab.text('[data-part=recording]'), /^times left out; /);
    match(await tab.text('main'), /Times were left out .* so there is no timeline/);
    await tab.click('[data-part=recording]');
    match(await tab.text('[data-part=reduction]'), /are added up, without times and cores\. Weights and sample counts are exact/);
    await tab.press('Escape');
    await tab.show('functions');
    deepEqual((await tab.tables()).functions, await functionsOf(orchard.file, []));
    await tab.open(orchard.page);
    match(await tab.text('[data-part=recording]'), /^(?!.*times)/);
  },

  async 'shows each view by mouse'(tab, { orchard }) {
    await tab.open(orchard.page);
    for (const name of TABS) {
      await showTab(tab, name);
      equal(await tab.count(`#tab-${name}[aria-selected=true]`), 1, name);
      ok((await tab.text('#view')).trim().length + (await tab.count('#view canvas')) > 0, `${name} shows something`);
      equal(await tab.count('#view .fault'), 0, name);
    }
  },

  async 'shows each view by key'(tab, { orchard }) {
    await tab.open(orchard.page);
    for (const [index, name] of TABS.slice(0, 9).entries()) {
      await tab.press(String(index + 1));
      equal(await tab.count(`#tab-${name}[aria-selected=true]`), 1, name);
    }
    await tab.click('#tab-overview');
    const listed = await tab.browser.run(() => [...document.querySelectorAll('[role=tab]')].map(({ id }) => id.slice('tab-'.length)));
    for (const name of [...listed.slice(1), listed[0]]) {
      await tab.press('ArrowRight');
      equal(await tab.count(`#tab-${name}[aria-selected=true]`), 1, name);
    }
  },

  async 'tables are the command’s'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=functions');
    deepEqual((await tab.tables()).functions, await functionsOf(orchard.file, []));
    const { threads } = await askedJson([orchard.file], ['--view', 'threads']);
    await tab.show('threads');
    const rows = Object.values(await tab.tables()).flat();
    for (const { thread, all_weight } of threads) {
      ok(rows.some((row) => JSON.stringify(row).includes(thread) && Object.values(row).includes(all_weight)), thread);
    }
  },

  async 'samples weigh what a counter counted'(tab, { events, orchard }) {
    await tab.open(orchard.page);
    equal(await tab.count('[data-part=counters]'), 0, 'nothing of counters without any');
    await tab.open(events.page);
    match(await tab.text('[data-part=counters]'), /2\.52 Mevents\s+counter 1\s+1\.21 Mevents\s+counter 2/);
    await tab.click('[data-part=counters] button', 'counter 2');
    match(await tab.fragment(), /metric=counter:2/);
    match(await tab.text('[data-part=overview]'), /1\.21 Mevents in 5 samples/);
    await tab.show('functions');
    deepEqual((await tab.tables()).functions, await functionsOf(events.file, ['--metric', 'counter:2']));
    await tab.press('Control+z');
    await tab.press('Control+z');
    equal((await tab.fragment()).includes('metric'), false);
  },

  async 'the brush selects a time'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=functions');
    const before = (await tab.tables()).functions;
    await brush(tab, 0.4, 0.7);
    const fragment = await tab.fragment();
    const { functions } = await tab.tables();
    deepEqual(functions, await functionsOf(orchard.file, timeOf(fragment)));
    ok(functions.length > 0 && functions.length < before.length);
    equal(await tab.count('[data-chip=time]'), 1);
    await tab.press('Escape');
    equal(await tab.count('[data-chip=time]'), 0);
    deepEqual((await tab.tables()).functions, before);
    equal(await tab.count('[data-part=time][placeholder="Drag or type a time"][title*="type 0.4s..0.5s"]'), 1, 'the example is no value');
  },

  async 'a bar of a signpost selects its time, by mouse'(tab, { others }) {
    await tab.open(others.find(({ file }) => file.includes('signposts')).page);
    const { left, top } = await tab.place('[data-part=timeline] canvas');
    await tab.browser.click(left + 600, top + 85);
    await tab.ready();
    match(await tab.fragment(), /t=0\.105245124s\.\.0\.106255165s/);
    match(await tab.text('[data-part=chips]'), /1\.01 ms/);
  },

  async 'a double click just above the lower edge zooms, and all is shown again'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=flame');
    await tab.click('[data-part=choice-flame]');
    const place = await tab.place('[data-part=flame-graph] canvas');
    const [x, y] = [place.left + place.width * 0.2, place.top + place.height - 27];
    await tab.browser.click(x, y);
    await tab.ready();
    equal(await tab.count('[data-part=chosen]'), 1);
    deepEqual(await tab.place('[data-part=flame-graph] canvas'), place, 'nothing moves');
    equal(await tab.count('[data-part=show-whole]'), 0);
    await tab.browser.click(x, y, { count: 2 });
    await waitFor(async () => (await tab.count('[data-part=show-whole]')) === 1, 'the button', 5_000);
    await tab.click('[data-part=show-whole]');
    await waitFor(async () => (await tab.count('[data-part=show-whole]')) === 0, 'everything', 5_000);
  },

  async 'addresses without a name add up'(tab, { orchard }) {
    await tab.open(orchard.page);
    await tab.click('[data-part=recording]', '12 addresses without names');
    match(await tab.text('dialog'), /12 of 105 addresses have no name:[^]*OrchardKit[^]*: 7\s+in no known binary: 5\s+To name them,[^]*--dsym/);
    await tab.press('Escape');
  },

  async 'operations by menu, with undo'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=functions');
    const name = 'orchard::Worker::main(void*)';
    await tab.click('#functions .row .name', name, { button: 'right' });
    equal(await tab.count('[data-part=menu]'), 1);
    await tab.click('[data-part=menu] [data-action=focus]');
    const options = [`--focus=^${escaped(name)}$`];
    deepEqual((await tab.tables()).functions, await functionsOf(orchard.file, options));
    match(await tab.text('[data-part=chips]'), /keep samples with orchard::Worker::main\(void\*\)\s*−\d/);
    await tab.press('h');
    deepEqual((await tab.tables()).functions, await functionsOf(orchard.file, [...options, '--hide-system']));
    await tab.press('Control+z');
    deepEqual((await tab.tables()).functions, await functionsOf(orchard.file, options));
    await tab.press('Control+z');
    deepEqual((await tab.tables()).functions, await functionsOf(orchard.file, []));
    await tab.press('Control+Shift+z');
    deepEqual((await tab.tables()).functions, await functionsOf(orchard.file, options));
    await tab.click('[data-chip=op-0] .chip-remove');
    deepEqual((await tab.tables()).functions, await functionsOf(orchard.file, []));
  },

  async 'operations by key, one after the other'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=functions');
    const { functions } = await tab.tables();
    const pattern = (name) => `^${escaped(name)}$`;
    await tab.click('#functions .row .name', functions[0].function);
    const done = [];
    for (const [key, option] of [['m', 'charge'], ['r', null], ['i', null]]) {
      await tab.press(key);
      done.push(option === null ? { r: '--flatten-recursion', i: '--skip-idle' }[key] : `--${option}=${pattern(functions[0].function)}`);
      deepEqual((await tab.tables()).functions, await functionsOf(orchard.file, done), key);
    }
    const name = 'orchard::Worker::main(void*)';
    await tab.click('#functions .row .name', name);
    await tab.press('c');
    done.push(`--collapse=${pattern(name)}`);
    const collapsed = await functionsOf(orchard.file, done);
    deepEqual((await tab.tables()).functions, collapsed, 'c');
    const { self, all } = collapsed.find((row) => row.function === name);
    equal(self, all);
  },

  async 'keys act on the highlighted row'(tab, { orchard }) {
    const name = 'orchard::Worker::main(void*)';
    await tab.open(orchard.page, 'v=1&tab=functions');
    const [first] = (await tab.tables()).functions;
    await tab.open(orchard.page);
    // The table gets the focus, and its first row the highlight.
    await tab.press('4');
    await tab.press('k');
    match(await tab.text('[data-part=said]'), new RegExp(`^Keep samples with function: ${escaped(first.function)}`));
    deepEqual((await tab.tables()).functions, await functionsOf(orchard.file, [`--focus=^${escaped(first.function)}$`]));
    await tab.press('Control+z');
    await tab.click('#functions .row .name', name);
    await tab.show('callers');
    const [callee] = (await tab.tables()).callees;
    await tab.click('#callees .row .name', callee.function);
    await tab.press('d');
    match(await tab.text('[data-part=chips]'), new RegExp(`drop samples with ${escaped(callee.function)}`));
    equal(await tab.count('[data-part=chosen]'), 1);
    match(await tab.text('[data-part=chosen]'), new RegExp(escaped(name)), 'the function in the middle stays');
    await tab.show('functions');
    deepEqual((await tab.tables()).functions, await functionsOf(orchard.file, [`--prune=^${escaped(callee.function)}$`]));
  },

  async 'a menu opens by key and closes by Escape'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=tree');
    await tab.click('#tree .row .name');
    await tab.press('ArrowDown');
    await tab.press('Shift+F10');
    equal(await tab.count('[data-part=menu]'), 1);
    await tab.press('ArrowDown');
    equal(await tab.browser.run(() => document.activeElement.getAttribute('role')), 'menuitem');
    await tab.press('Escape');
    equal(await tab.count('[data-part=menu]'), 0);
    equal(await tab.browser.run(() => document.activeElement.getAttribute('role')), 'treegrid');
  },

  async 'trees open and close by key'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=tree');
    const rows = async () => (await tab.tables()).tree.length;
    await tab.click('#tree .row .name');
    await tab.press('Home');
    await tab.press('ArrowLeft');
    const closed = await rows();
    await tab.press('*');
    const all = await rows();
    ok(all > closed, `${all} and ${closed}`);
    await tab.press('ArrowLeft');
    ok((await rows()) < all);
    for (const kind of ['up', 'heaviest', 'down']) {
      await tab.click(`[data-part=choice-${kind}]`);
      match(await tab.fragment(), kind === 'down' ? /^(?!.*tree=)/ : new RegExp(`tree=${kind}`));
    }
  },

  async 'a link shows what its sender saw'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=functions');
    await brush(tab, 0.2, 0.6);
    await tab.press('h');
    await tab.search('press|grind');
    const sent = await tab.browser.run(() => location.hash.slice(1));
    const [seen, chips] = [await tab.tables(), await tab.text('[data-part=chips]')];
    await tab.open(orchard.page);
    await tab.follow(sent);
    deepEqual(await tab.tables(), seen);
    equal(await tab.text('[data-part=chips]'), chips);
    equal(await tab.browser.run(() => location.hash.slice(1)), sent);
  },

  async 'links that mean nothing are refused with a sentence'(tab, { orchard }) {
    for (const fragment of ['v=2', 'nothing', 'v=1&tab=nowhere', 'v=1&thread=<img src=x onerror=pwned=1>', `v=1&${'q=a&'.repeat(9000)}`, 'v=1&t=3s..1s', 'v=1&q=%E0%A4%A']) {
      await tab.open(orchard.page, fragment);
      match((await tab.text('[data-part=said]')) ?? '', /link|no thread|time/i, fragment.slice(0, 60));
      equal(await tab.count('#view .fault'), 0, fragment.slice(0, 60));
    }
  },

  async 'an invalid regular expression in a link is refused with a sentence, and can be removed'(tab, { orchard }) {
    for (const name of ['functions', 'tree', 'flame', 'overview']) {
      await tab.open(orchard.page, `v=1&tab=${name}&op=focus:(`);
      match(await tab.text('#view .notice'), /regular expression/, name);
      match(await tab.text('[data-part=chips] .fault'), /regular expression/, name);
      await tab.click('.chip-remove');
      equal(await tab.count('.fault, .notice'), 0, name);
    }
  },

  async 'a slow answer can be cancelled'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=functions');
    // The worker never answers a question that it does not get.
    await tab.browser.run(() => {
      const send = Worker.prototype.postMessage;
      Worker.prototype.postMessage = function (message, ...rest) {
        if (message.ask?.kind !== 'search') send.call(this, message, ...rest);
      };
    });
    await tab.click('#search');
    await tab.browser.type('press');
    await waitFor(async () => (await tab.count('[data-part=busy] button')) > 0, 'the offer to cancel');
    const { x, y } = await tab.place('[data-part=busy] button');
    await tab.browser.click(x, y);
    await tab.ready();
    equal(await tab.browser.run(() => document.getElementById('search').value), '');
    ok((await tab.tables()).functions.length > 0);
  },

  async 'names run nothing'(tab, { hostile }) {
    await tab.open(hostile.page);
    for (const name of TABS) {
      await tab.follow(`v=1&tab=${name}`);
      equal(await tab.browser.run(() => globalThis.pwned ?? 'no'), 'no', name);
      equal(await tab.count('main img, main iframe, main object, main embed'), 0, name);
    }
    await tab.follow('v=1&tab=functions');
    const { functions } = await tab.tables();
    ok(functions.some(({ function: name }) => name === hostile.name), 'the name stands as it is');
    await tab.click('#functions .row .name', hostile.name, { button: 'right' });
    match(await tab.text('[data-part=menu]'), /<img src=x/);
  },

  async 'drawings are saved as SVG, with labels that can be read'(tab, { orchard }) {
    await tab.browser.resize(390, 844);
    for (const name of ['flame', 'chart']) {
      await tab.open(orchard.page, `v=1&tab=${name}`);
      const svg = await tab.saved(() => tab.click('[data-part=export-svg]'));
      match(svg, name === 'flame' ? /orchard::/ : /press worker/);
      const [shapes, labels] = await tab.browser.run(readSvg, svg);
      ok(shapes > 5, `${name}: ${shapes}`);
      if (name === 'chart') continue;
      const wholes = new Set((await tab.tables())['flame-graph'].map(({ function: whole }) => whole));
      const shortened = labels.filter((label) => !wholes.has(label));
      ok(shortened.length > 10);
      for (const label of shortened) ok(label.includes('…') && !/^(_.*|.{0,3})…$/.test(label), label);
      for (const color of await tab.browser.run(legendColors)) ok(svg.includes(`fill="${color}"`), `a box has the colour ${color} of the legend`);
    }
    await tab.browser.resize(1280, 800);
  },

  async 'a box of the flame graph zooms, and its menu works'(tab, { orchard }) {
    await tab.open(orchard.page, 'v=1&tab=flame');
    const { left, top, width } = await tab.place('[data-part=flame-graph] canvas');
    await tab.browser.click(left + width * 0.2, top + 60);
    await tab.ready();
    match(await tab.fragment(), /fn=/);
    await tab.browser.click(left + width * 0.2, top + 60, { button: 'right' });
    await tab.ready();
    equal(await tab.count('[data-part=menu]'), 1);
    await tab.click('[data-part=menu] [data-action=root-at]');
    match(await tab.fragment(), /op=root-at:/);
  },
};

/** Returns the number of shapes, and the labels of boxes; the caption is on the left of them. */
function readSvg(svg) {
  const parsed = new DOMParser().parseFromString(svg, 'image/svg+xml');
  if (parsed.querySelector('parsererror') !== null) return [parsed.documentElement.textContent, []];
  return [parsed.querySelectorAll('rect, path').length, [...parsed.querySelectorAll('text:not([x="8"])')].map(({ textContent }) => textContent)];
}

function legendColors() {
  const hex = (part) => Number(part).toString(16).padStart(2, '0');
  return [...document.querySelectorAll('.legend .name')].map((name) => `#${getComputedStyle(name, '::before').backgroundColor.match(/\d+/g).map(hex).join('')}`);
}

/** Shows a view by mouse, which is in a menu if it has no content. */
export async function showTab(tab, name) {
  if ((await tab.count(`#tab-${name}`)) > 0) return tab.show(name);
  await tab.click('[data-part=more-tabs]');
  await tab.click(`[data-part=menu] [data-action=${name}]`);
}

/** Drags over the overview of the timeline. `from` and `to` are fractions of its width. */
export async function brush(tab, from, to, timeline = '[data-part=timeline]') {
  const { left, top, width } = await tab.place(`${timeline} canvas`);
  const labels = 220;
  const at = (share) => left + labels + (width - labels) * share;
  await tab.browser.move(at(from), top + 25);
  await tab.browser.down();
  await tab.browser.move(at((from + to) / 2), top + 25);
  await tab.browser.move(at(to), top + 25);
  await tab.browser.up();
  await tab.ready();
}
