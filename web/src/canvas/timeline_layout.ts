// Lays out the tracks.

import { laneOf } from './lanes.ts';
import type { TimelineModel, Track } from './types.ts';

export const AXIS = 24;
export const OVERVIEW = 52;
/** The height of a bar in a lane. */
export const BAR = 15;

const HEIGHTS: Record<Track['kind'], number> = { overview: OVERVIEW, process: 34, thread: 32, states: 18, core: 26, lane: BAR + 7 };

function heightOf(track: Track, end: number): number {
  if (track.spans === undefined) return HEIGHTS[track.kind];
  const { levels, leftOut } = laneOf(track.spans, end);
  return Math.max(1, levels) * BAR + 7 + (leftOut > 0 ? BAR : 0);
}

/** The left margin with names, and where tracks begin. */
export class TimelineLayout {
  readonly tracks: readonly Track[];
  /** By track: its top, measured from the first track; with one extra entry for the end. */
  readonly tops: Float64Array;
  /** The height of the fixed part at the top. */
  readonly head: number;
  /** The number of tracks with each name, regardless of their thread numbers. */
  readonly #alike = new Map<string, number>();

  constructor(model: TimelineModel | null) {
    this.tracks = model?.tracks ?? [];
    this.tops = new Float64Array(this.tracks.length + 1);
    for (const { label } of this.tracks) this.#alike.set(withoutNumber(label), (this.#alike.get(withoutNumber(label)) ?? 0) + 1);
    this.tracks.forEach((track, index) => {
      this.tops[index + 1] = this.tops[index]! + heightOf(track, model!.range.end);
    });
    this.head = AXIS + (model === null || model.overview === null ? 0 : OVERVIEW);
  }

  /** The short name of a track, and the number of its thread, which is empty unless other threads have the same name. */
  shorter(label: string): readonly [string, string] {
    const short = withoutNumber(label);
    return [short, this.#alike.get(short) === 1 ? '' : label.slice(short.length)];
  }

  get height(): number {
    return this.tops[this.tracks.length]!;
  }

  /** The height up to the last busy row, at most this. Only lanes are cut, since one lane may be higher than the limit. */
  usual(most: number): number {
    const last = this.tracks.findLastIndex(({ isMinor }) => isMinor === false);
    const minor = this.tracks.findIndex(({ isMinor }, index) => index > last && isMinor === true);
    const end = minor < 0 ? this.tracks.length : minor;
    const cut = this.tracks.findIndex((_, index) => index < end && this.head + this.tops[index + 1]! > most);
    return cut >= 0 && this.tracks[cut]!.kind === 'lane' ? most : this.head + this.tops[cut < 0 ? end : cut]!;
  }

  /** The track at a height, from the top of all; -1 for none. */
  at(y: number): number {
    if (y < 0 || y >= this.height) return -1;
    let [low, high] = [0, this.tracks.length];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.tops[middle]! <= y) low = middle;
      else high = middle;
    }
    return low;
  }

  heightAt(index: number): number {
    return this.tops[index + 1]! - this.tops[index]!;
  }
}

function withoutNumber(label: string): string {
  return label.replace(/ \(0x[0-9a-f]+\)$/, '');
}

/** The width of the left margin. */
export function marginOf(width: number): number {
  return Math.round(width < 560 ? Math.max(84, width * 0.31) : Math.min(240, Math.max(150, width * 0.17)));
}
