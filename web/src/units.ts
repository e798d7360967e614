// The units of displayed numbers, smallest first, each with its size in the smallest unit. Written from the table in
// `src/units/scale.rs`. After changing it:
//
//   TRACEPARSE_BLESS=1 cargo test -p traceparse-engine

export const SCALES = {
  ns: [[1, 'ns'], [1000, 'µs'], [1000000, 'ms'], [1000000000, 's']],
  cycles: [[1, 'cycles'], [1000, 'kcycles'], [1000000, 'Mcycles'], [1000000000, 'Gcycles'], [1000000000000, 'Tcycles']],
  events: [[1, 'events'], [1000, 'kevents'], [1000000, 'Mevents'], [1000000000, 'Gevents'], [1000000000000, 'Tevents']],
  samples: [[1, 'samples']],
  elapsed_ns: [[1, 'ns'], [1000, 'µs'], [1000000, 'ms'], [1000000000, 's']],
  bytes: [[1, 'B'], [1000, 'kB'], [1000000, 'MB'], [1000000000, 'GB'], [1000000000000, 'TB']],
  hang_ns: [[1, 'ns'], [1000, 'µs'], [1000000, 'ms'], [1000000000, 's']],
  launch_ns: [[1, 'ns'], [1000, 'µs'], [1000000, 'ms'], [1000000000, 's']],
  exception_ns: [[1, 'ns'], [1000, 'µs'], [1000000, 'ms'], [1000000000, 's']],
  written_bytes: [[1, 'B'], [1000, 'kB'], [1000000, 'MB'], [1000000000, 'GB'], [1000000000000, 'TB']],
  day_ns: [[1, 'ns'], [1000, 'µs'], [1000000, 'ms'], [1000000000, 's']],
  hitch_ns: [[1, 'ns'], [1000, 'µs'], [1000000, 'ms'], [1000000000, 's']],
  peak_bytes: [[1, 'B'], [1000, 'kB'], [1000000, 'MB'], [1000000000, 'GB'], [1000000000000, 'TB']],
  exits: [[1, 'exits']],
} as const satisfies Record<string, readonly (readonly [number, string])[]>;
