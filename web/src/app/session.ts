// What is open in the app, and what is being read. A drop replaces what is open, or adds names to it.

import { Client } from '../host/client.ts';
import { type Dropped, type Progress, droppedFile, findChanged } from '../host/dropped.ts';
import type { Reading } from '../host/engine.ts';
import type { Payloads } from '../host/protocol.ts';
import { TooLarge, readDropped } from '../host/reading.ts';
import { RefusedError } from '../host/refused.ts';
import { sentenceOf } from '../host/worker.ts';
import { fragmentOf, readFragment } from '../state/fragment.ts';
import { inert } from '../state/inert.ts';
import type { Names } from '../state/names.ts';
import { namesOfSide } from '../state/sides.ts';
import type { State } from '../state/state.ts';
import type { ReadingNotes } from '../ui/app_context.ts';
import { counted } from '../ui/format.ts';
import { sentence } from '../ui/panel.tsx';
import { type Shown, openNames, show } from '../ui/shown.ts';
import { documentsOf, summariesOf } from '../ui/summary.ts';
import { type Listing, joined, joinedListings, rootOf } from './listing.ts';
import { type Kept, reportOf } from './report.ts';

/** The open recording, or both that are compared, and the files that were read. */
export interface OpenRecording {
  readonly shown: Shown;
  readonly notes: ReadingNotes & Pick<Reading, 'title'>;
  readonly files: readonly Dropped[];
  readonly kept: Kept;
  /** True if the later of two recordings comes first. */
  readonly isSwapped: boolean;
  /** A report with it was saved. */
  isSaved: boolean;
}

/** A reading that has not ended. */
export interface Current {
  readonly step: 'listing' | 'reading' | 'opening';
  readonly progress: Progress | null;
  /** The first reading ran out of memory. This is the second one, without times. */
  readonly isAgain: boolean;
}

/** The files of a reading. */
interface Found {
  readonly reading: Reading;
  readonly files: readonly Dropped[];
  /** The dropped files and folders, if the open recording was read again with them. */
  readonly added: readonly string[] | null;
  readonly isSwapped: boolean;
}

export class Session {
  readonly #engine: Promise<WebAssembly.Module>;
  readonly #script: string | null;
  readonly #page: HTMLElement;
  readonly #listeners = new Set<() => void>();
  #abort = new AbortController();
  /** Drops that came during the reading. */
  #waiting: Promise<Listing>[] = [];
  open: OpenRecording | null = null;
  current: Current | null = null;
  /** The names of files and folders that wait for the end of the reading. */
  next: readonly string[] = [];
  /** The sentence about the last drop, if it could not be opened. */
  fault: string | null = null;

  /** `page` is a copy of the document element before anything was shown. */
  constructor(engine: Promise<WebAssembly.Module>, script: string | null, page: HTMLElement) {
    [this.#engine, this.#script, this.#page] = [engine, script, page];
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reads and shows a drop. The open recording stays until then. During a reading, the drop waits. */
  drop(listing: Promise<Listing>): void {
    if (this.current === null) return void this.#open(listing, false, null);
    this.#waiting.push(listing);
    const show = ({ files }: Listing): void => {
      if (this.#waiting.includes(listing)) this.#change({ next: [...this.next, ...rootsOf(files)] });
    };
    // If the listing fails, the error is shown when this drop is processed.
    listing.then(show, () => {});
  }

  /** Opens all drops that came during the reading, together. An error of that reading stays visible. */
  #openWaiting(): void {
    const lists = this.#waiting;
    if (lists.length === 0) return;
    this.#waiting = [];
    this.#change({ next: [] });
    void this.#open(Promise.all(lists).then(joinedListings), false, this.fault);
  }

  async #open(listing: Promise<Listing>, isSwapped: boolean, fault: string | null): Promise<void> {
    const { signal } = (this.#abort = new AbortController());
    this.#change({ current: { step: 'listing', progress: null, isAgain: false }, fault });
    let [dropped, unlisted]: [readonly Dropped[], readonly string[]] = [[], []];
    const start = performance.now();
    try {
      ({ files: dropped, refused: unlisted } = await listing);
      if (signal.aborted) return;
      const found = await this.#read(dropped, isSwapped, signal);
      if (signal.aborted) return;
      // For the tools of browsers, and for benches.
      performance.measure('reading', { start });
      this.#change({ current: { step: 'opening', progress: null, isAgain: false } });
      const before = this.open?.shown;
      const open = await this.#openFound(found, signal);
      if (open === null) return;
      this.#change({ open, current: null, fault: textOf([fault, ...unlisted, ...found.reading.refused]) });
      before?.address.close();
      before?.client.close();
    } catch (error) {
      if (signal.aborted) return;
      this.#change({ current: null, fault: textOf([fault, this.#faultOf(sentenceOf(error), dropped), ...unlisted]) });
    }
    this.#openWaiting();
  }

  /** Swaps the two open recordings, and cancels the current reading. */
  swap(): void {
    const { files, isSwapped } = this.open!;
    this.#abort.abort();
    void this.#open(Promise.resolve({ files, refused: [] }), !isSwapped, null);
  }

  /** Ends the reading. The open recording stays, and waiting drops are read. */
  cancel(): void {
    this.#abort.abort();
    if (this.current !== null) this.#change({ current: null });
    this.#openWaiting();
  }

  /** The open recording as a report. */
  async report(): Promise<Blob> {
    const open = this.open!;
    const { kept, notes, shown } = open;
    const report = await reportOf(this.#page, { title: document.title, kept, notes, view: viewOf(shown.store.state, shown.names) });
    open.isSaved = true;
    return report;
  }

  /** True if leaving the page would close a recording that the page cannot open again. */
  get isUnsaved(): boolean {
    return this.current !== null || this.open?.isSaved === false;
  }

  dismiss(): void {
    this.#change({ fault: null });
  }

  #change(change: Partial<Pick<Session, 'open' | 'current' | 'next' | 'fault'>>): void {
    Object.assign(this, change);
    document.documentElement.toggleAttribute('data-reading', this.current !== null);
    for (const listener of this.#listeners) listener();
  }

  async #read(files: readonly Dropped[], isSwapped: boolean, signal: AbortSignal): Promise<Found> {
    try {
      const reading = await this.#readFiles(files, isSwapped, signal);
      return { reading, files, added: this.#isOpen(files, reading) ? rootsOf(files) : null, isSwapped };
    } catch (refusal) {
      if (this.open === null || signal.aborted || refusal instanceof TooLarge || (await this.#isUseless(files, sentenceOf(refusal), signal))) throw refusal;
      const found = await this.#readAdded(this.open, files, signal);
      if (found === null) throw refusal;
      return found;
    }
  }

  /** Reads a drop together with a recording of one row, which is fast. True if nothing in the drop can be symbols of the open recording. */
  async #isUseless(dropped: readonly Dropped[], refusal: string, signal: AbortSignal): Promise<boolean> {
    const row = droppedFile('\u0001', new File(['Weight\tSelf Weight\tSymbol Names\n1.00 ms  100.0%\t1.00 ms\tmain\n'], ''));
    try {
      const { unmatched, refused } = await this.#readFiles([row, ...dropped], false, signal);
      return unmatched.length + refused.length >= rootsOf(dropped).length;
    } catch (error) {
      // A table of contents may belong to the open recording, but a damaged recording stays damaged.
      return sentenceOf(error) === refusal;
    }
  }

  /** Reads the open recording together with what may be symbols. Returns null if the drop contains no symbols. */
  async #readAdded({ files: before, notes, isSwapped }: OpenRecording, dropped: readonly Dropped[], signal: AbortSignal): Promise<Found | null> {
    const added = rootsOf(dropped);
    const recorded = notes.title.split(' → ').map((path) => rootOf({ path }));
    // A new version of a file replaces the old one; only another folder has the name of the recording's folder.
    const kept = before.filter((file) => recorded.includes(rootOf(file)) || !added.includes(rootOf(file)));
    const files = joined([kept, dropped]);
    try {
      const reading = await this.#readFiles(files, isSwapped, signal);
      const useless = [...reading.unmatched, ...reading.refused].filter((text) => !notes.unmatched.includes(text));
      return useless.length < added.length ? { reading, files, added, isSwapped } : null;
    } catch {
      const changed = await findChanged(before);
      if (changed !== undefined) throw new RefusedError(`${changed.path}: it changed since it was dropped; drop it again, together with its symbols`);
      // The message about the drop alone is more helpful.
      return null;
    }
  }

  /** True if these files are open: the same recording in the same version. */
  #isOpen(files: readonly Dropped[], { title }: Reading): boolean {
    const known = new Set(this.open?.files.map(versionOf));
    return title === this.open?.notes.title && files.every((file) => known.has(versionOf(file)));
  }

  /** Names of files keep their first letter. */
  #faultOf(text: string, dropped: readonly Dropped[]): string {
    return isAbout([...dropped, ...(this.open?.files ?? [])], text) ? text : sentence(text);
  }

  #readFiles(files: readonly Dropped[], isSwapped: boolean, signal: AbortSignal): Promise<Reading> {
    let isAgain = false;
    const onProgress = (progress: Progress | null): void => {
      if (!signal.aborted) this.#change({ current: { step: 'reading', progress, isAgain } });
    };
    const onAgain = (): void => {
      isAgain = true;
      onProgress(null);
    };
    onProgress(null);
    return readDropped(files, { engine: this.#engine, script: this.#script, isSwapped, onProgress, onAgain, signal });
  }

  /** Replaces the open recording with the result of a reading. Returns null if it was cancelled. */
  async #openFound({ reading: { payload, before, facts, ...notes }, files, added, isSwapped }: Found, signal: AbortSignal): Promise<OpenRecording | null> {
    // The engine takes the bytes, and needs them again after a cancelled question. The browser may keep a blob on disk.
    const kept: Kept = { payload: new Blob([payload]), before: before === null ? null : new Blob([before]), facts };
    const client = new Client(() => this.#payloads(kept), this.#script);
    const names = await openNames(client).catch((error: unknown) => {
      client.close();
      const reasons = notes.warnings.length === 0 ? '' : ` (${notes.warnings.join('; ')})`;
      throw new RefusedError(`${notes.title}: ${sentenceOf(error)}${reasons}`);
    });
    if (signal.aborted) {
      client.close();
      return null;
    }
    const titles = summariesOf(names, 'compared').map((summary) => documentsOf(summary).join(', '));
    document.title = `${inert(titles.join(' → ') || notes.title)} – traceparse`;
    // The views set the title as soon as they are drawn.
    document.documentElement.dataset['state'] = 'busy';
    const shown = this.#show(client, names, added !== null);
    if (added !== null) shown.greetings.say(`Read again with ${added.length === 1 ? added[0]! : counted(added.length, 'more file')}.`);
    else if (kept.before !== null) shown.greetings.say(notes.notes[0]!);
    return { shown, notes, files, kept, isSwapped, isSaved: false };
  }

  async #payloads({ payload, before, facts }: Kept): Promise<Payloads> {
    const bytesOf = async (blob: Blob): Promise<Uint8Array<ArrayBuffer>> => new Uint8Array(await blob.arrayBuffer());
    return { engine: await this.#engine, isCompressed: false, payload: await bytesOf(payload), before: before && (await bytesOf(before)), facts };
  }

  /** A link before the first drop is for that recording. A recording that replaces another one is shown completely. */
  #show(client: Client, names: Names, isSame: boolean): Shown {
    if (this.open === null) return show(client, names, location.hash);
    return isSame ? showAgain(client, names, this.open.shown) : show(client, names, '', 'another');
  }
}

/** The longest list of faults that a person reads. */
const MOST_FAULTS = 8;

/** Faults in a line each; null if there are none. */
function textOf(faults: readonly (string | null)[]): string | null {
  const all = faults.filter((text) => text !== null);
  const more = all.length - MOST_FAULTS;
  const lines = more > 0 ? [...all.slice(0, MOST_FAULTS), `… ${more} more`] : all;
  return lines.length === 0 ? null : lines.join('\n');
}

/** The dropped files and folders. */
function rootsOf(files: readonly Dropped[]): string[] {
  return [...new Set(files.map(rootOf))];
}

function versionOf({ path, size, modified }: Dropped): string {
  return [path, size, modified].join('\0');
}

/** True if a sentence starts with the path of one of these files. */
function isAbout(files: readonly Dropped[], text: string): boolean {
  return files.some((file) => [':', '/'].some((end) => text.startsWith(rootOf(file) + end)));
}

/** The fragment of a state. Each of two recordings has its own functions and threads. */
function viewOf(state: State, names: Names): string {
  return fragmentOf(state, namesOfSide(names, state.side));
}

/** Shows the same recording with more names. Another name may have replaced that of the chosen function. */
function showAgain(client: Client, names: Names, { store: { state }, names: before }: Shown): Shown {
  const fragments = [state, { ...state, chosen: null }].map((one) => viewOf(one, before));
  return show(client, names, fragments.find((fragment) => isReadable(fragment, names)) ?? '', 'itself');
}

function isReadable(fragment: string, names: Names): boolean {
  try {
    readFragment(fragment, names);
    return true;
  } catch {
    return false;
  }
}
