// The engine's results for two recordings, with the field names of the command's JSON.

/** The rows for each view of the command. */
const ROWS = {
  functions: (_, changes) => changes.functions().map(rowOf),
  overview: (_, changes) => changes.ownFunctions().map(rowOf),
  binaries: (_, changes) => changes.binaries().map(rowOf),
  tree: nodesOf,
};

/** Answers a query: the selection in each recording, the operations, the scaling, and the view. */
export function answerOf(engine, comparison, { selections, operations, normalize, view }) {
  const changes = comparison.changes(selections, operations, normalize);
  return {
    factor: changes.factor,
    total: { function: null, binary: null, ...sidesOf(changes.total) },
    rows: ROWS[view](engine, changes),
    boxFaults: view === 'tree' ? boxFaultsOf(changes) : [],
  };
}

function sidesOf({ presence, before, after, self_change, all_change }) {
  return { presence, before, after, self_change, all_change };
}

function rowOf(row) {
  return { function: row.name, binary: row.binary, ...sidesOf(row) };
}

/** Returns the nodes of the tree in reading order. */
function nodesOf(engine, changes) {
  const { functions } = changes.matching;
  const open = [changes.total];
  const found = [];
  while (open.length > 0) {
    const node = open.pop();
    const named = functions[node.number] ?? { name: null, binary: null };
    const name = node.number < 0 ? null : (named.name ?? engine.NO_STACK_NAME);
    const label = name === '' ? { function: named.binary ?? engine.NO_BINARY, binary: null } : { function: name, binary: named.binary };
    found.push({ ...label, ...sidesOf(node), depth: node.depth });
    open.push(...changes.children(node.node).reverse());
  }
  return found;
}

/** Checks that flame graph boxes have the weights of their nodes in the same recording. */
function boxFaultsOf(changes) {
  return ['before', 'after'].flatMap((side) => {
    const boxes = changes.flameGraph(side, { least: 0 });
    const wrong = Array.from({ length: boxes.count }, (_, box) => box).filter(
      (box) => Number(changes.at(boxes.node[box])[side].all_weight) !== boxes.width[box],
    );
    return wrong.length > 0 ? [`${wrong.length} boxes ${side} are not as wide as their nodes are heavy`] : [];
  });
}
