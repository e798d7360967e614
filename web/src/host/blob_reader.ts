// Reads blobs in a worker, which can do so synchronously: the engine waits for the bytes.

/** True in a worker that can read this blob. In WebKit, workers of a page opened from a file cannot read blobs. */
export function canRead(probe: Blob): boolean {
  return new BlobReader().read(probe, 0, new Uint8Array(1)) === 1;
}

/** The number of bytes to read at a time if a blob is read in order, since reading only the engine's blocks is slower. */
const AHEAD = 4 << 20;

export class BlobReader {
  /** The part of a blob that was read last. */
  #part = { blob: new Blob(), start: 0, bytes: new Uint8Array(0) };

  /** Copies bytes into a buffer. Returns their number, or -1 if the blob cannot be read, which the engine reports. */
  read(blob: Blob, offset: number, place: Uint8Array): number {
    const end = Math.min(offset + place.length, blob.size);
    const isNext = blob === this.#part.blob && offset === this.#part.start + this.#part.bytes.length;
    try {
      if (!this.#has(blob, offset, end)) this.#take(blob, offset, isNext ? Math.max(end, offset + AHEAD) : end);
    } catch {
      return -1;
    }
    const { start, bytes } = this.#part;
    const found = bytes.subarray(offset - start, end - start);
    place.set(found);
    return found.length;
  }

  #has(blob: Blob, offset: number, end: number): boolean {
    const { start, bytes } = this.#part;
    return blob === this.#part.blob && start <= offset && end <= start + bytes.length;
  }

  #take(blob: Blob, start: number, end: number): void {
    const bytes = new Uint8Array(new FileReaderSync().readAsArrayBuffer(blob.slice(start, end)));
    free(this.#part.bytes.buffer);
    this.#part = { blob, start, bytes };
  }
}

/**
 * Frees the bytes of a buffer: otherwise, Chromium keeps hundreds of megabytes until it collects garbage. Transfers the buffer in a message to a
 * closed port, which drops the message. (`ArrayBuffer.transfer` does not free the bytes.)
 */
function free(buffer: ArrayBuffer): void {
  nowhere ??= closedPort();
  nowhere.postMessage(buffer, [buffer]);
}

let nowhere: MessagePort | null = null;

function closedPort(): MessagePort {
  const { port1 } = new MessageChannel();
  port1.close();
  return port1;
}

/** Exists only in workers, and TypeScript cannot combine the types of workers and pages. */
declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}
