//! The error of datasets, extraction and merging.

use std::error::Error;
use std::fmt::{self, Display};

use crate::memory::OverBudget;

type Cause = Box<dyn Error + Send + Sync>;

/// The reason why a fleet cannot be read, extracted or merged: a sentence that names the file and what to do, and its cause.
#[derive(Debug)]
pub struct FleetError(Reason);

#[derive(Debug)]
enum Reason {
    Sentence(String, Option<Cause>),
    /// Another error, in its own words.
    Other(Cause),
}

pub(crate) type Result<T, E = FleetError> = std::result::Result<T, E>;

impl FleetError {
    /// An error without a cause.
    pub fn new(sentence: impl Display) -> Self {
        Self(Reason::Sentence(sentence.to_string(), None))
    }

    /// Puts a sentence in front of the error, which becomes its cause.
    pub(crate) fn context(self, sentence: impl Display) -> Self {
        let cause = match self.0 {
            Reason::Other(cause) => cause,
            sentence @ Reason::Sentence(..) => Box::new(Self(sentence)),
        };
        Self(Reason::Sentence(sentence.to_string(), Some(cause)))
    }

    /// An error of the program, in its own words.
    pub fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Reason::Other(error.into()))
    }

    /// The last of its causes, or the error itself.
    pub(crate) fn root_cause(&self) -> &(dyn Error + 'static) {
        let mut last: &(dyn Error + 'static) = match &self.0 {
            Reason::Other(error) => &**error,
            Reason::Sentence(..) => self,
        };
        while let Some(cause) = last.source() {
            last = cause;
        }
        last
    }

    /// The error and its causes in one line: `a.csv, line 7: not JSON: expected value`.
    pub(crate) fn sentences(&self) -> String {
        let mut text = self.to_string();
        let mut next = self.source();
        while let Some(error) = next {
            text += &format!(": {error}");
            next = error.source();
        }
        text
    }

    /// The first error of this type among this error and its causes.
    pub fn find<E: Error + 'static>(&self) -> Option<&E> {
        let mut next: Option<&(dyn Error + 'static)> = match &self.0 {
            Reason::Sentence(_, cause) => cause.as_deref().map(|cause| cause as _),
            Reason::Other(cause) => Some(&**cause),
        };
        while let Some(error) = next {
            if let Some(found) = error.downcast_ref() {
                return Some(found);
            }
            next = error.source();
        }
        None
    }
}

impl Display for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reason::Sentence(sentence, _) => f.write_str(sentence),
            Reason::Other(error) => error.fmt(f),
        }
    }
}

impl Error for FleetError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            Reason::Sentence(_, cause) => cause.as_deref().map(|cause| cause as _),
            Reason::Other(error) => error.source(),
        }
    }
}

/// The errors that are passed on in their own words.
macro_rules! pass_on {
    ($($error:ty),*) => {$(
        impl From<$error> for FleetError {
            fn from(error: $error) -> Self {
                Self(Reason::Other(Box::new(error)))
            }
        }
    )*};
}

pass_on!(
    std::io::Error,
    std::num::TryFromIntError,
    fmt::Error,
    serde_json::Error,
    csv::Error,
    OverBudget,
    super::DatasetError
);

/// Adds what failed to an error, or makes one of a missing value.
pub(crate) trait Context<T> {
    fn context(self, sentence: impl Display) -> Result<T>;
    fn with_context<D: Display>(self, sentence: impl FnOnce() -> D) -> Result<T>;
}

impl<T, E: Into<FleetError>> Context<T> for std::result::Result<T, E> {
    fn context(self, sentence: impl Display) -> Result<T> {
        self.map_err(|error| error.into().context(sentence))
    }

    fn with_context<D: Display>(self, sentence: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|error| error.into().context(sentence()))
    }
}

impl<T> Context<T> for Option<T> {
    fn context(self, sentence: impl Display) -> Result<T> {
        self.ok_or_else(|| FleetError::new(sentence))
    }

    fn with_context<D: Display>(self, sentence: impl FnOnce() -> D) -> Result<T> {
        self.ok_or_else(|| FleetError::new(sentence()))
    }
}

/// An error with this text, as `format!` takes it.
macro_rules! error {
    ($($text:tt)*) => { $crate::fleet::error::FleetError::new(format_args!($($text)*)) };
}

/// Returns an error with this text.
macro_rules! bail {
    ($($text:tt)*) => { return Err($crate::fleet::error::error!($($text)*)) };
}

/// Returns an error with this text unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($text:tt)*) => {
        if !$condition {
            $crate::fleet::error::bail!($($text)*);
        }
    };
}

pub(crate) use {bail, ensure, error};
