//! Names of Swift before version 4 (2014 to 2017), spelled as `swift demangle -simplified` spells them.
//!
//! ```text
//! _TFFC4Demo6Widget4drawfT5scaleSi_T_U_FT_T_
//! closure #1 in Widget.draw(scale:)
//! ```
//!
//! The kind of each part stands in front of it, and `_` ends a list. From the left: `_T`, then `F` for a function, whose context comes
//! first (another function, `F`, in a class, `C`, of the module `4Demo`, with the name `6Widget`), then its name, `4draw`, and its type: `f`,
//! which takes a tuple, `T5scaleSi_`, and returns the empty one, `T_`. `U_` is the first closure in all that, and has a type too. Modules,
//! types and protocols are `S_`, `S0_`, … once they have been named.
//!
//! `read` makes a tree of a name, in which a node that is named again has one more parent, and `print` writes the tree. Results,
//! requirements of signatures and the arguments of a specialised function are read, but have no place in the tree: the short form never
//! shows them. A few letters that only later compilers write (`async`, `some`) are refused, with all that cannot be read.
//!
//! Names may come from anywhere. The tree takes memory in proportion to the name; the depth of both walks, the work and the output have
//! limits.

mod node;
mod print;
mod punycode;
mod read;

/// Longer names stay mangled.
const LONGEST: usize = 1 << 16;

/// The simplified spelling of a name with one or two underscores in front, in no more than so many bytes. `None` for other names, for
/// names that cannot be read, and for those that nest too deeply or would be too long.
///
/// Names that start with `_T0` are of Swift 4.0, whose mangling is another one.
pub(super) fn simplified(name: &str, longest: usize) -> Option<String> {
    let mangled = name.strip_prefix("__T").or_else(|| name.strip_prefix("_T"))?;
    // Other scripts are written in ASCII.
    if name.len() > LONGEST || !mangled.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    let tree = read::read(mangled)?;
    print::print(&tree, longest)
}

#[cfg(test)]
mod tests;
