// Fits names into a width. Widths are the sums of character widths, each measured once, so that no frame measures text.

import { shorterNames } from './shorten.ts';

const DOTS = '…';
/** Fewer leading letters are not useful. */
const LEAST_HEAD = 2;

/** Measures texts in one font. */
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

  /** The width of a text; kerning makes it slightly narrower on the screen. */
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

  /**
   * Cuts out the middle of a text that is too wide: names of threads often differ at the end, so more of the end is
   * kept, with its number.
   */
  middle(text: string, width: number): string {
    if (this.of(text) <= width) return text;
    for (let kept = Math.min(text.length - 1, Math.ceil(width / 3)); kept >= 2; kept -= 1) {
      const cut = withoutMiddle(text, kept);
      if (this.of(cut) <= width) return cut;
    }
    return '';
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
    return this.#context.measureText(text).width;
  }
}

/**
 * Keeps this many letters of both ends of a text. More of the end is kept if its last number would be cut, as long as
 * there is still a beginning.
 */
export function withoutMiddle(text: string, kept: number): string {
  let [first, last] = [Math.ceil(kept / 3), Math.floor((2 * kept) / 3)];
  const cut = [...text.matchAll(/[0-9]+/g)].findLast(({ index }) => index < text.length - last);
  const needed = cut === undefined || cut.index + cut[0].length <= first ? last : text.length - cut.index;
  if (needed <= kept - LEAST_HEAD) [first, last] = [Math.min(first, kept - needed), needed];
  return `${head(text, first)}${DOTS}${tail(text, last)}`;
}

/** The first letters, without half of a pair. */
function head(text: string, length: number): string {
  const isHalf = (text.charCodeAt(length - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isHalf ? length - 1 : length);
}

function tail(text: string, length: number): string {
  const isHalf = (text.charCodeAt(text.length - length) & 0xfc00) === 0xdc00;
  return text.slice(text.length - (isHalf ? length - 1 : length));
}

interface Form {
  readonly text: string;
  readonly width: number;
}
