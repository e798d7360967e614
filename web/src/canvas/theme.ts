// Colours: built in for light and dark pages and for forced colours. Each one can be set by a custom property, `--canvas-` and its name.

import { KINDS, TONES, type Tone } from './types.ts';

/** Boxes of one kind have one of these many shades, so that neighbours differ. */
export const SHADES = 3;
/** Steps of a difference, each way. */
export const STEPS = 4;

export interface Theme {
  readonly isDark: boolean;
  readonly isForced: boolean;
  readonly font: string;
  readonly background: string;
  /** Bars and margins that stand beside the plot. */
  readonly raised: string;
  readonly text: string;
  readonly dim: string;
  readonly line: string;
  readonly accent: string;
  /** Over what is not selected. */
  readonly veil: string;
  readonly hover: string;
  /** Text on boxes that match a search. */
  readonly match: string;
  readonly matchText: string;
  /** Fills of boxes: `SHADES` of each kind. */
  readonly boxes: readonly string[];
  /** Texts on boxes: one for each kind. */
  readonly boxTexts: readonly string[];
  /** Fills of differences, from the most that went to the most that came: `2 * STEPS + 1`. */
  readonly changes: readonly string[];
  readonly changeText: string;
  readonly tones: Readonly<Record<Tone, string>>;
  readonly laneText: string;
}

const LIGHT = {
  background: '#ffffff', raised: '#f5f6f8', text: '#1b1f24', dim: '#57606a', line: '#d8dde3', accent: '#0b5fcc',
  veil: 'rgba(245,246,248,0.72)', hover: '#1b1f24', match: '#d63fb0', 'match-text': '#ffffff', 'lane-text': '#10141a',
  own: '#f5a742 #f7b765 #f29a3a', system: '#c9d6e6 #d3dfec #bfcedf', runtime: '#c3dfd0 #cfe6da #b6d7c5',
  kernel: '#d9cdea #e2d8f0 #cfc1e4', unknown: '#dedede #e6e6e6 #d5d5d5', idle: '#eef0f2 #f2f4f5 #e9ecee',
  'own-text': '#201100', 'system-text': '#26384d', 'runtime-text': '#17382a', 'kernel-text': '#3a2a55',
  'unknown-text': '#333333', 'idle-text': '#5a636d',
};
const DARK = {
  background: '#15181d', raised: '#1d2127', text: '#e6e9ed', dim: '#9aa4b0', line: '#343b44', accent: '#63a8ff',
  veil: 'rgba(21,24,29,0.68)', hover: '#ffffff', match: '#e25fc0', 'match-text': '#180011', 'lane-text': '#0d1116',
  own: '#d98a2b #e39a42 #cc7d1e', system: '#39485a #404f62 #334152', runtime: '#2f5245 #365b4d #294a3d',
  kernel: '#4b3f66 #534771 #43385c', unknown: '#45484d #4c4f54 #3e4146', idle: '#24292f #282d34 #20252a',
  'own-text': '#1a0d00', 'system-text': '#dbe5f0', 'runtime-text': '#d5ecdf', 'kernel-text': '#e6dcf7',
  'unknown-text': '#e4e4e4', 'idle-text': '#98a2ad',
};

const LIGHT_CHANGES = ['#3b82c4', '#74a9d8', '#a9cbe8', '#d3e4f3', '#e4e6e9', '#fadcd6', '#f5b5aa', '#ec8878', '#dc5b4b'];
const DARK_CHANGES = ['#5aa2e6', '#447fb8', '#345f8a', '#2d4660', '#3a3f46', '#5f3a38', '#8a4641', '#b8544a', '#e26a5c'];

const LIGHT_TONES: Record<Tone, string> = {
  cpu: '#62a0ea', 'cpu-dim': '#a9b4c0', running: '#2f9e5f', runnable: '#e0a21b', blocked: '#b9c1ca', interrupted: '#8d63c7',
  other: '#98a2ad', signpost: '#7fb2f0', region: '#8fd0b0', hang: '#ee7b6c', risk: '#e0a21b', performance: '#c95fb3', efficiency: '#3fa7a0',
};
const DARK_TONES: Record<Tone, string> = {
  cpu: '#3c7ccb', 'cpu-dim': '#59636e', running: '#45b877', runnable: '#dba52f', blocked: '#4a535e', interrupted: '#a07fdb',
  other: '#6b7580', signpost: '#6fa4e4', region: '#68b894', hang: '#ee7b6c', risk: '#dba52f', performance: '#d277bf', efficiency: '#4fb5ae',
};

type Base = typeof LIGHT;

/** The colours of a page, as its styles say where this host stands. */
export function readTheme(host: HTMLElement): Theme {
  const styles = getComputedStyle(host);
  const isForced = matchMedia('(forced-colors: active)').matches;
  const isDark = isDarkScheme(styles.colorScheme);
  const base = isForced ? forced(isDark) : isDark ? DARK : LIGHT;
  const set = (name: string): string => (isForced ? '' : styles.getPropertyValue(`--canvas-${name}`).trim());
  const color = (name: keyof Base): string => set(name) || base[name];
  const tones = isDark ? DARK_TONES : LIGHT_TONES;
  const changes = isDark ? DARK_CHANGES : LIGHT_CHANGES;
  return {
    isDark,
    isForced,
    font: set('font') || 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
    background: color('background'),
    raised: color('raised'),
    text: color('text'),
    dim: color('dim'),
    line: color('line'),
    accent: color('accent'),
    veil: color('veil'),
    hover: color('hover'),
    match: color('match'),
    matchText: color('match-text'),
    laneText: color('lane-text'),
    boxes: KINDS.flatMap((kind) => shades(color(kind))),
    boxTexts: KINDS.map((kind) => color(`${kind}-text`)),
    changes: changes.map((fallback, step) => set(`change-${step}`) || fallback),
    changeText: isDark ? '#f3f5f7' : '#1b1f24',
    tones: Object.fromEntries(TONES.map((tone) => [tone, set(`tone-${tone}`) || tones[tone]])) as Record<Tone, string>,
  };
}

/** One colour stands for all shades. */
function shades(text: string): string[] {
  const found = text.split(/\s+(?![^(]*\))/);
  return Array.from({ length: SHADES }, (_, index) => found[index % found.length]!);
}

function isDarkScheme(scheme: string): boolean {
  const [light, dark] = [/\blight\b/.test(scheme), /\bdark\b/.test(scheme)];
  if (dark !== light) return dark;
  return matchMedia('(prefers-color-scheme: dark)').matches;
}

/** The system's own colours where the reader chose them: kinds are told apart by their texts and by lines. */
function forced(isDark: boolean): Base {
  return {
    ...(isDark ? DARK : LIGHT),
    background: 'Canvas', raised: 'Canvas', text: 'CanvasText', dim: 'CanvasText', line: 'CanvasText', accent: 'Highlight',
    hover: 'Highlight', match: 'Highlight', 'match-text': 'HighlightText',
  };
}

/** Calls back when the page's colours may have changed, until the function that it returns is called. */
export function watchTheme(changed: () => void): () => void {
  const queries = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((query) => matchMedia(query));
  const observer = new MutationObserver(changed);
  for (const query of queries) query.addEventListener('change', changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['class', 'style', 'data-theme'] });
  return () => {
    for (const query of queries) query.removeEventListener('change', changed);
    observer.disconnect();
  };
}
