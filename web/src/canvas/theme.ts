// Colours: built in for light and dark pages and for forced colours. Each one can be set by a custom property, `--canvas-` and its name.

import { type Base, DARK, LIGHT } from './palettes.ts';
import { KINDS, TONES, type Tone } from './types.ts';

const MORE = '(prefers-contrast: more)';

/** Boxes of one kind have one of these many shades, so that neighbours differ. */
export const SHADES = 3;
/** Steps of a difference, each way. */
export const STEPS = 4;

export interface Theme {
  readonly isDark: boolean;
  readonly isForced: boolean;
  readonly font: string;
  readonly background: string;
  /** The background of bars and margins next to the plot. */
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
  /** The text colours on boxes, one for each kind. */
  readonly boxTexts: readonly string[];
  /** Fills of differences, from the most that went to the most that came: `2 * STEPS + 1`. */
  readonly changes: readonly string[];
  readonly changeText: string;
  readonly tones: Readonly<Record<Tone, string>>;
  readonly laneText: string;
}

/** The colours of a page, read from its styles at this host. */
export function readTheme(host: HTMLElement): Theme {
  const styles = getComputedStyle(host);
  const isForced = matchMedia('(forced-colors: active)').matches;
  const isDark = isDarkScheme(styles.colorScheme);
  const { base: plain, changes, changeText, tones } = isDark ? DARK : LIGHT;
  const base = isForced ? forced(plain) : matchMedia(MORE).matches ? stronger(plain) : plain;
  const set = (name: string): string => (isForced ? '' : styles.getPropertyValue(`--canvas-${name}`).trim());
  const color = (name: keyof Base): string => set(name) || base[name];
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
    changeText,
    tones: Object.fromEntries(TONES.map((tone) => [tone, set(`tone-${tone}`) || tones[tone]])) as Record<Tone, string>,
  };
}

/** Uses one colour for all shades. */
function shades(text: string): string[] {
  const found = text.split(/\s+(?![^(]*\))/);
  return Array.from({ length: SHADES }, (_, index) => found[index % found.length]!);
}

function isDarkScheme(scheme: string): boolean {
  const [light, dark] = [/\blight\b/.test(scheme), /\bdark\b/.test(scheme)];
  if (dark !== light) return dark;
  return matchMedia('(prefers-color-scheme: dark)').matches;
}

/** The system's colours if the user forces them: texts and lines then distinguish the kinds. */
function forced(plain: Base): Base {
  return {
    ...plain,
    background: 'Canvas', raised: 'Canvas', text: 'CanvasText', dim: 'CanvasText', line: 'CanvasText', accent: 'Highlight',
    hover: 'Highlight', match: 'Highlight', 'match-text': 'HighlightText',
  };
}

/** More contrast if the user prefers it: nothing is dim, and lines are as dark as texts were. */
function stronger(plain: Base): Base {
  return { ...plain, dim: plain.text, line: plain.dim, 'idle-text': plain.text };
}

/** Calls back when the page's colours may have changed, until the function that it returns is called. */
export function watchTheme(changed: () => void): () => void {
  const queries = ['(prefers-color-scheme: dark)', '(forced-colors: active)', MORE].map((query) => matchMedia(query));
  const observer = new MutationObserver(changed);
  for (const query of queries) query.addEventListener('change', changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['class', 'style', 'data-theme'] });
  return () => {
    for (const query of queries) query.removeEventListener('change', changed);
    observer.disconnect();
  };
}
