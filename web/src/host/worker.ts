// The side of the worker: it opens the recording, then answers one question after the other.

import { PayloadError, RefusedError } from '../engine/index.ts';
import { buffersOf } from './columns.ts';
import { type Answerer, openDesk } from './open.ts';
import type { FromWorker, ToWorker } from './protocol.ts';

/** The used part of a worker's global scope. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer?: Transferable[]): void;
}

export function serve(scope: WorkerScope): void {
  let desk: Answerer | null = null;
  scope.onmessage = ({ data }) => {
    if (data.kind === 'open') {
      openDesk(data.payloads).then(
        (opened) => {
          desk = opened.desk;
          scope.postMessage({ kind: 'opened', opened: opened.opened });
        },
        (error: unknown) => scope.postMessage({ kind: 'failed', message: sentenceOf(error) }),
      );
      return;
    }
    if (desk === null) return;
    try {
      const answer = desk.answer(data.place, data.ask);
      scope.postMessage({ kind: 'answered', id: data.id, answer }, buffersOf(answer));
    } catch (error) {
      scope.postMessage({ kind: 'refused', id: data.id, message: sentenceOf(error) });
    }
  };
}

/** The message of a fault as people read it. */
export function sentenceOf(error: unknown): string {
  if (error instanceof RefusedError || error instanceof PayloadError) return error.message;
  return `this cannot be computed here: ${error instanceof Error ? error.message : String(error)}`;
}
