// Answers that are tables: functions, binaries, categories, lines, threads, states, cores, callers and callees.

import {
  type View,
  binaries,
  categories,
  cores,
  functions,
  lines,
  processes,
  sandwich,
  sourceFiles,
  states,
  threads,
  transitions,
} from '../../engine/index.ts';
import { columnOf, sumColumns } from '../columns.ts';
import type {
  BinariesAnswer,
  CategoriesAnswer,
  CoresAnswer,
  FunctionsAnswer,
  LinesAnswer,
  SandwichAnswer,
  StatesAnswer,
  ThreadsAnswer,
} from '../protocol.ts';

/** The weight of everything that is selected in a series. */
export function totalOf(view: View, series: number): FunctionsAnswer['total'] {
  // The root of the tree contains all samples, including those without a stack.
  const { all } = view.byFunction(series);
  return { weight: all.weight(0), samples: all.samples(0) };
}

export function answerFunctions(view: View, series: number): FunctionsAnswer {
  const rows = functions(view, series);
  return {
    kind: 'functions',
    total: totalOf(view, series),
    label: Int32Array.from(rows, (row) => row.label),
    sums: sumColumns(rows),
  };
}

export function answerBinaries(view: View, series: number): BinariesAnswer {
  const rows = binaries(view, series);
  return {
    kind: 'binaries',
    total: totalOf(view, series),
    name: rows.map((row) => row.name),
    binary: Int32Array.from(rows, (row) => row.binaries[0] ?? -1),
    sums: sumColumns(rows),
  };
}

export function answerCategories(view: View, series: number): CategoriesAnswer {
  const rows = categories(view, series);
  const calls = transitions(view, series);
  return {
    kind: 'categories',
    total: totalOf(view, series),
    category: rows.map((row) => row.category),
    sums: sumColumns(rows),
    transitions: {
      caller: Int32Array.from(calls, (row) => row.caller),
      callee: Int32Array.from(calls, (row) => row.callee),
      category: calls.map((row) => row.category),
      sums: sumColumns(calls),
    },
  };
}

export function answerLines(view: View, series: number): LinesAnswer {
  const rows = lines(view, series);
  return {
    kind: 'lines',
    total: totalOf(view, series),
    label: Int32Array.from(rows, (row) => row.label),
    path: rows.map((row) => row.path),
    line: Int32Array.from(rows, (row) => row.line),
    sums: sumColumns(rows),
    files: sourceFiles(view, series).map((file) => ({
      path: file.path,
      self_weight: file.self_weight,
      all_weight: file.all_weight,
      line: Int32Array.from(file.lines, (row) => row.line),
      sums: sumColumns(file.lines),
    })),
  };
}

export function answerThreads(view: View, series: number): ThreadsAnswer {
  return { kind: 'threads', total: totalOf(view, series), threads: threads(view, series), processes: processes(view, series) };
}

export function answerStates(view: View, series: number): StatesAnswer {
  return { kind: 'states', total: view.total(view.inScope(series)), states: states(view, series) };
}

export function answerCores(view: View, series: number): CoresAnswer {
  return { kind: 'cores', total: totalOf(view, series), cores: cores(view, series) };
}

export function answerSandwich(view: View, series: number, label: number): SandwichAnswer {
  const chosen = new Uint8Array(view.profile.functions.count);
  if (label >= 0) chosen[label] = 1;
  const { own, recursive, callers, callees } = sandwich(view, series, chosen);
  const columns = (rows: typeof callers): SandwichAnswer['callers'] => ({
    label: Int32Array.from(rows, (row) => row.label),
    weight: columnOf(rows.map((row) => row.weight)),
    samples: columnOf(rows.map((row) => row.samples)),
  });
  return {
    kind: 'sandwich',
    total: totalOf(view, series),
    self: { weight: own.self_weight, samples: own.self_samples },
    all: { weight: own.all_weight, samples: own.samples },
    recursive,
    callers: columns(callers),
    callees: columns(callees),
  };
}
