// Every table that the engine computes, by a query that crosses from Node to a browser, as canonical texts of its rows.

import { canonical } from './canonical.mjs';
import { flameChartOf, heaviestOf, sandwichOf, timelineOf, treesOf, viewsOf } from './expected.mjs';

/** Answers queries on one recording: `view`, the `selection`, `operations`, and what else a view needs. */
export class Tables {
  #engine;
  #workbench;

  constructor(engine, profile) {
    this.#engine = engine;
    this.#workbench = new engine.Workbench(profile);
  }

  /** The rows of a query, by the names of its tables. */
  answer(query) {
    const tables = this.#answer(query);
    return Object.fromEntries(Object.entries(tables).map(([name, rows]) => [name, rows.map(canonical)]));
  }

  #answer({ view: name, selection, operations, wanted, metric, by, of }) {
    const [engine, { profile }] = [this.#engine, this.#workbench];
    const view = this.#workbench.view(selection, operations);
    switch (name) {
      case 'counted':
        return { rows: wanted.map((index) => view.counted(index).length) };
      case 'tree':
        return treesOf(engine, profile, view, wanted, by, metric);
      case 'bottom-up':
        return treesOf(engine, profile, view, wanted, by, metric, true);
      case 'heaviest':
        return heaviestOf(engine, profile, view, wanted, by, metric);
      case 'timeline':
        return timelineOf(engine, profile, view, wanted, by, metric);
      case 'flame-chart':
        return flameChartOf(engine, profile, view, wanted, metric);
      case 'boxes':
        return { differing: wanted.filter((index) => !areBoxesTheTree(engine, profile, view, index)) };
      case 'callers':
        return sandwichOf(engine, profile, view, wanted, of, metric);
      case 'operations':
        return { operations: effectsOf(view, wanted) };
      default:
        return viewsOf(engine, profile)[name](view, wanted, metric);
    }
  }
}

/** The boxes of the flame graph are the nodes of the tree, in its order, each beside the heavier ones of its parent. */
function areBoxesTheTree(engine, profile, view, series) {
  const [part] = engine.parts(view, series, 'none');
  if (part === undefined) return true;
  const tree = engine.treeOfPart(view, series, 'none', part);
  const boxes = engine.flameGraph(profile, tree.weighed, { least: 0 });
  const expected = [];
  const open = [{ node: tree.root, start: 0 }];
  while (open.length > 0) {
    const { node, start } = open.pop();
    expected.push([node.node, node.depth, start, Number(node.all_weight)]);
    let next = start;
    const below = tree.children(node.node).map((child) => {
      const place = { node: child, start: next };
      next += Number(child.all_weight);
      return place;
    });
    open.push(...below.reverse());
  }
  const found = Array.from({ length: boxes.count }, (_, box) => [boxes.node[box], boxes.depth[box], boxes.start[box], boxes.width[box]]);
  return JSON.stringify(found) === JSON.stringify(expected);
}

/** What operations removed, changed and moved, where that is anything. */
function effectsOf(view, wanted) {
  const effects = wanted.map((index) => view.effects(index));
  return (effects[0] ?? []).map(({ operation }, place) => ({
    operation,
    series: effects.flatMap((ofSeries, series) => {
      const { removed, changed_samples, moved } = ofSeries[place];
      const isNothing = [removed.weight, removed.samples, changed_samples, moved.weight, moved.samples].every((value) => Number(value) === 0);
      return isNothing ? [] : [{ series, removed, changed_samples, moved }];
    }),
  }));
}

/** A query as a text, and back: times may be bigints. */
export function written(query) {
  return JSON.stringify(query, (_, value) => (typeof value === 'bigint' ? { bigint: String(value) } : value));
}

export function read(text) {
  return JSON.parse(text, (_, value) => (typeof value?.bigint === 'string' ? BigInt(value.bigint) : value));
}
