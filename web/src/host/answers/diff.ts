// Answers about two recordings.

import { type Change, type Changed, type Changes, type DiffNode, type Exact, NO_STACK, type Normalize, ROOT } from '../../engine/index.ts';
import type { Labels } from '../../canvas/types.ts';
import { columnOf } from '../columns.ts';
import type {
  ChangeColumns,
  ChangedRows,
  DiffAnswer,
  DiffAsk,
  DiffFlameAnswer,
  DiffFlameAsk,
  DiffOverviewAnswer,
  DiffTableAnswer,
  DiffTableAsk,
  DiffTotal,
  DiffTreeAnswer,
  DiffTreeAsk,
} from '../protocol.ts';
import { type TreeRow, openRows } from './trees.ts';

const TOP = 12;
/** Functions with fewer samples in both recordings together are seldom marked, as in the command's answer. */
const TOLD = 20;
const NO_LABELS: Labels = { names: [], binaries: [], kinds: new Uint8Array(0) };
const PRESENCES = ['both', 'new', 'vanished'];

/** `matches` are the functions that a tree is searched for. */
export function answerDiff(changes: Changes, ask: DiffAsk, matches: Uint8Array | null): DiffAnswer {
  const { normalize } = ask;
  switch (ask.kind) {
    case 'diff-table':
      return table(changes, ask);
    case 'diff-overview':
      return overview(changes, normalize);
    case 'diff-tree':
      return tree(changes, ask, matches);
    case 'diff-flame':
      return flame(changes, ask);
    case 'diff-of': {
      const found = changes.functions().filter(({ number }) => labelOf(number) === ask.label);
      return { kind: 'diff-of', total: totalOf(changes, normalize), rows: rowsOf(found) };
    }
  }
}

/** The label of a number among matched functions, of which the first has no stack, and -1 is the root. */
function labelOf(number: number): number {
  return number < 0 ? ROOT : number === 0 ? NO_STACK : number;
}

function labelsOf(rows: readonly { readonly number: number }[]): Int32Array {
  return Int32Array.from(rows, ({ number }) => labelOf(number));
}

function rowsOf(rows: readonly Changed[]): ChangedRows {
  return {
    count: rows.length,
    self: columnsOf(rows, ({ before, after, self_change }) => [before.self_weight, after.self_weight, self_change]),
    all: columnsOf(rows, ({ before, after, all_change }) => [before.all_weight, after.all_weight, all_change]),
    presence: Uint8Array.from(rows, ({ presence }) => PRESENCES.indexOf(presence)),
  };
}

function columnsOf(rows: readonly Changed[], of: (row: Changed) => [Exact, Exact, Change]): ChangeColumns {
  return {
    before: columnOf(rows.map((row) => of(row)[0])),
    after: columnOf(rows.map((row) => of(row)[1])),
    change: Float64Array.from(rows, (row) => of(row)[2].weight),
    noise: Float64Array.from(rows, (row) => of(row)[2].noise),
    isBeyond: Uint8Array.from(rows, (row) => Number(of(row)[2].beyond_noise)),
  };
}

function totalOf(changes: Changes, normalize: Normalize): DiffTotal {
  const { before, after } = changes.total;
  return { rows: rowsOf([changes.total]), samples: [Number(before.samples), Number(after.samples)], normalize, factor: changes.factor, isScaled: changes.isScaled };
}

function table(changes: Changes, { of, normalize }: DiffTableAsk): DiffTableAnswer {
  const rows = of === 'functions' ? changes.functions() : of === 'own' ? changes.ownFunctions() : changes.binaries();
  return {
    kind: 'diff-table',
    total: totalOf(changes, normalize),
    label: of === 'binaries' ? new Int32Array(rows.length).fill(NO_STACK) : labelsOf(rows),
    name: of === 'binaries' ? rows.map(({ name }) => name) : [],
    rows: rowsOf(rows),
  };
}

function overview(changes: Changes, normalize: Normalize): DiffOverviewAnswer {
  const [own, all] = [changes.ownFunctions(), changes.functions()];
  const tried = own.length > 0 ? own : all;
  const told = tried.filter(({ before, after }) => Number(before.self_samples) + Number(after.self_samples) >= TOLD);
  const top = (rows: typeof all): DiffOverviewAnswer['own'] => {
    const changed = rows.filter(({ self_change }) => self_change.weight !== 0).slice(0, TOP);
    return { label: labelsOf(changed), rows: rowsOf(changed) };
  };
  return {
    kind: 'diff-overview',
    total: totalOf(changes, normalize),
    own: top(own),
    all: top(all),
    functions: tried.length,
    isOwn: own.length > 0,
    told: told.length,
    changed: told.filter(({ self_change }) => self_change.beyond_noise).length,
  };
}

interface Row extends TreeRow {
  readonly node: DiffNode;
}

function tree(changes: Changes, ask: DiffTreeAsk, matches: Uint8Array | null): DiffTreeAnswer {
  const children = (node: number): Row[] => changes.children(node).map(rowOfNode);
  const towards = matches === null ? null : changes.nodesTowards(matches);
  const walk = {
    roots: () => children(0),
    children: (row: Row) => children(row.node.node),
    isMatch: ({ label }: Row) => matches?.[label] === 1,
    hasMatch: ({ node }: Row) => towards?.[node.node] === 1,
  };
  const { rows, flags, isCut, found } = openRows(walk, 'down', ask);
  return {
    kind: 'diff-tree',
    total: totalOf(changes, ask.normalize),
    depth: Int32Array.from(rows, (row) => row.depth),
    label: Int32Array.from(rows, (row) => row.label),
    rows: rowsOf(rows.map(({ node }) => node)),
    flags: Uint8Array.from(flags),
    isCut,
    found,
  };
}

/** A node by what opens trees: its change, in place of a weight, leads the way. */
function rowOfNode(node: DiffNode): Row {
  const { before, after } = node;
  return {
    node,
    label: labelOf(node.number),
    depth: node.depth,
    all_weight: Math.abs(node.all_change.weight),
    samples: Number(before.samples) + Number(after.samples),
    self_samples: Number(before.self_samples) + Number(after.self_samples),
  };
}

/** The percentages of the weight before from which a change has the next colour, as in the command's differential flame graphs. */
const STEPS = [0, 1, 3, 10];

/** The change of a node as canvases colour it: between -1 and 1, and 0 for noise. */
function shade({ all_change }: DiffNode, before: number): number {
  if (!all_change.beyond_noise) return 0;
  const percent = (100 * Math.abs(all_change.weight)) / Math.max(1, before);
  // The displayed limit is exact: 3.3 - 2.3 is slightly less than 1.
  const step = STEPS.filter((from) => percent >= from - 1e-9).length;
  // Canvases draw the root of it.
  return Math.sign(all_change.weight) * ((step - 0.5) / STEPS.length) ** 2;
}

function flame(changes: Changes, ask: DiffFlameAsk): DiffFlameAnswer {
  const whole = changes.total;
  const total = Number(whole[ask.widths].all_weight);
  const least = ask.least ?? total / Math.max(1, ask.pixels);
  const [from, to] = [ask.from ?? 0, ask.to ?? total];
  const { count, node, depth, start, width } = changes.flameGraph(ask.widths, { root: 0, least, from, to });
  const nodes = Array.from(node, (at) => changes.at(at));
  const before = Number(whole.before.all_weight);
  const { functions } = changes.matching;
  const place = (number: number): number => (number < 0 ? functions.length + 1 : number === 0 ? functions.length : number);
  return {
    kind: 'diff-flame',
    total: totalOf(changes, ask.normalize),
    rows: rowsOf(nodes),
    model: {
      key: ask.key,
      tree: ask.tree,
      unit: ask.unit,
      detail: { from, to, least },
      labels: NO_LABELS,
      title: '',
      total,
      range: { start: 0, end: total },
      count,
      node,
      depth,
      start,
      width,
      self: Float64Array.from(nodes, (one) => Number(one[ask.widths].self_weight)),
      label: Int32Array.from(nodes, ({ number }) => place(number)),
      change: Float32Array.from(nodes, (one) => shade(one, before)),
    },
  };
}
