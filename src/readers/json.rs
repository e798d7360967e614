//! Reads JSON as tokens, with positions in errors and a limit on the length of each token.

use std::hash::BuildHasher;
use std::io::{self, BufRead, BufReader, Read};

use struson::reader::{
    JsonReader, JsonReaderPosition, JsonStreamReader, ReaderError, ReaderSettings, SyntaxErrorKind, ValueType,
};

use crate::error::{Error, ErrorKind, Position};
use crate::hash::IndexSet;
use crate::memory::Reservation;
use crate::recording::Options;

/// The maximum depth in [`Json::leaves`].
const MOST_LEVELS: usize = 32;

/// Memory is reserved in steps of this size.
const BYTES_BETWEEN: u64 = 64 << 10;

/// The approximate memory per member name of an open object. Names are reserved in batches.
const NAME: u64 = 32;
const NAMES_BETWEEN: usize = 4096;

/// The UTF-8 byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads the documents of an input, token by token. It is not recursive, so values can be nested to any depth.
pub(super) struct Json<'n, R: Read> {
    tokens: JsonStreamReader<Metered<R>>,
    name: &'n str,
    max_token: u64,
    /// The member names of the open objects: each is hashed together with the number of its object.
    names: IndexSet<u64>,
    names_held: Reservation,
    /// For each open object, its number, and the number of names when it was opened.
    open: Vec<(u64, usize)>,
    objects: u64,
    /// The length of the byte order mark.
    skipped: u64,
}

impl<'n, R: Read> Json<'n, R> {
    pub(super) fn new(source: R, name: &'n str, options: &Options) -> Self {
        let settings = ReaderSettings {
            allow_multiple_top_level: true,
            track_path: false,
            max_nesting_depth: None,
            ..ReaderSettings::default()
        };
        let max_token = options.limits.name_bytes as u64;
        let mut source = Metered { source: BufReader::new(source), left: u64::MAX };
        let has_mark = source.source.fill_buf().is_ok_and(|start| start.starts_with(MARK));
        if has_mark {
            source.source.consume(MARK.len());
        }
        let skipped = if has_mark { MARK.len() as u64 } else { 0 };
        let names_held = options.memory.nothing();
        let (names, open) = (IndexSet::default(), Vec::new());
        let tokens = JsonStreamReader::new_custom(source, settings);
        Self { tokens, name, max_token, names, names_held, open, objects: 0, skipped }
    }

    /// True if the array or object has another element, or, at the top level, if another document follows.
    pub(super) fn has_next(&mut self) -> Result<bool, Error> {
        // White space may have any length.
        self.unlimited().has_next().map_err(|error| self.failed(error))
    }

    pub(super) fn is_next(&mut self, kind: ValueType) -> Result<bool, Error> {
        self.unlimited().peek().map(|next| next == kind).map_err(|error| self.failed(error))
    }

    /// Reads the name of the next member. It must be unique in its object.
    pub(super) fn member(&mut self) -> Result<String, Error> {
        let name = self.limited().next_name_owned().map_err(|error| self.failed(error))?;
        let key = self.names.hasher().hash_one((self.open.last(), &name));
        if !self.names.insert(key) {
            return Err(self.damaged(format!("{name} occurs twice")));
        }
        if self.names.len().is_multiple_of(NAMES_BETWEEN) {
            let held = self.names_held.resize(self.names.len() as u64 * NAME);
            held.map_err(|over| Error::memory(over, Some(self.place())))?;
        }
        Ok(name)
    }

    pub(super) fn begin_object(&mut self) -> Result<(), Error> {
        self.unlimited().begin_object().map_err(|error| self.failed(error))?;
        self.objects += 1;
        self.open.push((self.objects, self.names.len()));
        Ok(())
    }

    pub(super) fn end_object(&mut self) -> Result<(), Error> {
        self.unlimited().end_object().map_err(|error| self.failed(error))?;
        let (_, start) = self.open.pop().unwrap_or_default();
        self.names.truncate(start);
        Ok(())
    }

    pub(super) fn begin_array(&mut self) -> Result<(), Error> {
        self.unlimited().begin_array().map_err(|error| self.failed(error))
    }

    pub(super) fn end_array(&mut self) -> Result<(), Error> {
        self.unlimited().end_array().map_err(|error| self.failed(error))
    }

    /// Reads the next value; `None` for null.
    fn unless_null<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<Option<T>, Error> {
        if self.is_next(ValueType::Null)? {
            return self.skip().map(|()| None);
        }
        read(self).map(Some)
    }

    /// Reads a string; `None` for null.
    pub(super) fn text(&mut self) -> Result<Option<String>, Error> {
        self.unless_null(|json| json.limited().next_string().map_err(|error| json.failed(error)))
    }

    pub(super) fn boolean(&mut self) -> Result<Option<bool>, Error> {
        self.unless_null(|json| json.limited().next_bool().map_err(|error| json.failed(error)))
    }

    /// Reads a non-negative integer; `None` for null.
    pub(super) fn number(&mut self) -> Result<Option<u64>, Error> {
        self.unless_null(|json| {
            let text = json.limited().next_number_as_string().map_err(|error| json.failed(error))?;
            text.parse().map_err(|_| json.damaged(format!("{text} is not a whole number from 0 to 2^64 - 1")))
        })
    }

    /// Reads a string, number or boolean as written; `None` for other values, which are skipped.
    pub(super) fn scalar(&mut self) -> Result<Option<String>, Error> {
        match self.unlimited().peek().map_err(|error| self.failed(error))? {
            ValueType::String => self.text(),
            ValueType::Number => self.limited().next_number_as_string().map(Some).map_err(|error| self.failed(error)),
            ValueType::Boolean => Ok(self.boolean()?.map(|value| value.to_string())),
            ValueType::Null | ValueType::Array | ValueType::Object => self.skip().map(|()| None),
        }
    }

    /// Passes the strings, numbers and booleans in the next value to `each`. Their path of names and indices is appended to `path`.
    pub(super) fn leaves(
        &mut self,
        path: &mut Vec<String>,
        mut each: impl FnMut(&[String], String, &Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let outside = path.len();
        // For each open value: the next index of an array; `None` for an object.
        let mut open: Vec<Option<usize>> = Vec::new();
        loop {
            if self.is_next(ValueType::Object)? {
                self.begin_object()?;
                open.push(None);
            } else if self.is_next(ValueType::Array)? {
                self.begin_array()?;
                open.push(Some(0));
            } else if let Some(value) = self.scalar()? {
                each(path, value, self)?;
            }
            if open.len() > MOST_LEVELS {
                return Err(self.damaged("values are nested too deeply"));
            }
            loop {
                path.truncate(outside + open.len().saturating_sub(1));
                let Some(innermost) = open.last_mut() else { return Ok(()) };
                if self.has_next()? {
                    path.push(match innermost {
                        Some(index) => {
                            *index += 1;
                            (*index - 1).to_string()
                        }
                        None => self.member()?,
                    });
                    break;
                }
                if innermost.is_some() {
                    self.end_array()?
                } else {
                    self.end_object()?
                }
                open.pop();
            }
        }
    }

    pub(super) fn skip(&mut self) -> Result<(), Error> {
        self.unlimited().skip_value().map_err(|error| self.failed(error))
    }

    /// The position of the next token.
    pub(super) fn place(&self) -> Position {
        self.at(&self.tokens.current_position(false))
    }

    /// An error at the next token.
    pub(super) fn damaged(&self, text: impl Into<String>) -> Error {
        Error::new(ErrorKind::Malformed(text.into()), Some(self.place()))
    }

    /// An error for an input with too many documents.
    pub(super) fn too_many(&self, most: usize) -> Error {
        Error::new(ErrorKind::Limit(format!("the input has more than {most} diagnostics")), Some(self.place()))
    }

    /// An error about the whole input.
    pub(super) fn refused(&self, text: &str) -> Error {
        Error::new(ErrorKind::NotAnExport(text.to_owned()), Some(Position { line: 1, byte: 0, ..self.place() }))
    }

    fn limited(&mut self) -> &mut JsonStreamReader<Metered<R>> {
        self.tokens.reader_mut().left = self.max_token;
        &mut self.tokens
    }

    fn unlimited(&mut self) -> &mut JsonStreamReader<Metered<R>> {
        self.tokens.reader_mut().left = u64::MAX;
        &mut self.tokens
    }

    fn at(&self, position: &JsonReaderPosition) -> Position {
        let line = position.line_pos.as_ref().map_or(0, |at| at.line + 1);
        Position { input: self.name.to_owned(), line, byte: self.skipped + position.data_pos.unwrap_or_default() }
    }

    fn failed(&mut self, error: ReaderError) -> Error {
        let is_too_long = self.tokens.reader_mut().left == 0;
        let (kind, at) = match error {
            ReaderError::SyntaxError(error) if error.kind == SyntaxErrorKind::IncompleteDocument => {
                ("the file ends inside a document; was it truncated?".to_owned(), error.location)
            }
            ReaderError::SyntaxError(error) => (not_json(fault(&error.kind)), error.location),
            ReaderError::UnexpectedValueType { expected, actual, location } => {
                (format!("expected {} and found {}", kind(expected), kind(actual)), location)
            }
            ReaderError::UnexpectedStructure { location, .. } => (not_json("a value is missing"), location),
            ReaderError::IoError { location, .. } if is_too_long => {
                let text = format!("a string is longer than {} bytes", self.max_token);
                return Error::new(ErrorKind::Limit(text), Some(self.at(&location)));
            }
            ReaderError::IoError { error, location } => {
                return Error::io(io::Error::other(error), Some(self.at(&location)));
            }
            // Nesting is unlimited; numbers such as 1e999 are rejected.
            other => return self.damaged(other.to_string()),
        };
        Error::new(ErrorKind::Malformed(kind), Some(self.at(&at)))
    }
}

fn not_json(fault: &str) -> String {
    format!("this is not JSON: {fault}; pass the original file, or save it again")
}

/// Describes a syntax error.
fn fault(kind: &SyntaxErrorKind) -> &'static str {
    match kind {
        SyntaxErrorKind::MissingComma => "a comma is missing",
        SyntaxErrorKind::UnexpectedComma | SyntaxErrorKind::TrailingCommaNotEnabled => "no value follows a comma",
        SyntaxErrorKind::MissingColon => "a colon is missing after a name",
        SyntaxErrorKind::UnexpectedColon => "a colon does not follow a name",
        SyntaxErrorKind::UnexpectedClosingBracket => "a bracket closes nothing",
        SyntaxErrorKind::ExpectingMemberNameOrObjectEnd => "a name in double quotes or a closing brace is missing",
        SyntaxErrorKind::MalformedNumber | SyntaxErrorKind::TrailingDataAfterNumber => "a number is malformed",
        SyntaxErrorKind::NotEscapedControlCharacter => "a string contains a line end or another control character",
        SyntaxErrorKind::UnknownEscapeSequence
        | SyntaxErrorKind::MalformedEscapeSequence
        | SyntaxErrorKind::UnpairedSurrogatePairEscapeSequence => "a backslash in a string starts no known character",
        _ => "a value is expected, such as a string in double quotes",
    }
}

/// Names a type of values.
fn kind(kind: ValueType) -> &'static str {
    match kind {
        ValueType::Array => "an array",
        ValueType::Object => "an object",
        ValueType::String => "a string",
        ValueType::Number => "a number",
        ValueType::Boolean => "true or false",
        ValueType::Null => "null",
    }
}

/// Checks that no object in a document has a duplicate name.
///
/// # Errors
/// If an object has a duplicate name, or the text is not JSON.
#[cfg(feature = "dataset")]
pub(crate) fn check_names(text: &str, name: &str) -> Result<(), Error> {
    Json::new(text.as_bytes(), name, &Options::default()).leaves(&mut Vec::new(), |_, _, _| Ok(()))
}

/// Reads the value of a member that may occur only once, whichever of its names is used.
pub(super) fn once<'n, R: Read, T>(
    json: &mut Json<'n, R>,
    key: &str,
    into: &mut Option<T>,
    read: impl FnOnce(&mut Json<'n, R>) -> Result<Option<T>, Error>,
) -> Result<(), Error> {
    if into.is_some() {
        return Err(json.damaged(format!("{key} occurs twice")));
    }
    *into = read(json)?;
    Ok(())
}

/// The memory of a document, which is reserved in steps.
pub(super) struct Held {
    reserved: Reservation,
    bytes: u64,
}

impl Held {
    pub(super) fn new(options: &Options) -> Self {
        Self { reserved: options.memory.nothing(), bytes: 0 }
    }

    /// Starts another document, releasing the last one.
    pub(super) fn start(&mut self) {
        self.bytes = 0;
    }

    /// Adds to the memory of the document.
    pub(super) fn add<R: Read>(&mut self, bytes: usize, json: &Json<'_, R>) -> Result<(), Error> {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        if self.bytes.abs_diff(self.reserved.bytes()) < BYTES_BETWEEN {
            return Ok(());
        }
        self.reserved.resize(self.bytes).map_err(|over| Error::memory(over, Some(json.place())))
    }
}

/// Limits the bytes that one token can read, so a hostile token cannot exhaust memory.
struct Metered<R> {
    source: BufReader<R>,
    left: u64,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::Error::other("a token is too long"));
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        let read = self.source.read(&mut bytes[..most])?;
        self.left -= read as u64;
        Ok(read)
    }
}
