// The bytes that a page embeds in its scripts: compressed with gzip, in base64.

import { RefusedError } from './refused.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** Bytes that are inflated at once, so that memory never holds all compressed and all inflated bytes. */
const PIECE = 1 << 20;

/** Browsers of 2025 decode base64 themselves, ten times as fast. */
const native = Uint8Array as typeof Uint8Array & { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };

/** Decodes the text of a script. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return native.fromBase64?.(text) ?? decoded(text);
}

/** The same without the browser. `atob` would make an intermediate string of the same size. */
function decoded(text: string): Uint8Array<ArrayBuffer> {
  const values = new Uint8Array(128);
  for (let index = 0; index < 64; index += 1) values[LETTERS.charCodeAt(index)] = index;
  let length = text.length;
  while (length > 0 && text.charCodeAt(length - 1) === 61) length -= 1;
  const bytes = new Uint8Array(Math.floor((length * 3) / 4));
  let at = 0;
  const value = (index: number): number => (index < length ? values[text.charCodeAt(index) & 127]! : 0);
  for (let index = 0; index < length; index += 4) {
    const bits = (value(index) << 18) | (value(index + 1) << 12) | (value(index + 2) << 6) | value(index + 3);
    bytes[at++] = bits >> 16;
    bytes[at++] = bits >> 8;
    bytes[at++] = bits;
  }
  return bytes;
}

/** Decompresses gzip with the browser's decoder. */
export function inflated(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const stream = new DecompressionStream('gzip');
  const writer = stream.writable.getWriter();
  const write = async (): Promise<void> => {
    for (let at = 0; at < bytes.length; at += PIECE) await writer.write(bytes.subarray(at, at + PIECE));
    await writer.close();
  };
  // The reader gets the error.
  write().catch(() => {});
  return stream.readable;
}

/** The decompressed length, which is below 4 GiB. */
export function inflatedLength(bytes: Uint8Array): number {
  return bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 4, true);
}

/** Decompresses into a place of the right length. */
export async function inflateInto(place: Uint8Array, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  let at = 0;
  const reader = inflated(bytes).getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (at + next.value.length > place.length) break;
    place.set(next.value, at);
    at += next.value.length;
  }
  if (at !== place.length) throw new RefusedError('the page is damaged: its data has the wrong length');
}
