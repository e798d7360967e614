//! The arguments of tools: their schemas, and the command lines they become. Names, kinds, values and descriptions are those of the options.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, Command, ValueHint};
use serde_json::{Map, Value, json};

use super::answer::Refusal;
use super::tools::{Call, DESCRIPTIONS, Input, InputKind, TOOLS, Tool, WHAT};
use crate::short_json::LEAST_BYTES;

pub(super) const MAX_BYTES: &str = "max_bytes";
pub(super) const CURSOR: &str = "cursor";
/// The size of an answer, in bytes.
const DEFAULT_BYTES: u64 = 2000;
const MOST_BYTES: u64 = 100_000;
/// The longest text of an argument, in bytes.
const LONGEST: usize = 4096;

pub(super) type Arguments = Map<String, Value>;

/// The kind of an argument.
enum Kind {
    Flag,
    Text(Vec<String>),
    Texts,
    Integer,
    Number,
}

/// A command line, without the command itself.
#[derive(Debug)]
pub(super) struct CommandLine {
    pub(super) words: Vec<OsString>,
    pub(super) inputs: Vec<OsString>,
    /// The paths among them.
    pub(super) paths: Vec<PathBuf>,
    pub(super) max_bytes: u64,
    pub(super) cursor: Option<String>,
}

impl Tool {
    /// The tool with this name.
    pub(super) fn named(name: &str) -> Result<&'static Self, Refusal> {
        let choices = || TOOLS.iter().map(|tool| tool.name.to_owned()).collect();
        let found = TOOLS.iter().find(|tool| tool.name == name);
        found
            .ok_or_else(|| Refusal::arguments(format!("there is no tool {name}"), choices(), "call one of these tools"))
    }

    /// The JSON schema of the arguments.
    pub(super) fn schema(&self, whole: &Command) -> Map<String, Value> {
        let mut properties = Map::new();
        let values: Vec<&str> = self.values();
        if let Some(default) = values.first() {
            properties.insert(WHAT.to_owned(), json!({"type": "string", "enum": values, "default": default}));
        }
        for input in self.inputs() {
            let about = input.about;
            let schema = match input.kind {
                InputKind::Table => json!({"type": "string", "description": about}),
                _ => json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "description": about}),
            };
            // An option may describe it.
            let _ = (!about.is_empty()).then(|| properties.insert(input.name.to_owned(), schema));
        }
        for (name, option) in self.options(whole) {
            let about = DESCRIPTIONS.iter().find(|(known, _)| *known == name).map(|(_, about)| *about);
            properties.entry(name).or_insert(schema_of(&option, about));
        }
        if self.writes_json() {
            let about = "Largest answer, in bytes";
            properties.insert(
                MAX_BYTES.to_owned(),
                json!({"type": "integer", "minimum": LEAST_BYTES, "maximum": MOST_BYTES, "default": DEFAULT_BYTES, "description": about}),
            );
            let about = "Continue an answer: a place in its field left_out, with a number for each *";
            properties.insert(CURSOR.to_owned(), json!({"type": "string", "description": about}));
        }
        let required: Vec<&str> =
            self.inputs().filter(|input| self.is_required(input.name)).map(|input| input.name).collect();
        let object =
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        object.as_object().cloned().unwrap_or_default()
    }

    /// True for all tools but the one that writes a page.
    pub(super) fn writes_json(&self) -> bool {
        !self.options.contains(&"output")
    }

    /// The values of the argument that selects what a tool shows; the first is the default.
    fn values(&self) -> Vec<&'static str> {
        self.calls
            .iter()
            .filter_map(|call| call.when)
            .filter(|(name, _)| *name == WHAT)
            .map(|(_, value)| value)
            .collect()
    }

    /// The inputs of all commands, each once.
    fn inputs(&self) -> impl Iterator<Item = &'static Input> {
        let all: Vec<&Input> = self.calls.iter().flat_map(|call| call.inputs).collect();
        let names: Vec<&str> = all.iter().map(|input| input.name).collect();
        all.into_iter()
            .enumerate()
            .filter(move |(index, input)| !names[..*index].contains(&input.name))
            .map(|(_, input)| input)
    }

    /// True if each command needs the input.
    fn is_required(&self, name: &str) -> bool {
        self.calls.iter().all(|call| call.inputs.iter().any(|input| input.name == name))
    }

    /// The options, by the names of their arguments.
    fn options(&self, whole: &Command) -> impl Iterator<Item = (String, Arg)> {
        let commands: Vec<Command> = self.calls.iter().map(|call| command(whole, call.command)).collect();
        self.options.iter().filter_map(move |known| {
            let (long, values) = known.split_once('=').unwrap_or((known, ""));
            let option = commands.iter().find_map(|command| option(command, long))?.clone();
            let only = PossibleValuesParser::new(values.split('|').map(PossibleValue::new));
            let option = if values.is_empty() { option } else { option.value_parser(only) };
            Some((long.replace('-', "_"), option))
        })
    }

    /// The command line for these arguments.
    pub(super) fn command_line(&self, whole: &Command, arguments: &Arguments) -> Result<CommandLine, Refusal> {
        // Some clients send null for what is not set.
        let given = arguments.iter().filter(|(_, value)| !value.is_null());
        let arguments: &Arguments = &given.map(|(name, value)| (name.clone(), value.clone())).collect();
        let schema = self.schema(whole);
        let known: Vec<String> =
            schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        if let Some(unknown) = arguments.keys().find(|name| !known.contains(name)) {
            let message = format!("{} has no argument {unknown}", self.name);
            return Err(Refusal::arguments(message, known, "call it again with these arguments only"));
        }
        if arguments.get(WHAT).is_some_and(|what| !what.is_string()) {
            return Err(self.unfit(WHAT, "a text"));
        }
        let call = self.call(arguments)?;
        let mut line = CommandLine {
            words: call.command.iter().map(OsString::from).collect(),
            inputs: Vec::new(),
            paths: Vec::new(),
            max_bytes: self.max_bytes(arguments)?,
            cursor: arguments.get(CURSOR).map(|value| self.text(CURSOR, value)).transpose()?,
        };
        let command = command(whole, call.command);
        // Only pages are written.
        line.words.extend(option(&command, "no-cache").map(|_| OsString::from("--no-cache")));
        for (name, option) in self.options(whole) {
            match arguments.get(&name).filter(|_| call.inputs.iter().all(|input| input.name != name)) {
                None => {}
                Some(value) if self::option(&command, &name.replace('_', "-")).is_some() => {
                    self.add(&mut line, &name, &option, value)?;
                }
                Some(_) => {
                    let message = format!("{name} does not apply to this call of {}", self.name);
                    return Err(Refusal::arguments(message, Vec::new(), "call it again without this argument"));
                }
            }
        }
        for (long, value) in call.defaults.iter().filter(|(long, _)| !arguments.contains_key(&long.replace('-', "_"))) {
            let is_flag = *value == "true";
            line.words.push(if is_flag { format!("--{long}") } else { format!("--{long}={value}") }.into());
        }
        for input in call.inputs {
            let value = arguments.get(input.name).ok_or_else(|| {
                Refusal::arguments(
                    format!("{} needs {}", self.name, input.name),
                    Vec::new(),
                    "call it again with this argument",
                )
            })?;
            let values = self.texts(input.name, value)?;
            if input.kind != InputKind::Paths && values.len() > 1 {
                return Err(self.unfit(input.name, "a single one in this call"));
            }
            line.paths.extend(values.iter().filter(|_| input.kind != InputKind::Table).map(PathBuf::from));
            line.inputs.extend(values.into_iter().map(OsString::from));
        }
        Ok(line)
    }

    /// Adds an option to a command line.
    fn add(&self, line: &mut CommandLine, name: &str, option: &Arg, value: &Value) -> Result<(), Refusal> {
        let words = self.words(name, option, value)?;
        let is_path = matches!(option.get_value_hint(), ValueHint::AnyPath | ValueHint::DirPath | ValueHint::FilePath);
        if is_path || name == "against" {
            line.paths.extend(words.iter().filter_map(|word| Some(word.to_str()?.split_once('=')?.1.into())));
        }
        let is_page = |word: &OsString| word.to_str().is_some_and(|word| word.to_ascii_lowercase().ends_with(".html"));
        if name == "output" && !words.iter().all(is_page) {
            return Err(self.unfit(name, "a name that ends with .html"));
        }
        line.words.extend(words);
        Ok(())
    }

    /// What the tool shows, as requested or by default.
    fn what<'a>(&self, arguments: &'a Arguments) -> &'a str {
        arguments
            .get(WHAT)
            .and_then(Value::as_str)
            .unwrap_or_else(|| self.values().first().copied().unwrap_or_default())
    }

    /// The command for these arguments.
    fn call(&self, arguments: &Arguments) -> Result<&'static Call, Refusal> {
        let is_meant = |call: &&Call| match call.when {
            None => true,
            Some((WHAT, value)) => self.what(arguments) == value,
            Some((name, _)) => arguments.contains_key(name),
        };
        self.calls.iter().rev().find(is_meant).ok_or_else(|| {
            let choices = self.values().into_iter().map(str::to_owned).collect();
            Refusal::arguments(
                format!("what={} is unknown", self.what(arguments)),
                choices,
                "call it again with one of these",
            )
        })
    }

    fn max_bytes(&self, arguments: &Arguments) -> Result<u64, Refusal> {
        let Some(value) = arguments.get(MAX_BYTES) else { return Ok(DEFAULT_BYTES) };
        let bytes = self.text(MAX_BYTES, value)?.parse().ok();
        let bytes = bytes.filter(|bytes| (LEAST_BYTES as u64..=MOST_BYTES).contains(bytes));
        bytes.ok_or_else(|| self.unfit(MAX_BYTES, &format!("a whole number from {LEAST_BYTES} to {MOST_BYTES}")))
    }

    /// The words for an option with this value.
    fn words(&self, name: &str, option: &Arg, value: &Value) -> Result<Vec<OsString>, Refusal> {
        let long = option.get_long().unwrap_or_default();
        let words = match kind(option) {
            Kind::Flag => match value.as_bool() {
                Some(true) => return Ok(vec![format!("--{long}").into()]),
                Some(false) => return Ok(Vec::new()),
                None => return Err(self.unfit(name, "true or false")),
            },
            Kind::Texts => self.texts(name, value)?,
            Kind::Integer | Kind::Number | Kind::Text(_) => vec![self.text(name, value)?],
        };
        Ok(words.into_iter().map(|word| format!("--{long}={word}").into()).collect())
    }

    /// A list of texts, for which a single one is accepted.
    fn texts(&self, name: &str, value: &Value) -> Result<Vec<String>, Refusal> {
        match value {
            Value::Array(values) if !values.is_empty() => values.iter().map(|value| self.text(name, value)).collect(),
            Value::String(_) => Ok(vec![self.text(name, value)?]),
            _ => Err(self.unfit(name, "a list of one or more texts")),
        }
    }

    fn text(&self, name: &str, value: &Value) -> Result<String, Refusal> {
        // Of an argument that is a list elsewhere.
        let value = match value {
            Value::Array(values) if values.len() == 1 => &values[0],
            value => value,
        };
        if let Some(number) = value.as_f64() {
            // 5.0 is also an integer of JSON.
            return Ok(if value.is_f64() { number.to_string() } else { value.to_string() });
        }
        let is_fit = |text: &&str| !text.is_empty() && text.len() <= LONGEST && !text.contains('\0') && *text != "-";
        let text = value.as_str().filter(is_fit);
        text.map(str::to_owned).ok_or_else(|| self.unfit(name, "a text of 1 to 4096 bytes, without NUL, and not -"))
    }

    fn unfit(&self, name: &str, needed: &str) -> Refusal {
        Refusal::arguments(
            format!("{name} of {} is {needed}", self.name),
            Vec::new(),
            "call it again with such a value",
        )
    }
}

/// The command with this name.
fn command(whole: &Command, words: &[&str]) -> Command {
    let mut command = whole.clone();
    for word in words {
        command = command.find_subcommand(word).cloned().unwrap_or_default();
    }
    command
}

fn option<'c>(command: &'c Command, long: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|arg| arg.get_long() == Some(long))
}

fn kind(option: &Arg) -> Kind {
    let value_name = option.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    match (option.get_action(), value_name) {
        (ArgAction::SetTrue, _) => Kind::Flag,
        (ArgAction::Append, _) if option.get_long() != Some("output") => Kind::Texts,
        (_, "N") => Kind::Integer,
        (_, "P") => Kind::Number,
        _ => {
            let shown = option.get_possible_values().into_iter().filter(|value| !value.is_hide_set());
            Kind::Text(shown.map(|value| value.get_name().to_owned()).collect())
        }
    }
}

fn schema_of(option: &Arg, about: Option<&str>) -> Value {
    let about = about.map(str::to_owned).or_else(|| Some(option.get_help()?.to_string())).unwrap_or_default();
    let mut schema = match kind(option) {
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
        Kind::Integer => json!({"type": "integer"}),
        Kind::Number => json!({"type": ["number", "string"]}),
        Kind::Text(values) if values.is_empty() => json!({"type": "string"}),
        Kind::Text(values) => json!({"type": "string", "enum": values}),
    };
    schema["description"] = about.replace(" (repeatable)", "").into();
    schema
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_option_exists() {
        let whole = &Cli::command();
        for tool in &TOOLS {
            assert_eq!(tool.options(whole).count(), tool.options.len(), "{}: {:?}", tool.name, tool.options);
            for call in tool.calls {
                let command = command(whole, call.command);
                assert_ne!(command.get_name(), "", "{:?}", call.command);
                for (long, _) in call.defaults {
                    assert!(option(&command, long).is_some(), "{}: {long}", tool.name);
                }
            }
        }
    }
}
