// Light or dark: the system's theme, unless the user chose one.

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

/** The first choice is the theme that the system does not use, so that only the last of the three choices leaves the page unchanged. */
export function nextTheme(theme: Theme, isSystemDark = matchMedia('(prefers-color-scheme: dark)').matches): Theme {
  const order: readonly Theme[] = isSystemDark ? ['auto', 'light', 'dark'] : ['auto', 'dark', 'light'];
  return order[(order.indexOf(theme) + 1) % order.length]!;
}
