// Returns what the traceparse command reports about an input.
import { execFileSync } from 'node:child_process';
import { countedSamples, keyOf } from './operations.mjs';

/** The output of a program; fails where the program does. */
export function output(program, args, environment = process.env) {
  return execFileSync(program, args, { env: environment, encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'pipe'] });
}

export class Ours {
  constructor(traceparse, input, options) {
    this.run = (...args) => output(traceparse, [input, ...options, ...args]);
    this.json = (...args) => JSON.parse(this.run('--format', 'json', ...args));
    this.document = this.json('--view', 'samples');
    this.samples = countedSamples(this.document);
    this.threads = this.json('--view', 'threads').threads;
    this.units = new Map(this.document.series.map((series) => [series.series, series.unit]));
  }

  /** The samples of a thread that count. */
  samplesOf(thread) {
    const fields = ['series', 'pid', 'process', 'tid', 'thread'];
    return this.samples.filter((sample) => fields.every((field) => sample[field] === thread[field]));
  }

  /** What `--view functions` says of a thread: rows by function. */
  functionsOf(thread) {
    return this.#answer(thread, []).functions;
  }

  /**
   * The same after operations on stacks: `{functions, total, removed}`, the last two in weight. Where nothing is left, the command
   * ends with 1; then there are no functions, and the total is 0.
   */
  operated(thread, ...operations) {
    try {
      return this.#answer(thread, operations);
    } catch (error) {
      if (error.status !== 1 || !error.stderr.includes('no sample')) throw error;
      return { functions: new Map(), total: 0, removed: null };
    }
  }

  #answer(thread, operations) {
    const series = this.document.series[thread.series];
    const chosen = this.json(
      '--view', 'functions', '--process', String(thread.pid ?? thread.process), '--thread', String(thread.tid ?? thread.thread),
      '--run', String(series.run), '--schema', series.schema, ...operations);
    // Other series with this run and schema also exist, in the same order.
    const isSame = (row) => row.run === series.run && row.schema === series.schema;
    const place = this.document.series.filter(isSame).indexOf(series);
    const found = chosen.series.filter(isSame)[place];
    const functions = new Map();
    for (const row of chosen.functions.filter((row) => row.series === found.series)) {
      const key = keyOf(row.function, row.binary);
      const known = functions.get(key) ?? { self_weight: 0, all_weight: 0 };
      functions.set(key, { key, self_weight: known.self_weight + row.self_weight, all_weight: known.all_weight + row.all_weight });
    }
    const changes = (chosen.operations ?? []).flatMap((operation) => operation.series);
    const removals = changes.filter((change) => change.series === found.series).map((change) => change.removed.weight);
    return { functions, total: found.all_weight, removed: removals.reduce((sum, weight) => sum + weight, 0) };
  }
}

/** What was compared, and what was not equal. */
export class Comparison {
  checked = 0;
  differences = [];

  ensure(isRight, ...what) {
    this.checked += 1;
    if (!isRight) this.differences.push(what.join(' '));
  }

  /** Whether a viewer's functions, `{key, self, all}`, are those of ours, `{key, self_weight, all_weight}`. */
  ensureEqual(what, there, here) {
    const numbers = new Map();
    for (const { key, self_weight, all_weight } of here.values()) {
      if (self_weight > 0 || all_weight > 0) numbers.set(key, `self ${self_weight}, all ${all_weight}`);
    }
    for (const { key, self, all } of there.values()) {
      if (self === 0 && all === 0) continue;
      this.ensure(numbers.get(key) === `self ${self}, all ${all}`, `${what}: ${key} has self ${self}, all ${all} there, and here`, numbers.get(key));
      numbers.delete(key);
    }
    this.ensure(numbers.size === 0, `${what}: missing there:`, [...numbers].slice(0, 5).join('; '));
  }

  /** Prints the result; the exit code is 1 where something differs. */
  finish(what) {
    console.log(`${what}: ${this.checked} comparisons, ${this.differences.length} differences`);
    if (this.checked === 0 || this.differences.length > 0) {
      console.log(this.differences.slice(0, 20).join('\n'));
      process.exitCode = 1;
    }
  }
}
