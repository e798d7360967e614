// Files that the page saves, compared with those of the command.

import { deepEqual, ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { basename, dirname } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { COMMAND } from '../command.mjs';

/** The options of the command for each format. */
export const FORMATS = {
  csv: ['--format', 'csv', '--view', 'functions'],
  folded: ['--format', 'folded'],
  speedscope: ['--format', 'speedscope'],
  firefox: ['--format', 'firefox'],
  pprof: ['--format', 'pprof'],
};

/** Returns what the command writes, or null if it refuses. It names the file without its folder, like the page. */
export function writtenBy(file, options) {
  const { status, stdout } = spawnSync(COMMAND, [basename(file), ...options], { cwd: dirname(file), maxBuffer: 1 << 30 });
  return status === 0 ? stdout : null;
}

/**
 * Most files are equal. A page has addresses only as they were recorded (`docs/workbench.md`), and frames that differ in nothing else are one
 * frame after an operation.
 */
export function expectAlike(format, saved, written) {
  if (format === 'firefox') return deepEqual(firefoxSamples(saved), firefoxSamples(written));
  if (format === 'pprof') return deepEqual(pprofStacks(saved), pprofStacks(written));
  ok(saved.equals(written), `${format}: ${saved.length} and ${written.length} bytes`);
}

/** The threads, with functions in place of frames. */
function firefoxSamples(file) {
  const { meta: { toolkit: _, ...meta }, libs, shared: { stackTable, frameTable, funcTable, stringArray }, threads } = JSON.parse(file);
  const texts = [];
  for (let at = 0; at < stackTable.length; at += 1) {
    const offset = stackTable.prefixOffset[at];
    const frame = stackTable.frame[at];
    const own = [stringArray[funcTable.name[frameTable.func[frame]]], frameTable.line[frame], frameTable.category[frame]].join(' ');
    texts.push(offset === 0 ? own : `${texts[at - offset]};${own}`);
  }
  const stacksOf = ({ samples, markers, ...thread }) => ({ ...thread, samples: { ...samples, stack: samples.stack.map((stack) => texts[stack] ?? null) }, markers: markers.length });
  return { meta, libs, threads: threads.map(stacksOf) };
}

/** The sums of samples by their functions and labels. */
function pprofStacks(file) {
  const profile = [...fieldsOf(gunzipSync(file))];
  const of = (field) => profile.filter(([number]) => number === field).map(([, value]) => value);
  const texts = of(6).map(String);
  const single = (message) => Object.fromEntries(fieldsOf(message));
  const functions = new Map(of(5).map(single).map(({ 1: id, 2: name }) => [id, texts[name]]));
  const locations = new Map(of(4).map((message) => {
    const lines = [...fieldsOf(message)].filter(([number]) => number === 4).map(([, line]) => single(line));
    return [single(message)[1], lines.map(({ 1: id, 2: line = 0 }) => `${functions.get(id)}:${line}`).join(';')];
  }));
  const sums = {};
  for (const sample of of(2)) {
    const fields = [...fieldsOf(sample)];
    const labels = fields.filter(([number]) => number === 3).map(([, label]) => single(label)).map(({ 1: key, 2: text, 3: number }) => `${texts[key]}=${text === undefined ? number : texts[text]}`);
    const [stack, values] = [1, 2].map((field) => numbersOf(fields.find(([number]) => number === field)?.[1] ?? Buffer.alloc(0)));
    const key = [...labels, ...stack.map((id) => locations.get(id))].join('\n');
    sums[key] = values.map((value, at) => value + (sums[key]?.[at] ?? 0));
  }
  return { sums: Object.fromEntries(Object.entries(sums).sort()), others: [1, 9, 10, 11, 12].map((field) => of(field).map(String)) };
}

/** The fields of a protobuf message: numbers and bytes. */
function* fieldsOf(message) {
  for (let at = 0; at < message.length; ) {
    let tag, value;
    [tag, at] = varint(message, at);
    [value, at] = varint(message, at);
    if (tag % 8 === 2) {
      yield [tag >> 3, message.subarray(at, at + value)];
      at += value;
    } else yield [tag >> 3, value];
  }
}

function numbersOf(packed) {
  const numbers = [];
  for (let at = 0, value; at < packed.length; numbers.push(value)) [value, at] = varint(packed, at);
  return numbers;
}

function varint(bytes, at) {
  let [value, scale] = [0, 1];
  do {
    value += (bytes[at] & 127) * scale;
    scale *= 128;
  } while (bytes[at++] > 127);
  return [value, at];
}
