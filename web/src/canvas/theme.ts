// Colours for light and dark pages, for more contrast, and for forced colours.

import { type Base, DARK, LIGHT, type Palette } from './palettes.ts';
import { KINDS, type Kind } from './types.ts';

const MORE = '(prefers-contrast: more)';

/** The number of shades for boxes of one kind, so that neighbours differ. */
export const SHADES = 3;
/** The number of steps of a difference in each direction. */
export const STEPS = 4;

export interface Theme extends Omit<Base, Kind | `${Kind}-text`>, Omit<Palette, 'base'> {
  readonly isDark: boolean;
  readonly isForced: boolean;
  readonly font: string;
  /** Fills of boxes: `SHADES` of each kind. */
  readonly boxes: readonly string[];
  /** The text colours on boxes, one for each kind. */
  readonly boxTexts: readonly string[];
}

/** The colours of a page, read from its styles at this host. */
export function readTheme(host: HTMLElement): Theme {
  const isForced = matchMedia('(forced-colors: active)').matches;
  const isDark = isDarkScheme(getComputedStyle(host).colorScheme);
  const { base: plain, ...colors } = isDark ? DARK : LIGHT;
  const base = isForced ? forced(plain) : matchMedia(MORE).matches ? stronger(plain) : plain;
  return {
    ...base,
    ...colors,
    isDark,
    isForced,
    font: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
    boxes: KINDS.flatMap((kind) => base[kind]),
    boxTexts: KINDS.map((kind) => base[`${kind}-text`]),
  };
}

function isDarkScheme(scheme: string): boolean {
  const [light, dark] = [/\blight\b/.test(scheme), /\bdark\b/.test(scheme)];
  if (dark !== light) return dark;
  return matchMedia('(prefers-color-scheme: dark)').matches;
}

/** The system's colours if the user forces them: text and lines then distinguish the kinds. */
function forced(plain: Base): Base {
  return {
    ...plain,
    background: 'Canvas', raised: 'Canvas', text: 'CanvasText', dim: 'CanvasText', line: 'CanvasText', accent: 'Highlight',
    hover: 'Highlight', match: 'Highlight', matchText: 'HighlightText',
  };
}

/** More contrast if the user prefers it: nothing is dim, and lines are as dark as text usually is. */
function stronger(plain: Base): Base {
  return { ...plain, dim: plain.text, line: plain.dim, 'idle-text': plain.text };
}

/** Calls back when the page's colours may have changed, until the returned function is called. */
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
