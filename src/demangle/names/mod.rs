//! Names from every source, as they are displayed.

mod rust;
#[cfg(feature = "swift")]
mod swift;
#[cfg(feature = "swift")]
mod swift_guard;
mod swift_old;

use std::borrow::Cow;

use super::Demangler;
use crate::error::{Diagnostic, add_feature};

/// The prefix of a stub's name, which the linker made to reach a function of another binary. The name of the function follows.
pub(crate) const STUB: &str = "DYLD-STUB$$";

/// A function's name as shown: C++, Rust and Swift demangled, everything else unchanged.
///
/// A name that would be longer than [`MAX_DEMANGLED`](NameDemangler::MAX_DEMANGLED) bytes stays unchanged.
///
/// If demanglers differ, the spelling follows Instruments, so a function has the same name from every source. C++ is spelled by
/// [`Demangler`]; Rust loses its hash; Swift is spelled like `swift demangle -simplified`, with labels but without types and modules (for
/// Swift 4 and later with the feature `swift`, otherwise unchanged).
///
/// ```
/// # use traceparse::demangle::display_name;
/// assert_eq!(display_name("__ZN3foo3barEi"), "foo::bar(int)");
/// assert_eq!(display_name("_RNvCs1234_7orchard3foo"), "orchard::foo");
/// assert_eq!(display_name("__TFC4Demo6Widget4drawfT5scaleSi_Si"), "Widget.draw(scale:)");
/// assert_eq!(display_name("-[Widget draw:]"), "-[Widget draw:]");
/// ```
pub fn display_name(name: &str) -> Cow<'_, str> {
    let demangled = NameDemangler::new(NameDemangler::MAX_DEMANGLED).demangle(name);
    demangled.map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Demangles names of any language.
#[derive(Clone, Copy, Debug)]
pub struct NameDemangler {
    longest: usize,
}

impl NameDemangler {
    /// The longest demangled name. Of two million C++ names of published libraries, 351 are longer.
    pub const MAX_DEMANGLED: usize = 1 << 16;

    /// Makes a demangler for names of at most `longest` bytes. Names of Swift 4 and later are limited to 4 KiB.
    pub fn new(longest: usize) -> Self {
        Self { longest }
    }

    /// The meaning of a name that is mangled, or demangled in part, as [`display_name`] spells it. `None` for other names, and for names
    /// that cannot be read or would be too long.
    ///
    /// Symbol tables of macOS have one more underscore in front than compilers write; both forms are read.
    ///
    /// A stub (`DYLD-STUB$$` and the name of its target) gets the demangled name of its target after the prefix.
    pub fn demangle(self, name: &str) -> Option<String> {
        match name.strip_prefix(STUB) {
            Some(target) => Some(format!("{STUB}{}", self.demangle_one(target)?)),
            None => self.demangle_one(name),
        }
    }

    fn demangle_one(self, name: &str) -> Option<String> {
        let start = name.trim_start_matches('_');
        let demangled = rust::demangled(name, self.longest).or_else(|| match start.bytes().next()? {
            b'$' => swift_name(name, start),
            // Swift 4.0, and what was before.
            b'T' if start.starts_with("T0") => swift_name(name, start),
            b'T' => swift_old::simplified(name, self.longest),
            b'Z' => self.cpp_name(name),
            _ => None,
        });
        // `_ZNE` is well-formed but demangles to nothing, so the mangled name is more useful.
        demangled.filter(|demangled| !demangled.trim().is_empty())
    }

    fn cpp_name(self, name: &str) -> Option<String> {
        let name = if super::is_mangled(name) { name } else { name.strip_prefix('_')? };
        Demangler::default().with_max_output(self.longest).demangle(name).ok()
    }
}

fn swift_name(name: &str, start: &str) -> Option<String> {
    is_swift(start).then(|| swift::simplified(name)).flatten()
}

/// True if a name without its underscores is mangled as Swift 4 and later do.
fn is_swift(start: &str) -> bool {
    ["$s", "$S", "$e", "T0"].iter().any(|prefix| start.starts_with(prefix))
}

/// Reports the Swift names among these that this build cannot demangle.
pub(crate) fn mangled_swift<'n>(names: impl Iterator<Item = &'n str>) -> Option<Diagnostic> {
    if cfg!(feature = "swift") {
        return None;
    }
    let is_mangled = |name: &&str| {
        let name = name.strip_prefix(STUB).unwrap_or(name);
        name.starts_with(['_', '$']) && is_swift(name.trim_start_matches('_'))
    };
    let count = names.filter(is_mangled).count() as u64;
    let message = format!("a Swift name stays mangled; to demangle it, {}", add_feature("swift"));
    (count > 0).then(|| Diagnostic { count, ..Diagnostic::new(message) })
}

#[cfg(not(feature = "swift"))]
mod swift {
    /// There is no demangler for names of Swift.
    pub(super) fn simplified(_name: &str) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_demangled_once_they_are_mangled() {
        for (mangled, shown) in [
            ("_ZN3foo3barEi", "foo::bar(int)"),
            ("__ZN3foo3barEi", "foo::bar(int)"),
            ("_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place"),
            ("_RNvCs1234_7orchard3foo", "orchard::foo"),
            ("main", "main"),
            ("DYLD-STUB$$__ZN3foo3barEi", "DYLD-STUB$$foo::bar(int)"),
            ("DYLD-STUB$$_RNvCs1234_7orchard3foo", "DYLD-STUB$$orchard::foo"),
            ("DYLD-STUB$$strlen", "DYLD-STUB$$strlen"),
            ("DYLD-STUB$$DYLD-STUB$$_Z1fv", "DYLD-STUB$$DYLD-STUB$$_Z1fv"),
            #[cfg(feature = "swift")]
            ("_$s4Demo6WidgetC4draw5scaleS2i_tF", "Widget.draw(scale:)"),
            ("_TFFC4Demo6Widget4drawfT_T_U_FT_T_", "closure #1 in Widget.draw()"),
            ("__TFFC4Demo6Widget4drawfT_T_U_FT_T_", "closure #1 in Widget.draw()"),
            ("___TF4Demo4drawFT_T_", "___TF4Demo4drawFT_T_"),
            ("TF4Demo4drawFT_T_", "TF4Demo4drawFT_T_"),
            ("_TSave", "_TSave"),
            ("_TMalloc", "_TMalloc"),
            ("_TPA", "_TPA"),
            ("_Z1fIXmlEEvv", "_Z1fIXmlEEvv"),
            ("__ZNE", "__ZNE"),
            ("_ZN17h0123456789abcdefE", "_ZN17h0123456789abcdefE"),
            ("_ZN1AILy1EE1fEv", "A<1ull>::f()"),
            ("_ZN1AI1BI1CEE1fEv", "A<B<C>>::f()"),
            ("_Z1fPU11objcproto1P11objc_object", "f(id<P>)"),
            ("_ZN3FooC2IiEET_", "Foo::Foo<int>(int)"),
            ("_ZN3FooC2Ei", "Foo::Foo(int)"),
            ("-[Widget draw:]", "-[Widget draw:]"),
            ("__28+[Widget shared]_block_invoke", "__28+[Widget shared]_block_invoke"),
        ] {
            assert_eq!(display_name(mangled), shown);
        }
    }
}
