// What operations on trees leave of samples, computed in the slowest way: sample by sample, from what
// `traceparse INPUT --view samples --format json` writes. Nothing of traceparse's trees has a part in it.
//
//   node operations.mjs SAMPLES.json OPERATION FUNCTION[@BINARY]...
//
// prints the functions of what is left as `--view functions --format json` does: an array of objects with series, function,
// binary, self_weight, all_weight, self_samples and samples, by self weight. Operations:
//
//   excludes   samples with one of the functions anywhere in their stack are dropped
//   includes   samples with none of the functions in their stack are dropped
//   merge      the functions are taken out of every stack, and what they did is their callers'; a stack of nothing else is dropped
//   root-at    stacks begin at the outermost call of the function; samples without it are dropped
//   none       everything stays
//
// Threads that did not run are left out, as everywhere without --state.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

export const NO_STACK = '[no stack recorded]';

/** What a function is known by: its name and its binary. */
export const keyOf = (name, binary) => `${binary ?? ''}!${name}`;

/** The samples of a document that count: `{series, pid, process, tid, thread, weight, stack: [key]}`, root first. */
export function countedSamples(document) {
  const counted = document.samples.filter((sample) => sample.state === null || sample.state === 'Running');
  return counted.map((sample) => ({
    ...sample,
    stack: sample.stack === null ? [keyOf(NO_STACK, null)] : sample.stack.map((frame) => keyOf(frame.function, frame.binary)),
  }));
}

/** What is left of a stack; null where the sample is dropped. */
export function operate(operation, functions, stack) {
  const isMeant = (key) => functions.has(key);
  switch (operation) {
    case 'none':
      return stack;
    case 'excludes':
      return stack.some(isMeant) ? null : stack;
    case 'includes':
      return stack.some(isMeant) ? stack : null;
    case 'merge': {
      const left = stack.filter((key) => !isMeant(key));
      return left.length > 0 ? left : null;
    }
    case 'root-at': {
      const start = stack.findIndex(isMeant);
      return start >= 0 ? stack.slice(start) : null;
    }
    default:
      throw new Error(`${operation} is no operation`);
  }
}

/** The name of a function, without its binary. */
export const nameOf = (key) => key.slice(key.indexOf('!') + 1);

/**
 * What `--charge` leaves: the same as `merge`, but a stack of nothing else keeps its outermost function, so that its weight is
 * not lost. `merged` is what `merge` left, `{key, self, all}` by key.
 */
export function charged(samples, functions, merged) {
  const rows = new Map(merged);
  for (const sample of samples.filter((sample) => operate('merge', functions, sample.stack) === null)) {
    const [key] = sample.stack;
    const { self, all } = rows.get(key) ?? { self: 0, all: 0 };
    rows.set(key, { key, self: self + sample.weight, all: all + sample.weight });
  }
  return rows;
}

/** Self and all weight by function, as a map from `series key` to a row. */
export function functionsOf(samples, operation = 'none', functions = new Set()) {
  const rows = new Map();
  const row = (series, key) => {
    const place = `${series} ${key}`;
    if (!rows.has(place)) rows.set(place, { series, key, self_weight: 0, all_weight: 0, self_samples: 0, samples: 0 });
    return rows.get(place);
  };
  for (const sample of samples) {
    const stack = operate(operation, functions, sample.stack);
    if (stack === null) continue;
    const leaf = row(sample.series, stack.at(-1));
    leaf.self_weight += sample.weight;
    leaf.self_samples += 1;
    for (const key of new Set(stack)) {
      const each = row(sample.series, key);
      each.all_weight += sample.weight;
      each.samples += 1;
    }
  }
  return rows;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [path, operation, ...names] = process.argv.slice(2);
  const samples = countedSamples(JSON.parse(readFileSync(path, 'utf8')));
  const known = [...new Set(samples.flatMap((sample) => sample.stack))];
  // A name alone means the functions with this name in all binaries.
  const isNamed = (key) => names.some((name) => name === nameOf(key) || name === `${nameOf(key)}@${key.slice(0, key.indexOf('!'))}`);
  const rows = [...functionsOf(samples, operation, new Set(known.filter(isNamed))).values()];
  rows.sort((a, b) => b.self_weight - a.self_weight || b.all_weight - a.all_weight || (a.key < b.key ? -1 : 1));
  const functions = rows.map(({ key, ...rest }) => ({
    series: rest.series,
    function: nameOf(key),
    binary: key.slice(0, key.indexOf('!')) || null,
    ...rest,
  }));
  process.stdout.write(`${JSON.stringify(functions, null, 1)}\n`);
}
