// The button that changes between light and dark.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Theme, nextTheme, readTheme, setTheme } from './theme.ts';

const THEME_NAMES: Record<Theme, string> = { auto: 'same as system', light: 'light', dark: 'dark' };

export function ThemeButton(): JSX.Element {
  const [theme, set] = useState<Theme>(readTheme);
  useEffect(() => setTheme(theme), [theme]);
  return (
    <button type="button" title={`Colours: ${THEME_NAMES[theme]}`} aria-label={`Colours: ${THEME_NAMES[theme]}`} onClick={() => set(nextTheme(theme))} data-part="theme" data-choice={theme}>
      <span class="only-read">{theme}</span>
    </button>
  );
}
