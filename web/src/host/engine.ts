// The crate as a WebAssembly module: how requests and answers cross its memory.
//
//   request   JSON in UTF-8
//   answer    length of the head (u32), head, bytes of arrays
//   head      {"ok": value} or {"refused": "sentence"}, padded so that the arrays start at a multiple of 8
//
// In a value, {"$f64": [offset, count]} is an array among the bytes, and {"$big": "9007199254740993"} is a number that no double can represent.

import { inflated, inflatedLength, inflateInto } from './embedded.ts';
import type { Answer, Ask, Exact, PairTables, Place, Tables } from './protocol.ts';
import { RefusedError } from './refused.ts';

/** The functions that the module exports. Pointers are unsigned, but JavaScript reads them as signed. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  /** Reserves memory for a request, and returns its address. */
  readonly reserve: (length: number) => number;
  /** Both functions read the request, and return the length of the answer. */
  readonly open: (payload: number, before: number, facts: number) => number;
  readonly ask: (length: number) => number;
  /** Exists in the module that reads recordings (`npm run app`). */
  readonly read?: (length: number) => number;
  readonly answer: () => number;
}

/** Copies bytes of a dropped file, by its index in the request, into a place. Returns their number, or -1 if it cannot be read. */
export type ReadFile = (file: number, offset: number, place: Uint8Array<ArrayBuffer>) => number;

/**
 * Dropped files, by their paths below the drop, the memory limit in bytes, whether the later one of two recordings is the first, and whether times
 * are left out, which needs less memory.
 */
export interface ReadRequest {
  readonly files: readonly { readonly path: string; readonly size: number; readonly modified: number }[];
  readonly memory?: number;
  readonly is_swapped?: boolean;
  readonly sums?: boolean;
}

/** What was read: an uncompressed payload, for two recordings also the payload of the first one with facts about both, the path, and sentences. */
export interface Reading {
  readonly payload: Uint8Array<ArrayBuffer>;
  readonly before: Uint8Array<ArrayBuffer> | null;
  readonly facts: string | null;
  readonly title: string;
  /** For two recordings, the first one tells which is the earlier, and why. */
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
  readonly unmatched: readonly string[];
  /** Why other files could not be read. */
  readonly refused: readonly string[];
}

type Head = { readonly ok: unknown } | { readonly refused: string };

type ReadColumns = 'functions' | 'textBytes' | 'textEnds' | 'spans' | 'intervals';

/** The tables of a recording, in which the head of its payload is unchanged. */
export interface OpenedTables extends Pick<Tables, ReadColumns> {
  readonly head: Omit<Tables, ReadColumns | 'hangRisks'> & { readonly hang_risks: Tables['hangRisks'] };
}

interface Opened {
  readonly tables: OpenedTables;
  readonly pair: (Omit<PairTables, 'before'> & { readonly before: OpenedTables }) | null;
}

const ARRAYS: Readonly<Record<string, { readonly width: number; readonly from: (buffer: ArrayBuffer) => unknown }>> = {
  $f64: { width: 8, from: (buffer) => new Float64Array(buffer) },
  $f32: { width: 4, from: (buffer) => new Float32Array(buffer) },
  $i32: { width: 4, from: (buffer) => new Int32Array(buffer) },
  $u8: { width: 1, from: (buffer) => new Uint8Array(buffer) },
  $u64: { width: 8, from: (buffer) => Array.from(new BigUint64Array(buffer), exact) },
};

/** Compiles a compressed module while it is inflated. */
export async function compiled(module: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module> {
  if (typeof WebAssembly === 'undefined') {
    throw new RefusedError('this page needs WebAssembly, which this browser does not offer; turn off Lockdown Mode for it, or use another browser');
  }
  return WebAssembly.compileStreaming(new Response(inflated(module), { headers: { 'Content-Type': 'application/wasm' } }));
}

export class Engine {
  readonly #exports: Exports;

  private constructor(exports: Exports) {
    this.#exports = exports;
  }

  static async start(module: WebAssembly.Module, readFile?: ReadFile): Promise<Engine> {
    const read = (file: number, offset: number, at: number, length: number): number =>
      readFile?.(file, offset, new Uint8Array(exports.memory.buffer, at >>> 0, length >>> 0)) ?? -1;
    const exports = (await WebAssembly.instantiate(module, { host: { read } })).exports as unknown as Exports;
    return new Engine(exports);
  }

  /** Reads the recording among dropped files. The memory that it takes is freed with the engine. */
  read(request: ReadRequest): Reading {
    const length = this.#write(request);
    return this.#answer(this.#exports.read?.(length) ?? 0) as Reading;
  }

  /** Opens uncompressed payloads. */
  openPlain(payload: Uint8Array, before: Uint8Array | null = null, facts: string | null = null): Opened {
    const parts = [payload, before ?? new Uint8Array(), new TextEncoder().encode(facts ?? '')] as const;
    const place = this.#reserve(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      place.set(part, at);
      at += part.length;
    }
    return this.#answer(this.#exports.open(...(parts.map(({ length }) => length) as [number, number, number]))) as Opened;
  }

  /** Opens a compressed payload. A comparison has a second payload, for the first recording, and facts as JSON. */
  async open(payload: Uint8Array<ArrayBuffer>, before: Uint8Array<ArrayBuffer> | null, facts: string | null): Promise<Opened> {
    const told = new TextEncoder().encode(facts ?? '');
    const [length, lengthBefore] = [inflatedLength(payload), before === null ? 0 : inflatedLength(before)];
    // Nothing else uses the memory in the meantime, so its buffer stays valid.
    const place = this.#reserve(length + lengthBefore + told.length);
    await inflateInto(place.subarray(0, length), payload);
    if (before !== null) await inflateInto(place.subarray(length, length + lengthBefore), before);
    place.set(told, length + lengthBefore);
    return this.#answer(this.#exports.open(length, lengthBefore, told.length)) as Opened;
  }

  ask(place: Place, ask: Ask): Answer {
    return this.#answer(this.#exports.ask(this.#write({ place, ask }))) as Answer;
  }

  #write(request: unknown): number {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    this.#reserve(bytes.length).set(bytes);
    return bytes.length;
  }

  #reserve(length: number): Uint8Array {
    const at = this.#exports.reserve(length) >>> 0;
    // `reserve` may replace the buffer of the memory.
    return new Uint8Array(this.#exports.memory.buffer, at, length);
  }

  #answer(length: number): unknown {
    const start = this.#exports.answer() >>> 0;
    const bytes = new Uint8Array(this.#exports.memory.buffer, start, length >>> 0);
    const arrays = 4 + new DataView(bytes.buffer, start).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, arrays))) as Head;
    if ('refused' in head) throw new RefusedError(head.refused);
    return restored(head.ok, bytes.subarray(arrays));
  }
}

/** Returns a value of a head with copies of its arrays: the next request overwrites the memory, and the page takes the buffers. */
function restored(value: unknown, arrays: Uint8Array): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => restored(one, arrays));
  const entries = Object.entries(value);
  const [key, only] = entries[0] ?? ['', null];
  if (key === '$big') return BigInt(only as string);
  const kind = ARRAYS[key];
  if (kind === undefined) return Object.fromEntries(entries.map(([name, one]) => [name, restored(one, arrays)]));
  const [offset, count] = only as [number, number];
  return kind.from(arrays.slice(offset, offset + count * kind.width).buffer);
}

function exact(value: bigint): Exact {
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}
