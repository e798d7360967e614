//! The text of `traceparse fleet --help` below the options.

// Paragraphs are one line each, which clap wraps at the width of the terminal; what is aligned fits in 80 columns.
pub(super) const EXAMPLES: &str = "\
Examples:
  traceparse fleet report exports/
      How CPU use is distributed over all exports of a folder, and what uses it
  traceparse fleet report exports/ --manifest fleet.csv --by app_version \\
      -o fleet.html
      The same by version, with plots; the manifest says what is of which version
  traceparse fleet report 'exports/**/*.xml.gz' --alert 'cpu.p99 > 80'
      For CI: the exit code is 3 if the alert fires
  traceparse fleet extract exports/ -o fleet.dataset
      Measure each export once; run again, it reads what is new or changed
  traceparse fleet report fleet.dataset --by device --scope function --top 50
      As many reports as you like, without the exports

Exit codes: 0 done, 1 nothing could be read, 2 wrong usage, 3 an alert fired, 4 an alert could not be decided and none \
fired, 130 interrupted, 143 told to end (SIGTERM).";

const INPUT_HELP: &str = "\
Inputs are recordings (.trace, .trace.zip, .trace.tar, .trace.tar.gz, .trace.tgz, .trace.tar.zst) and exports (.xml, .xml.gz, .xml.zst; any name if named here), folders (searched to the bottom), patterns in \
quotes ('runs/**/*.xml'), manifests (.csv, .jsonl, .ndjson)INPUT_DATASET.

A table of contents (`xcrun xctrace export --toc`) tells how long was recorded, and device, OS and app. It is found \
beside its export: run7.xml has run7-toc.xml, run7.toc.xml or run7_toc.xml.

A manifest adds its exports to the inputs, and describes them. It has one line for each: the column `path` \
(relative to the manifest), and as wanted `toc`, `duration` (seconds), `run_weight` (how many runs it stands for), \
`app`, `app_version`, `device`, `os`, `os_build`, and columns of your own, which --by takes like the others:
  path,app_version,device,ring
  runs/7.xml,5.2,iPhone 15,beta";

const ALERT_HELP: &str = "\
Alert rules:
  cpu.p95 > 80                       P95 across runs, in percent of one core
  cpu.mean > 20    cpu.max >= 300    the mean; the largest run
  process(\"Finder\").cpu.p99 > 5      a process by name; thread(\"…\") too
  function(\"-[X y]\").self.p99 > 5    samples whose leaf it is
  binary(\"UIKitCore\").all.p90 > 10   samples that have it in their stack
  function(*).self.p99 > 5           any function, beyond chance; binary(*) too
  process(*).cpu.p99 > 50            the busiest process of each run
  window(60s).max > 80               the busiest 60 s of each run
  system-cpu-limit                   as iOS ends apps: 80 % over 60 s

Exit codes: 0 done, 1 nothing could be read, 2 wrong usage, 3 an alert fired, 4 an alert could not be decided (too few \
runs, or chance may explain it) and none fired, 130 interrupted, 143 told to end (SIGTERM).";

/// The help of `report`.
pub(super) fn report_help() -> String {
    format!("{}\n\n{ALERT_HELP}", INPUT_HELP.replace("INPUT_DATASET", ", or one dataset of `fleet extract`"))
}

/// The help of `extract`.
pub(super) fn extract_help() -> String {
    format!("{EXTRACT_HELP}\n\n{}\n\n{EXTRACT_CODES}", INPUT_HELP.replace("INPUT_DATASET", ""))
}

const EXTRACT_HELP: &str = "\
The dataset is a folder of Parquet files, which DuckDB, Spark and others read, and `traceparse fleet report` too. Run \
it again after new exports came, or after a Ctrl-C: what is there already is not read again, unless its content, its \
table of contents, its line of the manifest or the options changed. So name the manifests each time.";

const EXTRACT_CODES: &str =
    "Exit codes: 0 done, 1 nothing could be read, 2 wrong usage, 130 interrupted, 143 told to end (SIGTERM).";

pub(super) const SQL_HELP: &str = "\
The statement gives the rows that `fleet report --format csv` gives, with the same numbers; alerts, intervals and noise \
are in the report only.

Examples:
  traceparse fleet sql fleet.dataset --by app_version --scope function | duckdb
  traceparse fleet sql --engine spark s3://bucket/fleet --percentiles 99,99.9
  traceparse fleet sql report.json --dataset fleet.dataset
      What that report asked, as `fleet report --format json` wrote it

Exit codes: 0 done, 1 nothing could be read, 2 wrong usage.";
