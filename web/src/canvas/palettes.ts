// The built-in colours. Each kind of code has several shades and one text colour. The command's flame graphs use the same colours for code and
// changes.

import { dark, light } from '../../../src/output/palette.json';
import { KINDS, type Tone } from './types.ts';

/** The colours of code. The middle shade is the first, since legends use it. */
function boxesOf({ text, user, system, runtime, kernel, unknown }: typeof light) {
  const shades = ([light, middle, dark]: readonly string[]): string[] => [middle!, light!, dark!];
  return {
    own: shades(user), system: shades(system), runtime: shades(runtime), kernel: shades(kernel), unknown: shades(unknown),
    'own-text': text, 'system-text': text, 'runtime-text': text, 'kernel-text': text, 'unknown-text': text,
  };
}

const LIGHT_BASE = {
  background: '#ffffff', raised: '#f5f6f8', text: '#1b1f24', dim: '#57606a', line: '#d8dde3', accent: '#0b5fcc',
  veil: 'rgba(245,246,248,0.72)', hover: '#1b1f24', match: '#c22f9c', matchText: '#ffffff', laneText: '#10141a',
  idle: ['#eef0f2', '#f2f4f5', '#e9ecee'], 'idle-text': '#5a636d', ...boxesOf(light),
};
const DARK_BASE = {
  background: '#15181d', raised: '#1d2127', text: '#e6e9ed', dim: '#9aa4b0', line: '#343b44', accent: '#63a8ff',
  veil: 'rgba(21,24,29,0.68)', hover: '#ffffff', match: '#e25fc0', matchText: '#180011', laneText: '#0d1116',
  idle: ['#24292f', '#282d34', '#20252a'], 'idle-text': '#98a2ad', ...boxesOf(dark),
};

const LIGHT_TONES: Record<Tone, string> = {
  cpu: '#62a0ea', 'cpu-dim': '#a9b4c0', running: '#2f9e5f', runnable: '#e0a21b', blocked: '#b9c1ca', interrupted: '#8d63c7',
  other: '#98a2ad', signpost: '#7fb2f0', region: '#8fd0b0', hang: '#ee7b6c', risk: '#e0a21b', performance: '#c95fb3', efficiency: '#3fa7a0',
};
const DARK_TONES: Record<Tone, string> = {
  cpu: '#3c7ccb', 'cpu-dim': '#59636e', running: '#45b877', runnable: '#dba52f', blocked: '#4a535e', interrupted: '#a07fdb',
  other: '#6b7580', signpost: '#6fa4e4', region: '#68b894', hang: '#ee7b6c', risk: '#dba52f', performance: '#d277bf', efficiency: '#4fb5ae',
};

export type Base = typeof LIGHT_BASE;

/** Colours that belong together. */
export interface Palette {
  readonly base: Base;
  /** Fills of differences, from the largest decrease to the largest increase: `2 * STEPS + 1`. */
  readonly changes: readonly string[];
  readonly changeText: string;
  readonly tones: Readonly<Record<Tone, string>>;
}

export const LIGHT: Palette = { base: LIGHT_BASE, changes: light.changes, changeText: light.text, tones: LIGHT_TONES };
export const DARK: Palette = { base: DARK_BASE, changes: dark.changes, changeText: dark.text, tones: DARK_TONES };

/** The colours of boxes by name, as CSS: the first shade of each kind of code, and the ends and the middle of the changes. */
export function swatches(): Map<string, string> {
  const pair = (name: string, of: (palette: Palette) => string): [string, string] => [`--${name}`, `light-dark(${of(LIGHT)}, ${of(DARK)})`];
  const change = (name: string, step: number): [string, string] => pair(name, ({ changes }) => changes[step]!);
  return new Map([...KINDS.map((kind) => pair(kind, ({ base }) => base[kind][0]!)), change('less', 0), change('noise', 4), change('more', 8)]);
}
