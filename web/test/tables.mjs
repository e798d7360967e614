// Computes every table of the engine for a query, which is sent from Node to a browser. Rows are returned as canonical strings.

import { canonical } from './canonical.mjs';
import { flameChartOf, heaviestOf, sandwichOf, timelineOf, treesOf, viewsOf } from './expected.mjs';

/** Answers queries on one recording: `view`, `selection`, `operations`, and other properties that a view needs. */
export class Tables {
  #engine;
  #workbench;

  constructor(engine, profile) {
    this.#engine = engine;
    this.#workbench = new engine.Workbench(profile);
  }

  /** Returns the rows for a query, by table name. */
  answer(query) {
    const tables = this.#answer(query);
    return Object.fromEntries(Object.entries(tables).map(([name, rows]) => [name, rows.map(canonical)]));
  }

  #answer({ view: name, selection, operations, wanted, metric, by, of, bin = 1 }) {
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
        return timelineOf(engine, profile, view, wanted, by, metric, bin);
      case 'clock':
        return { clock: wanted.map((index) => clockOf(engine, view, index)) };
      case 'flame-chart':
        return flameChartOf(engine, profile, view, wanted, metric);
      case 'boxes':
        return { differing: wanted.filter((index) => !areBoxesTheTree(engine, profile, view, index) || !areInvertedBoxesTheTree(engine, profile, view, index)) };
      case 'callers':
        return sandwichOf(engine, profile, view, wanted, of, metric);
      case 'operations':
        return { operations: effectsOf(view, wanted) };
      default:
        return viewsOf(engine, profile)[name](view, wanted, metric);
    }
  }
}

/** Returns the selected time of a series, and its CPU use as the page shows it. */
function clockOf(engine, view, index) {
  const { length, isRecorded } = view.scope.selectedTime(index);
  return { length_ns: length, is_recorded: length > 0 && isRecorded, cpu_percent: engine.cpuPercent(view, index) };
}

/** Checks that the boxes of the flame graph are the nodes of the tree in its order, each after its heavier siblings. */
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

/** Checks that the boxes of the inverted flame graph are the nodes of the bottom-up tree, and that the boxes of a part are among them. */
function areInvertedBoxesTheTree(engine, profile, view, series) {
  const [part] = engine.parts(view, series, 'none');
  if (part === undefined) return true;
  const { weighed } = engine.treeOfPart(view, series, 'none', part);
  const tree = new engine.BottomUpTree(profile, weighed);
  const numbers = new engine.PathNumbers();
  const boxes = engine.invertedGraph(profile, weighed, { least: 0 }, numbers);
  const expected = [];
  const open = [{ node: tree.root, start: 0 }];
  while (open.length > 0) {
    const { node, start } = open.pop();
    expected.push([node.label, node.depth, start, Number(node.all_weight), String(node.all_weight), String(node.self_weight)]);
    let next = start;
    const below = tree.children(node).map((child) => {
      const place = { node: child, start: next };
      next += Number(child.all_weight);
      return place;
    });
    open.push(...below.reverse());
  }
  const rowsOf = ({ count, label, depth, start, width, weight, self }) =>
    Array.from({ length: count }, (_, box) => [label[box], depth[box], start[box], width[box], String(weight[box]), String(self[box])]);
  const all = rowsOf(boxes);
  if (JSON.stringify(all) !== JSON.stringify(expected) || new Set(boxes.node).size !== boxes.count) return false;
  const total = Number(weighed.all.weight(0));
  const [least, from, to] = [total / 8, total / 4, total / 2];
  const seen = engine.invertedGraph(profile, weighed, { least, from, to }, numbers);
  const wide = all.map((row, box) => [boxes.node[box], row]).filter(([, [, , , width]]) => width >= least);
  const placed = new Map(wide.map(([node, row]) => [node, row]));
  const isFound = rowsOf(seen).every((row, box) => {
    const other = placed.get(seen.node[box]);
    // Boxes that are too light to be seen come after the others, so positions are unchanged.
    return other !== undefined && JSON.stringify(other) === JSON.stringify(row);
  });
  const inside = wide.filter(([, [, , start, width]]) => start + width >= from && start <= to);
  return isFound && inside.every(([node]) => seen.node.includes(node));
}

/** Returns what operations removed, changed and moved, without empty effects. */
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

/** Converts a query to a string and back. Times may be bigints. */
export function written(query) {
  return JSON.stringify(query, (_, value) => (typeof value === 'bigint' ? { bigint: String(value) } : value));
}

export function read(text) {
  return JSON.parse(text, (_, value) => (typeof value?.bigint === 'string' ? BigInt(value.bigint) : value));
}
