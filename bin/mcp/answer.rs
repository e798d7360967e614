//! What a call returns: the JSON of a command, or the reason why there is none.

use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use crate::resource_limits;

/// The most messages of an answer, and the share of it that they may take.
const MESSAGES: usize = 8;
pub(super) const SHARE_OF_MESSAGES: u64 = 8;

/// Why there is no answer.
#[derive(Debug)]
pub(super) struct Refusal {
    kind: &'static str,
    message: String,
    choices: Vec<String>,
    next: String,
}

impl Refusal {
    pub(super) fn arguments(message: String, choices: Vec<String>, next: &str) -> Self {
        Self { kind: "arguments", message, choices, next: next.to_owned() }
    }

    /// A path that may not be used.
    pub(super) fn outside(message: String) -> Self {
        let choices = resource_limits::only_below().iter().map(|folder| folder.display().to_string()).collect();
        Self { kind: "outside", message, choices, next: "call it again with paths below these folders".to_owned() }
    }

    pub(super) fn internal(message: String) -> Self {
        Self {
            kind: "internal",
            message,
            choices: Vec::new(),
            next: "call it again; if that fails too, report it".to_owned(),
        }
    }

    /// The refusal of a command, from its exit code and its messages.
    pub(super) fn of_command(code: Option<i32>, messages: &str) -> Self {
        let mut lines = messages.lines().skip_while(|line| !line.starts_with("error: "));
        let Some(first) = lines.next() else {
            let message = match code {
                Some(code) => format!("the command failed with code {code}"),
                None => "the command was ended from outside".to_owned(),
            };
            return Self::internal(message);
        };
        let message = first.trim_start_matches("error: ").to_owned();
        let mut refusal = Self { kind: "input", message, choices: Vec::new(), next: String::new() };
        let is_of_clap = |line: &&str| line.starts_with("Usage:") || line.starts_with("For more information");
        for line in lines.map(str::trim).take_while(|line| !is_of_clap(line)).filter(|line| !line.is_empty()) {
            refusal.add(line);
        }
        let is_usage = code == Some(crate::EXIT_USAGE.into());
        refusal.kind = if is_usage { "arguments" } else { "input" };
        refusal.next = match (is_usage, refusal.choices.is_empty()) {
            (_, false) => "call it again with one of the choices",
            (true, true) => "call it again with other arguments",
            (false, true) => "check the path, or call open with what=contents to see what the file has",
        }
        .to_owned();
        refusal
    }

    /// Adds a line that follows the message of a command.
    fn add(&mut self, line: &str) {
        let values = line.strip_prefix("[possible values: ").and_then(|line| line.strip_suffix(']'));
        // Candidates are listed after their weights.
        let candidate = line.split_once("  ").filter(|(weight, _)| weight.starts_with(|c: char| c.is_ascii_digit()));
        match (values, candidate, line.strip_prefix("caused by: ").or_else(|| line.strip_prefix("tip: "))) {
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
        let each = most / 4;
        let mut choices: Vec<String> = self.choices.iter().map(|choice| beginning(choice, each)).collect();
        loop {
            let error = json!({"error": {
                "kind": self.kind, "message": beginning(&self.message, each), "choices": choices, "next": self.next,
            }});
            if choices.is_empty() || error.to_string().len() <= most {
                return CallToolResult::structured_error(error);
            }
            choices.pop();
        }
    }
}

/// The JSON of a command, with its warnings and notes.
pub(super) fn answer(json: &[u8], messages: &str, most: usize) -> Result<CallToolResult, Refusal> {
    let mut answer: Value = serde_json::from_slice(json)
        .map_err(|error| Refusal::internal(format!("the command wrote no JSON: {error}")))?;
    let room = most.saturating_sub(json.len());
    let mut lines: Vec<String> = Vec::new();
    for line in messages.lines().filter(|line| !line.trim().is_empty()).take(MESSAGES) {
        let line = beginning(line, room / 2);
        if json!(lines).to_string().len() + line.len() * 2 > room {
            break;
        }
        lines.push(line);
    }
    if let Some(fields) = answer.as_object_mut().filter(|_| !lines.is_empty()) {
        fields.insert("messages".to_owned(), lines.into());
    }
    Ok(CallToolResult::structured(answer))
}

/// The beginning of a text, of at most this many bytes.
fn beginning(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most.saturating_sub(3)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    format!("{}…", &text[..end])
}
