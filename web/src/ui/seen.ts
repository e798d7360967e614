// What can be saved of what is on screen.

export interface Seeable {
  readonly tsv: () => string;
  readonly rows: () => readonly object[];
}

export class Seen {
  readonly #shown = new Map<string, Seeable>();

  /** Tells what is shown; the returned function tells that it is gone. */
  show(id: string, seeable: Seeable): () => void {
    this.#shown.set(id, seeable);
    return () => {
      if (this.#shown.get(id) === seeable) this.#shown.delete(id);
    };
  }

  /** All tables as TSV, one after the other; null without any. */
  tsv(): string | null {
    if (this.#shown.size === 0) return null;
    return [...this.#shown.values()].map((seeable) => seeable.tsv()).join('\n\n');
  }

  /** All tables as JSON. Numbers above 2^53 are texts. */
  json(about: object): string | null {
    if (this.#shown.size === 0) return null;
    const tables = Object.fromEntries([...this.#shown].map(([id, seeable]) => [id, seeable.rows()]));
    const exact = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
    return `${JSON.stringify({ ...about, tables }, exact, 1)}\n`;
  }
}
