//! CPU architectures: their Mach-O numbers, and Apple's names for them.

use std::fmt;

/// A CPU architecture by its Mach-O numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Architecture {
    cpu_type: u32,
    cpu_subtype: u32,
}

impl Architecture {
    pub(crate) const fn new(cpu_type: u32, cpu_subtype: u32) -> Self {
        Self { cpu_type, cpu_subtype }
    }

    /// The name in Apple's tools, such as `arm64`, `arm64e` or `x86_64`; `None` for unlisted architectures.
    ///
    /// Ignores the upper 8 bits of the subtype, which are feature flags (64-bit libraries, pointer authentication version).
    pub(crate) const fn name(self) -> Option<&'static str> {
        const IS_64_BIT: u32 = 0x0100_0000;
        const FEATURES: u32 = 0xff00_0000;
        const ARM: u32 = 12;
        const ARM64: u32 = ARM | IS_64_BIT;
        const ARM64_32: u32 = ARM | 0x0200_0000;
        const X86: u32 = 7;
        const X86_64: u32 = X86 | IS_64_BIT;
        const POWERPC: u32 = 18;
        const POWERPC64: u32 = POWERPC | IS_64_BIT;
        Some(match (self.cpu_type, self.cpu_subtype & !FEATURES) {
            (ARM64, 2) => "arm64e",
            (ARM64, 1) => "arm64v8",
            (ARM64, _) => "arm64",
            (ARM64_32, _) => "arm64_32",
            (X86_64, 8) => "x86_64h",
            (X86_64, _) => "x86_64",
            (X86, _) => "i386",
            (ARM, 5) => "armv4t",
            (ARM, 6) => "armv6",
            (ARM, 7) => "armv5",
            (ARM, 9) => "armv7",
            (ARM, 10) => "armv7f",
            (ARM, 11) => "armv7s",
            (ARM, 12) => "armv7k",
            (ARM, 14) => "armv6m",
            (ARM, 15) => "armv7m",
            (ARM, 16) => "armv7em",
            (ARM, _) => "arm",
            (POWERPC, _) => "ppc",
            (POWERPC64, _) => "ppc64",
            _ => return None,
        })
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            // In the spelling of `lipo`.
            None => write!(f, "cputype ({}) cpusubtype ({})", self.cpu_type, self.cpu_subtype),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_have_the_names_that_apple_uses() {
        let name = |cpu_type, cpu_subtype| Architecture::new(cpu_type, cpu_subtype).to_string();
        assert_eq!(name(0x0100_000C, 0x8000_0002), "arm64e");
        assert_eq!(name(0x0100_000C, 0), "arm64");
        assert_eq!(name(0x0100_0007, 0x8000_0003), "x86_64");
        assert_eq!(name(0x0100_0007, 8), "x86_64h");
        assert_eq!(name(7, 3), "i386");
        assert_eq!(name(12, 9), "armv7");
        assert_eq!(name(0x0200_000C, 1), "arm64_32");
        assert_eq!(name(99, 1), "cputype (99) cpusubtype (1)");
    }
}
