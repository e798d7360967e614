// The tables of the page: the link that shows each, the command's view with the same numbers, and its rows in the form in which the page
// saves them.

const ROOT_CALLER = '[the thread itself]';

/** A number of the thread or process next to its name. */
const labelled = (name, number, unknown) => (name === null || name === '' ? (number ?? unknown) : number === null ? name : `${name} (${number})`);
const threadText = ({ thread, tid }) => labelled(thread, tid === null ? null : `0x${BigInt(tid).toString(16)}`, 'unknown thread');
const processText = ({ process, pid }) => labelled(process, pid === null ? null : String(pid), 'unknown process');
const text = (value) => value ?? '';
const weights = ({ self_weight, all_weight }) => ({ self: self_weight, all: all_weight });
const named = (row) => ({ function: row.function, binary: text(row.binary) });

function lineText({ path, line }) {
  if (path === null) return '';
  const name = path.slice(path.lastIndexOf('/') + 1);
  return line === null ? name : `${name}:${line}`;
}

function coreText({ level, kind, core }) {
  if (level === 'kind') return kind ?? 'no kind recorded';
  return core === null ? 'no core recorded' : `core ${core}`;
}

/** Returns the rows of a tree in which the same nodes are open as in the page. */
function openRows(root, shown, rowOf) {
  const rows = [];
  const depthOf = (row) => (row === undefined ? 0 : (row.function.length - row.function.trimStart().length) / 2 + 1);
  const add = (nodes, depth) => {
    for (const node of nodes) {
      rows.push({ ...rowOf(node), function: `${'  '.repeat(depth - 1)}${node.function}`, binary: text(node.binary) });
      if (depthOf(shown[rows.length]) > depth) add(node.children ?? [], depth + 1);
    }
  };
  add(root.children ?? [], 1);
  return rows;
}

const tree = (rowOf) => (json, ofSeries, shown) => openRows(ofSeries(json.trees)[0]?.tree ?? {}, shown.tree ?? [], rowOf);
/** Returns the rows of the command's list with this name. */
const list = (name, rowOf, isShown = () => true) => (json, ofSeries) => ofSeries(json[name]).filter(isShown).map(rowOf);
const neighbours = (relation) =>
  list(
    'sandwich',
    (row) => ({ all: row.weight, function: row.function === ROOT_CALLER ? '[root]' : row.function, binary: text(row.binary) }),
    (row) => row.relation === relation,
  );

/** By table: the rest of the link, the options, and the tables with their rows. */
export const VIEWS = {
  functions: { link: 'tab=functions', options: ['--view', 'functions'], tables: { functions: list('functions', (row) => ({ ...weights(row), ...named(row) })) } },
  tree: { link: 'tab=tree', options: ['--view', 'tree', '--separate-by', 'none'], tables: { tree: tree(({ all_weight, self_weight }) => ({ all: all_weight, self: self_weight })) } },
  bottomUp: { link: 'tab=tree&tree=up', options: ['--view', 'bottom-up', '--separate-by', 'none'], tables: { tree: tree(({ all_weight }) => ({ all: all_weight })) } },
  heaviest: {
    link: 'tab=tree&tree=heaviest',
    options: ['--view', 'heaviest', '--separate-by', 'none'],
    tables: { heaviest: list('heaviest', (row) => ({ ...weights(row), ...named(row) })) },
  },
  callers: { link: 'tab=callers', options: [], tables: { callers: neighbours('caller'), callees: neighbours('callee') } },
  binaries: {
    link: 'tab=binaries',
    options: ['--view', 'binaries'],
    tables: { binaries: list('binaries', (row) => ({ ...weights(row), binary: row.binary, path: text(row.path) })) },
  },
  categories: {
    link: 'tab=categories',
    options: ['--view', 'categories'],
    tables: {
      categories: list('categories', (row) => ({ ...weights(row), category: row.category })),
      transitions: list('transitions', (row) => ({ ...weights(row), caller: row.caller, callee: row.callee })),
    },
  },
  lines: { link: 'tab=source', options: ['--view', 'lines'], tables: { lines: list('lines', (row) => ({ ...weights(row), line: lineText(row), ...named(row) })) } },
  threads: {
    link: 'tab=threads',
    options: ['--view', 'threads'],
    tables: { threads: list('threads', (row) => ({ all: row.all_weight, samples: row.samples, thread: threadText(row), process: processText(row) })) },
  },
  processes: {
    link: 'tab=threads',
    options: ['--view', 'processes'],
    tables: { processes: list('processes', (row) => ({ all: row.all_weight, samples: row.samples, process: processText(row) })) },
  },
  states: {
    link: 'tab=states',
    options: ['--view', 'states'],
    tables: {
      states: list('states', (row) => ({ all: row.all_weight, samples: row.samples, state: row.state ?? 'no state recorded', counts: row.counted ? 'yes' : 'no' })),
    },
  },
  cores: { link: 'tab=cores', options: ['--view', 'cores'], tables: { cores: list('cores', (row) => ({ all: row.all_weight, samples: row.samples, core: coreText(row) })) } },
};
