// Dropped files, and how the engine reads parts of them.

import { BlobReader } from './blob_reader.ts';
import type { ReadFile } from './engine.ts';

/** A dropped file, with its path below the drop. */
export interface Dropped {
  readonly path: string;
  readonly file: File;
}

/** A dropped file for the engine. Its content is a blob, or bytes if workers cannot read blobs. */
export interface Source {
  readonly path: string;
  readonly size: number;
  /** In nanoseconds since 1970. */
  readonly modified: number;
  readonly content: Blob | Uint8Array<ArrayBuffer>;
}

/** How far the engine is in a file, in bytes. */
export interface Progress {
  readonly path: string;
  readonly done: number;
  readonly size: number;
}

export function sourceOf({ path, file }: Dropped): Source {
  return { path, size: file.size, modified: Math.max(0, file.lastModified) * 1e6, content: file };
}

const REPORTED_EVERY_MS = 100;

/** Returns the function that reads sources, and reports the progress now and then. Blobs can be read only in a worker. */
export function readerOf(sources: readonly Source[], report: (progress: Progress) => void): ReadFile {
  let reported = -Infinity;
  const blobs = new BlobReader();
  return (index, offset, place) => {
    const { path, size, content } = sources[index]!;
    const now = performance.now();
    if (now - reported >= REPORTED_EVERY_MS) {
      reported = now;
      report({ path, done: offset, size });
    }
    if (content instanceof Blob) return blobs.read(content, offset, place);
    const bytes = content.subarray(offset, offset + place.length);
    place.set(bytes);
    return bytes.length;
  };
}
