// Reads dropped files: in a worker that ends with the reading, since the memory of a module never shrinks. Until then, the open recording is
// answered by its own worker.

import { type Dropped, type Progress, type ReadingWay, readerOf, requestOf } from './dropped.ts';
import { Engine, type Reading } from './engine.ts';
import type { FromWorker, ToWorker } from './protocol.ts';
import { RefusedError } from './refused.ts';
import { NoWorker, startWorker } from './start_worker.ts';
import { isBroken } from './worker.ts';

/** The most bytes that are copied if workers cannot read files. */
const MOST_COPIED = 256e6;

export interface ReadOptions {
  readonly engine: Promise<WebAssembly.Module>;
  /** The page's script, from which workers are created. */
  readonly script: string | null;
  /** True if the later of two recordings comes first. */
  readonly isSwapped: boolean;
  readonly onProgress: (progress: Progress) => void;
  /** The files are read again from the start, without times. */
  readonly onAgain: () => void;
  /** Cancels the reading. */
  readonly signal: AbortSignal;
}

/** The worker cannot read blobs. */
class Unreadable extends Error {
  override name = 'Unreadable';
}

/** The module ended without a message, most likely because it ran out of memory. */
class Trapped extends Error {
  override name = 'Trapped';
}

/** The files need more memory than a module can have. */
export class TooLarge extends RefusedError {}

/**
 * Reads the recording among dropped files, or two. If memory runs out, a new module reads them again, without times.
 *
 * Throws a `RefusedError` with the engine's sentence if there is no recording.
 */
export async function readDropped(files: readonly Dropped[], options: ReadOptions): Promise<Reading> {
  const { isSwapped, onAgain } = options;
  for (const isSummed of [false, true]) {
    if (isSummed) onAgain();
    try {
      return await readOnce(files, { isSwapped, isSummed }, options);
    } catch (error) {
      if (!(error instanceof Trapped)) throw error;
    }
  }
  throw new TooLarge('the browser cannot read this for lack of memory; use the command');
}

async function readOnce(files: readonly Dropped[], way: ReadingWay, options: ReadOptions): Promise<Reading> {
  try {
    return await readInWorker(files, way, options);
  } catch (error) {
    if (error instanceof Unreadable) return readInWorker(await copiesOf(files), way, options);
    if (error instanceof NoWorker) return readHere(await copiesOf(files), way, options);
    throw error;
  }
}

async function readInWorker(files: readonly Dropped[], way: ReadingWay, { engine, script, onProgress, signal }: ReadOptions): Promise<Reading> {
  const module = await engine;
  return new Promise((resolve, reject) => {
    const receive = (message: FromWorker): void => {
      if (message.kind === 'progress') return onProgress(message.progress);
      if (message.kind === 'read') resolve(message.reading);
      else if (message.kind === 'unreadable') reject(new Unreadable());
      else if (message.kind === 'trapped') reject(new Trapped());
      else if (message.kind === 'failed') reject(new RefusedError(message.message));
      worker.terminate();
    };
    const worker = startWorker(script, receive, () => reject(new NoWorker()));
    const cancel = (): void => {
      worker.terminate();
      reject(new RefusedError('the reading was cancelled'));
    };
    signal.addEventListener('abort', cancel);
    if (signal.aborted) cancel();
    const message: ToWorker = { kind: 'read', engine: module, files, way, probe: new Blob(['?']) };
    worker.postMessage(message, files.flatMap(({ content }) => (content instanceof Uint8Array ? [content.buffer] : [])));
  });
}

/** Copies the files in the page. */
async function copiesOf(files: readonly Dropped[]): Promise<Dropped[]> {
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (size > MOST_COPIED) {
    throw new RefusedError(
      `these files have ${Math.ceil(size / 1e6)} MB, and this browser can read only ${MOST_COPIED / 1e6} MB on a page that was opened from a file; open the page from a web server, use another browser, or use the command`,
    );
  }
  return Promise.all(files.map(copyOf));
}

async function copyOf(file: Dropped): Promise<Dropped> {
  const { path, content } = file;
  if (content instanceof Uint8Array) return file;
  try {
    return { ...file, content: new Uint8Array(await content.arrayBuffer()) };
  } catch {
    throw new RefusedError(`${path}: the browser cannot read it; perhaps it changed since it was dropped`);
  }
}

/** Reads in the page, which does not react until then. */
async function readHere(files: readonly Dropped[], way: ReadingWay, { engine, onProgress }: ReadOptions): Promise<Reading> {
  const reader = await Engine.start(await engine, readerOf(files, onProgress));
  try {
    return reader.read(requestOf(files, way));
  } catch (error) {
    throw isBroken(error) ? new Trapped() : error;
  }
}
