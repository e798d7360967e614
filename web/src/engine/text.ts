// Texts in the order of their characters, as the command orders them.

/** Code units in the order of code points: halves of surrogate pairs stand behind all other units. */
function place(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800;
  return unit >= 0xd800 ? unit + 0x2000 : unit;
}

/** Orders texts by code points. JavaScript's `<` orders by code units, which differ from U+E000 on. */
export function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const [one, other] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (one !== other) return place(one) - place(other);
  }
  return a.length - b.length;
}

/** The texts of a payload, decoded when they are asked for. */
export class Texts {
  /** All texts in UTF-8, one after the other, and where each ends. */
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
