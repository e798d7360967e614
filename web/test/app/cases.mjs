// The start screen, and what a person does in the app.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { COLOUR_RULES, RULES, axeFaults } from '../page/opening_cases.mjs';
import { functionsOf } from '../page/asked.mjs';
import { HOSTILE } from '../page/inputs.mjs';
import { waitFor } from '../page/tab.mjs';

export const APP_CASES = {
  async 'explains itself, and fits a phone'(tab, { app, orchard, damaged }) {
    await tab.open(app);
    match(await tab.text('[data-part=start]'), /Nothing leaves your machine/);
    equal(await tab.count('[data-part=choose-files], [data-part=choose-folder]'), 2);
    await tab.browser.resize(390, 844);
    const isFitting = () => tab.browser.run(() => document.documentElement.scrollWidth <= innerWidth);
    ok(await isFitting(), 'the start screen is too wide');
    await tab.choose([damaged]);
    match(await tab.read(), /truncated/);
    ok(await isFitting(), 'the start screen with a fault is too wide');
    await tab.choose([orchard]);
    equal(await tab.read(), null);
    ok(await isFitting(), 'the recording is too wide');
    await tab.browser.resize(320, 700);
    ok(await isFitting(), 'the recording is too wide for 320 px');
    await tab.open(app);
    ok(await isFitting(), 'the start screen is too wide for 320 px');
    await tab.browser.resize(1280, 800);
  },

  async 'is accessible by the rules of axe'(tab, { app, orchard, notes, axe }) {
    if (tab.browser.name !== 'chromium') return;
    await tab.open(app, 'v=1&tab=functions');
    const expectAccessible = async (what) => {
      for (const [theme, rules] of [['light', { type: 'tag', values: RULES }], ['dark', { type: 'rule', values: COLOUR_RULES }]]) {
        while ((await tab.text('[data-part=theme]')).toLowerCase() !== theme) await tab.click('[data-part=theme]');
        deepEqual(await axeFaults(tab, axe, rules), [], `${what}, ${theme}`);
      }
    };
    await expectAccessible('start');
    await tab.give([notes]);
    ok((await tab.read()) !== null);
    await expectAccessible('fault');
    await tab.give([orchard]);
    await tab.read();
    await tab.give([notes]);
    await tab.read();
    await expectAccessible('fault over a recording');
  },

  async 'the focus goes to what was opened, and back from a fault'(tab, { app, orchard, notes }) {
    const focus = () => tab.browser.run(() => (document.activeElement.dataset.part ?? document.activeElement.tagName).toLowerCase());
    await tab.openWith(app, [orchard]);
    equal(await focus(), 'h1');
    await tab.press('?');
    match(await tab.text('dialog'), /Drop, or Open\s+Open another recording/);
    await tab.press('Escape');
    await tab.browser.run(() => document.querySelector('[data-part=share]').focus());
    for (const key of ['Escape', 'Enter']) {
      await tab.give([notes]);
      match(await tab.read(), /not an xctrace export/);
      equal(await focus(), 'share');
      await tab.browser.run(() => document.querySelector('[data-part=drop-fault] button').focus());
      await tab.press(key);
      equal(await tab.count('[data-part=drop-fault]'), 0);
      equal(await focus(), 'share');
    }
    await tab.give([notes]);
    await tab.read();
    await tab.press('Escape');
    equal(await tab.count('[data-part=drop-fault]'), 0);
    equal(await focus(), 'share');
  },

  async 'opens the choice of files by key'(tab, { app }) {
    await tab.open(app);
    await tab.browser.run(() => {
      globalThis.opened = [];
      HTMLInputElement.prototype.click = function () { globalThis.opened.push(this.dataset.part); };
    });
    for (const _ of ['theme', 'files']) await tab.press('Tab');
    await tab.press('Enter');
    await tab.press('Tab');
    await tab.press('Enter');
    deepEqual(await tab.browser.run(() => globalThis.opened), ['input-files', 'input-folder']);
  },

  async 'names the recording, and lists what was read'(tab, { app, orchard, notes, warned }) {
    await tab.openWith(app, [orchard, notes]);
    equal(await tab.browser.run(() => document.title), 'input.xml – traceparse');
    equal(await tab.text('h1'), 'Orchard · input.xml');
    match(await tab.text('[data-part=recording]'), /1 unused item/);
    await tab.click('[data-part=recording]');
    match(await tab.text('dialog'), /Not used\s+notes\.txt: not a symbol file/);
    ok(!(await tab.text('dialog')).includes('--'), 'an option of the command');
    await tab.press('Escape');
    await tab.give([warned]);
    equal(await tab.read(), null);
    match(await tab.text('[data-part=recording]'), /1 warning/);
    await tab.click('[data-part=recording]');
    match(await tab.text('dialog'), /Warnings\s+warned\.txt:1:0: Instruments rounds the numbers in a Deep Copy/);
    equal((await tab.text('dialog')).split('Deep Copy').length, 2, 'once');
  },

  async 'a refused drop says why, and keeps what is open'(tab, { app, damaged, orchard, notes }) {
    await tab.open(app);
    await tab.give([damaged]);
    match(await tab.read(), /^damaged\.xml:64:18841: the file is truncated/);
    await tab.give([orchard]);
    equal(await tab.read(), null);
    await tab.show('functions');
    for (const [file, sentence] of [[damaged, /truncated/], [notes, /not an xctrace export/]]) {
      await tab.give([file]);
      match(await tab.read(), sentence);
      deepEqual((await tab.tables()).functions, await functionsOf(orchard, []));
      await tab.click('[data-part=drop-fault] button');
      equal(await tab.count('[data-part=drop-fault]'), 0);
    }
  },

  async 'another recording replaces the open one, with a fresh state and an entry of the history'(tab, { app, orchard, waiting }) {
    await tab.openWith(app, [orchard]);
    await tab.show('functions');
    await tab.press('h');
    const before = await tab.browser.run(() => history.length);
    await tab.give([waiting]);
    equal(await tab.read(), null);
    equal(await tab.fragment(), '');
    equal(await tab.browser.run(() => history.length), before + 1);
    await tab.show('functions');
    deepEqual((await tab.tables()).functions, await functionsOf(waiting, []));
    await tab.give([orchard]);
    await tab.read();
    equal(await tab.fragment(), '');
    await tab.show('functions');
    deepEqual((await tab.tables()).functions, await functionsOf(orchard, []));
  },

  async 'Back to an entry of another recording says that it does not fit, and keeps it'(tab, { app, orchard, warned }) {
    await tab.openWith(app, [orchard], 'v=1&tab=functions');
    await tab.click('#functions .row .name', 'orchard::Press::filter');
    const first = await tab.fragment();
    await tab.show('callers');
    await tab.give([warned]);
    equal(await tab.read(), null);
    const go = async (steps) => {
      const before = await tab.browser.run(() => location.href);
      await tab.browser.run((steps) => history.go(steps), steps);
      await waitFor(async () => (await tab.browser.run(() => location.href)) !== before, 'the entry');
      await tab.ready();
    };
    await go(-1);
    match(await tab.text('[data-part=said]'), /This recording has no .* The page is unchanged\./);
    equal(await tab.count('#tab-overview[aria-selected=true]'), 1);
    const second = await tab.fragment();
    await go(-1);
    equal(await tab.fragment(), first);
    await go(1);
    equal(await tab.fragment(), second);
    // What is done here is another entry.
    await tab.search('a');
    match(await tab.fragment(), /^v=1&q=a$/);
    await go(-1);
    equal(await tab.fragment(), second);
  },

  async 'a link waits for its recording'(tab, { app, orchard, waiting }) {
    const link = 'v=1&tab=functions&op=hide-system&q=press';
    await tab.open(app);
    match(await tab.text('[data-part=start]'), /a recording/);
    await tab.follow(link);
    match(await tab.text('[data-part=start]'), /the recording of this link/);
    await tab.give([orchard]);
    equal(await tab.read(), null);
    equal(await tab.fragment(), link);
    equal(await tab.count('#tab-functions[aria-selected=true]'), 1);
    await tab.open(app, 'v=1&tab=functions&thread=1/4150/172289/nobody');
    await tab.give([waiting]);
    await tab.read();
    match(await tab.text('[data-part=said]'), /This recording has no thread .* The complete recording is shown\./);
  },

  async 'asks before an unsaved recording is lost'(tab, { app, orchard }) {
    const isAsked = () => tab.browser.run(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })));
    await tab.open(app);
    equal(await isAsked(), false);
    await tab.give([orchard]);
    equal(await tab.read(), null);
    equal(await isAsked(), true);
    await tab.saved(async () => {
      await tab.click('[data-part=save]');
      await tab.click('[data-action=save-report]');
    });
    equal(await isAsked(), false);
  },

  async 'hostile names are text'(tab, { app, hostile }) {
    await tab.openWith(app, [hostile]);
    await tab.click('[data-part=recording]');
    await tab.press('Escape');
    await tab.show('functions');
    ok((await tab.tables()).functions.some(({ function: name }) => name === HOSTILE));
    equal(await tab.browser.run(() => typeof globalThis.pwned), 'undefined');
    match(await tab.browser.run(() => document.title), /^<img src=x onerror=/);
  },

  async 'a cancelled question does not read the files again'(tab, { variants, orchard }) {
    await tab.openWith(variants.slowOperations, [orchard], 'v=1&tab=functions');
    const { functions } = await tab.tables();
    await tab.browser.run(() => void (FileReader.prototype.readAsArrayBuffer = () => { throw new Error('read again'); }));
    await tab.browser.press('h');
    await waitFor(async () => (await tab.count('[data-part=busy] button')) > 0, 'the offer to cancel');
    const { x, y } = await tab.place('[data-part=busy] button');
    await tab.browser.click(x, y);
    await tab.ready();
    deepEqual((await tab.tables()).functions, functions);
    equal(await tab.count('[data-reading]'), 0);
  },

  async 'a reading can be cancelled, and keeps what is open'(tab, { variants, orchard, waiting, notes }) {
    if (tab.browser.name === 'webkit') return; // It reads copies, which is not slow here.
    const cancel = async (...files) => {
      await tab.give(files);
      await waitFor(async () => (await tab.count('[data-part=reading] progress')) > 0, 'the progress');
      match(await tab.text('[data-part=reading]'), files.length === 1 ? /Reading input\.xml …\s+0 of \d+ kB\s+Cancel/ : /Reading (input\.xml|notes\.txt) …\s+\d of 2 files\s+Cancel/);
      const { x, y } = await tab.place('[data-part=reading] button');
      await tab.browser.click(x, y);
      equal(await tab.read(), null);
    };
    await tab.open(variants.slowFiles);
    await cancel(orchard);
    equal(await tab.count('[data-part=start]'), 1);
    await cancel(orchard, notes);
    await tab.give([orchard]);
    equal(await tab.read(), null);
    await tab.show('functions');
    await cancel(waiting);
    deepEqual((await tab.tables()).functions, await functionsOf(orchard, []));
  },

  async 'nothing is requested from a network'(tab, { app, orchard }) {
    if (tab.browser.name !== 'chromium') return;
    const requests = [];
    const listen = (request) => requests.push(request.url());
    tab.browser.page.on('request', listen);
    await tab.openWith(app, [orchard]);
    await tab.show('functions');
    tab.browser.page.off('request', listen);
    deepEqual(requests.filter((url) => !/^(file|blob):/.test(url)), []);
    match(readFileSync(app, 'utf8'), /content="default-src 'none'; (?!.*connect-src)/);
  },
};
