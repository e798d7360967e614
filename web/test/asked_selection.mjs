// Converts command-line options to a selection for one recording. In a comparison, each recording has different threads, so each needs a
// selection.

/** Returns the selection for these options. Operations among them are ignored. */
export function selectionOf(engine, profile, options) {
  const selection = {};
  const add = (field, indices) => (selection[field] = [...(selection[field] ?? []), ...indices]);
  const indices = (rows, isMeant) => rows.flatMap((row, index) => (isMeant(row) ? [index] : []));
  const during = { names: [], hangs: false, needsAll: false };
  const words = [...options];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--thread') add('threads', engine.matchThreads(profile, words.shift()));
    else if (word === '--only-main-thread') selection.mainOnly = true;
    else if (word === '--process') add('processes', engine.matchProcesses(profile, words.shift()));
    else if (word === '--run') add('runs', numbered(profile.runs, Number(words.shift())));
    else if (word === '--schema') add('series', named(profile.series, words.shift()));
    else if (word === '--metric') selection.metric = words.shift();
    else if (word === '--state') selection.states = statesOf(words.shift());
    else if (word === '--time') selection.time = timeOf(words.shift());
    else if (word === '--during') during.names.push(words.shift());
    else if (word === '--during-hang') during.hangs = true;
    else if (word === '--during-all') during.needsAll = true;
    else if (word === '--binary' || word === '--leaf-binary') words.shift();
  }
  if (during.names.length > 0 || during.hangs) selection.during = during;
  return selection;

  function numbered(rows, number) {
    return indices(rows, (row) => row.number === number);
  }

  function named(rows, schema) {
    return indices(rows, (row) => row.schema === schema);
  }
}

function statesOf(text) {
  return text.toLowerCase() === 'all' ? 'all' : [text];
}

/** Parses `5ns..9ns` or `5ns..`. */
function timeOf(text) {
  const [start, end] = text.split('..').map((part) => (part === '' ? null : BigInt(part.slice(0, -2))));
  return { start, end };
}
