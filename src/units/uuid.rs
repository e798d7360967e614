//! UUIDs of binaries.

use std::fmt;

/// The UUID of a binary (`LC_UUID`), formatted as by Apple's tools: upper case with hyphens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(uuid::Uuid);

impl Uuid {
    /// Creates a UUID from its bytes, in the order of the load command.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(uuid::Uuid::from_bytes(bytes))
    }

    /// Parses a UUID in any case, with or without hyphens.
    pub fn parse(text: &str) -> Option<Self> {
        uuid::Uuid::try_parse(text.trim()).ok().map(Self)
    }

    /// True if all bits are 0, which some linkers write if there is no UUID.
    pub const fn is_nil(&self) -> bool {
        self.0.is_nil()
    }

    /// Returns the id in Breakpad's formats: 32 upper-case hex digits without hyphens, and an age, which is 0 on Apple platforms.
    pub fn breakpad_id(&self) -> String {
        format!("{:X}0", self.0.as_simple())
    }

    /// Returns the bytes in the order of the load command.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.hyphenated().encode_upper(&mut uuid::Uuid::encode_buffer()))
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
