// The built-in colours. Each kind of code has several shades and one text colour.

import { KINDS, type Tone } from './types.ts';

const LIGHT_BASE = {
  background: '#ffffff', raised: '#f5f6f8', text: '#1b1f24', dim: '#57606a', line: '#d8dde3', accent: '#0b5fcc',
  veil: 'rgba(245,246,248,0.72)', hover: '#1b1f24', match: '#c22f9c', 'match-text': '#ffffff', 'lane-text': '#10141a',
  own: '#f5a742 #f7b765 #f29a3a', system: '#c9d6e6 #d3dfec #bfcedf', runtime: '#c3dfd0 #cfe6da #b6d7c5',
  kernel: '#d9cdea #e2d8f0 #cfc1e4', unknown: '#dedede #e6e6e6 #d5d5d5', idle: '#eef0f2 #f2f4f5 #e9ecee',
  'own-text': '#201100', 'system-text': '#26384d', 'runtime-text': '#17382a', 'kernel-text': '#3a2a55',
  'unknown-text': '#333333', 'idle-text': '#5a636d',
};
const DARK_BASE = {
  background: '#15181d', raised: '#1d2127', text: '#e6e9ed', dim: '#9aa4b0', line: '#343b44', accent: '#63a8ff',
  veil: 'rgba(21,24,29,0.68)', hover: '#ffffff', match: '#e25fc0', 'match-text': '#180011', 'lane-text': '#0d1116',
  own: '#d98a2b #e39a42 #cc7d1e', system: '#556b86 #5c728d #4e647e', runtime: '#457966 #4c806c #3f715d',
  kernel: '#4b3f66 #534771 #43385c', unknown: '#45484d #4c4f54 #3e4146', idle: '#24292f #282d34 #20252a',
  'own-text': '#1a0d00', 'system-text': '#f4f8fc', 'runtime-text': '#ffffff', 'kernel-text': '#e6dcf7',
  'unknown-text': '#e4e4e4', 'idle-text': '#98a2ad',
};

const LIGHT_CHANGES = ['#5797d3', '#80b2dd', '#a9cbe8', '#d3e4f3', '#e4e6e9', '#fadcd6', '#f5b5aa', '#ee9486', '#e57364'];
const DARK_CHANGES = ['#3573b3', '#33669a', '#2f5980', '#2d4660', '#3a3f46', '#5f3a38', '#84423d', '#9f4840', '#b54a40'];

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
  /** From the most that went to the most that came. */
  readonly changes: readonly string[];
  readonly changeText: string;
  readonly tones: Readonly<Record<Tone, string>>;
}

export const LIGHT: Palette = { base: LIGHT_BASE, changes: LIGHT_CHANGES, changeText: '#14181d', tones: LIGHT_TONES };
export const DARK: Palette = { base: DARK_BASE, changes: DARK_CHANGES, changeText: '#ffffff', tones: DARK_TONES };

/** The colours of boxes by name, as CSS: the first shade of each kind of code, and the ends and the middle of the changes. */
export function swatches(): Map<string, string> {
  const pair = (name: string, of: (palette: Palette) => string): [string, string] => [`--${name}`, `light-dark(${of(LIGHT)}, ${of(DARK)})`];
  const change = (name: string, step: number): [string, string] => pair(name, ({ changes }) => changes[step]!);
  return new Map([...KINDS.map((kind) => pair(kind, ({ base }) => base[kind].split(' ')[0]!)), change('less', 0), change('noise', 4), change('more', 8)]);
}
