// Reads what `traceparse INPUT --format speedscope` writes with speedscope's own importer, and compares what it makes of every
// thread with what traceparse says; and holds the file against speedscope's schema.
//
//   node speedscope.mjs TRACEPARSE SPEEDSCOPE INPUT [OPTION...]
//
// SPEEDSCOPE is the folder of the package. Its importer is a part of the one script of the page, which runs here without a
// page. The options are given to traceparse, all of its commands. Where something differs, it is printed, and the exit code
// is 1.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { Comparison, Ours } from './ours.mjs';
import { functionsOf, keyOf, NO_STACK } from './operations.mjs';

const [traceparse, speedscope, input, ...options] = process.argv.slice(2);
const release = join(speedscope, 'dist/release');
const comparison = new Comparison();
const ours = new Ours(traceparse, input, options);
const text = ours.run('--format', 'speedscope');
const file = JSON.parse(text);

const schema = JSON.parse(readFileSync(join(release, 'file-format-schema.json'), 'utf8'));
const wrong = validate(schema, file, 'file');
comparison.ensure(wrong.length === 0, 'the schema:', wrong.slice(0, 5).join('; '));

const group = await (await importer()).importProfileGroupFromText('profile.speedscope.json', text);
comparison.ensure(group.profiles.length === ours.threads.length, `${group.profiles.length} profiles, ${ours.threads.length} threads`);
for (const [index, thread] of ours.threads.entries()) compareThread(thread, group.profiles[index], file.profiles[index]);
const weights = ours.threads.filter((row) => row.unit === ours.threads[0].unit).map((row) => row.all_weight);
const shown = ours.threads[group.indexToView];
comparison.ensure(shown?.unit === ours.threads[0].unit && shown.all_weight === Math.max(...weights), 'the heaviest thread is shown');
comparison.finish(`${input} ${options.join(' ')}: ${ours.threads.length} threads, ${ours.samples.length} samples`);

function compareThread(thread, profile, written) {
  const name = profile.getName();
  comparison.ensure(name.includes(thread.process) && name.includes(thread.thread), `${name} is called ${thread.thread}`);
  comparison.ensure(profile.getTotalWeight() === thread.all_weight, `${name}: ${profile.getTotalWeight()} and not ${thread.all_weight}`);
  comparison.ensure(profile.getWeightUnit() === (thread.unit === 'ns' ? 'nanoseconds' : 'none'), `${name}: ${profile.getWeightUnit()}`);
  const samples = ours.samplesOf(thread);
  comparison.ensure(written.samples.length === samples.length, `${name}: ${written.samples.length} samples, not ${samples.length}`);
  // A frame has no binary there, but its number in the file, which the importer keeps as its key.
  const there = new Map();
  profile.forEachFrame((frame) => {
    const { self, all } = there.get(frame.name) ?? { self: 0, all: 0 };
    there.set(frame.name, { key: frame.name, self: self + frame.getSelfWeight(), all: all + frame.getTotalWeight() });
  });
  comparison.ensureEqual(`${name}, --view functions`, there, byName(ours.functionsOf(thread)));
  comparison.ensureEqual(`${name}, samples added up`, there, byName(functionsOf(samples)));
  compareOrder(name, samples, written);
}

/** Samples stand in order of time, each with its stack and weight. */
function compareOrder(name, samples, written) {
  const frames = file.shared.frames;
  const sorted = samples.map((sample, index) => ({ sample, index }));
  sorted.sort((a, b) => a.sample.time_ns - b.sample.time_ns || a.index - b.index);
  const isRight = sorted.every(({ sample }, place) => {
    const names = written.samples[place].map((index) => frames[index].name);
    return written.weights[place] === sample.weight && names.join('\n') === sample.stack.map(nameOf).join('\n');
  });
  comparison.ensure(isRight, `${name}: samples in order of time`);
}

function nameOf(key) {
  return key === keyOf(NO_STACK, null) ? NO_STACK : key.slice(key.indexOf('!') + 1);
}

/** Rows of functions of one name, in whichever binary, as one. */
function byName(functions) {
  const rows = new Map();
  for (const { key, self_weight, all_weight } of functions.values()) {
    const name = nameOf(key);
    const known = rows.get(name) ?? { self_weight: 0, all_weight: 0 };
    rows.set(name, { key: name, self_weight: known.self_weight + self_weight, all_weight: known.all_weight + all_weight });
  }
  return rows;
}

/** The module with the importers. The page waits for it with a promise, and there it is taken from. */
async function importer() {
  const name = readdirSync(release).find((name) => /^speedscope-\w+\.js$/.test(name));
  const script = readFileSync(join(release, name), 'utf8');
  const module = /\b(\w+)=\{\};[$\w]+\(\1,\{[^}]*\bimportProfileGroupFromText:/.exec(script)?.[1];
  const waiting = new RegExp(`Promise\\.resolve\\(\\)\\.then\\(\\(\\)=>\\(\\w+\\(\\),${module}\\)\\)`);
  if (!waiting.test(script)) throw new Error(`${name} has no importer where it was looked for`);
  const location = { hash: '', href: 'file:///', protocol: 'file:' };
  const context = createContext({ console: { ...console, log() {} }, window: { location }, self: {}, TextDecoder, TextEncoder });
  try {
    runInContext(script.replace(waiting, (found) => `(globalThis.found=${found})`), context);
  } catch (error) {
    // After the importer, the script begins to draw the page, which does not exist here.
    if (context.found === undefined) throw error;
  }
  return context.found;
}

/** What is wrong with a value by a JSON schema, of which this knows what speedscope's uses. */
function validate(rules, value, place) {
  if (rules.$ref !== undefined) {
    const target = rules.$ref.replace(/^#\//, '').split('/').reduce((part, name) => part[name], schema);
    return validate(target, value, place);
  }
  if (rules.anyOf !== undefined) {
    const tries = rules.anyOf.map((each) => validate(each, value, place));
    return tries.some((wrong) => wrong.length === 0) ? [] : tries.flat();
  }
  const types = { object: (v) => typeof v === 'object' && v !== null && !Array.isArray(v), array: Array.isArray, number: Number.isFinite, string: (v) => typeof v === 'string' };
  if (rules.type !== undefined && !types[rules.type](value)) return [`${place} is no ${rules.type}`];
  if (rules.const !== undefined && value !== rules.const) return [`${place} is not ${rules.const}`];
  if (rules.enum !== undefined && !rules.enum.includes(value)) return [`${place} is none of ${rules.enum}`];
  if (rules.type === 'array') {
    return value.flatMap((item, index) => (typeof item === 'number' && rules.items.type === 'number' ? [] : validate(rules.items, item, `${place}[${index}]`)));
  }
  if (rules.type !== 'object') return [];
  const missing = (rules.required ?? []).filter((name) => !(name in value)).map((name) => `${place} has no ${name}`);
  // The schema allows other members, but the file must not have any.
  const other = Object.keys(value).filter((name) => !(name in rules.properties)).map((name) => `${place}.${name} is not in the schema`);
  const inside = Object.keys(value).filter((name) => name in rules.properties);
  return [...missing, ...other, ...inside.flatMap((name) => validate(rules.properties[name], value[name], `${place}.${name}`))];
}
