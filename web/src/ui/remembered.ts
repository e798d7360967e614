// Choices that the page remembers for the next visit. Pages from files may have no storage: then choices last as long as the page.

const kept = new Map<string, string | null>();

export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(`traceparse-${key}`);
  } catch {
    return kept.get(key) ?? null;
  }
}

/** Remembers a value; null forgets it. */
export function remember(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`traceparse-${key}`);
    else localStorage.setItem(`traceparse-${key}`, value);
  } catch {
    kept.set(key, value);
  }
}
