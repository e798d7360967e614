// The models that canvases draw, and the callbacks by which they request data and report events.
//
// A model contains only strings and typed arrays, apart from the notes of bars, which are created when they are shown. Its doubles are
// positions on the screen. Each displayed number is either a double below 2^53, which is exact, or a string in the model.

import type { Unit } from '../host/tables.ts';

/** From `start` up to, but not including, `end`, in the unit of the axis. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

export type { Unit };

/** The kinds of code, by which boxes are coloured. `FlameModel.kinds` contains their indices. */
export const KINDS = ['own', 'system', 'runtime', 'kernel', 'unknown', 'idle'] as const;
export type Kind = (typeof KINDS)[number];
export const KIND_NAMES: Record<Kind, string> = { own: 'your code', system: 'system', runtime: 'runtime', kernel: 'kernel', unknown: 'unknown', idle: 'waiting' };

/** Functions by label, as boxes refer to them. */
export interface Labels {
  readonly names: readonly string[];
  /** The binary's name, or an empty string. */
  readonly binaries: readonly string[];
  /** Indices in `KINDS`. */
  readonly kinds: Uint8Array;
}

/** Boxes of a flame graph or spans of a flame chart: callers before callees, and each depth from left to right. */
export interface FlameModel {
  /** Equal keys mean the same tree with the same weights: the zoom is kept, and only the number of boxes may differ. */
  readonly key: string;
  /** Equal trees number their nodes in the same way: a zoomed node is found again when weights change. */
  readonly tree: string;
  readonly unit: Unit;
  /** The weight of the root; in a chart, the weight of its thread. */
  readonly total: number;
  /** The range of positions: in a graph from 0 to `total`, in a chart the time of the recording. */
  readonly range: Range;
  /** The requested part of the range, and the smallest weight of its boxes; in a chart, narrower spans are merged. */
  readonly detail: { readonly from: number; readonly to: number; readonly least: number };
  readonly count: number;
  readonly node: Int32Array;
  readonly depth: Int32Array;
  readonly start: Float64Array;
  readonly width: Float64Array;
  /** The weight of each box, if it is not the width (charts); and the self weight. */
  readonly weight?: Float64Array;
  /** In a chart: the number of spans in each box, and the time that they cover. Spans too narrow to be seen separately are one box. */
  readonly spans?: Int32Array;
  readonly covered?: Float64Array;
  readonly self: Float64Array;
  /** Exact weights of the boxes as strings, if sums may reach 2^53. */
  readonly texts?: { readonly weight: readonly string[]; readonly self: readonly string[] };
  /** By box: its index in `labels`. */
  readonly label: Int32Array;
  readonly labels: Labels;
  /** By label: 1 if the search matches it. */
  readonly matches?: Uint8Array | null;
  /** The total of the matches, as a sentence. */
  readonly matchText?: string;
  readonly selected?: number | null;
  /** By box: from -1 (less than before) to 1 (more); 0 is noise. Boxes are coloured by it. */
  readonly change?: Float32Array | null;
  /** The recording whose weights the boxes have, if there are several: `after`. */
  readonly of?: string;
  /** By box: more lines for the tooltip, names and values, such as both weights of a comparison. */
  readonly notes?: readonly (readonly (readonly [string, string])[])[] | null;
  /** Root on top, or at the bottom. */
  readonly direction?: 'icicle' | 'flame';
  /** The leaf is the root of each stack, and callers are below. */
  readonly isInverted?: boolean;
  /** The accessible name. */
  readonly title: string;
}

export interface FlameCallbacks {
  /** A box was selected; null for none. `stack` contains the labels on the path to it. */
  onPick?(label: number | null, stack: () => number[]): void;
  /** A menu is requested at a place in the window. */
  onMenu?(label: number, x: number, y: number, stack: () => number[]): void;
  /** Boxes of at least this weight are requested for a part of the range. */
  onDetail?(from: number, to: number, least: number): void;
  /** Whether the complete range is shown, and the number of levels above the first visible level. */
  onWhole?(isWhole: boolean, above: number): void;
}

/** Weights by bin, as stacked layers with different tones. */
export interface Bins {
  readonly start: number;
  /** Length of a bin. */
  readonly bin: number;
  readonly layers: readonly BinLayer[];
  /** The weight of one bin that fills the height, such as `bin` times the number of cores; and what it means, such as `8 cores`. */
  readonly full: number;
  readonly fullText: string;
}

export interface BinLayer {
  readonly name: string;
  readonly tone: Tone;
  readonly values: Float64Array;
}

export type Tone =
  | 'cpu' | 'cpu-dim' | 'running' | 'runnable' | 'blocked' | 'interrupted' | 'other'
  | 'signpost' | 'region' | 'hang' | 'risk' | 'performance' | 'efficiency';

/** Bars with names. */
export interface LaneSpans {
  readonly start: Float64Array;
  /** Infinite if it was open at the end. */
  readonly end: Float64Array;
  readonly names: readonly string[];
}

/** Moments with names. */
export interface LaneMarks {
  readonly time: Float64Array;
  readonly names: readonly string[];
}

export interface Track {
  readonly id: string;
  readonly label: string;
  /** Smaller text after the label, such as the CPU time. */
  readonly detail?: string;
  readonly kind: 'overview' | 'process' | 'thread' | 'states' | 'core' | 'lane';
  /** Levels below the tracks of the left margin. */
  readonly indent?: number;
  readonly isSelected?: boolean;
  /** Drawn fainter, like samples that are filtered out. */
  readonly isDim?: boolean;
  /** False for busy threads and processes, true for nearly empty ones. The initial height of the timeline leaves out the latter. */
  readonly isMinor?: boolean;
  /** Whether the tracks below it are shown, if it has any. */
  readonly isOpen?: boolean;
  readonly bins?: Bins;
  readonly spans?: LaneSpans;
  /** More lines for the tooltip of a bar: names and values. */
  readonly note?: (span: number) => readonly (readonly [string, string])[];
  readonly marks?: LaneMarks;
  readonly tone?: Tone;
}

export interface TimelineModel {
  readonly unit: Unit;
  /** The time of the samples, in nanoseconds. */
  readonly range: Range;
  /** The recorded length, which may be longer; null if it is unknown. */
  readonly recorded: number | null;
  readonly brush: Range | null;
  /** Stays on top. */
  readonly overview: Track | null;
  readonly tracks: readonly Track[];
  readonly title: string;
}

export interface TimelineCallbacks {
  /** The selected time. `isFinal` is true once the user releases it. */
  onBrush?(range: Range | null, isFinal: boolean): void;
  onPickTracks?(ids: readonly string[], isAdditive: boolean): void;
  /** The triangle of a track was clicked. */
  onToggle?(id: string): void;
  /** A bar of a lane was clicked. */
  onPickSpan?(id: string, index: number): void;
  onMenu?(id: string, x: number, y: number): void;
  /** The visible time and the width of the plot in pixels: bins are requested for it. */
  onVisible?(range: Range, pixels: number): void;
}
