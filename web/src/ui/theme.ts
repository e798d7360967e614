// Light or dark: as the system has it, unless a person chose.

import { swatches } from '../canvas/index.ts';
import { remember, remembered } from './remembered.ts';

const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'theme';

/** The theme that was chosen last. */
export function readTheme(): Theme {
  return THEMES.find((theme) => theme === remembered(KEY)) ?? 'auto';
}

export function setTheme(theme: Theme): void {
  if (theme === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  remember(KEY, theme === 'auto' ? null : theme);
}

/** Squares next to names have the colours of boxes. */
export function setSwatches(): void {
  for (const [name, color] of swatches()) document.documentElement.style.setProperty(name, color);
}

/** First the theme that the system does not have, so that every choice but the last of three changes what is seen. */
export function nextTheme(theme: Theme, isSystemDark = matchMedia('(prefers-color-scheme: dark)').matches): Theme {
  const order: readonly Theme[] = isSystemDark ? ['auto', 'light', 'dark'] : ['auto', 'dark', 'light'];
  return order[(order.indexOf(theme) + 1) % order.length]!;
}
