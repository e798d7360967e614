// Stacks as plain lists of frames, and a recording with its stacks replaced.

/** Returns the frames of each used stack after operations, outermost first: null if it was removed, and empty if no stack was recorded. */
export function placesOf(workbench, operations) {
  const { stacks, stackOf } = workbench.view({}, operations).prepared.operated;
  const lists = Array.from(stackOf, (stack) => {
    if (stack === -2) return null;
    const list = [];
    for (let at = stack; at >= 0; at = stacks.parent[at]) list.unshift(stacks.frame[at]);
    return list;
  });
  return { lists, functionOf: workbench.profile.frames.function };
}

/** Returns the recording with each used stack replaced by these frames, without the samples of stacks that are null. */
export function stackedProfile(profile, used, lists) {
  const [parent, frame, known] = [[], [], new Map()];
  const stackOf = lists.map((list) =>
    (list ?? []).reduce((above, next) => {
      const key = `${above} ${next}`;
      if (!known.has(key)) {
        known.set(key, parent.length);
        parent.push(above);
        frame.push(next);
      }
      return known.get(key);
    }, -1),
  );
  const { samples } = profile;
  const rows = Int32Array.from(samples.stack.keys()).filter((row) => lists[used.ofRow[row]] !== null);
  const kept = (column) => column.constructor.from(rows, (row) => column[row]);
  const stacks = { count: parent.length, parent: Int32Array.from(parent), frame: Int32Array.from(frame) };
  // Rows of a series are consecutive, in the order of series.
  const before = (row) => rows.filter((other) => other < row).length;
  const series = profile.series.map((one) => ({ ...one, start: before(one.start), end: before(one.end) }));
  const ofColumns = Object.fromEntries(['time', 'thread', 'state', 'core', 'kind'].map((name) => [name, kept(samples[name])]));
  return {
    ...profile,
    stacks,
    series,
    samples: {
      ...samples,
      ...ofColumns,
      count: rows.length,
      weight: samples.weight.map(kept),
      samples: samples.samples.map(kept),
      counters: samples.counters.map((counter) => ({ ...counter, planes: counter.planes.map(kept) })),
      stack: Int32Array.from(rows, (row) => stackOf[used.ofRow[row]]),
    },
  };
}
