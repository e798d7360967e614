// The bytes that a page embeds in its scripts: compressed with gzip, in base64.

/** Decodes the text of such a script. */
export function embeddedBytes(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return inflate(fromBase64(text));
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Decodes base64 to bytes. `atob` would make an intermediate string of the same size. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> {
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

/** Decompresses gzip by the browser's own decoder. */
async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new DecompressionStream('gzip');
  const writer = stream.writable.getWriter();
  // Not with a Blob: WebKit cannot read one in a worker of a page opened from a file. The reading below reports errors.
  writer.write(bytes).catch(() => {});
  writer.close().catch(() => {});
  return new Uint8Array(await new Response(stream.readable).arrayBuffer());
}
