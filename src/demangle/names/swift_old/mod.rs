//! Names of Swift before version 4 (2014 to 2017), spelled as `swift demangle -simplified` spells them.
//!
//! ```text
//! _TFFC4Demo6Widget4drawfT5scaleSi_T_U_FT_T_
//! closure #1 in Widget.draw(scale:)
//! ```
//!
//! The kind of each part precedes it, and `_` ends a list. From the left: `_T`, then `F` for a function, which begins with its context
//! (another function, `F`, in a class, `C`, of the module `4Demo`, with the name `6Widget`). Then follow its name, `4draw`, and its type:
//! `f`, which takes a tuple, `T5scaleSi_`, and returns the empty one, `T_`. `U_` is the first closure in all that, and also has a type.
//! After their first use, modules, types and protocols are `S_`, `S0_`, …
//!
//! Each part is spelled as it is read. Results, requirements of signatures and the arguments of a specialised function are read and
//! forgotten: the short form never shows them. A few letters that only later compilers write (`async`, `some`) are refused, with all that
//! cannot be read.
//!
//! Names may come from anywhere: the depth of parts inside each other and the length of all spellings have limits.

mod entity;
mod generic;
mod node;
mod punycode;
mod reader;
mod symbol;
mod ty;

/// Longer names stay mangled.
const LONGEST: usize = 1 << 16;

/// Bytes for the spellings of all parts, for each byte that may be written. Names that take more stay mangled.
const ROOM: usize = 16;

/// The simplified spelling of a name with one or two leading underscores, in at most `longest` bytes. `None` for other names, malformed
/// names, and names that are nested too deeply or would be too long.
///
/// Names that start with `_T0` come from Swift 4.0, which has a different mangling.
pub(super) fn simplified(name: &str, longest: usize) -> Option<String> {
    let mangled = name.strip_prefix("__T").or_else(|| name.strip_prefix("_T"))?;
    // Other scripts are written in ASCII.
    if name.len() > LONGEST || !mangled.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    let mut reader = reader::Reader::new(mangled, longest.max(LONGEST).saturating_mul(ROOM));
    let text = reader.symbol()?;
    (reader.may_end() && text.len() <= longest).then_some(text)
}

#[cfg(test)]
mod tests;
