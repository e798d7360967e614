//! Replaces the names of people, devices, places and other programs with pseudonyms.
//!
//! A [`Redactor`] first [collects](Redactor::collect) the names in a recording, then replaces them: in the profile, documents, intervals,
//! and any other text about them. It changes names but no numbers. It runs after symbolication and operations, since both use names.
//! Writers are not involved.
//!
//! ```
//! use traceparse::redact::Redactor;
//!
//! let mut redactor = Redactor::new(Vec::new());
//! assert_eq!(redactor.path("/Users/jane/src/orchard/Feed.swift"), "/path-1/Feed.swift");
//! assert_eq!(redactor.path("/usr/lib/libobjc.A.dylib"), "/usr/lib/libobjc.A.dylib");
//! assert_eq!(redactor.text("com.jane.worker waits"), "com.jane.worker waits", "nothing said yet that this is a person");
//! redactor.hide_users("/Users/jane/src");
//! assert_eq!(redactor.text("com.jane.worker waits"), "com.user-1.worker waits");
//! ```
//!
//! # What is kept
//!
//! Names of the app's processes; system paths; the last part of any path; UUIDs of binaries, which are needed to find symbols; models and versions of
//! devices; dates. `docs/redaction.md` has the complete list, and lists what cannot be guaranteed.

mod case_folding;
mod collect;
mod common_words;
mod documents;
mod hidden_words;
mod inputs;
mod paths;
mod people;
mod profile_names;
mod pseudonyms;
mod redactor;
#[cfg(feature = "patterns")]
mod rules;
mod sentences;
mod texts;

pub use pseudonyms::{Redacted, RedactedKind};
pub use redactor::RedactRule;
pub use redactor::Redactor;
