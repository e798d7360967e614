import type { Tables } from '../host/protocol.ts';

/** The strings of a recording, decoded on demand. */
export class Texts {
  /** All strings in UTF-8, concatenated, and the end of each. */
  readonly #bytes: Uint8Array;
  readonly #ends: Float64Array;
  readonly #known: (string | undefined)[];
  readonly #decoder = new TextDecoder();

  constructor({ textBytes, textEnds }: Pick<Tables, 'textBytes' | 'textEnds'>) {
    this.#bytes = textBytes;
    this.#ends = textEnds;
    this.#known = new Array<string | undefined>(textEnds.length);
  }

  at(index: number): string {
    const start = index === 0 ? 0 : this.#ends[index - 1]!;
    return (this.#known[index] ??= this.#decoder.decode(this.#bytes.subarray(start, this.#ends[index])));
  }
}
