//! The overview: a short answer of at most one screen, regardless of the recording.

mod answer;
mod missing_names;
mod rows;
mod sentences;
mod stop;
mod time;

use std::io::{self, Write};

use crate::calltree::OperationSummary;
use crate::output::text::style::{NARROW, Style, Tone, clean, fit, heading, lines_of_parts, wrap_behind};
use crate::output::text::words::{amount_text, base_text, counted_text, share};
use crate::profile::{Meaning, Profile};
use crate::recording::{DocumentContent, Intervals, TocRun, command_line, lookup, shell_word};
use crate::report::{Amount, Busiest, Length, Overview, Report, SeriesReport, ThreadReport};
use crate::report::{process_label, thread_label};
use crate::settings::{self, FORMAT, FUNCTION, ONLY_MAIN_THREAD, OUTPUT, RUN, SCHEMA, STATE, THREAD, TIME, VIEW};
use crate::units::{Millionths, Nanos, Unit, Weight, capitalized, several};
pub use sentences::OverviewSentences;

/// Facts that diagnostics state about themselves, by key in the summary of a run.
const STATED: [(&str, &str); 5] = [
    ("app-version", "version {}"),
    ("hang-duration", "hang of {}"),
    ("launch-duration", "launch of {}"),
    ("cpu-time", "{} of CPU time"),
    ("bytes-written", "{} written"),
];

/// The width of an overview if none is given.
pub(in crate::output) const WIDTH: usize = 80;
/// The maximum width of the timeline.
const MOST_BINS: usize = 100;
/// With fewer samples, the callers of a function are not informative.
const FEW: u64 = 30;
/// The number of functions in the list.
const FUNCTIONS: usize = 5;
/// The fewest functions in the list, if the page would not fit otherwise.
const FEWEST: usize = 2;
/// The number of threads that are named.
const THREADS: usize = 3;
/// The label of the fact about a margin.
const MARGIN: &str = "margin";
/// A smaller percentage would round to zero.
const VISIBLE: f64 = 0.05;
/// The width of labels.
const LABEL: usize = 10;
/// The maximum number of lines. With a prompt, they fit on a screen of 30 lines.
const MOST_LINES: usize = 27;
/// The number of tables that are listed if no sample is selected.
const EMPTY_TABLES: usize = 10;
/// The number of other runs and tables that get a line each.
const OTHERS: usize = 2;

/// Inputs of an overview other than the report.
#[derive(Clone, Copy, Debug, Default)]
pub struct OverviewContext<'a> {
    /// Potential hangs, which are marked in the timeline.
    pub intervals: Option<&'a Intervals>,
    /// The command line that opens the same recording, as words that suggested commands start with. No commands are suggested if it is empty, or if
    /// the [program](settings::Program) has no command.
    pub command: &'a [String],
}

impl OverviewContext<'_> {
    /// Quotes words as a command line that a POSIX shell parses into the same words.
    pub fn command_line<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
        command_line(words)
    }
}

/// Writes the overview, in lines of 80 columns unless the style has another width. It covers the heaviest series.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write_overview(
    report: &Report<'_>,
    context: &OverviewContext<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let style = Style { width: Some(style.width.unwrap_or(WIDTH)), ..*style };
    let series = answered(report);
    let (mut cut, mut notes) = (0, Vec::new());
    for document in &report.recording.documents {
        let mut note = Vec::new();
        crate::output::text::summary::cut_note(document, &style, &mut note)?;
        cut += usize::from(!note.is_empty());
        if cut <= OTHERS {
            notes.extend(note);
        }
    }
    out.write_all(&notes)?;
    if cut > OTHERS {
        writeln!(out, "… {} more are truncated; {VIEW} summary lists them", cut - OTHERS)?;
    }
    let Some((&first, others)) = series.split_first() else {
        for document in &report.recording.documents {
            let DocumentContent::Tables(tables) = &document.content else { continue };
            writeln!(out, "{}", style.paint(Tone::Title, &fit(&document.input, style.width)))?;
            crate::output::text::summary::table_lines(&tables[..tables.len().min(EMPTY_TABLES)], &style, out)?;
        }
        if stated_percentiles(report, &style, out)? {
            return Ok(());
        }
        return writeln!(out, "No sample counts.");
    };
    let page = Page::new(report, first, context, style);
    let lines = |functions| [page.lines(functions), page.others(others), page.next()].concat();
    let fits = |functions: &usize| lines(*functions).len() <= MOST_LINES;
    let functions = report.options.top.or_else(|| (FEWEST..=FUNCTIONS).rev().find(fits)).unwrap_or(FEWEST);
    lines(functions).iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// The colour of a fact.
const fn tone_of(label: &str) -> Tone {
    match label.as_bytes() {
        b"few" | b"margin" => Tone::Warning,
        _ => Tone::Title,
    }
}

/// Writes percentiles of metrics that the input itself states, as many as fit on a screen. Returns false if there are none.
fn stated_percentiles(report: &Report<'_>, style: &Style, out: &mut dyn Write) -> io::Result<bool> {
    let runs = report.recording.tocs().flat_map(|toc| &toc.runs);
    let rows: Vec<(&str, &str)> = runs.flat_map(TocRun::stated_percentiles).collect();
    if rows.is_empty() {
        return Ok(false);
    }
    let title = "Percentiles over all users, from App Store Connect; there are no samples.";
    writeln!(out, "{}", style.paint(Tone::Title, &fit(title, style.width)))?;
    for (what, value) in rows.iter().take(MOST_LINES - 2) {
        writeln!(
            out,
            "  {}",
            fit(&clean(&format!("{value:>18}  {what}")), style.width.map(|width| width.saturating_sub(2)))
        )?;
    }
    if rows.len() > MOST_LINES - 2 {
        writeln!(out, "… {} more; {FORMAT} json has all", rows.len() - (MOST_LINES - 2))?;
    }
    Ok(true)
}

/// The series for which there is an answer. The overview covers the first one.
pub(in crate::output) fn answered<'r>(report: &'r Report<'_>) -> Vec<&'r SeriesReport> {
    let is_answered =
        |series: &&SeriesReport| !series.is_filtered_out() && (!series.is_empty() || report.cpu_use(series).is_some());
    let mut series: Vec<&SeriesReport> = report.series.iter().filter(is_answered).collect();
    series.sort_by_key(|series| std::cmp::Reverse((series.unit == Unit::Nanoseconds, series.counted.weight.value)));
    series
}

/// A fact: its label, and a phrase without a period.
type Fact = (&'static str, String);

/// The overview of one series while its lines are made.
struct Page<'p, 'e> {
    report: &'p Report<'e>,
    profile: &'p Profile,
    series: &'p SeriesReport,
    overview: Overview<'e>,
    context: &'p OverviewContext<'p>,
    style: Style,
    width: usize,
    /// True if the sentences are for a page, which needs marks around functions.
    is_for_page: bool,
}

impl<'p, 'e> Page<'p, 'e> {
    fn new(report: &'p Report<'e>, series: &'p SeriesReport, context: &'p OverviewContext<'p>, style: Style) -> Self {
        let width = style.width.unwrap_or(WIDTH);
        let overview = report.overview(
            series,
            // One more shows whether the last one has equals.
            report.options.top.unwrap_or(FUNCTIONS).saturating_add(1),
            1,
            width.saturating_sub(if series.unit == Unit::Nanoseconds { 27 } else { 36 }).clamp(10, MOST_BINS),
        );
        Self::of(report, series, overview, context, style)
    }

    fn of(
        report: &'p Report<'e>,
        series: &'p SeriesReport,
        overview: Overview<'e>,
        context: &'p OverviewContext<'p>,
        style: Style,
    ) -> Self {
        let (profile, width) = (&report.recording.profile, style.width.unwrap_or(WIDTH));
        Self { report, profile, series, overview, context, style, width, is_for_page: false }
    }

    /// All lines except other series and commands, with this number of functions.
    fn lines(&self, functions: usize) -> Vec<String> {
        let title = title_lines(&self.title_parts(), self.width);
        let mut lines: Vec<String> = title.iter().map(|line| self.style.paint(Tone::Title, line)).collect();
        let (label, busy) = self.how_busy();
        lines.extend(self.fact(None, label, &busy));
        lines.extend(self.line_of_time());
        lines.push(String::new());
        for (label, text) in self.facts() {
            lines.extend(self.fact(Some(tone_of(label)), label, &text));
        }
        for (label, text) in [("left out", self.left_out()), ("private", self.launch_data())] {
            lines.extend(self.fact(Some(Tone::Warning), label, &text));
        }
        if let Some(stop) = &self.overview.stop {
            lines.push(String::new());
            lines.extend(self.lines_of_stop(stop));
        } else if !self.has_nothing() {
            let rows = self.rows(functions);
            if lines.last().is_some_and(|line| !line.is_empty()) && !rows.is_empty() {
                lines.push(String::new());
            }
            lines.extend(self.table(&rows));
            lines.extend(self.fact(None, "in all", &self.shares()));
            lines.extend(self.fact(None, "threads", &self.threads()));
        }
        lines.extend(self.fact(None, "names", &self.names()));
        lines
    }

    /// Wraps a fact after its label. Returns no lines if the text is empty.
    fn fact(&self, tone: Option<Tone>, label: &str, text: &str) -> Vec<String> {
        if text.is_empty() {
            return Vec::new();
        }
        let (label, hanging) = match self.width < NARROW {
            true => (format!("{label}: "), 2),
            false => (format!("{label:LABEL$}"), LABEL),
        };
        let lines = wrap_behind(&label, text, hanging, Some(self.width));
        lines.iter().map(|line| tone.map_or(line.clone(), |tone| self.style.paint(tone, line))).collect()
    }

    /// `Orchard · iPhone15,3 · iOS 18.2 (22C150) · 2026-03-04 10:12 · 74.2 s recorded`, in parts.
    fn title_parts(&self) -> Vec<String> {
        let row = self.profile.series(self.series.series);
        let input = self.profile.string(self.profile.run(row.run).input);
        let Some(toc) = self.overview.toc else { return vec![clean(input), self.table_and_run()] };
        let field = |pairs, key| lookup(pairs, key).filter(|text| !text.is_empty());
        let mut parts: Vec<String> = Vec::new();
        parts.push(match (field(&toc.process, "name"), toc.is_all_processes) {
            (Some(name), _) => name.to_owned(),
            (None, true) => "all processes".to_owned(),
            (None, false) => input.to_owned(),
        });
        parts.extend(field(&toc.device, "model").map(str::to_owned).into_iter().chain(toc.os()));
        parts.extend(date(toc));
        parts.extend(STATED.iter().filter_map(|(key, called)| Some(called.replace("{}", field(&toc.summary, key)?))));
        parts.extend(toc.duration().map(|duration| format!("{} recorded", seconds(duration))));
        parts.push(self.table_and_run());
        parts.iter().map(|part| clean(part)).collect()
    }

    /// `time-profile`, or `time-profile of run 2` if there are several.
    fn table_and_run(&self) -> String {
        let row = self.profile.series(self.series.series);
        let schema = self.profile.string(row.schema);
        match self.report.series.len() > 1 || self.profile.run_ids().len() > 1 {
            true => format!("{schema} of run {}", self.profile.run(row.run).number),
            false => schema.to_owned(),
        }
    }

    /// The weight of all samples: `CPU`, and `61.1% of one core: 45.31 s in 45,312 samples over 74.20 s recorded`.
    fn how_busy(&self) -> Fact {
        let row = self.profile.series(self.series.series);
        let counted = counted_text(row, self.series);
        match row.meaning {
            Meaning::Stop => ("stacks", self.stacks_of_stop()),
            Meaning::Presence => {
                let threads = several(self.series.all_threads().count() as u64, "thread");
                (
                    "samples",
                    format!("{counted} of {threads}; waiting threads are also sampled, so shares are not CPU time"),
                )
            }
            Meaning::Writes => (
                "writes",
                format!("{counted}; a sample represents bytes written to storage, so shares are not CPU time"),
            ),
            Meaning::OnCpu => {
                let label = match self.series.unit {
                    Unit::Samples => "samples",
                    _ if self.is_sampled() && !self.report.is_running() => "time",
                    _ if self.is_sampled() => "CPU",
                    // Rows of other tables do not use a core.
                    _ => {
                        let Amount { weight, samples } = self.series.counted;
                        return ("total", format!("{weight} in {}", several(samples, "row")));
                    }
                };
                let of = self.overview.activity.as_ref().map(|activity| {
                    let rate = self.rate(self.series.counted.weight, activity.time.length());
                    format!("{rate}: {counted} over {}", base_text(Length::of(&activity.time)))
                });
                (label, of.unwrap_or(counted))
            }
        }
    }

    /// A weight in a length of time: `61.1% of one core`, `18.74 Mcycles/s`.
    fn rate(&self, weight: Weight, length: Nanos) -> String {
        match weight.percent_of_core(length) {
            Some(percent) => format!("{percent:.1}% of one core"),
            None => self.in_a_second(weight.value, length.as_nanos() as f64),
        }
    }

    /// The CPU use and the busiest second as a sentence.
    fn activity_text(&self) -> String {
        let (label, busy) = self.how_busy();
        let busiest = self.busiest().map(|busiest| {
            let [start, end] = [busiest.start, busiest.start.saturating_add(busiest.length)].map(seconds);
            format!("; {} from {start} to {end}", self.busiest_text(busiest))
        });
        format!("{}: {busy}{}", capitalized(label), busiest.unwrap_or_default())
    }

    /// `busiest second 93.1% of one core`.
    fn busiest_text(&self, Busiest { length, weight, .. }: Busiest) -> String {
        let is_second = length == Nanos::from_nanos(1_000_000_000);
        let what = if is_second { "second".to_owned() } else { seconds(length) };
        format!("busiest {what} {}", self.rate(weight, length))
    }

    /// The answer as sentences, for readers that have a table of functions.
    fn answer(&self) -> Vec<String> {
        let (margin, facts): (Vec<Fact>, Vec<Fact>) = self.facts().into_iter().partition(|(label, _)| *label == MARGIN);
        let told = self.overview.stop.is_none() && !self.has_nothing() && !self.overview.shares.has_others();
        let told = if told { self.told() } else { Vec::new() };
        let line = |(label, text): Fact| format!("{}: {text}.", capitalized(label));
        facts.into_iter().map(line).chain(told).chain(margin.into_iter().map(line)).collect()
    }

    /// True if the run was idle: its table has no rows.
    fn has_nothing(&self) -> bool {
        self.series.is_empty()
    }

    /// The busiest second, if it was clearly busier than the mean: by a fifth, and by more than chance.
    fn busiest(&self) -> Option<Busiest> {
        let activity = self.overview.activity.as_ref()?;
        let rate = |weight: Weight, length: Nanos| weight.value as f64 / length.as_nanos() as f64;
        let all = activity.time.length();
        let mean = rate(self.series.counted.weight, all);
        let is_clear = |busiest: &Busiest| {
            // The number of samples in a second of random samples is within three standard deviations of the mean.
            let part = busiest.length.as_nanos() as f64 / all.as_nanos() as f64;
            let noise = 3.0 / (part * self.series.counted.samples as f64).sqrt();
            rate(busiest.weight, busiest.length) > (1.0 + noise.max(0.2)) * mean
        };
        activity.busiest.filter(is_clear)
    }

    /// True if the rows are samples of the CPU; rows of other tables are not.
    fn is_sampled(&self) -> bool {
        matches!(self.series.unit, Unit::Nanoseconds | Unit::Cycles | Unit::PmcEvents | Unit::Samples)
    }

    /// True if samples show that a thread existed, whether it was running or not.
    fn is_presence(&self) -> bool {
        self.profile.series(self.series.series).meaning == Meaning::Presence
    }

    /// The rows that could not be read, and the samples that are not selected.
    fn left_out(&self) -> String {
        let mut parts = Vec::new();
        if let Some(table) = self.report.table(self.series.series).filter(|table| table.rejected.total() > 0) {
            let rejected = table.rejected.total();
            let why = match table.rejected.iter().next() {
                Some((reason, all)) if all == rejected => reason.to_string(),
                _ => format!("{VIEW} summary shows why"),
            };
            parts.push(format!("{rejected} of {} rejected: {why}", several(table.rows, "row")));
        }
        if let Some(first) = self.series.other_states.first() {
            let rest = if self.series.other_states.len() > 1 { " and others" } else { "" };
            let state = fit(&first.0, Some(16));
            let all = self.series.other_states.iter().map(|(_, amount)| amount);
            let all = all.fold((0_u64, 0), |sum, all| (sum.0.saturating_add(all.weight.value), sum.1 + all.samples));
            let amount = match (Amount { weight: Weight::new(all.0, first.1.weight.unit), samples: all.1 }) {
                Amount { weight, samples } if weight.value == 0 => several(samples, "row"),
                amount => amount_text(amount),
            };
            parts.push(format!("not counted: {amount} {state}{rest} ({STATE} all)"));
        }
        if self.series.out_of_scope.samples > 0 {
            parts.push(format!("by the filters: {}", amount_text(self.series.out_of_scope)));
        }
        let (weight, samples) = OperationSummary::removed(&self.report.operations, self.series.series);
        if samples > 0 {
            let removed = Amount { weight: Weight::new(weight, self.series.unit), samples };
            parts.push(format!("removed by operations: {}", amount_text(removed)));
        }
        parts.join("; ")
    }

    /// A note on data from the shell that started the program, so that users do not share it unknowingly.
    fn launch_data(&self) -> String {
        let found = self.report.recording.launch_data();
        found.map_or_else(String::new, |found| format!("This recording also contains {found}, which may be private."))
    }

    /// Formats the percentage of all selected samples.
    fn percent(&self, amount: Amount) -> String {
        let percent = share(amount.weight.value, self.series);
        if percent > 0.0 && percent < 1.0 { format!("{percent:.2}%") } else { format!("{percent:.1}%") }
    }

    /// True if none of the heaviest functions has a name.
    fn are_nameless(&self) -> bool {
        self.overview.answers.iter().all(|answer| !self.profile.function(answer.function).is_named)
    }

    /// The busiest threads with their shares. Waiting threads are all sampled equally often.
    fn threads(&self) -> String {
        let mut rows: Vec<&ThreadReport> = self.series.all_threads().collect();
        if rows.len() < 2 || self.is_presence() {
            return String::new();
        }
        let process = |row: &ThreadReport| self.profile.thread(row.thread).process;
        let has_processes = rows.iter().any(|row| process(row) != process(rows[0]));
        let left = rows.split_off(rows.len().min(THREADS));
        let named = rows.iter().map(|row| {
            let thread = thread_label(self.profile, self.profile.thread(row.thread));
            let process = process_label(self.profile, self.profile.process(process(row)));
            let of = if has_processes { format!(" of {process}") } else { String::new() };
            format!("{thread}{of} {}", self.percent(row.counted))
        });
        let more = (!left.is_empty()).then(|| format!("{} more", left.len()));
        named.chain(more).collect::<Vec<_>>().join(" · ")
    }

    /// A line for each other series, up to a limit.
    fn others(&self, others: &[&SeriesReport]) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let first = self.profile.series(self.series.series).run;
        let shown = if others.len() > OTHERS + 1 { OTHERS } else { others.len() };
        for series in &others[..shown] {
            let row = self.profile.series(series.series);
            let run = self.profile.run(row.run);
            let (schema, input) = (self.profile.string(row.schema), self.profile.string(run.input));
            let of = if input != self.profile.string(self.profile.run(first).input) {
                format!(" of {input}")
            } else {
                String::new()
            };
            let is_tie = series.unit == self.series.unit && series.counted.weight == self.series.counted.weight;
            let tie = if is_tie { ", as much as this one" } else { "" };
            let text = format!("{schema} of run {}{of}: {}{tie}", run.number, counted_text(row, series));
            lines.extend(self.fact(None, "also", &text));
        }
        if others.len() > shown {
            lines.push(format!("… {} more; {VIEW} summary lists them", others.len() - shown));
        }
        lines
    }

    /// The options that select only this series, for suggested commands, since the answer is about this one.
    fn only_measurement(&self) -> String {
        if self.report.check_one_measurement().is_ok() {
            return String::new();
        }
        let own = self.profile.series(self.series.series);
        let others = || self.report.series.iter().map(|series| self.profile.series(series.series));
        let run = others().any(|other| other.run != own.run).then(|| self.profile.run(own.run).number);
        let has_others = others().filter(|other| other.run == own.run).count() > 1;
        let schema = has_others.then(|| shell_word(self.profile.string(own.schema)));
        let run = run.map(|run| format!("{RUN} {run} ")).unwrap_or_default();
        run + &schema.map(|schema| format!("{SCHEMA} {schema} ")).unwrap_or_default()
    }

    /// Suggested commands.
    fn next(&self) -> Vec<String> {
        if self.has_nothing() {
            return Vec::new();
        }
        if self.overview.stop.is_some() {
            return command_lines(
                self.context.command,
                &[(&format!("{VIEW} tree"), "the stacks of all threads")],
                &self.style,
            );
        }
        let (mut next, only): (Vec<(String, &str)>, _) = (Vec::new(), self.only_measurement());
        if let Some(main) = self.overview.main_thread.as_ref().filter(|main| main.waits.samples > 0) {
            let thread = self.profile.thread(main.thread);
            // Reports of hangs may not mark the thread that hung as a main thread.
            let thread = match (thread.is_main, thread.tid) {
                (true, _) => Some(ONLY_MAIN_THREAD.to_string()),
                (false, tid) => tid.map(|tid| format!("{THREAD} {tid:#x}")),
            };
            let is_new = |thread: &String| !self.context.command.iter().any(|word| thread.starts_with(word.as_str()));
            let thread = thread.filter(is_new);
            next.extend(thread.map(|thread| (format!("{only}{VIEW} tree {thread}"), "where this thread waits")));
        }
        // The callers of a function are informative only if it stands out and has enough samples.
        let has_enough = self.series.counted.samples >= FEW || !self.counts_samples();
        let is_function_first = self.overview.stands_out() && has_enough;
        let subtree = self.overview.subtrees.first().map(|subtree| subtree.function);
        let function = subtree.or_else(|| self.overview.answers.first().map(|answer| answer.function));
        let function = function.filter(|_| is_function_first || subtree.is_some());
        // A name that starts with a hyphen, such as an Objective-C method, would be parsed as an option.
        let function = function.map(|id| self.profile.function_name(id)).filter(|name| clean(name) == **name);
        next.extend(function.map(|name| {
            let sign = if name.starts_with('-') { '=' } else { ' ' };
            (format!("{only}{FUNCTION}{sign}{}", shell_word(name)), "who calls it, and what it calls")
        }));
        next.extend(self.busiest().filter(|_| has_enough).map(|Busiest { start, length, .. }| {
            let end = start.saturating_add(length);
            let [start, end] = [start, end].map(|time| format!("{}s", Millionths::new(time.as_nanos() / 1_000)));
            (format!("{only}{TIME} {start}..{end}"), "the busiest time")
        }));
        next.push((format!("{only}{VIEW} tree"), "every thread's calls"));
        next.push((format!("{only}{OUTPUT} report.html"), "explore it"));
        let hangs = self.command_for_hangs();
        next.truncate(if hangs.is_some() { 2 } else { 3 });
        let next: Vec<(&str, &str)> = next.iter().map(|(options, what)| (options.as_str(), *what)).collect();
        let mut lines = command_lines(self.context.command, &next, &self.style);
        if let Some(hangs) = hangs.filter(|_| !lines.is_empty()) {
            // Below the empty line.
            lines.insert(1, hangs);
        }
        lines
    }
}

/// Suggested commands below an empty line: these words with each of the options, and a description if there is space. Empty if there are no words, or
/// if the program has no command.
pub(in crate::output) fn command_lines(words: &[String], next: &[(&str, &str)], style: &Style) -> Vec<String> {
    // A command with characters that cannot be displayed cannot be typed either.
    if settings::command().is_none() || words.is_empty() || words.iter().any(|word| clean(word) != *word) {
        return Vec::new();
    }
    let command = OverviewContext::command_line(words.iter().map(String::as_str));
    let lines = next.iter().map(|(options, what)| {
        let line = format!("{command} {options}").trim_end().to_owned();
        let comment = format!("  # {what}");
        let columns = line.chars().count() + comment.chars().count();
        let fits = style.width.is_none_or(|width| columns <= width);
        if fits { line + &style.paint(Tone::Dim, &comment) } else { line }
    });
    std::iter::once(String::new()).chain(lines).collect()
}

/// The day and minute of the start date, as recorded.
fn date(toc: &TocRun) -> Option<String> {
    let text = toc.summary_field("start-date")?;
    let (day, time) = text.split_once('T')?;
    Some(clean(&format!("{day} {}", time.get(..5)?)))
}

/// The parts of a title in as many lines as they need. The builds of systems are shown only if there is space.
fn title_lines(parts: &[String], width: usize) -> Vec<String> {
    match heading(parts, |_| false, Some(width)) {
        line if line.len() == 1 => line,
        _ => lines_of_parts(parts.iter().map(|part| without_build(part)), 0, Some(width)),
    }
}

/// `macOS 15.7.3` for `macOS 15.7.3 (24G419)`; other parts of a title are unchanged.
fn without_build(text: &str) -> String {
    let version = text.strip_suffix(')').and_then(|text| text.rsplit_once(" (")).map(|(version, _)| version);
    let ends_in_digit = |version: &&str| version.ends_with(|c: char| c.is_ascii_digit());
    version.filter(ends_in_digit).unwrap_or(text).to_owned()
}

fn seconds(time: Nanos) -> String {
    Weight::nanos(time.as_nanos()).to_string()
}
