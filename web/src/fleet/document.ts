// The document of the page: the JSON of a report (docs/fleet-formats.md), and the library's words and links for it. Fields that the page
// does not use are left out.

export interface FleetDocument { words: Words; report: Report }

export type Mood = 'bad' | 'doubtful' | 'good' | 'plain';

export interface Words {
  version: string; title: string;
  /** The measure of all runs in one word, and by cohort; and by cohort, what each value describes: a run, a report, or a day. */
  subject: string; subjects: string[]; nouns: string[]; findings: ([Mood, string])[]; measure: string;
  narrowed: string[]; method: string; confidence: string; assumption: string; within: string;
  levels: Levels[]; failed: string;
  /** Files and the reason, by kind of failure. */
  failures: ([string, string])[];
  /** By contrast. */
  too_few_to_compare: (string | null)[]; contrast_rows: number[];
  /** By histogram. */
  durations: { cohort: string; percentiles: (string | null)[] }[];
  most: { cohorts: number; cohort_rows: number }; hidden_runs: number;
  /** By cohort: warnings about its runs, and about their busiest seconds. */
  cautions: ([string[], string[]])[];
  /** Inputs that are not used, or only partly used. */
  inputs: string[];
  /** Runs whose file contains other runs. */
  numbered: string[]; named_runs: number; links: Links[];
}

/** The distribution over all runs of a unit. */
export interface Levels {
  subject: string; value_unit: string;
  rows: { name: string; value: number; percentile: Percentile | null; runs: RunRef[] }[];
  outliers: string | null; has_cohorts: boolean; heaviest: Run[];
}

/** The addresses of a run's page: of the whole run, its busiest second, and rows. */
export interface Links { run_id: string; places: [place: 'whole' | 'second' | ScopeKey, address: string][] }

export type ScopeKey = [process: string | null, thread: string | null, binary: string | null, fn: string | null];

interface Report {
  options: { by: string[]; quantiles: string[]; method: 'nearest-rank' | 'linear'; is_weighted: boolean; sort: string; };
  inputs: { runs: number; estimated_time: number; failed: FailedInput[] };
  findings: { kind: string; files?: number }[]; cohorts: Cohort[];
  contrasts: Contrast[]; trends: Trend[];
  histograms: { name: string; reports: number; count: number }[]; crashes: Crash[]; alerts: Alert[];
  runs: Run[]; notes: string[];
}

export type Labels = Readonly<Record<string, string | null>>;

interface Crash { labels: Labels; crashed_in: string; crashes: number }

interface FailedInput { source: string; kind: string; reason: string }

export interface RunRef { run_id: string; source: string; run: number }

export interface Run extends RunRef {
  cohort: number; wall_ns: number | null; wall_source: string; weight: number; unit: string;
  samples: number; run_weight: number; value: number; value_unit: string; window_max: number | null;
}

export interface Percentile {
  name: string; quantile: number; value: number | null; support: 'enough' | 'upper-unknown' | 'too-few';
  needed: number | null; lower: number | null; upper: number | null; runs?: RunRef[];
  noise?: number | null; is_noise?: boolean;
}

export interface Summary {
  count: number; zeros: number; max: number | null; mean: number | null; weighted_mean: number | null;
  is_exact: boolean; percentiles: Percentile[];
}

export interface Behind { runs: string; command: string | null }

export interface Cohort {
  cohort: number; labels: Labels; name: string; unit: string; value_unit: string; runs: number; across_runs: Summary;
  worst_run: RunRef | null; bins: { lower: number; upper: number; count: number }[];
  box_plot: BoxPlot | null;
  within_runs: { runs: number; pooled: Summary; peaks: Summary; worst_run: RunRef | null } | null;
  timeline: TimelinePoint[]; behind: Behind | null; tables: ScopeTable[];
}

export interface BoxPlot {
  whisker_low: number; p25: number; median: number; p75: number; whisker_high: number;
  outliers: number[]; outlier_count: number;
}

export interface TimelinePoint { second: number; seconds: number; runs: number; values: Readonly<Record<string, number>>; max: number }

export type Scope = 'process' | 'thread' | 'binary' | 'function';

export interface ScopeName { process?: string | null; thread?: string | null; binary?: string | null; function?: string | null }

export interface ScopeTable { scope: Scope; hidden: number; rows: ScopeRow[] }

export interface ScopeRow extends ScopeName { summary: Summary; samples: number; worst_run: RunRef | null; behind: Behind | null }

export interface Contrast {
  scope: Scope; value_unit: string; by: string; cohorts: { cohort: number }[];
  rows: (ScopeName & { values: number[]; difference: number; is_noise: boolean })[];
}

export interface Trend {
  over: 'label' | 'week' | 'day'; label: string | null; labels: Labels;
  unit: string; value_unit: string; undated: number; points: TrendPoint[];
}

export interface TrendPoint { name: string; runs: number; percentiles: Percentile[]; max: number | null }

export interface Alert {
  cohort: number; rule: string; asks: { statistic: string; end: 'lower' | 'upper' | null; comparison: '>' | '>=' | '<' | '<=' };
  state: 'fired' | 'undecided' | 'quiet'; needed: number | null; value: number | null; limit: number;
  value_unit: string | null; count: number; judged: number | null; percentile: Percentile | null; causes_count: number;
  causes: { name: string; value: number }[]; note: string | null; beyond_count: number;
  beyond: (RunRef & { value: number })[];
}
