//! The options of symbolication.

use super::images::ImageSpec;

/// The options of symbolication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicateOptions {
    /// True to add frames for inlined functions; otherwise only the function that holds the code gets one. Default: yes.
    pub with_inlines: bool,
    /// Images of documents whose stacks name none (Xcode 12 to 14.2, and `time-sample`).
    pub images: Vec<ImageSpec>,
}

impl Default for SymbolicateOptions {
    fn default() -> Self {
        Self { with_inlines: true, images: Vec::new() }
    }
}
