//! Parses a report: its head, and the first lines of processes and threads.

use std::io::Read;

use crate::error::Error;
use crate::readers::images::hex;
use crate::readers::lines::{Line, Lines};

/// The key of the first line of a report.
pub(super) const START: &str = "Date/Time:";

/// The keys of lines that start a process.
pub(super) const PROCESS: [&str; 2] = ["Process:", "Powerstats for:"];

/// The line above the images of a process.
pub(super) const IMAGES: &str = "  Binary Images:";

const NO_PROCESS: &str = "the stacks of a process begin without the line that names it; was the report edited?";

/// Lines after which the output of other tools follows.
const END: [&str; 2] = ["Kextstat", "Custom Output"];

/// Returns the key and value of a line `Key: value` with one of these keys.
pub(super) fn value<'l>(line: &'l str, keys: &[&'static str]) -> Option<(&'static str, &'l str)> {
    let (key, value) = line.split_once(':')?;
    let &key = keys.iter().find(|&&known| known == key)?;
    Some((key, value.trim()))
}

/// Returns the number at the start of a string, such as the 8 of `8 (1-8)`.
pub(super) fn first_number(text: &str) -> Option<u64> {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// The steps in the head of a microstackshot report: `4401 (10 gigacycles/step, 30 samples lost, 10.49 MB/step)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Steps {
    pub(super) all: u64,
    /// The number of steps without a sample.
    pub(super) lost: u64,
}

impl Steps {
    /// True if this percentage of the steps matches the number of samples. It is unknown whether percentages include lost steps.
    pub(super) fn have_share(self, samples: u64, percent: u64) -> bool {
        let (of_all, of_kept) = (u128::from(self.all), u128::from(self.all.saturating_sub(self.lost)));
        let (hundredfold, percent) = (100 * u128::from(samples), u128::from(percent));
        hundredfold < (percent + 1) * of_all && hundredfold + of_kept > percent * of_kept
    }
}

/// The start of the next section of a report.
pub(super) enum Next {
    Process(Line),
    Report(Line),
    /// True if other text follows the report, which is then complete.
    End {
        is_marked: bool,
    },
}

impl Next {
    /// Returns the section that a line starts, or else the line itself.
    pub(super) fn of<R: Read>(line: Line, lines: &mut Lines<'_, R>) -> Result<Result<Self, Line>, Error> {
        let starts = |starts: &[&str]| starts.iter().any(|start| line.text.starts_with(start));
        if starts(&PROCESS) {
            return Ok(Ok(Self::Process(line)));
        }
        if starts(&[START]) {
            return Ok(Ok(Self::Report(line)));
        }
        if !starts(&END) {
            return Ok(Err(line));
        }
        // The output of other tools may contain similar lines.
        while lines.next()?.is_some() {}
        Ok(Ok(Self::End { is_marked: true }))
    }
}

/// The metadata above the first process.
#[derive(Debug, Default)]
pub(super) struct Head {
    fields: Vec<(&'static str, String)>,
    /// True if the first section starts like those of powerstats.
    pub(super) is_powerstats: bool,
}

const FACTS: [&str; 21] = [
    "Date/Time",
    "OS Version",
    "Architecture",
    "Report Version",
    "Data Source",
    "Event",
    "Duration",
    "Duration Sampled",
    "Steps",
    "Hardware model",
    "Command",
    "Version",
    "PID",
    "Reason",
    "Action taken",
    "Total CPU Time",
    "CPU",
    "CPU used",
    "Writes",
    "Wakeups",
    "Note",
];

impl Head {
    pub(super) fn read<R: Read>(start: &Line, lines: &mut Lines<'_, R>) -> Result<(Self, Next), Error> {
        let mut head = Self::default();
        let mut line = start.clone();
        loop {
            if let Some((key, value)) = value(&line.text, &FACTS).filter(|(key, _)| head.field(key).is_none()) {
                head.fields.push((key, value.to_owned()));
            }
            line = match lines.next()? {
                None => return Ok((head, Next::End { is_marked: false })),
                Some(line) => match Next::of(line, lines)? {
                    Ok(next) => {
                        head.is_powerstats = matches!(&next, Next::Process(line) if line.text.starts_with(PROCESS[1]));
                        return Ok((head, next));
                    }
                    Err(line) if line.text.starts_with("  Thread ") || line.text.trim_end() == IMAGES => {
                        return Err(lines.damaged(NO_PROCESS, &line));
                    }
                    Err(line) => line,
                },
            };
        }
    }

    pub(super) fn steps(&self) -> Option<Steps> {
        let text = self.field("Steps")?;
        let lost =
            text.split([',', '(', ')']).find_map(|part| first_number(part.trim().strip_suffix(" samples lost")?));
        Some(Steps { all: first_number(text)?, lost: lost.unwrap_or_default() })
    }

    pub(super) fn field(&self, key: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| *known == key).map(|(_, value)| value.as_str())
    }
}

/// The header of a thread: `0x2ca9e    DispatchQueue "LABEL"(1)    Thread name "NAME"    49 samples (1-49)    priority 47    cpu time 0.1s`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ThreadHead {
    /// `None` if samples of several threads were merged.
    pub(super) tid: Option<u64>,
    pub(super) name: String,
    /// The label of its queue, or only a number before macOS 12.
    pub(super) queue: String,
    /// The number of samples, if listed.
    pub(super) samples: Option<u64>,
    /// True for the idle thread of a core, which is recorded as running.
    pub(super) is_idle: bool,
}

impl ThreadHead {
    /// Returns `None` for an invalid line.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (tid, mut rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let is_merged = tid == "<multiple>" || tid.contains(',');
        let mut head = Self { tid: if is_merged { None } else { Some(hex(tid)?) }, ..Self::default() };
        loop {
            rest = rest.trim_start();
            if let Some(queue) = rest.strip_prefix("DispatchQueue \"") {
                let (label, after) = queue.split_once("\"(")?;
                let (number, after) = after.split_once(')')?;
                head.queue = Some(label).filter(|_| is_number(number))?.to_owned();
                rest = after;
            } else if let Some(queue) = rest.strip_prefix("DispatchQueue ") {
                let (number, after) = queue.split_once(char::is_whitespace).unwrap_or((queue, ""));
                // `<multiple>` is not a queue.
                let is_note = number.starts_with('<') && number.ends_with('>');
                let number = Some(number).filter(|number| is_note || is_number(number))?;
                head.queue = Some(number).filter(|_| !is_note).unwrap_or_default().to_owned();
                rest = after;
            } else if let Some(name) = rest.strip_prefix("Thread name \"") {
                let (name, after) = name.split_once("\" ").or_else(|| Some((name.strip_suffix('"')?, "")))?;
                head.name = name.to_owned();
                rest = after;
            } else {
                break;
            }
        }
        if ["DispatchQueue ", "Thread name "].iter().any(|field| rest.contains(field)) {
            return None;
        }
        if let Some((before, _)) = rest.split_once(" sample") {
            head.samples = Some(before.rsplit(char::is_whitespace).next()?.parse().ok()?);
        }
        head.is_idle = rest.contains("  idle time ") || rest.contains("\tidle time ");
        Some(head)
    }
}

pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
