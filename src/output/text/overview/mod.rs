//! The overview: a short answer of at most one screen, regardless of the recording.

mod answer;
mod missing_names;
mod sentences;
mod stop;
mod time;

use std::io::{self, Write};

use crate::calltree::OperationSummary;
use crate::output::text::style::{NARROW, Style, Tone, clean, cut, fit, heading, lines_of_parts, wrap};
use crate::output::text::words::{amount_text, base_text, count, counted_text, share};
use crate::profile::{Meaning, Profile};
use crate::recording::{DocumentContent, Intervals, TocRun, command_line, lookup, shell_word};
use crate::report::{Amount, AnswersIn, Busiest, Length, Overview, Report, SeriesReport, ThreadReport};
use crate::report::{process_label, thread_label};
use crate::settings::{self, FORMAT, FUNCTION, ONLY_MAIN_THREAD, OUTPUT, RUN, SCHEMA, STATE, VIEW};
use crate::units::{Nanos, Unit, Weight};
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
/// The numbers of functions and threads in the lists, tried in this order until the page fits.
const SHOWN: [(usize, usize); 5] = [(FUNCTIONS, 3), (4, 3), (4, 2), (3, 2), (3, 1)];
/// The number of lines that fit on a screen of 24 to 30 lines, with a prompt.
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
    let lines = |shown| [page.lines(shown), page.others(others), page.next()].concat();
    let fits = |shown: &(usize, usize)| lines(*shown).len() <= MOST_LINES;
    let shown = match report.options.top {
        Some(rows) => (rows, rows),
        None => SHOWN.into_iter().find(fits).unwrap_or(SHOWN[SHOWN.len() - 1]),
    };
    lines(shown).iter().try_for_each(|line| writeln!(out, "{line}"))
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
            report.options.top.unwrap_or(FUNCTIONS),
            1,
            width.saturating_sub(if series.unit == Unit::Nanoseconds { 22 } else { 34 }).clamp(10, MOST_BINS),
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

    /// All lines except other series and commands, with these numbers of functions and threads.
    fn lines(&self, (functions, threads): (usize, usize)) -> Vec<String> {
        let title = title_lines(&self.title_parts(), self.width);
        let mut lines: Vec<String> = title.iter().map(|line| self.style.paint(Tone::Title, line)).collect();
        lines.extend(self.wrapped(&self.how_busy(), 2));
        lines.extend(self.wrapped(&self.left_out(), 2).iter().map(|line| self.style.paint(Tone::Warning, line)));
        lines.extend(self.wrapped(&self.launch_data(), 2).iter().map(|line| self.style.paint(Tone::Warning, line)));
        lines.extend(self.line_of_time());
        lines.push(String::new());
        let answer = self.wrapped(&self.answer(), 6);
        lines.extend(answer.iter().map(|line| self.style.paint(Tone::Title, line)));
        if let Some(stop) = &self.overview.stop {
            lines.push(String::new());
            lines.extend(self.lines_of_stop(stop));
            lines.extend(self.wrapped(&self.names(), 4));
            return lines;
        }
        lines.extend(self.wrapped(&self.few_samples(), 2).iter().map(|line| self.style.paint(Tone::Warning, line)));
        if self.has_nothing() {
            return lines;
        }
        lines.extend(self.wrapped(&self.shares(), 3));
        lines.push(String::new());
        lines.extend(self.functions(functions));
        lines.extend(self.threads(threads));
        lines.extend(self.wrapped(&self.names(), 4));
        lines
    }

    /// Wraps a sentence into at most `most` lines; an empty sentence gives no lines.
    fn wrapped(&self, text: &str, most: usize) -> Vec<String> {
        if text.is_empty() {
            return Vec::new();
        }
        let mut lines = wrap(text, 0, Some(self.width));
        // Half the width needs twice as many lines.
        let most = most * WIDTH.div_ceil(self.width.max(1));
        if lines.len() > most {
            lines.truncate(most);
            if let Some(last) = lines.last_mut() {
                *last = cut(&format!("{last} …"), Some(self.width));
            }
        }
        lines
    }

    /// `Orchard · iPhone15,3 · iOS 18.2 (22C150) · 2026-03-04 10:12 · 74.2 s recorded`, in parts.
    fn title_parts(&self) -> Vec<String> {
        let row = self.profile.series(self.series.series);
        let input = self.profile.string(self.profile.run(row.run).input);
        let Some(toc) = self.overview.toc else { return vec![clean(input)] };
        let field = |pairs, key| lookup(pairs, key).filter(|text| !text.is_empty());
        let mut parts: Vec<String> = Vec::new();
        parts.push(match (field(&toc.process, "name"), toc.is_all_processes) {
            (Some(name), _) => name.to_owned(),
            (None, true) => "all processes".to_owned(),
            (None, false) => input.to_owned(),
        });
        let platform = [field(&toc.device, "platform"), field(&toc.device, "os-version")];
        let platform: Vec<&str> = platform.into_iter().flatten().collect();
        let model = field(&toc.device, "model").map(str::to_owned);
        parts.extend(model.into_iter().chain((!platform.is_empty()).then(|| platform.join(" "))));
        parts.extend(date(toc));
        parts.extend(STATED.iter().filter_map(|(key, called)| Some(called.replace("{}", field(&toc.summary, key)?))));
        parts.extend(toc.duration().map(|duration| format!("{} recorded", seconds(duration))));
        parts.iter().map(|part| clean(part)).collect()
    }

    /// `time-profile: 45.31 s in 45312 samples, 61.1% of one core over the recorded 74.20 s; busiest from 31 s to 32 s, with 312.0% of one
    /// core`.
    fn how_busy(&self) -> String {
        let row = self.profile.series(self.series.series);
        let schema = clean(self.profile.string(row.schema));
        let run = if self.report.series.len() > 1 || self.profile.run_ids().len() > 1 {
            format!(" of run {}", self.profile.run(row.run).number)
        } else {
            String::new()
        };
        if self.overview.stop.is_some() {
            return format!("{schema}{run}: {}", self.stacks_of_stop());
        }
        let mut text = format!("{schema}{run}: {}", counted_text(row, self.series));
        text += &match self.profile.series(self.series.series).meaning {
            Meaning::OnCpu | Meaning::Stop => String::new(),
            Meaning::Presence => {
                let threads = count(self.series.all_threads().count() as u64, "thread");
                format!(" of {threads}; waiting threads are also sampled, so shares are not CPU time")
            }
            Meaning::Writes => "; a sample stands for bytes written to storage, so shares are not CPU time".to_owned(),
        };
        if let Some(activity) = &self.overview.activity {
            let length = activity.time.length();
            let rate = |weight: Weight, length: Nanos| match weight.percent_of_core(length) {
                Some(percent) => format!("{percent:.1}% of one core"),
                None => self.in_a_second(weight.value, length.as_nanos() as f64),
            };
            text += &format!(
                ", {} over {}",
                rate(self.series.counted.weight, length),
                base_text(Length::of(&activity.time))
            );
            if let Some(Busiest { start, length: part, weight }) = self.busiest() {
                let what = if part == Nanos::from_nanos(1_000_000_000) { " second" } else { "" };
                let [start, end] = [start, start.saturating_add(part)].map(seconds);
                // The timeline of a page has no mark.
                let mark = if self.is_for_page { "" } else { " (▔)" };
                text += &format!("; busiest{what}: {}, from {start} to {end}{mark}", rate(weight, part));
            }
        }
        text
    }

    /// True if the run was idle: its table has no rows.
    fn has_nothing(&self) -> bool {
        self.series.is_empty()
    }

    /// The busiest second, if it was clearly busier than the mean.
    fn busiest(&self) -> Option<Busiest> {
        let activity = self.overview.activity.as_ref()?;
        let rate = |weight: Weight, length: Nanos| weight.value as f64 / length.as_nanos() as f64;
        let mean = rate(self.series.counted.weight, activity.time.length());
        activity.busiest.filter(|busiest| rate(busiest.weight, busiest.length) > 1.2 * mean)
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
            parts.push(format!("{rejected} of {} rejected: {why}", count(table.rows, "row")));
        }
        if let Some(first) = self.series.other_states.first() {
            let rest = if self.series.other_states.len() > 1 { " and others" } else { "" };
            let state = fit(&first.0, Some(16));
            let amount = match first.1 {
                Amount { weight, samples } if weight.value == 0 => count(samples, "row"),
                amount => amount_text(amount),
            };
            parts.push(format!("not counted: {amount} {state}{rest} ({STATE} all)"));
        }
        if self.series.out_of_scope.samples > 0 {
            parts.push(format!("left out by the filters: {}", amount_text(self.series.out_of_scope)));
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

    fn functions(&self, shown: usize) -> Vec<String> {
        if self.overview.answers.is_empty() {
            return Vec::new();
        }
        let (own, title) = match self.overview.answers_in {
            AnswersIn::Own if self.width < NARROW => ("own+sys", "your functions"),
            AnswersIn::Own => ("own+sys", "your functions; own+sys: with system code"),
            AnswersIn::All if self.are_nameless() && self.width < NARROW => ("self", "addresses"),
            AnswersIn::All if self.are_nameless() => ("self", "addresses, in code without names"),
            AnswersIn::All => ("self", "functions"),
        };
        let title = format!("{}  {title}", self.numbers("all", own, ""));
        let mut lines = vec![self.style.paint(Tone::Dim, &fit(&title, Some(self.width)))];
        for answer in self.overview.answers.iter().take(shown) {
            let binary = self.profile.binary_name(answer.function).unwrap_or_default();
            let name = self.profile.function_name(answer.function);
            let all = self.percent(self.overview.all(answer.function));
            lines.push(self.row((&all, &self.percent(answer.amount)), answer.amount, name, binary));
        }
        lines
    }

    /// True if none of the heaviest functions has a name.
    fn are_nameless(&self) -> bool {
        self.overview.answers.iter().all(|answer| !self.profile.function(answer.function).is_named)
    }

    fn threads(&self, shown: usize) -> Vec<String> {
        let count = self.series.all_threads().count();
        let title = match count > shown {
            true if self.is_presence() => format!("{shown} of {count} threads, by how often they were seen"),
            true => format!("Busiest of {count} threads"),
            false => "Threads".to_owned(),
        };
        let title = wrap(&title, 0, Some(self.width));
        let mut lines: Vec<String> = title.iter().map(|line| self.style.paint(Tone::Dim, line)).collect();
        let mut rows: Vec<&ThreadReport> = self.series.all_threads().collect();
        if self.is_presence() {
            // The other threads have as many samples, and the main thread is the most interesting.
            rows.sort_by_key(|row| !self.profile.thread(row.thread).is_main);
        }
        for row in rows.into_iter().take(shown) {
            let thread = self.profile.thread(row.thread);
            let process = process_label(self.profile, self.profile.process(thread.process));
            let share = self.percent(row.counted);
            lines.push(self.row((&share, ""), row.counted, &thread_label(self.profile, thread), &process));
        }
        lines
    }

    fn row(&self, (all, own): (&str, &str), amount: Amount, name: &str, owner: &str) -> String {
        let weight = Weight::new(amount.weight.value, self.series.unit).to_string();
        let numbers = self.numbers(all, own, &weight);
        let (name, owner) = self.style.two_parts(name, owner, numbers.chars().count() + 2);
        format!("{}  {name}{owner}", self.style.paint(Tone::Weight, &numbers))
    }

    fn numbers(&self, all: &str, own: &str, weight: &str) -> String {
        match self.width < NARROW {
            // Cycles are the widest weights.
            true if self.series.unit == Unit::Nanoseconds => format!("{all:>6} {own:>7} {weight:>9}"),
            true => format!("{all:>6} {own:>7} {weight:>14}"),
            false => format!("  {all:>6}  {own:>7}  {weight:>14}"),
        }
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
            let text = format!("Also {schema} of run {}{of}: {}", run.number, counted_text(row, series));
            lines.extend(wrap(&text, 0, Some(self.width)));
        }
        if others.len() > shown {
            lines.push(format!("… {} more; {VIEW} summary lists them", others.len() - shown));
        }
        lines
    }

    /// The options that select only this series, for formats that can contain only one measurement.
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
        const CALLERS: &str = "who calls it";
        let mut next: Vec<(String, &str)> = Vec::new();
        // The callers of a function are informative only if it stands out and has enough samples.
        let has_enough = self.series.counted.samples >= FEW || !self.counts_samples();
        let is_function_first = self.overview.stands_out() && !self.is_idle() && has_enough;
        if self.overview.main_thread.as_ref().is_some_and(|main| main.waits.samples > 0) {
            next.push((format!("{VIEW} tree {ONLY_MAIN_THREAD}"), "where the main thread waits"));
        }
        let subtree = self.overview.subtrees.first().map(|subtree| subtree.function);
        if let Some(function) = subtree.or_else(|| self.overview.answers.first().map(|answer| answer.function)) {
            let name = self.profile.function_name(function);
            if clean(name) == name {
                // A name that starts with a hyphen, such as an Objective-C method, would be parsed as an option.
                let sign = if name.starts_with('-') { '=' } else { ' ' };
                next.push((format!("{FUNCTION}{sign}{}", shell_word(name)), CALLERS));
            }
        }
        next.push((format!("{VIEW} tree"), "every thread's calls"));
        if !is_function_first {
            next.sort_by_key(|(_, what)| *what == CALLERS);
        }
        next.push((format!("{}{OUTPUT} flame.svg", self.only_measurement()), "a flame graph"));
        next.truncate(3);
        let next: Vec<(&str, &str)> = next.iter().map(|(options, what)| (options.as_str(), *what)).collect();
        command_lines(self.context.command, &next, &self.style)
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
        let line = format!("{command} {options}");
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
