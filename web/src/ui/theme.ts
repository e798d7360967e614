// Light or dark: as the system has it, unless a person chose.

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

/** First the theme that the system does not have, so that every choice but the last of three changes what is seen. */
export function nextTheme(theme: Theme, isSystemDark = matchMedia('(prefers-color-scheme: dark)').matches): Theme {
  const order: readonly Theme[] = isSystemDark ? ['auto', 'light', 'dark'] : ['auto', 'dark', 'light'];
  return order[(order.indexOf(theme) + 1) % order.length]!;
}
