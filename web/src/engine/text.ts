// Compares texts by their characters, in the order of the command.

/** Orders code units by code points: surrogates come after all other units. */
function place(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800;
  return unit >= 0xd800 ? unit + 0x2000 : unit;
}

/** Compares texts by code points. JavaScript's `<` compares code units, which differ from U+E000 on. */
export function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const [one, other] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (one !== other) return place(one) - place(other);
  }
  return a.length - b.length;
}

/** The texts of a payload, decoded on demand. */
export class Texts {
  /** All texts in UTF-8, one after the other, and the end of each. */
  readonly bytes: Uint8Array;
  readonly ends: Float64Array;
  readonly #known: (string | undefined)[];
  readonly #decoder = new TextDecoder();

  constructor(bytes: Uint8Array, ends: Float64Array) {
    this.bytes = bytes;
    this.ends = ends;
    this.#known = new Array<string | undefined>(ends.length);
  }

  get count(): number {
    return this.ends.length;
  }

  at(index: number): string {
    const known = this.#known[index];
    if (known !== undefined) return known;
    const start = index === 0 ? 0 : this.ends[index - 1]!;
    const text = this.#decoder.decode(this.bytes.subarray(start, this.ends[index]));
    this.#known[index] = text;
    return text;
  }
}
