// The real recordings of all kinds that the engine of the app reads, below `TRACEPARSE_CORPUS`.

export const READ_CORPUS = [
  'xctrace/12.5/time-profile.xml', 'xctrace/14-16/time-profile.xml', 'xctrace/14.0.1/cpu-profile.xml', 'xctrace/14.3.1/counters-time-profile.xml',
  'xctrace/14.3.1/time-profile.xml', 'xctrace/16.0/four-runs.trace.zip', 'xctrace/26.2/finder.trace.zip', 'xctrace/26.4/time-sample.xml',
  'xctrace/26.4.1/time-profile.xml', 'xctrace/26.5/cpu-profile.xml', 'xctrace/27/cpu-profile.xml', 'inputs/sample/10.14-plugin-container.sample.txt.gz',
  'inputs/sample/10.8-chrome.sample.txt', 'inputs/spindump/10.12-heavy.spindump.txt.gz', 'inputs/spindump/10.9-hang.crash.txt',
  'inputs/metrickit/hang-ios27-simulated.json', 'inputs/metrickit/crash-ios14-two.json', 'inputs/microstackshots/26.0-diskwrites-cut.ips',
  'inputs/dart/timeline-simple-1.json', 'inputs/dart/allocation-trace.json.gz', 'inputs/deepcopy/16.0-simple-time-profile.txt',
  'inputs/dottrace/sampling-instances.xml', 'reproducers/demangle-bomb.xml', 'reproducers/encoding-latin1.xml',
  'inputs/crash/309-bad-memory-access.ips', 'inputs/crash/objc-exception.crash',
];

/** Real recordings to compare. */
export const READ_PAIRS = [
  ['xctrace/14-16/time-profile.xml', 'xctrace/12.5/time-profile.xml'],
  ['xctrace/14.0.1/cpu-profile.xml', 'xctrace/26.2/finder_cpu_profile.xml'],
  ['xctrace/27/cpu-profile.xml', 'xctrace/26.5/cpu-profile.xml'],
  ['inputs/sample/10.8-chrome.sample.txt', 'inputs/sample/10.14-plugin-container.sample.txt.gz'],
  ['inputs/spindump/10.9-hang.crash.txt', 'inputs/spindump/10.12-heavy.spindump.txt.gz'],
  ['inputs/metrickit/hang-ios27-simulated.json', 'inputs/metrickit/hang-ios18-abridged.json'],
];
