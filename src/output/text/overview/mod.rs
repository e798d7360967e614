//! The answer in short: at most a screen, whatever was recorded.

mod names;
mod time;

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use crate::calltree::OperationSummary;
use crate::output::labels::{process_label, thread_label};
use crate::output::text::style::{Style, Tone, clean, cut, fit, wrap};
use crate::output::text::words::{amount_text, count, share};
use crate::profile::{Meaning, Profile, ThreadId};
use crate::recording::{DocumentContent, Intervals, TocRun, lookup, shell_word};
use crate::report::{Activity, Amount, Answer, AnswersIn, Origin, Overview, Report, SeriesReport};
use crate::units::{Nanos, Unit, Weight};

/// Columns of an overview where nobody says how wide the text may be.
pub(in crate::output) const WIDTH: usize = 80;
/// With so many samples, a share is within 10 points of the truth 95 times of 100, whatever it is: 1.96 × √(¼ / 100).
const MANY_SAMPLES: u64 = 100;
/// Columns of the line of CPU use.
const MOST_BINS: usize = 100;
/// Functions and threads that are listed.
const FUNCTIONS: usize = 5;
const THREADS: usize = 3;
/// Tables that are listed where no sample counts.
const EMPTY_TABLES: usize = 10;
/// Other runs and tables that get a line each.
const OTHERS: usize = 2;
const SECOND: Nanos = Nanos::from_nanos(1_000_000_000);

/// What an overview tells beside the report.
#[derive(Clone, Copy, Debug, Default)]
pub struct OverviewContext<'a> {
    /// Potential hangs, which are marked.
    pub intervals: Option<&'a Intervals>,
    /// The words of the command line with which the same recording is opened: commands to go on with begin with them. Without words there
    /// are none.
    pub command: &'a [String],
}

/// Writes the answer in short, in lines of 80 columns unless the style has another width. Of several series the heaviest has the answer.
///
/// # Errors
/// When `out` fails.
pub(crate) fn write_overview(
    report: &Report<'_>,
    context: &OverviewContext<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let style = Style { width: Some(style.width.unwrap_or(WIDTH)), ..*style };
    let mut series: Vec<&SeriesReport> = report.series.iter().filter(|series| !series.is_filtered_out()).collect();
    series.sort_by_key(|series| std::cmp::Reverse((series.unit == Unit::Nanoseconds, series.counted.weight.value)));
    for document in &report.recording.documents {
        crate::output::text::summary::cut_note(document, &style, out)?;
    }
    let Some((&first, others)) = series.split_first() else {
        for document in &report.recording.documents {
            let DocumentContent::Tables(tables) = &document.content else { continue };
            writeln!(out, "{}", style.paint(Tone::Title, &fit(&document.input, style.width)))?;
            crate::output::text::summary::table_lines(&tables[..tables.len().min(EMPTY_TABLES)], &style, out)?;
        }
        return writeln!(out, "No sample counts.");
    };
    let page = Page::new(report, first, context, style);
    let mut lines = page.lines();
    lines.extend(page.others(others));
    lines.extend(page.next());
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// The answer for one series on its way to lines.
struct Page<'p, 'e> {
    report: &'p Report<'e>,
    profile: &'p Profile,
    series: &'p SeriesReport,
    overview: Overview<'e>,
    context: &'p OverviewContext<'p>,
    style: Style,
    width: usize,
}

impl<'p, 'e> Page<'p, 'e> {
    fn new(report: &'p Report<'e>, series: &'p SeriesReport, context: &'p OverviewContext<'p>, style: Style) -> Self {
        let width = style.width.unwrap_or(WIDTH);
        let overview = report.overview(
            series,
            report.options.top.unwrap_or(FUNCTIONS),
            width.saturating_sub(8).clamp(10, MOST_BINS),
        );
        Self { report, profile: &report.recording.profile, series, overview, context, style, width }
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.style.paint(Tone::Title, &self.title())];
        lines.extend(self.wrapped(&self.how_busy(), 2));
        lines.extend(self.wrapped(&self.left_out(), 2).iter().map(|line| self.style.paint(Tone::Warning, line)));
        lines.extend(self.line_of_time());
        lines.push(String::new());
        let answer = self.wrapped(&self.answer(), 4);
        lines.extend(answer.iter().map(|line| self.style.paint(Tone::Title, line)));
        lines.extend(self.wrapped(&self.few_samples(), 2).iter().map(|line| self.style.paint(Tone::Warning, line)));
        lines.extend(self.wrapped(&self.shares(), 2));
        lines.push(String::new());
        lines.extend(self.functions());
        lines.extend(self.threads());
        lines.extend(self.wrapped(&self.names(), 4));
        lines
    }

    /// A sentence in at most so many lines; nothing for an empty one.
    fn wrapped(&self, text: &str, most: usize) -> Vec<String> {
        if text.is_empty() {
            return Vec::new();
        }
        let mut lines = wrap(text, 0, Some(self.width));
        // Half the width takes twice the lines.
        let most = most * WIDTH.div_ceil(self.width.max(1));
        if lines.len() > most {
            lines.truncate(most);
            if let Some(last) = lines.last_mut() {
                *last = cut(&format!("{last} …"), Some(self.width));
            }
        }
        lines
    }

    /// `Orchard (751) · iPhone15,3, iOS 18.2 · 2026-03-04 10:12 · 74.2 s`.
    fn title(&self) -> String {
        let row = self.profile.series(self.series.series);
        let input = self.profile.string(self.profile.run(row.run).input);
        let Some(toc) = self.overview.toc else { return fit(input, Some(self.width)) };
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
        parts.extend(toc.duration().map(|duration| format!("{} recorded", seconds(duration))));
        let title = |build: bool| {
            let platform = |part: &String| if build { part.clone() } else { without_build(part) };
            parts.iter().map(platform).collect::<Vec<_>>().join(" · ")
        };
        // The build of a system is for those who have room.
        fit(&if title(true).width() > self.width { title(false) } else { title(true) }, Some(self.width))
    }

    /// `time-profile: 45.31 s in 45312 samples, 61% of one core over 74.2 s; busiest in second 31, with 312%`.
    fn how_busy(&self) -> String {
        let row = self.profile.series(self.series.series);
        let schema = clean(self.profile.string(row.schema));
        let run = if self.report.series.len() > 1 || self.profile.run_ids().len() > 1 {
            format!(" of run {}", self.profile.run(row.run).number)
        } else {
            String::new()
        };
        let mut text = format!("{schema}{run}: {}", amount_text(self.series.counted));
        if row.meaning == Meaning::Presence {
            text += ", of threads that ran or waited: no CPU time";
        }
        if let Some(Activity { cpu_percent, length, is_told, busiest_second, .. }) = &self.overview.activity {
            let between = if *is_told { "" } else { " from the first sample to the last" };
            let rate = |percent: Option<f64>, weight: u64, length: Nanos| match percent {
                Some(percent) => format!("{} of one core", whole(percent)),
                None => self.in_a_second(weight, length.as_nanos() as f64),
            };
            let mean = rate(*cpu_percent, self.series.counted.weight.value, *length);
            text += &format!(", {mean} over the {}{between}", seconds(*length));
            if let Some((second, weight)) = busiest_second {
                let of_second = rate(Activity::percent(*weight, SECOND), weight.value, SECOND);
                text += &format!("; the busiest second is the one at {second} s, with {of_second}");
            }
        }
        text
    }

    /// The rows that could not be read, and the samples that do not count.
    fn left_out(&self) -> String {
        let mut parts = Vec::new();
        if let Some(table) = self.report.table(self.series.series).filter(|table| table.rejected.total() > 0) {
            let rejected = table.rejected.total();
            let why = match table.rejected.iter().next() {
                Some((reason, all)) if all == rejected => reason.to_string(),
                _ => "--view summary says why".to_owned(),
            };
            parts.push(format!("{rejected} of {} rejected: {why}", count(table.rows, "row")));
        }
        if let Some(first) = self.series.other_states.first() {
            let rest = if self.series.other_states.len() > 1 { " and others" } else { "" };
            let state = fit(&first.0, Some(16));
            parts.push(format!("not counted: {} {state}{rest} (--state all)", amount_text(first.1)));
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

    fn percent(&self, amount: Amount) -> String {
        let percent = share(amount.weight.value, self.series);
        if percent > 0.0 && percent < 1.0 { format!("{percent:.2}%") } else { format!("{percent:.1}%") }
    }

    fn function(&self, answer: &Answer) -> String {
        self.style.name(self.profile.function_name(answer.function), Some(56))
    }

    /// `86.0% is in Checkout.total(of:), on Main Thread, called by Cart.refresh() from a timer.`
    fn answer(&self) -> String {
        let Some(answer) = self.overview.answers.first() else {
            let waits = self.overview.shares.waiting.samples > 0;
            return if waits { "All of it is waiting." } else { "No function weighs anything." }.to_owned();
        };
        let binary = self.profile.binary_name(answer.function).map(|name| format!(" ({})", fit(name, Some(20))));
        let place = format!("{}{}", self.function(answer), binary.unwrap_or_default());
        let thread = self.thread(answer.thread);
        let on = match answer.on_thread.weight.value == answer.amount.weight.value {
            true => format!("on {thread}"),
            false if 2 * answer.on_thread.weight.value > answer.amount.weight.value => {
                format!("most of it on {thread}")
            }
            false => "on several threads".to_owned(),
        };
        let waiting = self.overview.shares.waiting;
        let waits = match share(waiting.weight.value, self.series) {
            most if most > 50.0 => format!("Threads wait in {} of it. ", self.percent(waiting)),
            _ => String::new(),
        };
        let share = self.percent(answer.amount);
        match self.overview.answers_in {
            AnswersIn::Own => format!("{waits}{share} is in {place}, {on}{}.", self.called(answer)),
            AnswersIn::All => format!("{waits}{share} is in {place}, {on}. {}", self.why_not_own()),
        }
    }

    /// The reason why the answer is no own code.
    fn why_not_own(&self) -> &'static str {
        let has_binaries = self.profile.binary_ids().len() > 0;
        let shares = &self.overview.shares;
        match self.series.no_stack.samples == self.series.counted.samples {
            true => "No stack was recorded.",
            false if shares.own.samples > 0 => "Of the program's own code only the entry point is in the stacks.",
            false if has_binaries && shares.unknown.samples == 0 => {
                "None of it is the program's own code: this is the system's."
            }
            false => "No binary is known for it, so the program's own code cannot be told from the system's.",
        }
    }

    /// `, called by Cart.refresh() from a timer`.
    fn called(&self, answer: &Answer) -> String {
        let name = |id| self.style.name(self.profile.function_name(id), Some(30));
        let by = match answer.callers.as_slice() {
            [] => String::new(),
            [only] => format!(" by {}", name(*only)),
            [first, .., last] if answer.callers.len() == 2 => format!(" by {} ← {}", name(*last), name(*first)),
            [first, .., last] => format!(" by {} ← … ← {}", name(*last), name(*first)),
        };
        // What runs on a thread of its own has been said to be on a thread.
        let origin = answer.origin.filter(|origin| *origin != Origin::Thread || !by.is_empty());
        let from = origin.map_or_else(String::new, |origin| format!(" {}", phrase(origin)));
        if by.is_empty() && from.is_empty() { String::new() } else { format!(", called{by}{from}") }
    }

    fn thread(&self, id: ThreadId) -> String {
        fit(&thread_label(self.profile, self.profile.thread(id)), Some(28))
    }

    /// A warning where chance could have made another function the answer: shares of few samples are rough.
    fn few_samples(&self) -> String {
        let Some(answer) = self.overview.answers.first() else { return String::new() };
        let samples = self.series.counted.samples;
        let share = share(answer.amount.weight.value, self.series) / 100.0;
        if samples == 0 || samples >= MANY_SAMPLES {
            return String::new();
        }
        let points = 196.0 * (share * (1.0 - share) / samples as f64).sqrt();
        match samples {
            1 => "This is one sample: it says nothing about shares.".to_owned(),
            _ if points < 0.5 => String::new(),
            _ => format!("Of {samples} samples that share may well be off by {points:.0} points."),
        }
    }

    /// `Own code 62.1% · system 30.2% · waiting 7.7%`.
    fn shares(&self) -> String {
        let shares = &self.overview.shares;
        let parts = [
            ("own code, with what it asked the system for,", shares.own),
            ("the system by itself", shares.system),
            ("code in no known binary", shares.unknown),
            ("waiting", shares.waiting),
            ("samples without a stack", shares.no_stack),
        ];
        let parts = parts.into_iter().filter(|(_, amount)| amount.weight.value > 0);
        let parts: Vec<String> = parts.map(|(name, amount)| format!("{name} {}", self.percent(amount))).collect();
        if parts.len() < 2 {
            return String::new();
        }
        let mut text = format!("In all: {}.", parts.join(" · "));
        // Where own code is the smaller part, the larger one has a name, too.
        if let Some(leaf) = self.overview.leaves.first()
            && self.overview.answers_in == AnswersIn::Own
            && shares.own.weight.value < shares.system.weight.value.max(shares.unknown.weight.value)
        {
            text += &format!(" Of all code {} is heaviest, with {}.", self.function(leaf), self.percent(leaf.amount));
        }
        text
    }

    fn functions(&self) -> Vec<String> {
        let title = match self.overview.answers_in {
            AnswersIn::Own => "Heaviest own functions, with what they asked the system for",
            AnswersIn::All => "Heaviest functions",
        };
        if self.overview.answers.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![self.style.paint(Tone::Dim, &fit(title, Some(self.width)))];
        for answer in &self.overview.answers {
            let binary = self.profile.binary_name(answer.function).unwrap_or_default();
            let name = self.profile.function_name(answer.function);
            lines.push(self.row(answer.amount, name, binary));
        }
        lines
    }

    fn threads(&self) -> Vec<String> {
        let count = self.series.threads.len();
        let title = if count > self.report.options.top.unwrap_or(THREADS) {
            format!("Busiest of {count} threads")
        } else {
            "Threads".to_owned()
        };
        let mut lines = vec![self.style.paint(Tone::Dim, &fit(&title, Some(self.width)))];
        for row in self.series.threads.iter().take(self.report.options.top.unwrap_or(THREADS)) {
            let thread = self.profile.thread(row.thread);
            let process = process_label(self.profile, self.profile.process(thread.process));
            lines.push(self.row(row.counted, &thread_label(self.profile, thread), &process));
        }
        lines
    }

    fn row(&self, amount: Amount, name: &str, owner: &str) -> String {
        let weight = Weight::new(amount.weight.value, self.series.unit).to_string();
        let numbers = format!("  {:>6}  {weight:>14}", self.percent(amount));
        let (name, owner) = self.style.two_parts(name, owner, numbers.chars().count() + 2);
        format!("{}  {name}{owner}", self.style.paint(Tone::Weight, &numbers))
    }

    /// A line for each other series, as far as there is room.
    fn others(&self, others: &[&SeriesReport]) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for series in others.iter().take(if others.len() > OTHERS + 1 { OTHERS } else { OTHERS + 1 }) {
            let row = self.profile.series(series.series);
            let run = self.profile.run(row.run);
            let (schema, input) = (self.profile.string(row.schema), self.profile.string(run.input));
            let of = if self.report.recording.documents.len() > 1 { format!(" of {input}") } else { String::new() };
            let text = format!("Also {schema} of run {}{of}: {}", run.number, amount_text(series.counted));
            lines.push(fit(&text, Some(self.width)));
        }
        if others.len() > lines.len() {
            lines.push(format!("… {} more; --view summary lists them", others.len() - lines.len()));
        }
        lines
    }

    /// Commands to go on with.
    fn next(&self) -> Vec<String> {
        let mut next = Vec::new();
        if let Some(answer) = self.overview.answers.first() {
            let name = self.profile.function_name(answer.function);
            if clean(name) == name {
                next.push((format!("--function {}", shell_word(name)), "who calls it"));
            }
        }
        next.push(("--view tree".to_owned(), "every thread's calls"));
        next.push(("-o flame.svg".to_owned(), "a flame graph"));
        let next: Vec<(&str, &str)> = next.iter().map(|(options, what)| (options.as_str(), *what)).collect();
        command_lines(self.context.command, &next, &self.style)
    }
}

/// Commands to go on with, below an empty line: these words with each of the options, and what that shows where there is room. Without words
/// there are none.
pub(in crate::output) fn command_lines(words: &[String], next: &[(&str, &str)], style: &Style) -> Vec<String> {
    // A command with characters that cannot be shown cannot be typed.
    if words.is_empty() || words.iter().any(|word| clean(word) != *word) {
        return Vec::new();
    }
    let command = words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
    let lines = next.iter().map(|(options, what)| {
        let line = format!("{command} {options}");
        let comment = format!("  # {what}");
        let columns = line.chars().count() + comment.chars().count();
        let fits = style.width.is_none_or(|width| columns <= width);
        if fits { line + &style.paint(Tone::Dim, &comment) } else { line }
    });
    std::iter::once(String::new()).chain(lines).collect()
}

/// What called own code, in words.
fn phrase(origin: Origin) -> &'static str {
    match origin {
        Origin::MainQueue => "from the main queue",
        Origin::Queue => "from a dispatch queue",
        Origin::SwiftTask => "from a Swift task",
        Origin::Timer => "from a timer",
        Origin::DisplayLink => "for each frame of the screen",
        Origin::Input => "for an input event",
        Origin::Layout => "for layout and drawing",
        Origin::Notification => "for a notification",
        Origin::RunLoop => "from the run loop",
        Origin::Launch => "at launch",
        Origin::Initializer => "before main, by an initializer",
        Origin::Thread => "on a thread of its own",
    }
}

/// The day and minute of a start date, as the recording has it.
fn date(toc: &TocRun) -> Option<String> {
    let text = toc.summary_field("start-date")?;
    let (day, time) = text.split_once('T')?;
    Some(clean(&format!("{day} {}", time.get(..5)?)))
}

/// `macOS 15.7.3 (24G419)` without the parentheses and what stands in them; other parts of a title as they are.
fn without_build(text: &str) -> String {
    let version = text.strip_suffix(')').and_then(|text| text.rsplit_once(" (")).map(|(version, _)| version);
    let ends_in_digit = |version: &&str| version.ends_with(|c: char| c.is_ascii_digit());
    version.filter(ends_in_digit).unwrap_or(text).to_owned()
}

fn seconds(time: Nanos) -> String {
    Weight::nanos(time.as_nanos()).to_string()
}

/// A percentage of a core: whole, or with a decimal where it is small.
fn whole(percent: f64) -> String {
    if percent < 10.0 { format!("{percent:.1}%") } else { format!("{percent:.0}%") }
}
