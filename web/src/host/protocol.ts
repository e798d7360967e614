// The protocol between the page and its worker. `exchange.ts` has the questions and answers, which the engine declares; `tables.ts` has what
// the page reads directly.

import type { Dropped, Progress, ReadingWay } from './dropped.ts';
import type { Reading } from './engine.ts';
import type { Answer, Ask, Place, Side } from './exchange.ts';
import type { Opened } from './tables.ts';

export type * from './exchange.ts';
export type * from './tables.ts';

/** The label for samples without a recorded stack, in place of a function's index. */
export const NO_STACK = -1;
/** The label of the root of a tree. */
export const ROOT = -2;

/** What is shown of a page with two recordings; a page with one shows `after`. */
export const SIDES: readonly Side[] = ['compared', 'after', 'before'];

/** An exact number: a bigint if a double cannot hold it. Numbers and bigints can be compared with `<`. */
export type Exact = number | bigint;

/** One number for each row: doubles, or exact numbers where sums reach 2^53. */
export type Column = Float64Array | readonly Exact[];

/** The number that samples count for: their weight, one, or the events of a counter by its number, from 1. */
export type Metric = 'weight' | 'samples' | `counter:${number}`;

/** The engine, the recording, for a comparison the first recording, and what the command found. A report embeds payloads in compressed form. */
export interface Payloads {
  readonly engine: WebAssembly.Module;
  readonly isCompressed: boolean;
  readonly payload: Uint8Array<ArrayBuffer>;
  readonly before: Uint8Array<ArrayBuffer> | null;
  readonly facts: string | null;
}

export type ToWorker =
  | { readonly kind: 'read'; readonly engine: WebAssembly.Module; readonly files: readonly Dropped[]; readonly way: ReadingWay; readonly probe: Blob }
  | { readonly kind: 'open'; readonly payloads: Payloads }
  | { readonly kind: 'ask'; readonly id: number; readonly place: Place; readonly ask: Ask };

export type FromWorker =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'read'; readonly reading: Reading }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'trapped' }
  | { readonly kind: 'opened'; readonly opened: Opened }
  | { readonly kind: 'answered'; readonly id: number; readonly answer: Answer }
  | { readonly kind: 'refused'; readonly id: number; readonly message: string; readonly isBroken: boolean }
  | { readonly kind: 'failed'; readonly message: string };
