// Regular expressions: compares the functions with odd names that the command keeps with the matches of the engine's translation.
//
//   node test/patterns.mjs

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jsonOf, loadEngine } from './command.mjs';

const NAMES = [
  'main', 'Main', 'MAIN', 'start_wqthread', 'objc_msgSend', '-[NSView drawRect:]', '+[NSObject alloc]', 'std::__1::vector<int>::push_back',
  'operator()', 'operator[]', 'a.b', 'a*b', 'a+b', 'a?b', 'a|b', 'a^b$', '{lambda}', 'x{2}', 'back\\slash', 'tab\there', 'new\nline', 'cr\rhere',
  'line\u2028separator', 'next\u0085line', 'nbsp\u00a0here', 'bom\ufeffhere', 'em\u2003space', 'Größe', 'GRÖSSE', 'größe', 'ſharp', 'Sharp', 'sharp',
  'K\u212Aelvin', 'kelvin', 'ΣΊΣΥΦΟΣ', 'σίσυφος', 'İstanbul', 'istanbul', 'ıspanak', 'straße', 'STRASSE', 'ﬁne', 'fine', 'Ångström', 'A\u030angström',
  '\u212Bngström', '日本語', '関数1', '١٢٣', '२०२६', '123', '0x1f', 'a1b2', '__под', 'под_черта', 'emoji😀end', '😀', '🏳️‍🌈flag', 'zero\u200djoin', 'e\u0301',
  'ᲀ', 'В', 'в', 'Ა', 'ა', 'ꭰ', 'Ꭰ', 'ẞ', 'ß', 'ss', 'ǅ', 'ǆ', 'Ǆ', 'µ', 'μ', 'Μ', 'ͅ', 'ι', 'Ι', 'ͱ', 'Ⓐ', 'ⓐ', '½', '²', 'ª', '‿under', 'a-b', 'a_b', 'a~b', 'a&b', 'a&&b',
  'a b', ' lead', 'trail ', '<anonymous>', '~Press', 'a/b', "it's", '"quoted"', '#hash', '%1', 'a=b', 'a,b', 'a;b', '@main', '`tick`', '!x', '$main', '_', '𝔘𝔫𝔦',
];

const READ = [
  'main', '^main$', '(?i)main', '(?i)größe', '(?i)GRÖSSE', '(?i)sharp', '(?i)kelvin', '(?i)σίσυφος', '(?i)istanbul', '(?i)ıspanak', '(?i)ß', '(?i)ẞ',
  '(?i)ss', '(?i)ǆ', '(?i)µ', '(?i)ι', '(?i)ⓐ', '(?i)ångström', '(?i)в', '(?i)ა', '(?i)ꭰ', '(?i)ﬁ', '(?i)[a-z]', '(?i)^[^a-z]+$', '(?i)^[^ß]+$', '(?i)[k]', '(?i)[^k]elvin',
  '.', '^.$', '^.+$', '(?s)^.+$', 'a.b', 'new.line', '(?s)new.line', 'line.separator', 'cr.here', '\\d', '^\\d+$', '\\D', '^\\D+$', '\\w', '^\\w+$', '\\W', '^\\W+$',
  '\\s', '\\S', '^\\S+$', '[\\d]', '[\\w-]+', '[^\\w]', '[^\\s]', '[\\s_]', '\\b', '\\bmain\\b', '\\B', '^\\B', '\\b_', 'b\\b', '\\Ba', '\\bв', '\\b日', '語\\b', 'e\\b',
  '[a-f0-9]+', '[^a-zA-Z0-9_]', '[-a]', '[a-]', '[.]', '[*+?]', '[$^]', '[\\]]', '[\\[]', '[\\-x]', '[&]', '[~]', '[\\\\]', '[a&b]', '[é-ö]', '[😀-😂]',
  'a|b', '^(?:a|b)', '(a|)b', '|x', 'x|', '()', '(?:)', '(ab)?c', 'a{2}', 's{2}', 's{1,2}', 's{2,}', 'o{0}', 'o{0,1}?p', 's+?', 's*?$', 'x\\{2\\}', '\\{lambda\\}',
  'operator\\(\\)', 'operator\\[\\]', 'operator\\[]', '^\\-\\[', '\\.', '\\*', '\\+', '\\?', '\\|', '\\^', '\\$', '\\/', '\\ ', '\\_', '\\#', '\\%', '\\&', '\\~', '\\-', '\\,', '\\\'', '\\"', '\\@', '\\!', '\\:', '\\;', '\\=', '\\`',
  '\\n', '\\r', '\\t', '\\f', '\\v', '\\a', '\\x41', '\\x6d', '\\x{1F600}', '\\u00f6', '\\u{f6}', '\\U0001F600', '[\\x41-\\x5A]', '\\Amain', 'main\\z', '\\A\\z', '^$', '$^', 'a^b', 'a\\^b\\$',
  ']', '}', 'a]', 'x}', '[a-z]+::', '::[a-z_]+$', '(?is)NEW.LINE', '(?si)new.line', '(?i)^ǅ$', '(?i)[ა-ჰ]', '(?i)𝔘', '^[^\\d\\s]+$', '(?i)\\w{3}', '(?i)[^\\s_]',
  '(?-i)main', '(?-i)größe', '(?s-i)new.line', '(?s-i)NEW.LINE', '(?si)new.LINE',
];

/** Searches, and the patterns that match the same in the command. */
const SEARCHED = {
  main: '(?i)main', Main: 'Main', '^main$': '(?i)^main$', 'größe': '(?i)größe', 'Größe': 'Größe', '\\Wa': '(?i)\\Wa', '\\x6dain': '(?i)main', '\\x4Dain': 'Main', '[a-z]+': '(?i)[a-z]+', '[A-Z]+': '[A-Z]+',
  'σ': '(?i)σ', 'Σ': 'Σ', '(?s)new.line': '(?is)new.line', '(?s)New.line': '(?s)New.line', '(?i)MAIN': '(?i)MAIN', '(?-i)main': 'main', 'ǆ': '(?i)ǆ', 'Ǆ': 'Ǆ', '\\d': '\\d', 'ⓐ': '(?i)ⓐ', 'ſ': '(?i)ſ', 'kelvin': '(?i)kelvin', '[^a-z]': '(?i)[^a-z]', '日本': '日本',
};

/** Parts of names that are plain text. */
const PLAIN = ['operator()', 'or[]', '[NSView draw', 'a.b', 'a*b', '*b', 'a+', '?b', 'a|b', '^b$', '{lambda', '}', 'x{2', 'k\\s', '(', ')', '[', ']', 'Größe', 'größe', '日本', '😀', 'a&&b', 'a-b', '~P', '"quoted"', '#h'];

const REFUSED = [
  '(?=a)', '(?!a)', '(?<=a)', '(?<!a)', '(?<n>a)', '(?P<n>a)', '(?m)a', '(?x)a', '(?U)a', '(?-u)a', '(?R)a', '(?i-s)a', '(?-s)a', '(?-is)a', 'a(?i)b', '(?i:a)', '\\1', '\\0', '\\k<n>', '\\p{L}', '\\pL', '\\P{L}',
  '\\<', '\\>', '\\b{start}', '\\Q', '\\G', '\\Z', '\\h', '\\e', '\\cA', '[[:alpha:]]', '[a-z&&[^b]]', '[a--b]', '[a~~b]', '[]a]', '[]', '[^]', '[a-c-e]', '[\\w-z]', '[^\\D]', '[\\W]', '[z-a]',
  'a**', 'a*+', '^*', '\\b+', '$?', '{', 'a{', 'a{,3}', 'a{3,2}', 'a{1001}', 'a{ 1}', '*', '+a', '?', '(', ')', '(a', 'a)', '[a', '\\', '\\xZZ', '\\x{110000}', '\\ud800', '\\x{}', '[a&&b]', 'ä\\ö',
  '('.repeat(60) + ')'.repeat(60), 'a'.repeat(1_001),
];

const engine = await loadEngine();
const folder = mkdtempSync(join(tmpdir(), 'patterns-'));
let [passed, failed] = [0, 0];
try {
  const path = join(folder, 'names.xml');
  writeFileSync(path, exportOf(NAMES));
  for (const pattern of READ) {
    const ours = attempt(() => NAMES.filter((name) => engine.compilePattern(pattern).test(name)));
    say(pattern, ours, await theirs(path, pattern));
  }
  for (const name of NAMES) {
    const pattern = engine.exactPattern(name);
    say(`exactly ${name}`, attempt(() => NAMES.filter((other) => engine.compilePattern(pattern).test(other))), await theirs(path, pattern));
  }
  // Searches without capital letters match like the command's patterns with (?i).
  for (const [typed, meant] of Object.entries(SEARCHED)) {
    const ours = attempt(() => NAMES.filter((name) => engine.compilePattern(engine.searchPattern(typed)).test(name)));
    say(`search ${typed}`, ours, await theirs(path, meant));
  }
  for (const text of PLAIN) {
    const pattern = engine.plainPattern(text);
    const found = NAMES.filter((name) => name.includes(text));
    say(`plain ${text}`, attempt(() => NAMES.filter((name) => engine.compilePattern(pattern).test(name))), await theirs(path, pattern));
    if (found.length === 0 || !found.every((name) => engine.compilePattern(pattern).test(name))) say(`plain ${text}`, 'not found', found);
  }
  for (const pattern of REFUSED) say(`refused ${pattern.slice(0, 40)}`, attempt(() => engine.compilePattern(pattern).source), 'refused');
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

function attempt(work) {
  try {
    return work();
  } catch (error) {
    return error.name === 'RefusedError' && error.message.length > 30 ? 'refused' : `${error}`;
  }
}

function say(what, ours, theirs) {
  const [a, b] = [ours, theirs].map((value) => JSON.stringify(Array.isArray(value) ? [...value].sort() : value));
  if (a === b) passed += 1;
  else {
    failed += 1;
    console.log(`${JSON.stringify(what)}:\n  engine  ${a}\n  command ${b}`);
  }
}

/** Returns the names of the functions that the command keeps. */
async function theirs(path, pattern) {
  const { json, error } = await jsonOf([path], ['--view', 'functions', `--focus=${pattern}`]);
  if (error !== undefined) return /no samples are left/.test(error) ? [] : error;
  return json.functions.map(({ function: name }) => name);
}

/** Returns an export in which each function has one sample. */
function exportOf(names) {
  const escaped = (text) =>
    text.replace(/[&<>"\t\n\r]/g, (char) => `&#${char.charCodeAt(0)};`);
  let id = 0;
  const rows = names.map((name, index) => {
    const [time, weight, stack, frame] = [++id, ++id, ++id, ++id];
    return `<row><sample-time id="${time}" fmt="x">${1_000_000 * (index + 1)}</sample-time><weight id="${weight}" fmt="1.00 ms">1000000</weight>` +
      `<backtrace id="${stack}"><frame id="${frame}" name="${escaped(name)}" addr="0x${(0x1001 + 16 * index).toString(16)}"/></backtrace></row>`;
  });
  return `<?xml version="1.0"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>` +
    `<schema name="time-profile"><col><mnemonic>time</mnemonic></col><col><mnemonic>weight</mnemonic></col><col><mnemonic>stack</mnemonic></col></schema>` +
    `${rows.join('\n')}</node></trace-query-result>\n`;
}
