// Dropped files, and how the engine reads parts of them.

import { BlobReader } from './blob_reader.ts';
import type { ReadFile, ReadRequest } from './engine.ts';

/** A dropped file, with its path below the drop. Its content is a blob, or bytes if workers cannot read blobs. */
export interface Dropped {
  readonly path: string;
  /** The size when it was dropped: a browser may report a newer one. */
  readonly size: number;
  /** In nanoseconds since 1970. */
  readonly modified: number;
  readonly content: Blob | Uint8Array<ArrayBuffer>;
}

/** The engine's position in a file, in bytes, and the number of files that were read. */
export interface Progress {
  readonly path: string;
  readonly done: number;
  readonly size: number;
  readonly read: number;
  readonly files: number;
}

export function droppedFile(path: string, file: File): Dropped {
  return { path, size: file.size, modified: Math.max(0, file.lastModified) * 1e6, content: file };
}

/** How files are read. */
export interface ReadingWay {
  /** True if the later of two recordings comes first. */
  readonly isSwapped: boolean;
  /** Times are left out, which needs less memory. */
  readonly isSummed: boolean;
}

/** The request to read these files. */
export function requestOf(files: readonly Dropped[], { isSwapped, isSummed }: ReadingWay): ReadRequest {
  return { files: files.map(({ path, size, modified }) => ({ path, size, modified })), is_swapped: isSwapped, sums: isSummed };
}

/** Finds a file that changed since it was dropped: browsers no longer read it. */
export async function findChanged(files: readonly Dropped[]): Promise<Dropped | undefined> {
  const areChanged = await Promise.all(files.map(isChanged));
  return files.find((_, index) => areChanged[index]);
}

function isChanged({ size, content }: Dropped): Promise<boolean> {
  if (content instanceof Uint8Array) return Promise.resolve(false);
  if (content.size !== size) return Promise.resolve(true);
  // Firefox reports the old size of a file that became shorter.
  return content.slice(Math.max(0, size - 1), size).arrayBuffer().then(
    (last) => last.byteLength < Math.min(1, size),
    () => true,
  );
}

const REPORTED_EVERY_MS = 100;

/** Returns the function that reads files, and reports the progress now and then. Blobs can be read only in a worker. */
export function readerOf(files: readonly Dropped[], report: (progress: Progress) => void): ReadFile {
  let reported = -Infinity;
  const blobs = new BlobReader();
  const read = new Set<number>();
  return (index, offset, place) => {
    const { path, size, content } = files[index]!;
    read.add(index);
    const now = performance.now();
    if (now - reported >= REPORTED_EVERY_MS) {
      reported = now;
      report({ path, done: offset, size, read: read.size, files: files.length });
    }
    if (content instanceof Blob) return blobs.read(content, offset, place);
    const bytes = content.subarray(offset, offset + place.length);
    place.set(bytes);
    return bytes.length;
  };
}
