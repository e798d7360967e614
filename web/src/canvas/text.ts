// Fits names into a width. Widths are the sums of character widths, each measured once, so that no frame measures text.

import { shorterNames } from './shorten.ts';

const DOTS = '…';
/** A name with fewer leading letters is not useful. */
const LEAST_HEAD = 4;

/** Measures text in one font. */
export class TextWidths {
  readonly #context: CanvasRenderingContext2D;
  readonly #latin = new Float64Array(0x250);
  readonly #others = new Map<string, number>();
  readonly #forms = new Map<string, Form[]>();

  constructor(font: string) {
    // A separate context: setting the font of the drawing context would change later drawing.
    this.#context = document.createElement('canvas').getContext('2d')!;
    this.#context.font = font;
  }

  /** The width of a string; kerning makes it slightly narrower on the screen. */
  of(text: string): number {
    let width = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code >= 0x250 && code !== 0x2026) return this.#other(text);
      width += this.#letter(code);
    }
    return width;
  }

  /** The longest form of a name that fits this width; an empty string if not even four letters fit. */
  fit(name: string, width: number): string {
    let forms = this.#forms.get(name);
    if (forms === undefined) {
      forms = shorterNames(name).map((text) => ({ text, width: this.of(text) }));
      if (this.#forms.size > 50_000) this.#forms.clear();
      this.#forms.set(name, forms);
    }
    for (const form of forms) if (form.width <= width) return form.text;
    return this.#cut(forms[forms.length - 1]!.text, width);
  }

  /** Cuts a string that is too wide. */
  beginning(text: string, width: number): string {
    return this.of(text) <= width ? text : this.#cut(text, width);
  }

  #cut(whole: string, width: number): string {
    // Underscores and ellipses only take up space.
    const text = whole.replace(/^(…(::)?)?_*|(\(…?\)|…)$/g, '');
    const room = width - this.of(DOTS);
    // Most names are Latin; for other scripts, an estimate from the average width is good enough.
    let [at, used] = [0, 0];
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      const next = used + (code < 0x250 || code === 0x2026 ? this.#letter(code) : this.of(text) / text.length);
      if (next > room) break;
      used = next;
    }
    // Never cut a surrogate pair.
    if (at > 0 && at < text.length && (text.charCodeAt(at) & 0xfc00) === 0xdc00) at -= 1;
    return at < LEAST_HEAD ? '' : text.slice(0, at).trimEnd() + DOTS;
  }

  #letter(code: number): number {
    if (code === 0x2026) return this.#other(DOTS);
    const known = this.#latin[code]!;
    if (known > 0) return known;
    const width = this.#measure(String.fromCharCode(code));
    this.#latin[code] = width;
    return width;
  }

  #other(text: string): number {
    const known = this.#others.get(text);
    if (known !== undefined) return known;
    const width = this.#measure(text);
    if (this.#others.size > 50_000) this.#others.clear();
    this.#others.set(text, width);
    return width;
  }

  #measure(text: string): number {
    return this.#context.measureText(text).width;
  }
}

interface Form {
  readonly text: string;
  readonly width: number;
}
