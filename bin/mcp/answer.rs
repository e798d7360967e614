//! What a call returns: the JSON of a command, or the reason why there is none.

use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use crate::resource_limits;

/// The most messages of an answer, and the share of it that they may take.
const MESSAGES: usize = 8;
pub(super) const SHARE_OF_MESSAGES: u64 = 8;

/// The most warnings that explain a refusal.
const CAUSES: usize = 3;
/// The longest choice, in bytes.
const LONGEST_CHOICE: usize = 300;

/// Why there is no answer.
#[derive(Debug)]
pub(super) struct Refusal {
    kind: &'static str,
    message: String,
    choices: Vec<String>,
    /// The number of choices that are not listed.
    more: usize,
    next: String,
}

impl Refusal {
    pub(super) fn arguments(message: String, choices: Vec<String>, next: &str) -> Self {
        Self { kind: "arguments", message, choices, more: 0, next: next.to_owned() }
    }

    /// A path that may not be used.
    pub(super) fn outside(message: String) -> Self {
        let choices = resource_limits::only_below().iter().map(|folder| folder.display().to_string()).collect();
        let next = "call it again with paths below these folders".to_owned();
        Self { kind: "outside", message, choices, more: 0, next }
    }

    pub(super) fn internal(message: String) -> Self {
        Self {
            kind: "internal",
            message,
            choices: Vec::new(),
            more: 0,
            next: "call it again; if that fails too, report it".to_owned(),
        }
    }

    /// The refusal of a command, from its exit code and its messages.
    pub(super) fn of_command(code: Option<i32>, messages: &str) -> Self {
        let (warnings, lines): (Vec<&str>, Vec<&str>) =
            messages.lines().partition(|line| line.starts_with("warning: "));
        let mut lines = lines.into_iter().skip_while(|line| !line.starts_with("error: "));
        let Some(first) = lines.next() else {
            let message = match code {
                Some(code) => format!("the command failed with code {code}"),
                None => "the command was ended from outside".to_owned(),
            };
            return Self::internal(message);
        };
        let message = first.trim_start_matches("error: ").to_owned();
        let mut refusal = Self { kind: "input", message, choices: Vec::new(), more: 0, next: String::new() };
        let is_of_clap = |line: &&str| line.starts_with("Usage:") || line.starts_with("For more information");
        for line in lines.map(str::trim).take_while(|line| !is_of_clap(line)).filter(|line| !line.is_empty()) {
            refusal.add(line);
        }
        // Why the command refused what it was given.
        for warning in warnings.iter().take(CAUSES).filter_map(|line| line.strip_prefix("warning: ")) {
            refusal.message = format!("{}; {warning}", refusal.message);
        }
        let has = |text: &str| refusal.message.contains(text);
        let is_usage =
            code == Some(crate::EXIT_USAGE.into()) || has("the answer has nothing at") || has("does not fit");
        let is_outside = has(resource_limits::OUTSIDE);
        let is_path = has("cannot be opened") || has("cannot be read");
        refusal.next = match (is_usage, refusal.choices.is_empty()) {
            _ if is_outside => "call it again with other paths",
            (_, true) if refusal.more > 0 => "call functions without function to see the names",
            (_, false) => "call it again with one of the choices",
            _ if has("--allow-truncated") => "call it again with allow_truncated, to use what is there",
            _ if has("fleet report") => "call fleet, or open with a single recording",
            (true, true) => "call it again with other arguments",
            (false, true) if is_path => "check the path",
            (false, true) => "call open with what=contents to see what the file has, or use other arguments",
        }
        .to_owned();
        refusal.kind = match (is_outside, is_usage) {
            (true, _) => "outside",
            (_, true) => "arguments",
            _ => "input",
        };
        refusal
    }

    /// Adds a line that follows the message of a command.
    fn add(&mut self, line: &str) {
        let values = line.strip_prefix("[possible values: ").and_then(|line| line.strip_suffix(']'));
        // Candidates are listed after their weights.
        let candidate = line.split_once("  ").filter(|(weight, _)| weight.starts_with(|c: char| c.is_ascii_digit()));
        // A missing argument is a part of the sentence.
        let missing = Some(line).filter(|line| line.starts_with(['-', '<']));
        let more = line.strip_prefix("caused by: ").or_else(|| line.strip_prefix("tip: ")).or(missing);
        let is_count = line.strip_prefix("…").and_then(|line| line.trim().strip_suffix(" more"));
        match (values, candidate, more) {
            _ if let Some(count) = is_count.and_then(|count| count.parse::<usize>().ok()) => self.more += count,
            // It is longer than an argument may be, is shown with escapes, or would be a pattern: it cannot be passed on.
            (_, Some((_, name)), _) if name.len() > LONGEST_CHOICE || name.contains('\\') || name.starts_with('/') => {
                self.more += 1
            }
            // The place of an error in a pattern.
            _ if line == "^" || line.starts_with("error: ") => self.choices.clear(),
            (Some(values), ..) => self.choices.extend(values.split(", ").map(str::to_owned)),
            (_, Some((_, name)), _) => self.choices.push(name.trim_start().to_owned()),
            (.., Some(more)) => self.message = format!("{}: {more}", self.message.trim_end_matches(':')),
            _ => self.choices.push(line.to_owned()),
        }
    }

    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// The result of the call, in at most this many bytes.
    pub(super) fn result(&self, most: usize) -> CallToolResult {
        let error = |longest: usize, count: usize| {
            let choices = &self.choices[..count.min(self.choices.len())];
            let more = self.more + self.choices.len() - choices.len();
            json!({"error": {
                "kind": self.kind, "message": shortened(&self.message, longest), "choices": choices,
                "more_choices": more, "next": self.next,
            }})
        };
        let counts = [self.choices.len(), 20, 10, 5, 2, 0];
        let forms = counts.into_iter().flat_map(|count| [400, 200, 100, 30].map(|longest| (longest, count)));
        let fits = |error: &Value| error.to_string().len() <= most;
        let error = forms.map(|(longest, count)| error(longest, count)).find(fits).unwrap_or_else(|| error(10, 0));
        CallToolResult::structured_error(error)
    }
}

/// The JSON of a command, with its warnings and notes.
pub(super) fn answer(json: &[u8], messages: &str, most: usize) -> Result<CallToolResult, Refusal> {
    let answer: Value = serde_json::from_slice(json)
        .map_err(|error| Refusal::internal(format!("the command wrote no JSON: {error}")))?;
    Ok(CallToolResult::structured(with_messages(answer, messages, most)))
}

/// Adds the messages of a command, as far as they fit into this many bytes. The first one is cut if necessary.
pub(super) fn with_messages(mut answer: Value, messages: &str, most: usize) -> Value {
    let all: Vec<&str> = messages.lines().filter(|line| !line.trim().is_empty()).collect();
    if all.is_empty() {
        return answer;
    }
    let add = |answer: &mut Value, lines: &[String]| {
        answer.as_object_mut().into_iter().for_each(|fields| drop(fields.insert("messages".to_owned(), json!(lines))));
    };
    for count in (0..=all.len().min(MESSAGES)).rev() {
        for longest in [usize::MAX, 200, 100, 50] {
            let mut lines: Vec<String> = all[..count].iter().map(|line| shortened(line, longest)).collect();
            if count < all.len() {
                lines.push(format!("{} more messages", all.len() - count));
            }
            add(&mut answer, &lines);
            if answer.to_string().len() <= most {
                return answer;
            }
        }
    }
    answer.as_object_mut().into_iter().for_each(|fields| drop(fields.shift_remove("messages")));
    answer
}

/// The beginning and the end of a text, of about this many bytes together.
fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let [start, end] = [most / 2, text.len() - most / 2];
    let start = (0..=start).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let end = (end..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
    format!("{}…{}", &text[..start], &text[end..])
}
