//! Parses a report that is text (`.crash`).

use std::ops::Range;

use super::frame_line::FrameLine;
use super::report::{Form, Frame, Image, Report, SEVERAL, Stack};
use crate::error::{Error, ErrorKind, Position};
use crate::hash::HashMap;
use crate::memory::OverBudget;
use crate::readers::images::{Image as Row, Images, hex};
use crate::recording::{LAST_EXCEPTION, Options, SPECIFIC_BACKTRACE};

/// The fields of the header, with the keys of an `.ips` file.
const FIELDS: [(&str, &str); 16] = [
    ("Path", "procPath"),
    ("Hardware Model", "modelCode"),
    ("OS Version", "os_version"),
    ("Date/Time", "captureTime"),
    ("Exception Subtype", "exception.subtype"),
    ("Exception Codes", "exception.codes"),
    ("Exception Message", "exception.message"),
    ("Exception Note", "exception.note"),
    ("Termination Reason", "termination"),
    ("Termination Description", "termination.reasons."),
    ("Triggered by Thread", "faultingThread"),
    ("Crashed Thread", "faultingThread"),
    ("Highlighted by Thread", "faultingThread"),
    // Before iOS 9.
    ("Highlighted Thread", "faultingThread"),
    ("Exception Reason", "exceptionReason.composed_message"),
    ("VM Region Info", "vmRegionInfo"),
];

/// The marks of the thread that the report is about.
const MARKS: [&str; 3] = ["Crashed", "Attributed", "Highlighted"];

/// How lines start that end the messages of Application Specific Information.
const AFTER_MESSAGES: [&str; 11] = [
    "Application Specific Backtrace",
    "Application Specific Signatures:",
    "Backtrace not available",
    "Dyld Error Message:",
    "Error Formulating Crash Report:",
    "External Modification ",
    "Filtered syslog:",
    "Global Trace Buffer (",
    "Kernel Triage:",
    "Last Exception Backtrace:",
    "Triggered by Thread:",
];

/// True for `Thread 0 Crashed:`, `Thread 0 name: …`, `Thread 1:: NAME` and `Thread 1:  Dispatch queue: …`, but not for a message such as `Thread 1:
/// Fatal error` or `Thread 0 was blocked`.
fn is_thread(line: &str) -> bool {
    let after = line.strip_prefix("Thread ").map(|rest| rest.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    after.is_some_and(|after| {
        let marked = after.strip_prefix(' ').and_then(|after| after.split_once([':', ' ']));
        after == ":"
            || [" name:", "::", ":  "].iter().any(|start| after.starts_with(start))
            || marked.is_some_and(|(mark, _)| MARKS.contains(&mark))
    })
}

/// True for a line that ends the messages of Application Specific Information.
fn ends_messages(line: &str) -> bool {
    is_thread(line) || line == "Binary Images:" || AFTER_MESSAGES.iter().any(|title| line.starts_with(title))
}

/// The part of the report that a line is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Fields,
    /// Application Specific Information.
    Specific,
    /// The frames of the last stack.
    Stack,
    /// The frames of a backtrace.
    Backtrace,
    Images,
}

struct Parser {
    report: Report,
    section: Section,
    /// The section that an empty line ended. It goes on if its next line follows.
    before: Section,
    /// The number and the name of the next thread.
    name: (String, String),
    rows: Vec<(Row, String)>,
    /// The last line of the list of images.
    image_line: String,
    /// True if the line has no end.
    is_cut: bool,
}

/// Reads a report. The end of a truncated report is missing.
///
/// # Errors
/// If a line of a list is longer than the limit for names, or the memory budget is exceeded.
pub(super) fn read(text: &str, name: &str, options: &Options) -> Result<Report, Error> {
    let report = Report::new(Form::Text, &options.memory);
    let mut parser = Parser {
        report,
        section: Section::Fields,
        before: Section::Fields,
        name: <(String, String)>::default(),
        rows: Vec::new(),
        image_line: String::new(),
        is_cut: false,
    };
    let mut at = Position { input: name.to_owned(), line: 0, byte: 0 };
    for with_end in text.split_inclusive('\n') {
        at.line += 1;
        let mut line = with_end.trim_end_matches(['\n', '\r']);
        if line.len() > options.limits.name_bytes {
            if !matches!(parser.section, Section::Fields | Section::Specific) {
                let text = format!("a line is longer than {} bytes", options.limits.name_bytes);
                return Err(Error::new(ErrorKind::Limit(text), Some(at)));
            }
            // A message.
            let end = (0..=options.limits.name_bytes).rfind(|&at| line.is_char_boundary(at));
            line = &line[..end.unwrap_or(0)];
        }
        let start = at.byte as usize;
        parser.is_cut = !with_end.ends_with('\n');
        parser.line(line, start..start + line.len(), &at)?;
        at.byte += with_end.len() as u64;
    }
    let is_in_list = matches!(parser.section, Section::Stack | Section::Backtrace | Section::Images);
    parser.report.cut = (parser.is_cut && is_in_list).then(|| at.clone());
    if parser.is_cut && matches!(parser.section, Section::Stack | Section::Backtrace) {
        parser.stack().into_iter().for_each(|stack| stack.is_cut = true);
    }
    parser.finish(text).map_err(|over| Error::memory(over, Some(at)))
}

impl Parser {
    fn line(&mut self, line: &str, span: Range<usize>, at: &Position) -> Result<(), Error> {
        let over = |over| Error::memory(over, Some(at.clone()));
        let trimmed = line.trim_start_matches('\u{feff}').trim();
        let is_title = |line: &str| {
            is_thread(line) || line.ends_with(':') && !line.starts_with(|first: char| first.is_ascii_digit())
        };
        let is_start = |line: &str| ["Incident Identifier:", "Process:"].iter().any(|key| line.starts_with(key));
        if self.section == Section::Fields && !trimmed.is_empty() && self.goes_on(line, trimmed) {
            self.section = self.before;
        }
        match self.section {
            _ if trimmed.is_empty() => {
                self.before = if self.section == Section::Fields { self.before } else { self.section };
                self.section = Section::Fields;
            }
            _ if is_start(trimmed) && !self.report.threads.is_empty() => {
                return Err(Error::new(ErrorKind::NotAnExport(SEVERAL.to_owned()), Some(at.clone())));
            }
            Section::Specific if !ends_messages(trimmed) => self.report.add_fact("asi", trimmed).map_err(over)?,
            // A list may have several lines.
            Section::Backtrace if trimmed.starts_with('(') || (trimmed.starts_with("0x") && self.is_in_list()) => {
                self.add_list(line, span, at).map_err(over)?;
            }
            Section::Stack | Section::Backtrace if trimmed.starts_with("--------") => self.elided(trimmed),
            Section::Stack | Section::Backtrace if !is_title(trimmed) => {
                self.add_frame(line, span, at).map_err(over)?;
            }
            Section::Images if trimmed.starts_with("0x") => self.add_image(trimmed, at).map_err(over)?,
            Section::Images if !is_title(trimmed) => self.add_to_image(trimmed, at).map_err(over)?,
            _ => self.header(trimmed, at).map_err(over)?,
        }
        Ok(())
    }

    /// True if a line after an empty one belongs to the section before it.
    fn goes_on(&self, line: &str, trimmed: &str) -> bool {
        let is_frame = || FrameLine::parse(line).is_some() || trimmed.starts_with("--------");
        match self.before {
            Section::Specific => !ends_messages(trimmed),
            Section::Stack => is_frame(),
            Section::Backtrace => {
                is_frame() || trimmed.starts_with('(') || trimmed.starts_with("0x") && self.is_in_list()
            }
            Section::Images => Row::parse(trimmed).is_some(),
            Section::Fields => false,
        }
    }

    /// Reads a line that is not part of a list: a field, or the title of a section.
    fn header(&mut self, line: &str, at: &Position) -> Result<(), OverBudget> {
        if let Some(thread) = line.strip_prefix("Thread ") {
            return self.thread(thread, at);
        }
        let (key, value) = line.split_once(':').unwrap_or((line, ""));
        if line.ends_with(':') {
            self.before = Section::Fields;
        }
        let number = key.strip_prefix("Application Specific Backtrace ");
        let backtrace = match key {
            "Last Exception Backtrace" => Some(LAST_EXCEPTION.to_owned()),
            _ => number.map(|number| format!("{SPECIFIC_BACKTRACE} {number}")),
        };
        self.section = match key {
            "Application Specific Information" => Section::Specific,
            "Binary Images" => Section::Images,
            _ if backtrace.is_some() => Section::Backtrace,
            _ => Section::Fields,
        };
        if let Some(name) = backtrace {
            self.report.hold(size_of::<Stack>() + name.len() + at.input.len())?;
            self.report.backtraces.push(Stack { name, at: at.clone(), ..Stack::default() });
        }
        match key {
            "Process" => {
                // `App [123]`
                let (name, pid) = value.trim().rsplit_once(" [").unwrap_or((value, ""));
                self.report.add_fact("procName", name)?;
                self.report.add_fact("pid", pid.trim_end_matches(']'))
            }
            "Version" => {
                // `1.2 (34)`
                let (version, build) = value.trim().split_once(" (").unwrap_or((value, ""));
                self.report.add_fact("app_version", version)?;
                self.report.add_fact("build_version", build.strip_suffix(')').unwrap_or(build))
            }
            "Exception Type" => {
                // `EXC_CRASH (SIGABRT)`
                let is_signal = |(_, signal): &(&str, &str)| signal.starts_with("SIG");
                let (kind, signal) = value.trim().split_once(" (").filter(is_signal).unwrap_or((value, ""));
                // PLCrashReporter writes only a signal.
                let signal = if kind.trim().starts_with("SIG") { kind } else { signal };
                self.report.add_fact("exception.type", kind)?;
                self.report.add_fact("exception.signal", signal.strip_suffix(')').unwrap_or(signal))
            }
            // The message may be in the same line.
            "Application Specific Information" => self.report.add_fact("asi", value),
            // dyld and the watchdog write the reason in a separate line.
            "Library not loaded"
            | "Symbol not found"
            | "Referenced from"
            | "Expected in"
            | "<RBSTerminateContext| domain" => self.report.add_fact("termination.reasons.", line),
            "Code Type" => self.report.add_fact("cpuType", value.split(" (").next().unwrap_or_default()),
            key => match FIELDS.iter().find(|(known, _)| *known == key) {
                Some((_, fact)) => self.report.add_fact(fact, value),
                None => Ok(()),
            },
        }
    }

    /// Reads the rest of a line `Thread 0 name:  Dispatch queue: com.apple.main-thread`, `Thread 0 Crashed:` or `Thread 1:: NAME`.
    fn thread(&mut self, line: &str, at: &Position) -> Result<(), OverBudget> {
        (self.section, self.before) = (Section::Fields, Section::Fields);
        let Some((number, rest)) = line.split_at_checked(line.bytes().take_while(u8::is_ascii_digit).count()) else {
            return Ok(());
        };
        if let Some(name) = rest.strip_prefix(" name:") {
            self.name = (number.to_owned(), name.to_owned());
            return Ok(());
        }
        // A word such as `Attributed` may be before the colon.
        let (mark, after) = match rest.strip_prefix(' ').and_then(|rest| rest.split_once(':')) {
            Some((mark, after)) if mark.bytes().all(|byte| byte.is_ascii_alphabetic()) => (mark, Some(after)),
            _ => ("", rest.strip_prefix(':')),
        };
        let of_before = std::mem::take(&mut self.name);
        let of_before = if of_before.0 == number { of_before.1 } else { String::new() };
        let (Some(after), Ok(number)) = (after, number.parse::<u64>()) else { return Ok(()) };
        if MARKS.contains(&mark) {
            self.report.crashed = Some(self.report.threads.len());
        }
        // `Crashed:: NAME  Dispatch queue: QUEUE` on macOS, and a separate line on iOS.
        let called = Some(after.trim_matches([':', ' '])).filter(|name| !name.is_empty()).unwrap_or(&of_before);
        let (name, queue) = called.split_once("Dispatch queue:").unwrap_or((called, ""));
        self.report.hold(size_of::<Stack>() + called.len() + at.input.len())?;
        self.report.threads.push(Stack::new(number, name.trim(), queue.trim(), at.clone()));
        self.section = Section::Stack;
        Ok(())
    }

    fn stack(&mut self) -> Option<&mut Stack> {
        match self.section {
            Section::Backtrace => self.report.backtraces.last_mut(),
            _ => self.report.threads.last_mut(),
        }
    }

    /// Reads `-------- ELIDED 3 LEVELS OF RECURSION THROUGH 0x1c4794e18 f() + 352`. Other lines number the levels.
    fn elided(&mut self, line: &str) {
        let Some(elided) = line.strip_prefix("-------- ELIDED ") else { return };
        let levels = elided.split_once(" LEVEL").and_then(|(levels, _)| levels.parse().ok()).unwrap_or(0);
        self.stack().into_iter().for_each(|stack| stack.add_elided(levels));
    }

    fn add_frame(&mut self, line: &str, span: Range<usize>, at: &Position) -> Result<(), OverBudget> {
        self.report.hold(size_of::<Frame>())?;
        let (is_read, unread) = (FrameLine::parse(line).is_some(), self.unread(at));
        let Some(stack) = self.stack() else { return Ok(()) };
        if is_read {
            stack.frames.push(Frame { span, ..Frame::default() });
        } else if stack.unread.is_none() {
            stack.unread = unread;
            self.report.hold(at.input.len())?;
        }
        Ok(())
    }

    /// The place of a line that cannot be read; `None` for the last line of a truncated report.
    fn unread(&self, at: &Position) -> Option<Position> {
        (!self.is_cut).then(|| at.clone())
    }

    /// Adds the frames of a list `(0x18f04bc70 0x18bb21224)`.
    fn add_list(&mut self, line: &str, span: Range<usize>, at: &Position) -> Result<(), OverBudget> {
        let inside = line.trim().trim_start_matches('(').trim_end_matches(')');
        let before = self.report.backtraces.last().and_then(|stack| stack.list.clone());
        let span = before.map_or(span.clone(), |before| before.start..span.end);
        let unread = self.unread(at).filter(|_| inside.split_ascii_whitespace().any(|word| hex(word).is_none()));
        let frames: Vec<Frame> = inside
            .split_ascii_whitespace()
            .map_while(|word| Some(Frame { address: hex(word)?, span: span.clone(), ..Frame::default() }))
            .collect();
        self.report.hold(frames.len() * size_of::<Frame>())?;
        let is_list = |stack: &&mut Stack| stack.frames.is_empty() || stack.list.is_some();
        if let Some(stack) = self.report.backtraces.last_mut().filter(is_list) {
            stack.list = Some(span);
            stack.unread = stack.unread.take().or(unread);
            stack.frames.extend(frames);
        }
        Ok(())
    }

    fn is_in_list(&self) -> bool {
        self.report.backtraces.last().is_some_and(|stack| stack.list.is_some())
    }

    /// Adds the rest of an image's line that was wrapped, as mail programs do. Its name is also before the UUID, which shows whether the path is
    /// complete, and whether a space was lost.
    fn add_to_image(&mut self, rest: &str, at: &Position) -> Result<(), OverBudget> {
        let is_whole = |line: &String| {
            let before = line.split(" <").next().unwrap_or_default();
            let is_part = |part: &str| part.starts_with(char::is_alphanumeric);
            // As a word: `Foundation` in `com.apple.Foundation (6.9)`.
            let is_named = |name: &str| before.split(name).skip(1).any(|after| !is_part(after));
            Row::parse(line).is_some_and(|row| is_named(&row.name) && !row.path.ends_with('/'))
        };
        let before = &self.image_line;
        let glued = ["", " "].map(|between| format!("{before}{between}{rest}"));
        let lacks_path = Row::parse(before).is_some_and(|row| !row.path.contains('/')) && rest.starts_with('/');
        let Some(line) = (match lacks_path {
            true => glued.into_iter().next_back(),
            false => glued.into_iter().find(is_whole).filter(|_| !is_whole(before)),
        }) else {
            return Ok(());
        };
        if Row::parse(before).is_some() {
            self.rows.pop();
        } else {
            self.report.unread_images.pop();
        }
        self.add_image(&line, at)
    }

    fn add_image(&mut self, line: &str, at: &Position) -> Result<(), OverBudget> {
        line.clone_into(&mut self.image_line);
        let Some(row) = Row::parse(line) else {
            self.report.hold(size_of::<Position>() + at.input.len())?;
            self.report.unread_images.extend(self.unread(at));
            return Ok(());
        };
        // `0x0 - 0xffffffffffffffff ??? (*) <00000000-…> ???` stands for code outside of all images.
        if row.name == "???" {
            return Ok(());
        }
        // `0x1000 - 0x1fff App arm64  <UUID> /path` on iOS; the version in parentheses on macOS.
        let before = line.split(" <").next().unwrap_or_default().trim_end();
        let arch = before
            .rsplit(' ')
            .next()
            .filter(|word| ["arm", "x86_64", "i386"].iter().any(|arch| word.starts_with(arch)));
        self.report.hold(size_of::<(Row, String)>() + size_of::<Image>() + 2 * row.path.len())?;
        self.rows.push((row, arch.unwrap_or_default().to_owned()));
        Ok(())
    }

    /// Resolves frames, whose images follow them.
    fn finish(mut self, text: &str) -> Result<Report, OverBudget> {
        self.rows.sort_by_key(|(row, _)| row.low);
        let of_report = match self.report.fact("cpuType") {
            Some("ARM-64") => "arm64",
            Some("X86-64") => "x86_64",
            _ => "",
        };
        let image = |(row, arch): &(Row, String)| Image {
            name: row.name.clone(),
            path: row.path.clone(),
            arch: if arch.is_empty() { of_report.to_owned() } else { arch.clone() },
            uuid: row.uuid.filter(|uuid| !uuid.is_nil()),
            base: row.low,
            size: 0,
        };
        let images: Vec<Image> = self.rows.iter().map(image).collect();
        let rows = Images::new(self.rows.into_iter().map(|(row, _)| row).collect());
        let mut resolver = Resolver { rows, images, unlisted: HashMap::default() };
        let mut report = self.report;
        let (mut threads, mut backtraces) =
            (std::mem::take(&mut report.threads), std::mem::take(&mut report.backtraces));
        for stack in threads.iter_mut().chain(&mut backtraces) {
            let is_list = stack.list.is_some();
            let mut frames = std::mem::take(&mut stack.frames);
            frames
                .iter_mut()
                .for_each(|frame| if is_list { resolver.place(frame) } else { resolver.read(text, frame) });
            report.hold(frames.iter().map(Frame::texts).sum())?;
            stack.frames = frames;
            stack.mark_inlined();
        }
        report.hold(resolver.images.len() * size_of::<Image>())?;
        report.images = resolver.images;
        report.threads = threads;
        report.backtraces = backtraces;
        report.backtraces.retain(|stack| !stack.is_empty());
        // `0  Dispatch queue: com.apple.main-thread`, or with a comma.
        let digits = |text: &str| text.split(|digit: char| !digit.is_ascii_digit()).next()?.parse().ok();
        let number = report.fact("faultingThread").and_then(digits);
        let with_number = |number: u64| report.threads.iter().position(|stack| stack.number == Some(number));
        report.crashed = report.crashed.or_else(|| with_number(number?));
        report.order_versions();
        Ok(report)
    }
}

/// Finds the images of frames.
struct Resolver {
    /// The images of the report, in the order of `images`.
    rows: Images,
    images: Vec<Image>,
    /// Images that are only named by frames, by name.
    unlisted: HashMap<String, usize>,
}

impl Resolver {
    /// Reads the line of a frame.
    fn read(&mut self, text: &str, frame: &mut Frame) {
        let Some(line) = FrameLine::parse(&text[frame.span.clone()]) else { return };
        *frame = Frame::of_line(&line, frame.span.clone());
        self.place(frame);
        if frame.image.is_none() && line.image != "???" {
            let count = self.images.len();
            let index = *self.unlisted.entry(line.image.to_owned()).or_insert(count);
            if index == count {
                let (name, path) = (line.image.to_owned(), line.image.to_owned());
                self.images.push(Image { name, path, ..Image::default() });
            }
            frame.image = Some(index);
            // An unnamed frame has the offset in its image.
            if let Some(offset) = line.offset.filter(|_| line.base.is_some()) {
                frame.address = offset;
            }
        }
    }

    /// Finds the image of an address.
    fn place(&self, frame: &mut Frame) {
        frame.image = self.rows.find(frame.address);
        if let Some(image) = frame.image {
            frame.address -= self.images[image].base;
        }
    }
}
