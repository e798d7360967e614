// Saves what is open as a report: a copy of the page from its start, with the payloads in it.
//
// A report has the engine of the app, which also reads recordings, so it has 1.3 MB more than a report of the command. With the smaller
// engine next to it, the app would have 0.8 MB more, which is beyond its limit (2.2 MB with gzip), for everyone who opens it.

import type { ReadingNotes } from '../ui/app_context.ts';

/** What the engine opened, without the memory of the page. */
export interface Kept {
  readonly payload: Blob;
  /** Set for two recordings: the first one, and what was found about both. */
  readonly before: Blob | null;
  readonly facts: string | null;
}

/** What a report shows. */
export interface ReportContent {
  readonly title: string;
  readonly kept: Kept;
  readonly notes: ReadingNotes;
  /** The fragment of the current view, with which the report opens. */
  readonly view: string;
}

/** Returns the report. `page` is a copy of the document element before anything was shown. */
export async function reportOf(page: HTMLElement, { title, kept: { payload, before, facts }, notes: { warnings, notes }, view }: ReportContent): Promise<Blob> {
  const root = page.cloneNode(true) as HTMLElement;
  for (const element of root.querySelectorAll('title, h1')) element.textContent = title;
  root.querySelector('#reader')!.id = 'engine';
  // The names of files that were not used are private.
  const told: ReadingNotes = { warnings, notes, unmatched: [] };
  const texts = { profile: await packed(payload), before: before && (await packed(before)), diff: facts, notes: JSON.stringify(told), view: JSON.stringify(view) };
  const script = [...root.querySelectorAll('script')].at(-1)!;
  for (const [id, text] of Object.entries(texts)) {
    if (text !== null) script.before(dataElement(id, text), '\n');
  }
  return new Blob(['<!doctype html>\n', root.outerHTML, '\n'], { type: 'text/html' });
}

function dataElement(id: string, text: string): HTMLElement {
  const element = document.createElement('script');
  element.id = id;
  element.type = 'application/octet-stream';
  // `<` occurs only in strings of the JSON, where it could end the element.
  element.textContent = text.replaceAll('<', '\\u003c');
  return element;
}

/** Compresses with gzip, in base64. */
async function packed(bytes: Blob): Promise<string> {
  const compressed = await new Response(bytes.stream().pipeThrough(new CompressionStream('gzip'))).blob();
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve((reader.result as string).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error!);
    reader.readAsDataURL(compressed);
  });
}
