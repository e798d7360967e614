// The visible tables and drawings, for saving and for moving through matches of the search.

import { download } from './copy.ts';
import { grouped } from './format.ts';

/** The class that marks the found name, as in the style. */
const FOUND = 'data-found';

interface Seeable {
  /** The name in the menu Save. */
  readonly name: string;
  readonly tsv: () => string;
  readonly rows: () => readonly object[];
  readonly seek?: Seek;
}

/**
 * Goes to the next or previous match, or to the heaviest one; returns false if there is none. While the user types, the view only scrolls: the
 * focus and the chosen function stay.
 */
export type Seek = (step: 1 | -1, toHeaviest: boolean, isTyping: boolean) => boolean;

export interface SeenDrawing {
  readonly name: () => string;
  /** The name of its file, without the extension. */
  readonly file: () => string;
  readonly svg: () => string;
  readonly png: () => Promise<Blob>;
}

/** Saves a drawing, and announces it. */
export async function saveDrawing(say: (text: string) => void, drawing: SeenDrawing, kind: 'svg' | 'png'): Promise<void> {
  const file = `${drawing.file()}.${kind}`;
  try {
    if (kind === 'svg') download(file, 'image/svg+xml', drawing.svg());
    else download(file, 'image/png', await drawing.png());
    say(`Saved ${file}.`);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
  }
}

export class Seen {
  readonly #shown = new Map<string, Seeable>();
  readonly #drawn = new Map<string, SeenDrawing>();
  /** Reports which match was found: `3 of 12`. */
  onPlace: (text: string) => void = () => {};

  /** Registers a drawing; the returned function removes it. */
  draw(id: string, drawing: SeenDrawing): () => void {
    this.#drawn.set(id, drawing);
    return () => {
      if (this.#drawn.get(id) === drawing) this.#drawn.delete(id);
    };
  }

  drawings(): SeenDrawing[] {
    return [...this.#drawn.values()];
  }

  /** The names of tables. */
  names(): string[] {
    return [...this.#shown.values()].map(({ name }) => name);
  }

  /** Registers a visible part; the returned function removes it. */
  show(id: string, seeable: Seeable): () => void {
    this.#shown.set(id, seeable);
    return () => {
      if (this.#shown.get(id) === seeable) this.#shown.delete(id);
    };
  }

  /** Goes to a match in the first table or drawing that has one; false if none has. */
  seek(...how: Parameters<Seek>): boolean {
    return [...this.#shown.values()].some((seeable) => seeable.seek?.(...how) === true);
  }

  /** Like `seek`, but among the names of functions and of everything else outside of tables. */
  seekName(matches: Uint8Array | null, isNamed: ((text: string) => boolean) | null, ...[step, toFirst, isTyping]: Parameters<Seek>): boolean {
    const isMatch = ({ dataset: { label }, textContent }: HTMLElement): boolean => (label === undefined ? isNamed?.(textContent!) === true : matches?.[Number(label)] === 1);
    const names = [...document.querySelectorAll<HTMLElement>('#view .name, #view a.link')].filter(isMatch);
    const before = toFirst ? -1 : names.findIndex((name) => name.hasAttribute(FOUND));
    const place = before < 0 ? (step > 0 ? 0 : names.length - 1) : (before + step + names.length) % names.length;
    const name = names[place];
    this.forgetName();
    if (name === undefined) return false;
    name.setAttribute(FOUND, '');
    name.scrollIntoView({ block: 'nearest' });
    if (!isTyping) name.closest<HTMLElement>('button, a')?.focus({ preventScroll: true });
    this.onPlace(`${grouped(place + 1)} of ${grouped(names.length)}`);
    return true;
  }

  forgetName(): void {
    document.querySelector(`[${FOUND}]`)?.removeAttribute(FOUND);
  }

  /** All tables as TSV, in order; null if there are none. */
  tsv(): string | null {
    if (this.#shown.size === 0) return null;
    return [...this.#shown.values()].map((seeable) => seeable.tsv()).join('\n\n');
  }

  /** All tables as JSON. Numbers above 2^53 are strings. */
  json(about: object): string | null {
    if (this.#shown.size === 0) return null;
    const tables = Object.fromEntries([...this.#shown].map(([id, seeable]) => [id, seeable.rows()]));
    const exact = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
    return `${JSON.stringify({ ...about, tables }, exact, 1)}\n`;
  }
}
