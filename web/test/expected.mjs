// The engine's answers, with the field names of the command's JSON.

/** The unit of a series' weights. */
function unitOfSeries(profile, index, metric) {
  if (metric.startsWith('counter:')) return 'events';
  return metric === 'samples' ? 'samples' : profile.series[index].unit;
}

/** The compared views, each with the command's options and the engine's answer. */
export function viewsOf(engine, profile) {
  const series = (view, series, make) => series.flatMap((index, position) => make(view, index).map((row) => ({ series: position, ...row })));
  const unitOf = (index, metric) => unitOfSeries(profile, index, metric);
  const names = namesOf(engine, profile);
  const listing = (name, make) => (view, wanted, metric) => ({
    [name]: series(view, wanted, (view, index) => make(view, index).map((row) => ({ ...row, unit: unitOf(index, metric) }))),
  });
  return {
    functions: listing('functions', (view, index) =>
      engine.functions(view, index).map(({ label, ...sums }) => ({ ...names.label(label), ...sums })),
    ),
    binaries: listing('binaries', (view, index) => engine.binaries(view, index).map((row) => binaryRow(profile, row))),
    categories: (view, wanted, metric) => ({
      ...listing('categories', (view, index) =>
        engine.categories(view, index).map(({ category, ...sums }) => ({ ...sums, category: category ?? engine.NO_STACK_NAME })),
      )(view, wanted, metric),
      ...listing('transitions', (view, index) =>
        engine.transitions(view, index).map(({ caller, callee, category, ...sums }) => ({
          ...sums,
          category,
          caller: names.label(caller).function,
          caller_binary: names.label(caller).binary ?? '',
          callee: names.label(callee).function,
          callee_binary: names.label(callee).binary ?? '',
        })),
      )(view, wanted, metric),
    }),
    lines: listing('lines', (view, index) =>
      engine.lines(view, index).map(({ label, path, line, ...sums }) => ({
        ...sums,
        path: path ?? '',
        line: line > 0 ? line : null,
        function: names.label(label).function,
        binary: names.label(label).binary ?? '',
      })),
    ),
    threads: (view, wanted, metric) => ({
      threads: wanted.flatMap((index, position) =>
        engine.threads(view, index).map((part) => scope(profile, index, position, 'thread', part, unitOf(index, metric))),
      ),
    }),
    processes: listing('processes', (view, index) =>
      engine.processes(view, index).map(({ id, name, weight, samples, threads }) => ({
        pid: profile.processes[id].pid,
        process: name,
        all_weight: weight,
        samples,
        threads,
      })),
    ),
    states: listing('states', (view, index) =>
      engine.states(view, index).map(({ state, is_counted, weight, samples }) => ({ state, counted: is_counted, samples, all_weight: weight })),
    ),
    cores: listing('cores', (view, index) =>
      engine.cores(view, index).flatMap(({ kind, cores, ...sum }) => [
        { level: 'kind', kind, core: null, all_weight: sum.weight, samples: sum.samples },
        ...cores.map(({ core, weight, samples }) => ({ level: 'core', kind, core, all_weight: weight, samples })),
      ]),
    ),
  };
}

function namesOf(engine, profile) {
  return {
    label(label) {
      if (label === engine.ROOT) return { function: null, binary: null };
      if (label === engine.NO_STACK) return { function: engine.NO_STACK_NAME, binary: null };
      return { function: engine.functionName(profile, label), binary: engine.binaryName(profile, label) };
    },
  };
}

function binaryRow(profile, { binaries, name, ...sums }) {
  const rows = binaries.map((id) => profile.binaries[id]);
  const [first] = rows;
  const isOne = rows.every((row) => row.load_address === first.load_address);
  return {
    ...sums,
    binary: name,
    uuid: first?.uuid ?? null,
    arch: first?.arch ?? null,
    load_address: first !== undefined && isOne ? first.load_address : null,
    path: first?.path ?? '',
  };
}

/** Returns the fields that identify the samples of a tree or thread in JSON. */
function scope(profile, index, position, by, part, unit) {
  const series = profile.series[index];
  const found = { series: position, run: profile.runs[series.run].number, schema: series.schema };
  const thread = by === 'thread' ? profile.threads[part.id] : null;
  const process = thread !== null ? profile.processes[thread.process] : by === 'process' ? profile.processes[part.id] : null;
  if (by === 'state') found.state = part.name;
  if (by === 'core-kind') found.core_kind = part.name;
  if (process !== null) Object.assign(found, { process: process.name, pid: process.pid });
  if (thread !== null) Object.assign(found, { thread: thread.name, tid: thread.tid });
  return { ...found, samples: part.samples, all_weight: part.weight, unit };
}

const FIELDS = { thread: 'threads', process: 'processes', state: 'states', 'core-kind': 'core_kinds', none: 'trees' };

/** Returns the call trees of each part. Nodes are a list with depths, since stacks may be deep. */
export function treesOf(engine, profile, view, wanted, by, metric, isBottomUp = false) {
  const names = namesOf(engine, profile);
  const trees = wanted.flatMap((index, position) => {
    const unit = unitOfSeries(profile, index, metric);
    return engine.parts(view, index, by).map((part) => {
      const topDown = engine.treeOfPart(view, index, by, part);
      const tree = isBottomUp ? new engine.BottomUpTree(profile, topDown.weighed) : topDown;
      return { ...scope(profile, index, position, by, part, unit), tree: flatten(tree.root, (node) => tree.children(isBottomUp ? node : node.node), (node) => ({
        ...names.label(node.label),
        all_weight: node.all_weight,
        self_weight: node.self_weight,
        samples: node.samples,
        depth: node.depth,
      })) };
    });
  });
  return { [FIELDS[by]]: trees };
}

/** Returns the same from the command's JSON. */
export function flatTrees(json, by) {
  const name = FIELDS[by];
  const trees = json[name].map((row) => ({
    ...row,
    tree: flatten({ ...row.tree, depth: 0 }, (node) => (node.children ?? []).map((child) => ({ ...child, depth: node.depth + 1 })), (node) => ({
      function: node.function === '' ? null : node.function,
      binary: node.binary,
      all_weight: node.all_weight,
      self_weight: node.self_weight,
      samples: node.samples,
      depth: node.depth,
    })),
  }));
  return { [name]: trees };
}

function flatten(root, childrenOf, rowOf) {
  const rows = [];
  const open = [root];
  while (open.length > 0) {
    const node = open.pop();
    rows.push(rowOf(node));
    open.push(...childrenOf(node).reverse());
  }
  return rows;
}

/** Returns the callers and callees of a function by name. */
export function sandwichOf(engine, profile, view, wanted, name, metric) {
  const chosen = engine.ofName(profile, name);
  const names = namesOf(engine, profile);
  const binaries = new Set();
  chosen.forEach((isChosen, id) => {
    const binary = engine.binaryName(profile, id);
    if (isChosen === 1 && binary !== null) binaries.add(binary);
  });
  return {
    sandwich: wanted.flatMap((index, position) => {
      const unit = unitOfSeries(profile, index, metric);
      const { own, callers, callees } = engine.sandwich(view, index, chosen);
      const row = (relation, weight, samples, names) => ({ series: position, relation, weight, samples, ...names, unit });
      const neighbour = (relation) => ({ label, weight, samples }) => {
        const { function: name, binary } = names.label(label);
        const named = label === engine.ROOT ? '[the thread itself]' : name;
        return row(relation, weight, samples, { function: named, binary: binary ?? '' });
      };
      // The command lists the binaries sorted by name.
      const itself = { function: name, binary: [...binaries].sort(byBytes).join(', ') };
      return [
        ...callers.map(neighbour('caller')),
        row('all', own.all_weight, own.samples, itself),
        row('self', own.self_weight, own.self_samples, itself),
        ...callees.map(neighbour('callee')),
      ];
    }),
  };
}

/** Compares strings by their UTF-8 bytes, which is the order of code points. */
export function byBytes(a, b) {
  const [left, right] = [a, b].map((text) => Array.from(text, (character) => character.codePointAt(0)));
  const at = left.findIndex((character, index) => character !== right[index]);
  return at < 0 ? left.length - right.length : left[at] - (right[at] ?? -1);
}

/** Returns the heaviest stack of each thread, or of each part if the samples are separated by something else. */
export function heaviestOf(engine, profile, view, wanted, by, metric) {
  const names = namesOf(engine, profile);
  return {
    heaviest: wanted.flatMap((index, position) => {
      const unit = unitOfSeries(profile, index, metric);
      return engine.parts(view, index, by).flatMap((part) => {
        const thread = by === 'thread' ? profile.threads[part.id] : null;
        const process = thread !== null ? profile.processes[thread.process] : by === 'process' ? profile.processes[part.id] : null;
        return engine.treeOfPart(view, index, by, part).heaviest().map((node) => ({
          series: position,
          process: process?.name ?? null,
          pid: process?.pid ?? null,
          thread: thread?.name ?? null,
          tid: thread?.tid ?? null,
          part: by === 'state' || by === 'core-kind' ? part.name : null,
          depth: node.depth,
          all_weight: node.all_weight,
          self_weight: node.self_weight,
          samples: node.samples,
          ...names.label(node.label),
          unit,
        }));
      });
    }),
  };
}

/** Returns weights over time. */
export function timelineOf(engine, profile, view, wanted, by, metric, bin) {
  return {
    timeline: wanted.flatMap((index, position) => {
      const unit = unitOfSeries(profile, index, metric);
      // The command's JSON has integers above 2^53 as bigints. Bin lengths are round, so they are exact as numbers of any size.
      const lines = engine.timeline(view, index, Number(bin), by);
      const start = ({ bin: number }) => BigInt(number) * BigInt(bin);
      const exact = (nanos) => (nanos < 2n ** 53n ? Number(nanos) : nanos);
      const time = view.scope.selectedTime(index);
      const selected = ({ bin: number }) => engine.lengthWithin(time, { start: start({ bin: number }), end: start({ bin: number + 1 }) });
      const parts = lines.flatMap((line, order) => line.parts.map((part) => ({ order, line, part })));
      parts.sort((a, b) => a.part.bin - b.part.bin || a.order - b.order);
      return parts.map(({ line, part }) => {
        const thread = by === 'thread' ? profile.threads[line.id] : null;
        const process = thread !== null ? profile.processes[thread.process] : by === 'process' ? profile.processes[line.id] : null;
        const state = profile.states[part.state] ?? null;
        const isTime = unit === 'ns' && (state === null || state === 'Running');
        return {
          series: position,
          time_ns: exact(start(part)),
          bin_ns: bin,
          selected_ns: selected(part),
          pid: process?.pid ?? null,
          process: process?.name ?? null,
          tid: thread?.tid ?? null,
          thread: thread?.name ?? null,
          core_kind: by === 'core-kind' ? line.name : null,
          state,
          samples: part.samples,
          weight: part.weight,
          cpu_percent: isTime && selected(part) > 0 ? (Number(part.weight) * 100) / selected(part) : null,
          unit,
        };
      });
    }),
  };
}

/** Returns the spans of each thread. */
export function flameChartOf(engine, profile, view, wanted, metric) {
  const names = namesOf(engine, profile);
  return {
    flame_chart: wanted.flatMap((index, position) => {
      const unit = unitOfSeries(profile, index, metric);
      const chart = engine.flameChart(view, index);
      return chart.threads.map((part) => {
        const { count, node, start, end, all, own } = engine.spansOf(view, index, chart, part.id);
        const { label, depth } = view.prepared.byFunction;
        const spans = Array.from({ length: count }, (_, span) => ({
          ...names.label(label[node[span]]),
          start_ns: start[span],
          end_ns: end[span],
          depth: depth[node[span]],
          all_weight: all.weight(span),
          self_weight: own.weight(span),
          samples: all.samples(span),
        }));
        const head = scope(profile, index, position, 'thread', part, unit);
        return { ...head, estimated: chart.typicalGap !== null, typical_gap_ns: chart.typicalGap, spans };
      });
    }),
  };
}

/** Rounds the ends of spans, which are doubles in the engine. */
export function roundedEnds({ flame_chart }) {
  const rounded = (span) => ({ ...span, end_ns: Number(span.end_ns) });
  return { flame_chart: flame_chart.map((row) => ({ ...row, spans: row.spans.map(rounded) })) };
}
