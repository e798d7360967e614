// The command's summary of the input, shown unchanged.

import type { Reduction, Side, Summary, TableSummary } from '../host/protocol.ts';
import type { Names } from '../state/names.ts';
import type { ReadingNotes } from './app_context.ts';
import { counted } from './format.ts';

export function documentsOf({ documents = [] }: Summary): readonly string[] {
  return [...new Set(documents.map(({ input }) => input))];
}

export function rejectedOf({ rejected }: TableSummary): string {
  if (rejected.total === 0) return '';
  const reasons = Object.entries(rejected.reasons).map(([reason, count]) => `${count} ${reason}`);
  return `${rejected.total}: ${reasons.join(', ')}`;
}

export function diagnosticsOf({ diagnostics = [] }: Summary): readonly string[] {
  return diagnostics.map((row) => (typeof row === 'string' ? row : (row.message ?? JSON.stringify(row))));
}

/** In short: rejected rows, unnamed frames, and sentences about the reading; empty if there are none. */
export function accountOf(summary: Summary, reading: ReadingNotes | null): string {
  const rejected = (summary.tables ?? []).reduce((sum, table) => sum + table.rejected.total, 0);
  const unnamed = summary.unnamed?.unnamed ?? 0;
  // When the app reads a recording, it has the same sentences, and others, with positions.
  const notes = reading === null ? diagnosticsOf(summary).length : 0;
  const warnings = reading === null ? 0 : reading.warnings.length + reading.notes.length;
  const unused = reading?.unmatched.length ?? 0;
  const parts = [
    rejected > 0 ? `${rejected} ${rejected === 1 ? 'row' : 'rows'} rejected` : '',
    unnamed > 0 ? unnamed === 1 ? '1 address without a name' : `${unnamed} addresses without names` : '',
    notes > 0 ? counted(notes, 'note') : '',
    warnings > 0 ? counted(warnings, 'warning') : '',
    unused > 0 ? counted(unused, 'unused item') : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** The summaries of the displayed recordings, in order. */
export function summariesOf({ tables, sides }: Names, side: Side): readonly Summary[] {
  if (sides === undefined || side !== 'compared') return [tables.summary];
  return [sides.before.tables.summary, sides.after.tables.summary];
}

/** The reduction by the command to limit the size of the page, in short and in sentences; null if there is none. It is the same for both recordings. */
export function reductionOf({ tables: { reduction } }: Names): { readonly short: string; readonly sentences: string } | null {
  return reduction === null ? null : reductionTexts(reduction);
}

/** The sentence that replaces views that need times. */
export function withoutTimes({ tables: { reduction } }: Names, what: string): string {
  const why = reduction?.kind === 'sums' ? 'Times were left out to limit the size of the page (--max-size)' : 'These samples have no times';
  return `${why}, so there is no ${what}.`;
}

function reductionTexts(reduction: Reduction): { readonly short: string; readonly sentences: string } {
  const exact = 'Weights and sample counts are exact. A larger page (--max-size) keeps more detail.';
  if (reduction.kind === 'sums') {
    return { short: 'times left out', sentences: `To limit the size of the page, samples with the same thread and stack are added up, without times and cores. ${exact}` };
  }
  const length = `${reduction.bin_ns / 1e6} ms`;
  return {
    short: `times to ${length}`,
    sentences: `To limit the size of the page, samples with the same thread and stack within ${length} are joined at the time of the first, so times are accurate only to ${length}. ${exact}`,
  };
}
