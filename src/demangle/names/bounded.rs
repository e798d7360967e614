//! Texts of bounded length.

use std::fmt::Write;

/// A text that refuses to grow beyond the longest name.
pub(super) struct Bounded {
    pub(super) text: String,
    /// The most bytes.
    pub(super) longest: usize,
}

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if self.text.len() + text.len() > self.longest {
            return Err(std::fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}
