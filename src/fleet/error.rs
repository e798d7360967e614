//! The error type for datasets, extracts and merges.

use std::error::Error;
use std::fmt::{self, Display};

use crate::memory::OverBudget;

/// Why a fleet cannot be read, extracted or merged: a sentence with the file and what to do, and the cause.
#[derive(Debug)]
pub struct FleetError(anyhow::Error);

pub(crate) type Result<T, E = FleetError> = std::result::Result<T, E>;

impl FleetError {
    /// Creates an error without a cause.
    pub fn new(sentence: impl Display) -> Self {
        Self(anyhow::Error::msg(sentence.to_string()))
    }

    /// Prepends a sentence. The previous error becomes its cause.
    pub(crate) fn context(self, sentence: impl Display) -> Self {
        Self(self.0.context(sentence.to_string()))
    }

    /// Wraps an error of the host program verbatim.
    pub fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(anyhow::Error::from_boxed(error.into()))
    }

    /// The innermost cause, or the error itself.
    pub(crate) fn root_cause(&self) -> &(dyn Error + 'static) {
        self.0.root_cause()
    }

    /// The error and its causes in one line: `a.csv, line 7: not JSON: expected value`.
    pub(crate) fn sentences(&self) -> String {
        format!("{:#}", self.0)
    }

    /// Returns the first of this error and its causes that has this type.
    pub fn find<E: Error + 'static>(&self) -> Option<&E> {
        self.0.chain().find_map(|error| error.downcast_ref())
    }
}

impl Display for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl Error for FleetError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// Converts these errors verbatim.
macro_rules! pass_on {
    ($($error:ty),*) => {$(
        impl From<$error> for FleetError {
            fn from(error: $error) -> Self {
                Self(error.into())
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
    super::DatasetError,
    super::PoolError
);

/// Adds context to an error, or creates an error for a missing value.
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

/// Creates an error from a format string.
macro_rules! error {
    ($($text:tt)*) => { $crate::fleet::error::FleetError::new(format_args!($($text)*)) };
}

/// Returns an error from a format string.
macro_rules! bail {
    ($($text:tt)*) => { return Err($crate::fleet::error::error!($($text)*)) };
}

/// Returns an error unless the condition is true.
macro_rules! ensure {
    ($condition:expr, $($text:tt)*) => {
        if !$condition {
            $crate::fleet::error::bail!($($text)*);
        }
    };
}

pub(crate) use {bail, ensure, error};
