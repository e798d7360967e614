// The behaviour of a comparison's page with mouse and keyboard, in every browser.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../command.mjs';
import { escaped } from '../escaped.mjs';
import { askedJson, functionsOf } from './asked.mjs';
import { brush, showTab, timeOf } from './cases.mjs';
import { RENAMED } from './pair.mjs';
import { TABS } from './tab.mjs';

export const COMPARED = ['overview', 'flame', 'tree', 'functions', 'binaries'];
const NOISE = 1e-9;
const PALETTE = JSON.parse(readFileSync(join(ROOT, 'src/output/palette.json'), 'utf8'));

/**
 * Returns the rows of the command's comparison, in the form in which the page saves them. Noise is separate, since its squares are
 * summed in another order.
 */
async function changesOf(file, view, options = []) {
  const json = await askedJson(file, ['--view', view, ...options]);
  const { factor } = json;
  const of = view === 'tree' ? 'all' : 'self';
  return json[view === 'tree' ? 'nodes' : view].map((row) => {
    const { before, after, self_change, all_change } = row;
    return {
      [`${of}-change`]: row[`${of}_change`].weight,
      [`${of}-before`]: Number(before[`${of}_weight`]),
      ...afterOf(of, row, factor),
      noise: (of === 'self' ? self_change : all_change).noise,
      verdict: verdictOf(row, of),
      ...(of === 'self' ? { 'all-change': all_change.weight } : {}),
      name: row.function ?? row.binary,
    };
  });
}

/** Scales the value next to a change like the change. */
function afterOf(of, row, factor) {
  const [before, after] = [row.before, row.after].map((side) => Number(side[`${of}_weight`]));
  return factor === 1 ? { [`${of}-after`]: after } : { [`${of}-after-scaled`]: before + Math.round(row[`${of}_change`].weight) };
}

function verdictOf(row, of) {
  const { presence, before, after } = row;
  const { weight, beyond_noise } = row[`${of}_change`];
  if (Number(before[`${of}_weight`]) === 0 && Number(after[`${of}_weight`]) === 0) return 'no self weight';
  const verdict = !beyond_noise ? 'within noise' : weight > 0 ? 'more' : 'less';
  return { both: verdict, new: `new, ${verdict}`, vanished: `gone, ${verdict}` }[presence];
}

/** Converts rows of the page to the form of the command's rows. */
function shown(rows, of = 'self') {
  return rows.map(({ [`${of}-noise`]: noise, function: name, binary, ...row }) => ({ ...row, noise, name: (name ?? binary).trim() }));
}

function equalChanges(page, command, what) {
  const without = ({ noise: _, ...row }) => row;
  deepEqual(page.map(without), command.map(without), what);
  page.forEach(({ noise }, row) => ok(Math.abs(noise - command[row].noise) <= NOISE * Math.max(1, noise), `${what}: noise of row ${row}`));
}

async function functionsOn(tab) {
  return shown((await tab.tables()).functions);
}

export const COMPARED_CASES = {
  async 'a comparison opens on what changed'(tab, { pair }) {
    await tab.open(pair.page);
    const json = await askedJson(pair.file, ['--view', 'overview']);
    const { before, after, all_change } = json.total;
    const ms = (weight) => `${(Math.abs(Number(weight)) / 1e6).toFixed(2)} ms`;
    const totals = await tab.text('[data-part=totals]');
    for (const text of [ms(before.all_weight), ms(after.all_weight), `+${ms(all_change.weight)}`, `± ${ms(all_change.noise)}`, ms(1.96 * all_change.noise)]) {
      ok(totals.includes(text), `${text} in ${totals}`);
    }
    match(totals, /more: beyond noise/);
    match(await tab.text('[data-part=sentences]'), /^CPU time changed from 485\.00 ms to 726\.50 ms \(\+49\.8%\)/);
    // Names are shortened to the available width; their titles are complete.
    const top = await tab.browser.run(() => [...document.querySelectorAll('[data-part=top-own] .name')].map(({ title }) => title).join('\n'));
    const names = json.own_functions.filter(({ self_change }) => self_change.weight !== 0).slice(0, 12).map(({ function: name }) => name);
    let at = -1;
    for (const name of names) {
      const next = top.indexOf(name, at + 1);
      ok(next > at, `${name} in its place in ${top}`);
      at = next;
    }
    match(await tab.text('[data-part=top-own]'), /within noise/);
    equal(await tab.count('[data-part=timeline]'), 2);
  },

  async 'tables of a comparison are the command’s'(tab, { pair, unlike }) {
    for (const { page, file } of [pair, unlike]) {
      // If the page was written with `--normalize`, `file` contains that option.
      const options = file.includes('--normalize') ? [] : ['--normalize', 'none'];
      await tab.open(page, 'v=1&tab=functions');
      equalChanges(await functionsOn(tab), await changesOf(file, 'functions', options), 'functions');
      await tab.show('binaries');
      equalChanges(shown((await tab.tables()).binaries), await changesOf(file, 'binaries', options), 'binaries');
    }
    for (const scale of ['duration', 'samples']) {
      await tab.open(pair.page, `v=1&scale=${scale}&tab=functions`);
      equalChanges(await functionsOn(tab), await changesOf(pair.file, 'functions', ['--normalize', scale]), scale);
    }
  },

  async 'the tree of a comparison is the command’s'(tab, { pair }) {
    await tab.open(pair.page, 'v=1&tab=tree');
    await tab.click('#tree .row .name');
    await tab.press('Home');
    await tab.press('*');
    const rows = shown((await tab.tables()).tree, 'all');
    const [, ...nodes] = await changesOf(pair.file, 'tree');
    // The rows below the first, which has the largest change.
    equalChanges(rows.slice(0, 20), nodes.slice(0, 20), 'tree');
  },

  async 'operations of a comparison are done to both recordings'(tab, { pair }) {
    await tab.open(pair.page, 'v=1&tab=functions');
    const name = 'orchard::Worker::main(void*)';
    await tab.click('#functions .row .name', name, { button: 'right' });
    await tab.click('[data-part=menu] [data-action=focus]');
    const options = [`--focus=^${escaped(name)}$`];
    equalChanges(await functionsOn(tab), await changesOf(pair.file, 'functions', options), 'focus');
    match(await tab.text('[data-part=chips]'), /before −[^]*after −/);
    await tab.press('h');
    equalChanges(await functionsOn(tab), await changesOf(pair.file, 'functions', [...options, '--hide-system']), 'hide');
    await tab.press('Control+z');
    await tab.press('Control+z');
    equalChanges(await functionsOn(tab), await changesOf(pair.file, 'functions'), 'undone');
  },

  async 'a brush on either timeline of a comparison selects the time of both'(tab, { pair }) {
    for (const side of ['before', 'after']) {
      await tab.open(pair.page, 'v=1&tab=functions');
      await brush(tab, 0.3, 0.6, `[data-of=${side}]`);
      const options = timeOf(await tab.fragment());
      const rows = await functionsOn(tab);
      equalChanges(rows, await changesOf(pair.file, 'functions', options), side);
      ok(rows.length < (await changesOf(pair.file, 'functions')).length);
    }
  },

  async 'each recording of a comparison is shown by itself'(tab, { pair }) {
    const [, before, after] = pair.file;
    await tab.open(pair.page, 'v=1&tab=functions');
    await brush(tab, 0.3, 0.6);
    const options = timeOf(await tab.fragment());
    await tab.click('[data-part=choice-after]');
    equal((await tab.fragment()).includes('side=after'), true);
    deepEqual((await tab.tables()).functions, await functionsOf(after, options));
    await tab.click('[data-part=choice-before]');
    deepEqual((await tab.tables()).functions, await functionsOf(before, options));
    await tab.click('[data-part=choice-compared]');
    equalChanges(await functionsOn(tab), await changesOf(pair.file, 'functions', options), 'compared again');
    await tab.press('Control+z');
    deepEqual((await tab.tables()).functions, await functionsOf(before, options));
    for (const side of ['before', 'after']) {
      await tab.open(pair.page, `v=1&side=${side}`);
      for (const name of TABS) {
        await showTab(tab, name);
        equal(await tab.count('#view .fault'), 0, `${side} ${name}`);
      }
    }
  },

  async 'functions of a comparison have their callers in the recording that has them'(tab, { pair }) {
    for (const [name, side] of [[RENAMED, 'after'], ['fruit_copy_fast', 'before']]) {
      await tab.open(pair.page, 'v=1&tab=functions');
      await tab.click('#functions .row .name', name);
      match(await tab.text('[data-part=chosen]'), side === 'after' ? /self 0 ns →/ : /→ 0 ns/);
      await tab.press('Enter');
      const fragment = await tab.fragment();
      ok(fragment.includes(`side=${side}`) && fragment.includes('tab=callers') && fragment.includes(`fn=${name}@`), fragment);
    }
  },

  async 'a link to a comparison shows what its sender saw'(tab, { pair, orchard }) {
    await tab.open(pair.page, 'v=1&tab=functions');
    await brush(tab, 0.2, 0.6);
    await tab.press('h');
    await tab.search('press|grind');
    const sent = await tab.browser.run(() => location.hash.slice(1));
    const seen = await tab.tables();
    ok(seen.functions.length > 0);
    await tab.open(pair.page);
    await tab.follow(sent);
    deepEqual(await tab.tables(), seen);
    await tab.open(orchard.page);
    await tab.follow('v=1&side=before');
    match(await tab.text('[data-part=said]'), /compares two recordings/);
  },

  async 'a comparison’s flame graph tells and saves its changes'(tab, { pair }) {
    await tab.open(pair.page, 'v=1&tab=flame');
    deepEqual((await tab.text('#view .legend')).split('\n').map((text) => text.trim()).filter((text) => text !== ''), ['more', 'less', 'within noise']);
    const svg = await tab.saved(() => tab.click('[data-part=export-svg]'));
    // Narrow boxes do not show complete names.
    match(svg, /orchard::/);
    match(svg, new RegExp(PALETTE.light.changes.at(-1), 'i'));
    // Tooltips name the recording of each share, and every line has a label.
    match(svg, /all after [\d.,]+ ms · [\d.]+% of total after\nself after [^\n]+% of total after\n(of its caller [^\n]+\n)?before [\d.]+ m?s\nafter [\d.]+ m?s\nchange \+[\d.]+ m?s: more/);
    await tab.click('[data-part=choice-before]', 'Widths');
    const rows = (await tab.tables())['flame-graph'];
    ok(rows.some(({ function: name }) => name === 'fruit_copy_fast') && !rows.some(({ function: name }) => name === RENAMED));
  },

  async 'main threads of a comparison are those of each recording'(tab, { processes }) {
    await tab.open(processes.page, 'v=1&tab=functions');
    await tab.click('[data-part=toggle-main-only]');
    const options = ['--only-main-thread'];
    equalChanges(await functionsOn(tab), await changesOf(processes.file, 'functions', options), 'functions');
    const { total } = await askedJson(processes.file, ['--view', 'functions', ...options]);
    ok(Number(total.before.all_weight) > 0 && total.before.all_weight === total.after.all_weight);
    const left = `${(Number(total.before.all_weight) / 1e6).toFixed(2)} ms left`;
    match(await tab.text('[data-part=left]'), new RegExp(`before: ${left}[^]*after: ${left}`));
    await tab.show('tree');
    await tab.click('#tree .row .name');
    await tab.press('Home');
    await tab.press('*');
    const [, ...nodes] = await changesOf(processes.file, 'tree', options);
    equalChanges(shown((await tab.tables()).tree, 'all').slice(0, 20), nodes.slice(0, 20), 'tree');
  },

  async 'before and change of a scaled comparison add up to after'(tab, { pair, unlike }) {
    const facts = async () => Object.fromEntries((await tab.text('[data-part=totals]')).split(/\n(?=before|after|change|noise|smallest effect|scaling)/).map((text) => text.split(/\s*\n/)));
    await tab.open(unlike.page);
    const { factor, total } = await askedJson(unlike.file, ['--view', 'overview']);
    ok(factor !== 1);
    const ms = (weight) => `${(Number(weight) / 1e6).toFixed(2)} ms`;
    const scaled = Math.round(Number(total.after.all_weight) * factor);
    const { after, scaling } = await facts();
    equal(after, `${ms(scaled)}, scaled (${ms(total.after.all_weight)} recorded)`);
    equal(scaling, `weights after are multiplied by ${factor.toFixed(4)}, for the same length`);
    match(await tab.text('[data-part=top-own]'), /%/);
    match(await tab.text('#top-own'), /% of the total before/);
    // If totals were scaled to be equal, they get no verdict.
    await tab.open(pair.page, 'v=1&scale=samples');
    const found = await facts();
    deepEqual(Object.keys(found), ['before', 'after', 'change', 'scaling']);
    equal(found.after.split(',')[0], found.before);
    match(found.change, /^none: totals were scaled to be equal/);
    await tab.show('functions');
    await tab.click('#functions .row .name');
    match(await tab.text('[data-part=chosen]'), /after is scaled/);
  },

  async 'many runs open on their verdict, and each run and function can be reached by keys'(tab, { runs }) {
    await tab.open(runs.page);
    const { comparison: { blocks, functions, shown_unit: unit }, sentences, total } = await tab.browser.run(() => JSON.parse(document.getElementById('diff').textContent));
    match(await tab.text('[data-part=verdict]'), /^Slower: \+\d+\.\d %/);
    equal(await tab.count('.dot'), 12);
    await tab.browser.run(() => document.querySelector('[data-side=new] .dot').focus());
    for (const key of ['ArrowRight', 'End']) await tab.press(key);
    const { source, value } = blocks[0].runs.new.at(-1);
    equal(await tab.text('[data-part=strip-read]'), `${source}: ${(value / unit.divisor).toFixed(unit.decimals)} ${unit.name}`);
    const [href, index, stops] = await tab.browser.run(() => [...['href', 'tabindex'].map((name) => document.activeElement.getAttribute(name)), document.querySelectorAll('[data-side=new] [tabindex="0"]').length]);
    deepEqual([index, stops], ['0', 1]);
    ok(decodeURIComponent(href).endsWith(source) && href.endsWith('run%20%230.xml'), href);
    equal(await tab.count('.forest tbody tr'), functions.length);
    if (functions.length > 0) {
      await tab.click('.forest .link');
      match(await tab.fragment(), /^v=1&fn=/);
    }
    // The engine multiplies noise by the same factor as the command.
    await tab.show('overview');
    equal(await tab.text('[data-part=sentences] .lead'), sentences.answer);
    ok((await tab.text('[data-part=totals]')).includes(`± ${(total.all_change.noise / 1e6).toFixed(2)} ms`));
    match(await tab.fragment(), /tab=overview/);
  },

  async 'weights of nothing on both sides are no change'(tab, { processes, pair }) {
    await tab.open(pair.page, 'v=1&tab=functions');
    const rows = (await tab.tables()).functions;
    const nothing = rows.filter((row) => row['self-before'] === 0 && row['self-after'] === 0);
    ok(nothing.length > 0);
    deepEqual([...new Set(nothing.map(({ verdict }) => verdict))], ['no self weight']);
    await tab.open(processes.page, 'v=1&tab=functions&fn=thread_start@libsystem_pthread.dylib');
    match(await tab.text('[data-part=chosen]'), /self 0 ns in both · total [^]+within noise/);
  },

  async 'files of one name that are compared have their folders in the title'(tab, { processes, pair }) {
    await tab.open(processes.page);
    equal(await tab.text('h1'), 'Grove · 14.3.1/time-profile.xml → 26.4.1/time-profile.xml');
    await tab.click('[data-part=choice-before]');
    equal(await tab.text('h1'), 'Orchard · 14.3.1/time-profile.xml');
    await tab.open(pair.page);
    equal(await tab.text('h1'), 'Orchard · input.xml → changed.xml');
  },
};
