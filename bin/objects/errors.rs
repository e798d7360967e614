//! Turns the responses of object stores into messages: the request, its URL, and what to check. Requests are not quoted, because they contain
//! signatures and tokens.

use std::fmt;

use object_store::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Open,
    Read,
    List,
    Write,
    /// Replace an object, unless it has changed since it was read.
    Replace,
}

/// The kind of an error response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Gone,
    Changed,
    Denied,
    Other,
}

/// A failed request.
#[derive(Debug)]
pub(super) struct Refusal {
    url: String,
    asked: Asked,
    reason: Reason,
    /// The response without possible secrets.
    answer: String,
}

impl Refusal {
    pub(super) fn new(url: &str, asked: Asked, error: &Error) -> Self {
        let answer = answer(error);
        let reason = match error {
            Error::NotFound { .. } => Reason::Gone,
            Error::Precondition { .. } | Error::AlreadyExists { .. } => Reason::Changed,
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => Reason::Denied,
            // The response to listing a bucket that does not exist.
            _ if answer.contains("NoSuchBucket") => Reason::Gone,
            _ if answer.contains("403") || answer.contains("401") => Reason::Denied,
            _ => Reason::Other,
        };
        Self { url: url.to_owned(), asked, reason, answer }
    }

    /// True if the object or its bucket does not exist.
    pub(super) fn is_gone(&self) -> bool {
        self.reason == Reason::Gone
    }

    /// True if another process has written the object.
    pub(super) fn is_changed(&self) -> bool {
        self.reason == Reason::Changed
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (url, answer) = (&self.url, &self.answer);
        let asked = match self.asked {
            Asked::Open => "cannot be opened",
            Asked::Read => "cannot be read",
            Asked::List => "cannot be listed",
            Asked::Write | Asked::Replace => "cannot be written",
        };
        match (self.reason, self.asked) {
            (Reason::Gone, Asked::Read) => write!(f, "{url}: the object does not exist"),
            (Reason::Gone, _) => {
                write!(f, "{url}: {asked}: the bucket does not exist; check its name, region and endpoint")
            }
            (Reason::Changed, Asked::Replace) => {
                write!(f, "{url}: another extract has changed this dataset; run the same command again")
            }
            (Reason::Changed, _) => {
                write!(f, "{url}: the object changed while it was read; wait until it is no longer being written")
            }
            (Reason::Denied, _) => {
                write!(
                    f,
                    "{url}: {asked}: access denied; check the credentials in the environment and their rights ({answer})"
                )
            }
            (Reason::Other, _) => {
                write!(
                    f,
                    "{url}: {asked}: {answer}; check the endpoint, the region and the credentials in the environment"
                )
            }
        }
    }
}

impl std::error::Error for Refusal {}

/// The maximum length of a response in messages.
const SHOWN: usize = 300;

/// The innermost cause, which is the response of the store or an error of the system, on one line and without query strings of URLs.
fn answer(error: &Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    let mut texts = vec![cause.to_string()];
    while let Some(next) = cause.source() {
        cause = next;
        texts.push(cause.to_string());
    }
    // The innermost non-empty text in the chain; the outer messages quote it.
    let text = texts.into_iter().rev().find(|text| !text.trim().is_empty()).unwrap_or_default();
    let words = text.split_whitespace().map(|word| word.split_once('?').map_or(word, |(start, _)| start));
    let line = words.collect::<Vec<_>>().join(" ");
    code(&line).unwrap_or_else(|| line.chars().take(SHOWN).collect())
}

/// The code and message of an XML response; all three stores use the same elements.
fn code(line: &str) -> Option<String> {
    let element = |name: &str| {
        let (_, rest) = line.split_once(&format!("<{name}>"))?;
        Some(rest.split_once('<')?.0.trim().to_owned())
    };
    let code = element("Code")?;
    Some(element("Message").map_or(code.clone(), |message| format!("{code}: {message}")))
}
