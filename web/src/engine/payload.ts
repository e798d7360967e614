// The payload of a page, from base64 to a profile. `docs/workbench.md` describes it; `src/output/workbench/` writes it.

import { type ColumnHead, ByteReader, readIndices, readNumbers } from './columns.ts';
import { type CounterColumn, counterColumn } from './counters.ts';
import { PayloadError } from './error.ts';
import { planesFor, planesOf } from './exact.ts';
import type { Profile, Series } from './profile.ts';
import { Texts } from './text.ts';

const VERSION = 1;

/** A profile from the text of the page's `<script id="profile">`. */
export async function decodePayload(base64: string): Promise<Profile> {
  return readPayload(await inflate(fromBase64(base64)));
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Decodes base64 to bytes. `atob` would make an intermediate string of the same size. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const values = new Uint8Array(128);
  for (let index = 0; index < 64; index += 1) values[LETTERS.charCodeAt(index)] = index;
  let length = text.length;
  while (length > 0 && text.charCodeAt(length - 1) === 61) length -= 1;
  const bytes = new Uint8Array(Math.floor((length * 3) / 4));
  let at = 0;
  const value = (index: number): number => (index < length ? values[text.charCodeAt(index) & 127]! : 0);
  for (let index = 0; index < length; index += 4) {
    const bits = (value(index) << 18) | (value(index + 1) << 12) | (value(index + 2) << 6) | value(index + 3);
    bytes[at++] = bits >> 16;
    bytes[at++] = bits >> 8;
    bytes[at++] = bits;
  }
  return bytes;
}

/** What gzip made smaller, by the browser's own decoder. */
export async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new DecompressionStream('gzip');
  const writer = stream.writable.getWriter();
  // Not with a Blob: WebKit cannot read one in a worker of a page opened from a file. The reading below reports errors.
  writer.write(bytes).catch(() => {});
  writer.close().catch(() => {});
  return new Uint8Array(await new Response(stream.readable).arrayBuffer());
}

/** A profile from the bytes of a payload. */
export function readPayload(bytes: Uint8Array): Profile {
  const reader = new ByteReader(bytes);
  const decoder = new TextDecoder();
  if (decoder.decode(reader.take(4)) !== 'TPWB') throw new PayloadError('this is not a traceparse payload');
  const head = JSON.parse(decoder.decode(reader.take(reader.varint()))) as Head;
  if (head.version !== VERSION) throw new PayloadError(`this page reads version ${VERSION}, not ${head.version}`);
  const columns = new Columns(reader, head.columns);
  const texts = readTexts(reader, columns);
  const functions = {
    count: columns.rows('functions.name'),
    name: columns.indices('functions.name'),
    binary: columns.optional('functions.binary'),
    flags: columns.indices('functions.flags'),
  };
  const frames = {
    count: columns.rows('frames.function'),
    function: columns.indices('frames.function'),
    binary: columns.optional('frames.binary'),
    address: columns.numbers('frames.address'),
    path: columns.optional('frames.path'),
    line: columns.indices('frames.line'),
    inlined: columns.indices('frames.inlined'),
  };
  const distance = columns.indices('stacks.parent');
  const parent = distance.map((distance, index) => (distance === 0 ? -1 : index - distance));
  const frame = framesOfStacks(parent, frames.count, columns.indices('stacks.callee'), columns.indices('stacks.new_frame'));
  const stacks = { count: parent.length, parent, frame };
  const { form, runs, processes, threads, cores, states, categories, binaries, intervals, sources, summary } = head;
  const { answer, reduction } = head;
  const about = { form, reduction, summary, answer };
  const tables = { ...about, runs, processes, threads, cores, states, categories, binaries, intervals, sources };
  const samples = readSamples(columns, head);
  return { ...tables, hangRisks: head.hang_risks, series: placed(head.series), texts, functions, frames, stacks, samples };
}

type SeriesHead = Omit<Series, 'start' | 'end'> & { readonly weight: string; readonly samples: string };

interface Head extends Omit<Profile, 'series' | 'texts' | 'functions' | 'frames' | 'stacks' | 'samples' | 'hangRisks'> {
  readonly version: number;
  readonly columns: readonly ColumnHead[];
  readonly series: readonly SeriesHead[];
  readonly hang_risks: readonly unknown[];
}

/** The columns in the order of the file; they must be read in this order. */
class Columns {
  readonly #reader: ByteReader;
  readonly #heads: readonly ColumnHead[];
  #next = 0;

  constructor(reader: ByteReader, heads: readonly ColumnHead[]) {
    this.#reader = reader;
    this.#heads = heads;
  }

  #column(name: string): ColumnHead {
    const head = this.#heads[this.#next];
    if (head?.name !== name) throw new PayloadError(`the column ${name} is missing`);
    this.#next += 1;
    return head;
  }

  rows(name: string): number {
    return this.#heads.find((head) => head.name === name)?.rows ?? 0;
  }

  indices(name: string): Int32Array {
    return readIndices(this.#reader, this.#column(name), 0);
  }

  optional(name: string): Int32Array {
    return readIndices(this.#reader, this.#column(name), 1);
  }

  numbers(name: string): Float64Array | BigUint64Array {
    return readNumbers(this.#reader, this.#column(name));
  }
}

function readTexts(reader: ByteReader, columns: Columns): Texts {
  const ends = Float64Array.from(columns.indices('texts.length'));
  let end = 0;
  for (let index = 0; index < ends.length; index += 1) {
    end += ends[index]!;
    ends[index] = end;
  }
  return new Texts(reader.take(end), ends);
}

/** By stack: its frame, from its place among the callees of the parent's frame; 0 is a new one. */
function framesOfStacks(parent: Int32Array, frames: number, place: Int32Array, newFrames: Int32Array): Int32Array {
  // For each frame, plus one: the frames it was seen to call, in order of first sight; a thread calls the frames of 0.
  const callees: number[][] = Array.from({ length: frames + 1 }, () => []);
  const found = new Int32Array(parent.length);
  let next = 0;
  for (let stack = 0; stack < found.length; stack += 1) {
    const above = parent[stack]!;
    const known = callees[above < 0 ? 0 : found[above]! + 1]!;
    const at = place[stack]!;
    if (at > 0) {
      found[stack] = known[at - 1]!;
    } else {
      found[stack] = newFrames[next++]!;
      known.push(found[stack]!);
    }
  }
  return found;
}

/** For each row: its stack, from its recency; -1 means none. */
function stacksOfRows(place: Int32Array, newStacks: Int32Array): Int32Array {
  let count = 0;
  return place.map((at) => {
    if (at === 0) return -1;
    if (at === 1) count += 1;
    return newStacks[count - Math.max(at - 1, 1)]!;
  });
}

function readSamples(columns: Columns, head: Head): Profile['samples'] {
  // Comparisons add up several runs.
  const sum = (totals: readonly string[]): bigint => totals.reduce((sum, total) => sum + BigInt(total), 0n);
  const shape = {
    weight: planesFor(sum(head.series.map((series) => series.weight))),
    count: planesFor(sum(head.series.map((series) => series.samples))),
  };
  return {
    count: columns.rows('samples.time'),
    time: columns.numbers('samples.time'),
    shape,
    weight: planesOf(columns.numbers('samples.weight'), shape.weight),
    samples: planesOf(columns.numbers('samples.count'), shape.count),
    thread: columns.indices('samples.thread'),
    stack: stacksOfRows(columns.indices('samples.stack'), columns.indices('samples.new_stack')),
    state: columns.optional('samples.state'),
    core: columns.optional('samples.core'),
    kind: columns.indices('samples.kind'),
    counters: readCounters(columns, head),
  };
}

function readCounters(columns: Columns, head: Head): CounterColumn[] {
  const prefix = 'samples.counter.';
  return head.columns.flatMap(({ name }) => {
    if (!name.startsWith(prefix)) return [];
    const number = Number(name.slice(prefix.length));
    const sum = head.series.reduce((sum, { counters }) => sum + BigInt(counters?.[number - 1]?.sum ?? 0), 0n);
    return [counterColumn(number, columns.numbers(name), sum)];
  });
}

function placed(series: readonly SeriesHead[]): Series[] {
  let start = 0;
  return series.map((row) => {
    const placed = { ...row, start, end: start + row.rows };
    start = placed.end;
    return placed;
  });
}
