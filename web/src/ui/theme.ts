// Light or dark: as the system has it, unless a person chose.

const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'traceparse-theme';

/** The theme that was chosen last; pages from files may not remember. */
export function readTheme(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'auto';
  } catch {
    return 'auto';
  }
}

export function setTheme(theme: Theme): void {
  if (theme === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // It applies to this page.
  }
}

/** First the theme that the system does not have, so that every choice but the last of three changes what is seen. */
export function nextTheme(theme: Theme, isSystemDark = matchMedia('(prefers-color-scheme: dark)').matches): Theme {
  const order: readonly Theme[] = isSystemDark ? ['auto', 'light', 'dark'] : ['auto', 'dark', 'light'];
  return order[(order.indexOf(theme) + 1) % order.length]!;
}
