// Dropped files, and how the engine reads parts of them.

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
  return (index, offset, place) => {
    const { path, size, content } = sources[index]!;
    const now = performance.now();
    if (now - reported >= REPORTED_EVERY_MS) {
      reported = now;
      report({ path, done: offset, size });
    }
    try {
      const bytes = bytesOf(content, offset, offset + place.length);
      place.set(bytes);
      return bytes.length;
    } catch {
      // The engine has the sentence for it.
      return -1;
    }
  };
}

/** True in a worker that can read this blob. In WebKit, workers of a page from a file cannot read any. */
export function canRead(probe: Blob): boolean {
  try {
    return bytesOf(probe, 0, 1).length === 1;
  } catch {
    return false;
  }
}

function bytesOf(content: Source['content'], start: number, end: number): Uint8Array {
  if (content instanceof Uint8Array) return content.subarray(start, end);
  return new Uint8Array(new FileReaderSync().readAsArrayBuffer(content.slice(start, end)));
}

/** Exists only in workers, whose types exclude those of pages. */
declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}
