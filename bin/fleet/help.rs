//! The text below the options in the help of fleet commands.

use crate::interval_totals::ALERT_EXIT_CODES;

// Each paragraph is a single line, which clap wraps at the width of the terminal. Aligned text fits in 80 columns.
pub(super) const EXAMPLES: &str = "\
Examples:
  traceparse fleet report exports/
      How CPU use is distributed over all exports of a folder, and what uses it
  traceparse fleet report exports/ --manifest fleet.csv --by app_version \\
      -o fleet.html
      The same by version, with plots; the manifest lists each export's version
  traceparse fleet report 'exports/**/*.xml.gz' --alert 'cpu.p99 > 80'
      For CI: exit with code 3 if the alert fires
  traceparse fleet report exports/ --during FeedScroll --only-main-thread
      CPU use of main threads while a signpost interval is open
  traceparse fleet tree exports/ --beyond p95 -o flame.svg
      The flame graph of the runs with the most CPU use
  traceparse fleet extract exports/ -o fleet.dataset
      Measure each export once; later runs read only what is new or changed
  traceparse fleet report diagnostics/ --by app_version
      Hangs, launches and other MetricKit diagnostics by version
  traceparse fleet report fleet.dataset --by device --scope function --top 50
      Any number of reports, without reading the exports again

Exit codes: 0 success, 1 nothing could be read, 2 wrong usage, 3 an alert fired, 4 no alert fired but one could not be decided, 130 interrupted, 143 terminated (SIGTERM), 129 hung up (SIGHUP), 131 quit (SIGQUIT).";

/// The help of `compare`.
pub(crate) const COMPARE_HELP: &str = "\
Examples:
  traceparse compare base/ --against new/
      Is the new version slower, by how much, and in which functions?
  traceparse compare base/ --against new/ --block device --format markdown
      Devices are compared with themselves; for a comment on a pull request
  traceparse compare fleet.dataset --base app_version=1.9 --new app_version=2.0 \\
      --unit device_id
      Two versions of a fleet, for all devices like these
  traceparse compare base/ --against new/ --measure interval:Checkout
      Does the interval Checkout take longer?
  traceparse compare base/ --against new/ --min-effect 5% -o verdict.md -o junit.xml
      For CI: exit with code 3 if it is slower by at least 5 %

docs/ci.md has complete workflows, and what to do if the answer is \"cannot tell\". docs/statistics.md defines every number.

Exit codes: 0 not slower or it cannot tell, 1 no comparison is possible, 2 wrong usage, 3 slower, 4 undecided (3 and 4 depend on --fail-on), 130 interrupted, 143 terminated (SIGTERM), 129 hung up (SIGHUP), 131 quit (SIGQUIT).";

/// The help of `trend`.
pub(crate) const TREND_HELP: &str = "\
Examples:
  traceparse trend fleet.dataset --over app_version --block device
      Since which version is the app slower, on devices compared with themselves?
  traceparse trend nightly/ --over date --min-effect 5%
      For a nightly job: exit with code 3 while the app is slower than at first
  traceparse trend nightly/ --over date --accepted 2026-10-17
      The same, compared with the level of that day
  traceparse trend fleet.csv --over app_version --where device='iPhone 15' -o trend.csv
      The value of each version, as a table
  traceparse trend bench/ --over date --measure elapsed
      Since when does a benchmark that is recorded until it exits take longer?

A change needs 10 points, and is provisional until 5 follow it. docs/statistics.md defines every number, and has the rates of false and of missed changes.

Exit codes: 0 not slower or it cannot tell, 1 invalid or nothing could be read, 2 wrong usage, 3 slower, 4 undecided (3 and 4 depend on --fail-on), 130 interrupted, 143 terminated (SIGTERM), 129 hung up (SIGHUP), 131 quit (SIGQUIT).";

/// The help of `--max-size`.
pub(super) const MAX_SIZE_HELP: &str =
    "Largest JSON, such as 4kB, or page of a run, such as 16MB [default: 64MB for pages]";

const INPUT_HELP: &str = "\
Inputs are recordings (.trace, .trace.zip, .trace.tar, .trace.tar.gz, .trace.tgz, .trace.tar.zst), exports (.xml, .xml.gz, .xml.zst; any name if given by itself), crash reports (.ips, .crash, .ips.ca.synced) and MetricKit diagnostics (.json, .ndjson, .jsonl, .mxdiagnostic), folders (searched recursively), patterns in \
quotes ('runs/**/*.xml'), manifests (.csv, .jsonl, .ndjson)INPUT_DATASET.

A table of contents (`xcrun xctrace export --toc`) adds the recorded time, device, OS and app of an export. It is found next to its export by name: for run7.xml, run7-toc.xml, run7.toc.xml or run7_toc.xml; in an archive, by its content.

Signposts and hangs for --during and --during-hang are read from a recording itself. The intervals of an export are in the export, or next to it by name: for run7.xml, run7-intervals.xml. The column `intervals` of a manifest takes precedence. Runs without a matching interval or thread are excluded and listed; the percentage is relative to the selected time.

A manifest lists exports to read and describes them, one per line. The column `path` (relative to the manifest) is required; `toc`, `intervals`, `duration` (seconds), `run_weight` (how many runs it represents), `app`, `app_version`, `device`, `os`, `os_build` and columns of your own are optional. --by takes your own columns like the built-in labels:
  path,app_version,device,ring
  runs/7.xml,5.2,iPhone 15,beta";

const RUNS_HELP: &str = "\
Pages of runs:
  traceparse fleet report exports/ -o fleet.html --with-runs 20
      Also writes fleet.runs/: pages for exploring the first 20 runs referred
      to in fleet.html. Percentiles and largest values link to them";

const ALERT_HELP: &str = "\
Alert rules:
  cpu.p95 > 80                       P95 across runs, in percent of one core
  cpu.mean > 20    cpu.max >= 300    the mean; the largest run
  process(\"Finder\").cpu.p99 > 5      a process by name (or thread(\"…\"))
  function(\"-[X y]\").self.p99 > 5    samples with it as the leaf
  binary(\"UIKitCore\").all.p90 > 10   samples with it anywhere in the stack
  function(*).self.p99 > 5           any function (or binary(*)), beyond chance
  process(*).cpu.p99 > 50            the busiest process of each run
  window(60s).max > 80               the busiest 60 s of each run
  cpu-time.p95 > 300 ms              CPU time of a run; elapsed is its recorded time
  hang.p95 > 2 s                     diagnostics: hang, launch, exception, writes
  memory.p99 > 1.5 GB                metrics: the peak of a day; exits.max > 3 counts its exits
  system-cpu-limit                   the limit at which iOS ends apps: 80 % over 60 s

Exit codes: 0 success, 1 nothing could be read, 2 wrong usage, 3 an alert fired, 4 no alert fired but one could not be decided (too few runs, chance may explain it, or inputs are missing or could not be measured), 130 interrupted, 143 terminated (SIGTERM), 129 hung up (SIGHUP), 131 quit (SIGQUIT).";

/// The help of `report`.
pub(super) fn report_help() -> String {
    format!(
        "{}\n\n{RUNS_HELP}\n\n{ALERT_HELP}",
        INPUT_HELP.replace("INPUT_DATASET", ", or datasets of `fleet extract`")
    )
}

/// The help of `tree`.
pub(super) fn tree_help() -> String {
    format!(
        "{TREE_HELP}\n\n{}\n\n{EXTRACT_CODES}",
        INPUT_HELP.replace("INPUT_DATASET", ", or datasets of `fleet extract --stacks`")
    )
}

const TREE_HELP: &str = "\
The trees of all selected runs are added up, each run with the weight that was recorded. Functions are matched by the names of binary and function, and threads by the names of process and thread. Code without names is one function for each binary.

With --beyond, all recordings are read first, and then the selected ones again.

Examples:
  traceparse fleet tree exports/ --no-threads
      One call tree of all runs
  traceparse fleet tree fleet.dataset --where app_version=5.2 -o flame.svg
      The flame graph of a version; the dataset was extracted with --stacks
  traceparse fleet tree fleet.dataset --beyond p95 --view functions
      The functions of the runs with the most CPU use
  traceparse fleet tree diagnostics/ --where diagnostic=hang \\
      --runs-of 'Store.save()'
      The hangs that have this function, the longest time in it first
  traceparse fleet tree fleet.dataset --where app_version=5.2 \\
      --against app_version=5.3 -o changes.svg
      The flame graph of the second version, coloured by what changed";

/// The help of `intervals`.
pub(super) fn interval_help() -> String {
    format!("{INTERVAL_HELP}\n\n{}\n\n{ALERT_EXIT_CODES}", INPUT_HELP.replace("INPUT_DATASET", ""))
}

const INTERVAL_HELP: &str = "\
Each interval of each selected run counts once, so a run with many intervals counts for more. Intervals that were open when a recording ended are counted separately.

Examples:
  traceparse fleet intervals exports/ --name Checkout
      How long Checkout takes, over all runs
  traceparse fleet intervals fleet.csv --where app_version=5.3 \\
      --alert 'interval(Checkout).p95 > 300ms'
      For CI: exit with code 3 if the new version takes longer";

/// The help of `extract`.
pub(super) fn extract_help() -> String {
    format!("{EXTRACT_HELP}\n\n{}\n\n{EXTRACT_EXAMPLES}\n\n{EXTRACT_CODES}", INPUT_HELP.replace("INPUT_DATASET", ""))
}

const EXTRACT_HELP: &str = "\
The dataset is a folder of Parquet files, for `traceparse fleet report`, DuckDB, Spark and others. Run the command again when there are new exports, or after Ctrl-C: a file is read again only if its content, its table of contents, its manifest line or the options changed. So pass the manifests each time.";

const EXTRACT_EXAMPLES: &str = "\
Examples:
  traceparse fleet extract exports/ --manifest fleet.csv -o fleet.dataset
  find /data -name '*.trace' -print0 |
      traceparse fleet extract --files-from - -0 -o fleet.dataset
  traceparse fleet extract /data --shard 3/16 -o shards/3
      One of 16 processes; then run `fleet merge shards/* -o fleet.dataset`";

const EXTRACT_CODES: &str = "Exit codes: 0 success, 1 nothing could be read, 2 wrong usage, 130 interrupted, 143 terminated (SIGTERM), 129 hung up (SIGHUP), 131 quit (SIGQUIT).";

pub(super) const MERGE_HELP: &str = "\
A run in several datasets is used once. If several datasets contain copies of a file, one copy is used, and all numbers are the same as in a single extract. Datasets with different selections, settings or numbers of shards are refused.

A merge is incomplete until it has all shards: reports list the missing shards, and alerts are undecided (exit code 4). After an interruption, run the same merge again.

Examples:
  traceparse fleet extract exports/ --shard 1/2 -o shard-1
  traceparse fleet extract exports/ --shard 2/2 -o shard-2
  traceparse fleet merge shard-1 shard-2 -o fleet.dataset
      Two processes or machines each do half of the work
  traceparse fleet merge january february -o quarter
      Datasets of different recordings

Exit codes: 0 success, 1 nothing could be read or the datasets differ in their settings, 2 wrong usage, 130 interrupted, 143 terminated (SIGTERM), 129 hung up (SIGHUP), 131 quit (SIGQUIT).";
