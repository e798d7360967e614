// Names that fit. Widths are added up from those of characters, measured once each, so that no frame measures text.

import { shorterNames } from './shorten.ts';

const DOTS = '…';

/** The widths of texts in one font. */
export class TextWidths {
  readonly #context: CanvasRenderingContext2D;
  readonly #font: string;
  readonly #latin = new Float64Array(0x250);
  readonly #others = new Map<string, number>();
  readonly #forms = new Map<string, Form[]>();

  constructor(context: CanvasRenderingContext2D, font: string) {
    this.#context = context;
    this.#font = font;
  }

  /** The width of a text; its letters' kerning makes it a little narrower on the screen. */
  of(text: string): number {
    let width = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code >= 0x250 && code !== 0x2026) return this.#other(text);
      width += this.#letter(code);
    }
    return width;
  }

  /** The longest form of a name that is this wide at most; an empty text if not even two letters are. */
  fit(name: string, width: number): string {
    let forms = this.#forms.get(name);
    if (forms === undefined) {
      forms = shorterNames(name).map((text) => ({ text, width: this.of(text) }));
      if (this.#forms.size > 50_000) this.#forms.clear();
      this.#forms.set(name, forms);
    }
    for (const form of forms) if (form.width <= width) return form.text;
    return this.#cut(forms[forms.length - 1]!, width);
  }

  #cut({ text, width: full }: Form, width: number): string {
    const room = width - this.of(DOTS);
    // Most of what is cut is Latin; for the rest the share of its width is near enough.
    let [at, used] = [0, 0];
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      const next = used + (code < 0x250 || code === 0x2026 ? this.#letter(code) : full / text.length);
      if (next > room) break;
      used = next;
    }
    // Never half of a pair.
    if (at > 0 && at < text.length && (text.charCodeAt(at) & 0xfc00) === 0xdc00) at -= 1;
    return at < 2 ? '' : text.slice(0, at) + DOTS;
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
    this.#context.font = this.#font;
    return this.#context.measureText(text).width;
  }
}

interface Form {
  readonly text: string;
  readonly width: number;
}
