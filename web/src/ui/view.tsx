// The view of each tab.

import type { FunctionComponent, JSX } from 'preact';
import type { Tab } from '../state/state.ts';
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

export function View({ tab }: { tab: Tab }): JSX.Element {
  const Shown = VIEWS[tab];
  return <Shown />;
}
