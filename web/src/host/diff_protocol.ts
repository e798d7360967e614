// Questions about two recordings, and the answers. Labels are places among the functions of both: see `state/sides.ts`.

import type { DiffFacts, Normalize } from '../engine/index.ts';
import type { FlameModel } from '../canvas/types.ts';
import type { Column, FindAsk, FlameAsk, Found, OpenRows, Tables } from './protocol.ts';

/** What is shown of a page with two recordings; a page with one shows `after`. */
export const SIDES = ['compared', 'after', 'before'] as const;
export type SideName = (typeof SIDES)[number];

export interface PairTables {
  readonly before: Tables;
  readonly facts: DiffFacts;
  readonly matching: MatchedColumns;
}

/** The functions of both recordings, each once. The first is not a function: it represents samples without a stack. */
export interface MatchedColumns {
  readonly name: readonly (string | null)[];
  readonly binary: readonly (string | null)[];
  /** 1 if operations find the function by this name in both recordings. */
  readonly isNamed: Uint8Array;
  /** The function of each recording; -1 for none. */
  readonly before: Int32Array;
  readonly after: Int32Array;
  /** For each function of each recording: its index among the functions of both. */
  readonly ofBefore: Int32Array;
  readonly ofAfter: Int32Array;
}

export interface DiffTableAsk {
  readonly kind: 'diff-table';
  readonly of: 'functions' | 'own' | 'binaries';
  readonly normalize: Normalize;
}

export interface DiffOverviewAsk {
  readonly kind: 'diff-overview';
  readonly normalize: Normalize;
}

export interface DiffTreeAsk {
  readonly kind: 'diff-tree';
  readonly normalize: Normalize;
  readonly open: OpenRows | null;
  readonly expand: readonly number[] | null;
  readonly find: FindAsk | null;
}

export interface DiffFlameAsk extends Omit<FlameAsk, 'kind' | 'direction' | 'by' | 'part'> {
  readonly kind: 'diff-flame';
  readonly normalize: Normalize;
  /** The recording whose weights are the widths. */
  readonly widths: 'before' | 'after';
}

export interface DiffOfAsk {
  readonly kind: 'diff-of';
  readonly normalize: Normalize;
  readonly label: number;
}

export type DiffAsk = DiffTableAsk | DiffOverviewAsk | DiffTreeAsk | DiffFlameAsk | DiffOfAsk;

/** Both weights, their difference, and one standard deviation of it. */
export interface ChangeColumns {
  readonly before: Column;
  readonly after: Column;
  readonly change: Float64Array;
  readonly noise: Float64Array;
  /** 1 if the change is more than chance explains. */
  readonly isBeyond: Uint8Array;
}

export interface ChangedRows {
  readonly count: number;
  readonly self: ChangeColumns;
  readonly all: ChangeColumns;
  /** 0 in both, 1 new, 2 vanished. */
  readonly presence: Uint8Array;
}

/** The sum of everything, as the only row, and the scaling of what comes after. */
export interface DiffTotal {
  readonly rows: ChangedRows;
  /** Before and after. */
  readonly samples: readonly [number, number];
  readonly normalize: Normalize;
  readonly factor: number;
  /** False if a recording has nothing to scale by; then the factor is 1. */
  readonly isScaled: boolean;
}

export interface DiffTableAnswer {
  readonly kind: 'diff-table';
  readonly total: DiffTotal;
  /** -1 for binaries. */
  readonly label: Int32Array;
  readonly name: readonly string[];
  readonly rows: ChangedRows;
}

export interface DiffOverviewAnswer {
  readonly kind: 'diff-overview';
  readonly total: DiffTotal;
  readonly own: { readonly label: Int32Array; readonly rows: ChangedRows };
  readonly all: { readonly label: Int32Array; readonly rows: ChangedRows };
  /** The number of functions (app functions, if there are any), of those with enough samples for a test, and of those that changed. */
  readonly functions: number;
  readonly isOwn: boolean;
  readonly told: number;
  readonly changed: number;
}

export interface DiffTreeAnswer {
  readonly kind: 'diff-tree';
  readonly total: DiffTotal;
  readonly depth: Int32Array;
  readonly label: Int32Array;
  readonly rows: ChangedRows;
  readonly flags: Uint8Array;
  readonly isCut: boolean;
  readonly found: Found;
}

export interface DiffFlameAnswer {
  readonly kind: 'diff-flame';
  readonly total: DiffTotal;
  readonly model: FlameModel;
  /** By box. */
  readonly rows: ChangedRows;
}

export interface DiffOfAnswer {
  readonly kind: 'diff-of';
  readonly total: DiffTotal;
  /** One row, or none if no selected sample has the function. */
  readonly rows: ChangedRows;
}

export type DiffAnswer = DiffTableAnswer | DiffOverviewAnswer | DiffTreeAnswer | DiffFlameAnswer | DiffOfAnswer;
