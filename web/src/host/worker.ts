// The side of the worker: it reads dropped files, or it opens the recording and then answers questions one at a time.

import { canRead } from './blob_reader.ts';
import { readerOf, requestOf } from './dropped.ts';
import { Engine } from './engine.ts';
import { openModule } from './open_module.ts';
import type { FromWorker, ToWorker } from './protocol.ts';
import { RefusedError } from './refused.ts';

/** The used part of a worker's global scope. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer?: Transferable[]): void;
}

export function serve(scope: WorkerScope): void {
  let engine: Engine | null = null;
  scope.onmessage = ({ data }) => {
    if (data.kind === 'read') {
      read(data, scope).catch((error: unknown) => scope.postMessage(isBroken(error) ? { kind: 'trapped' } : { kind: 'failed', message: sentenceOf(error) }));
      return;
    }
    if (data.kind === 'open') {
      openModule(data.payloads).then(
        (found) => {
          engine = found.engine;
          scope.postMessage({ kind: 'opened', opened: found.opened });
        },
        (error: unknown) => scope.postMessage({ kind: 'failed', message: sentenceOf(error) }),
      );
      return;
    }
    if (engine === null) return;
    try {
      const answer = engine.ask(data.place, data.ask);
      scope.postMessage({ kind: 'answered', id: data.id, answer }, buffersOf(answer));
    } catch (error) {
      scope.postMessage({ kind: 'refused', id: data.id, message: sentenceOf(error), isBroken: isBroken(error) });
    }
  };
}

async function read({ engine, files, way, probe }: Extract<ToWorker, { kind: 'read' }>, scope: WorkerScope): Promise<void> {
  if (files.some(({ content }) => content instanceof Blob) && !canRead(probe)) return scope.postMessage({ kind: 'unreadable' });
  const reader = await Engine.start(engine, readerOf(files, (progress) => scope.postMessage({ kind: 'progress', progress })));
  const reading = reader.read(requestOf(files, way));
  scope.postMessage({ kind: 'read', reading }, [reading.payload, reading.before].flatMap((bytes) => (bytes === null ? [] : [bytes.buffer])));
}

/** True after an error that ends the engine: a panic leaves its memory in an unknown state. */
export function isBroken(error: unknown): boolean {
  return !(error instanceof RefusedError);
}

/** The message of an error for users. */
export function sentenceOf(error: unknown): string {
  if (error instanceof RefusedError) return error.message;
  return `this cannot be computed here: ${error instanceof Error ? error.message : String(error)}`;
}

/** The buffers of typed arrays in an answer, if nothing else uses them. */
function buffersOf(answer: object): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  const visit = (value: unknown, depth: number): void => {
    if (ArrayBuffer.isView(value)) {
      if (value.byteLength > 0) found.add(value.buffer as ArrayBuffer);
    } else if (depth < 4 && Array.isArray(value)) {
      // Long arrays hold rows of plain values.
      if (value.length < 1_000) for (const one of value) visit(one, depth + 1);
    } else if (depth < 4 && typeof value === 'object' && value !== null) {
      for (const one of Object.values(value)) visit(one, depth + 1);
    }
  };
  visit(answer, 0);
  return [...found];
}
