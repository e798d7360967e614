// The view of each tab.

import type { FunctionComponent, JSX } from 'preact';
import type { Side } from '../host/protocol.ts';
import type { Tab } from '../state/state.ts';
import { DiffFlameView } from './diff/flame.tsx';
import { DiffOverviewView } from './diff/overview.tsx';
import { OneSideOnly } from './diff/side_switch.tsx';
import { RunsView } from './runs/view.tsx';
import { DiffBinariesView, DiffFunctionsView } from './diff/tables.tsx';
import { DiffTreeView } from './diff/tree.tsx';
import { BinariesView } from './views/binaries.tsx';
import { CallersView } from './views/callers.tsx';
import { CategoriesView } from './views/categories.tsx';
import { ChartView } from './views/chart.tsx';
import { FlameView } from './views/flame.tsx';
import { FunctionsView } from './views/functions.tsx';
import { IntervalsView } from './views/intervals.tsx';
import { OverviewView } from './views/overview.tsx';
import { SourceView } from './views/source.tsx';
import { CoresView, StatesView } from './views/states.tsx';
import { ThreadsView } from './views/threads.tsx';
import { TreeView } from './views/tree.tsx';

const VIEWS: Record<Tab, FunctionComponent> = {
  runs: RunsView,
  overview: OverviewView,
  flame: FlameView,
  tree: TreeView,
  functions: FunctionsView,
  callers: CallersView,
  chart: ChartView,
  binaries: BinariesView,
  categories: CategoriesView,
  source: SourceView,
  threads: ThreadsView,
  states: StatesView,
  cores: CoresView,
  intervals: IntervalsView,
};

/** The views of two recordings. */
const COMPARED: Partial<Record<Tab, FunctionComponent>> = {
  runs: RunsView,
  overview: DiffOverviewView,
  flame: DiffFlameView,
  tree: DiffTreeView,
  functions: DiffFunctionsView,
  binaries: DiffBinariesView,
};

/** True if a view shows two recordings at once. */
export function isCompared(tab: Tab): boolean {
  return tab in COMPARED;
}

export function View({ tab, side }: { tab: Tab; side: Side }): JSX.Element {
  const Shown = side === 'compared' ? (COMPARED[tab] ?? OneSideOnly) : VIEWS[tab];
  return <Shown />;
}
