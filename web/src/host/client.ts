// The page's side: questions are sent to a worker, one at a time, and only the latest of each channel is kept. If no worker can be
// created, the page answers them itself.

import type { Engine } from './engine.ts';
import { openModule } from './open_module.ts';
import type { Answer, AnswerTo, Ask, FromWorker, Opened, Payloads, Place, ToWorker } from './protocol.ts';
import { RefusedError } from './refused.ts';
import { NoWorker, startWorker } from './start_worker.ts';
import { isBroken, sentenceOf } from './worker.ts';

/** A question whose answer is no longer needed. */
export class Superseded extends Error {
  override name = 'Superseded';
}

interface Waiting {
  readonly channel: string;
  readonly place: Place;
  readonly ask: Ask;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** The prefixes of channels whose questions are answered first, in this order. */
const URGENT = ['view', 'tracks', 'totals'];

/** A question that is being answered. */
interface Asked extends Waiting {
  readonly id: number;
  readonly since: number;
  isWanted: boolean;
}

type BusyListener = (since: number | null) => void;

export class Client {
  readonly #payloads: () => Promise<Payloads>;
  readonly #script: string | null;
  #worker: Worker | null = null;
  #engine: Engine | null = null;
  #opening: Promise<Opened> | null = null;
  #queue: Waiting[] = [];
  #current: Asked | null = null;
  #ids = 0;
  #isBusySince: number | null = null;
  readonly #listeners = new Set<BusyListener>();

  /**
   * `payloads` returns what is opened, and is called again after the engine ended. `script` is the text of the page's own script, from which a worker is
   * made; null computes in the page.
   */
  constructor(payloads: () => Promise<Payloads>, script: string | null) {
    this.#payloads = payloads;
    this.#script = script;
  }

  /** Opens the recording, or both. */
  open(): Promise<Opened> {
    this.#opening ??= this.#openInWorker().catch((error: unknown) => {
      if (error instanceof RefusedError) throw error;
      return this.#openHere();
    });
    return this.#opening;
  }

  /** Asks; an older question of the channel that was not answered yet is superseded. */
  ask<A extends Ask>(channel: string, place: Place, ask: A): Promise<AnswerTo<A>> {
    return new Promise((resolve, reject) => {
      this.forget(channel);
      this.#queue.push({ channel, place, ask, resolve: resolve as (answer: Answer) => void, reject });
      this.#next();
    });
  }

  /** Drops the questions of a channel. The answer to the current one is discarded. */
  forget(channel: string): void {
    const dropped = this.#queue.filter((waiting) => waiting.channel === channel);
    this.#queue = this.#queue.filter((waiting) => waiting.channel !== channel);
    if (this.#current?.channel === channel) {
      this.#current.isWanted = false;
      dropped.push(this.#current);
    }
    for (const waiting of dropped) waiting.reject(new Superseded());
  }

  /** Ends the current computation. A new worker answers the waiting questions. */
  cancel(): void {
    const current = this.#current;
    this.#current = null;
    this.close();
    current?.reject(new RefusedError('this was cancelled'));
    void this.#next();
  }

  /** Ends the engine. Another question would open the recording again. */
  close(): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.#engine = null;
    this.#opening = null;
  }

  get isBusy(): boolean {
    return this.#isBusySince !== null;
  }

  /** Reports the start time of the current computation; null if there is none. */
  onBusy(listener: BusyListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #setBusy(isBusy: boolean): void {
    if (isBusy === (this.#isBusySince !== null)) return;
    this.#isBusySince = isBusy ? performance.now() : null;
    for (const listener of this.#listeners) listener(this.#isBusySince);
  }

  async #next(): Promise<void> {
    if (this.#current !== null) return;
    const waiting = this.#mostUrgent();
    if (waiting === undefined) {
      this.#setBusy(false);
      return;
    }
    const current: Asked = { ...waiting, id: (this.#ids += 1), since: performance.now(), isWanted: true };
    this.#current = current;
    this.#setBusy(true);
    try {
      await this.open();
    } catch (error) {
      current.reject(error as Error);
      this.#finish(current);
      return;
    }
    if (this.#current !== current) return;
    if (!current.isWanted) {
      this.#finish(current);
      return;
    }
    if (this.#worker !== null) {
      this.#worker.postMessage({ kind: 'ask', id: current.id, place: current.place, ask: current.ask } satisfies ToWorker);
      return;
    }
    // Lets the page draw.
    setTimeout(() => this.#answerHere(current));
  }

  /** Takes the question for the most prominent view out of the queue. */
  #mostUrgent(): Waiting | undefined {
    const rank = ({ channel }: Waiting): number => {
      const place = URGENT.findIndex((beginning) => channel.startsWith(beginning));
      return place < 0 ? URGENT.length : place;
    };
    const [first, ...others] = this.#queue;
    const found = others.reduce((best, waiting) => (best !== undefined && rank(waiting) < rank(best) ? waiting : best), first);
    this.#queue = this.#queue.filter((waiting) => waiting !== found);
    return found;
  }

  #answerHere(current: Asked): void {
    try {
      current.resolve(this.#engine!.ask(current.place, current.ask));
    } catch (error) {
      if (isBroken(error)) this.close();
      current.reject(new RefusedError(sentenceOf(error)));
    }
    this.#finish(current);
  }

  #finish(current: Waiting): void {
    if (this.#current === current) this.#current = null;
    void this.#next();
  }

  async #openHere(): Promise<Opened> {
    const { engine, opened } = await this.#payloads()
      .then(openModule)
      .catch((error: unknown) => {
        throw new RefusedError(sentenceOf(error));
      });
    this.#engine = engine;
    return opened;
  }

  #openInWorker(): Promise<Opened> {
    return new Promise((resolve, reject) => {
      const receive = (data: FromWorker): void => {
        if (data.kind === 'opened') resolve(data.opened);
        else if (data.kind === 'failed') reject(new RefusedError(data.message));
        else if ('id' in data) this.#receive(data);
      };
      const worker = startWorker(this.#script, receive, () => {
        if (this.#worker === worker) this.#worker = null;
        reject(new NoWorker());
      });
      this.#worker = worker;
      this.#payloads()
        .then((payloads) => {
          const buffers = [payloads.payload, payloads.before].flatMap((bytes) => (bytes === null ? [] : [bytes.buffer]));
          worker.postMessage({ kind: 'open', payloads } satisfies ToWorker, buffers);
        })
        .catch(reject);
    });
  }

  #receive(data: Extract<FromWorker, { id: number }>): void {
    const current = this.#current;
    if (current === null || current.id !== data.id) return;
    // For the tools of browsers, and for benches.
    performance.measure(`answer ${current.ask.kind}`, { start: current.since });
    if (data.kind === 'answered') current.resolve(data.answer);
    else {
      if (data.isBroken) this.close();
      current.reject(new RefusedError(data.message));
    }
    this.#finish(current);
  }
}
