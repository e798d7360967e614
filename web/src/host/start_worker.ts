// Creates workers from the page's own script, so that the page is a single file.

/** The browser refuses workers, or workers cannot do what was requested. The page has to do it. */
export class NoWorker extends Error {
  override name = 'NoWorker';
}

/**
 * Starts a worker. `onRefused` is called if the browser refuses it, which some do only after it was created.
 *
 * Throws `NoWorker` if there are no workers, or no script to make one of.
 */
export function startWorker<M>(script: string | null, onMessage: (message: M) => void, onRefused: () => void): Worker {
  if (script === null || typeof Worker === 'undefined') throw new NoWorker();
  const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  const worker = created(url);
  // A browser that rejects the worker reports that before any answer.
  worker.onerror = (event) => {
    event.preventDefault();
    worker.terminate();
    onRefused();
  };
  worker.onmessage = ({ data }: MessageEvent<M>) => {
    URL.revokeObjectURL(url);
    onMessage(data);
  };
  return worker;
}

function created(url: string): Worker {
  try {
    return new Worker(url);
  } catch {
    throw new NoWorker();
  }
}
