// Shared by all parts of the page: the document, and the pages of runs.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Cohort, FleetDocument, Labels, Links, RunRef, ScopeKey, ScopeName } from './document.ts';
import { cut } from './measure.ts';

export interface Page extends FleetDocument {
  /** The addresses of pages, by id of the run and by place as JSON. */
  readonly links: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly numbered: ReadonlySet<string>;
  /** True to also show folded parts, for printing. */
  readonly isPrinted: boolean;
}

export const PageContext = createContext<Page>(null as unknown as Page);

export function usePage(): Page {
  return useContext(PageContext);
}

export function pageOf({ words, report }: FleetDocument, isPrinted: boolean): Page {
  const addresses = ({ places }: Links): Map<string, string> => new Map(places.map(([place, address]) => [JSON.stringify(place), address]));
  const links = new Map(words.links.map((links) => [links.run_id, addresses(links)]));
  return { words, report, isPrinted, links, numbered: new Set(words.numbered) };
}

/** The name of a run: its file, and its number if the file has several. */
export function runName({ numbered }: Page, { run_id: id, source, run }: RunRef): string {
  return numbered.has(id) ? `${source} (run ${run})` : source;
}

/** The labels of a cohort as its name. */
export function labelsName(labels: Labels): string {
  return cut(Object.entries(labels).map(([key, value]) => `${key} ${value ?? 'unknown'}`).join(', '));
}

export function cohortName(cohort: Cohort | undefined): string {
  return cut(cohort?.name ?? '');
}

export function keyOf({ process, thread, binary, function: fn }: ScopeName): ScopeKey {
  return [process ?? null, thread ?? null, binary ?? null, fn ?? null];
}

/** The cohorts of each unit, which may be compared. */
export function byUnit(cohorts: readonly Cohort[]): (readonly [Cohort, ...Cohort[]])[] {
  const groups: [Cohort, ...Cohort[]][] = [];
  for (const cohort of cohorts) {
    const last = groups.at(-1);
    if (last?.[0].unit === cohort.unit) last.push(cohort);
    else groups.push([cohort]);
  }
  return groups;
}
