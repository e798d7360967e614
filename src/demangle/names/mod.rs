//! Demangles names from every source for display.

mod punycode;
mod rust;
#[cfg(feature = "swift")]
mod swift;
#[cfg(feature = "swift")]
mod swift_guard;
mod swift_types;

use std::borrow::Cow;

use super::Demangler;
use crate::error::{Diagnostic, add_feature};

/// The prefix of a stub, which the linker created to reach a function in another binary. The name of the function follows.
pub(crate) const STUB: &str = "DYLD-STUB$$";

impl Demangler {
    /// Returns a function's name for display: C++, Rust and Swift demangled, everything else unchanged.
    ///
    /// If demanglers differ, the spelling follows Instruments, so a function has the same name from every source. C++ is spelled by
    /// [`demangle_cpp`](Self::demangle_cpp); Rust loses its hash; Swift is spelled like `swift demangle -simplified`, with labels but without types and
    /// modules (for Swift 4 and later with the feature `swift`, otherwise unchanged). Types are demangled from their Objective-C runtime names, which
    /// needs no feature; functions of older Swift stay unchanged.
    pub fn display_name(self, name: &str) -> Cow<'_, str> {
        self.demangle(name).map_or(Cow::Borrowed(name), Cow::Owned)
    }

    /// Demangles a mangled or partly demangled name, in the spelling of [`display_name`](Self::display_name). `None` for other names, and for names
    /// that are malformed or would be too long.
    ///
    /// Symbol tables of macOS have an additional underscore before the compiler's name; both forms are accepted.
    ///
    /// For a stub (`DYLD-STUB$$` and the name of its target), the name of the target is demangled and the prefix is kept.
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
            // Swift 4.0.
            b'T' if start.starts_with("T0") => swift_name(name, start),
            b'T' => swift_types::simplified(name, self.longest),
            b'Z' => self.cpp_name(name),
            _ => None,
        });
        // `_ZNE` is well-formed but demangles to nothing, so the mangled name is more useful.
        demangled.filter(|demangled| !demangled.trim().is_empty())
    }

    fn cpp_name(self, name: &str) -> Option<String> {
        let name = if super::is_mangled(name) { name } else { name.strip_prefix('_')? };
        self.demangle_cpp(name).ok()
    }
}

fn swift_name(name: &str, start: &str) -> Option<String> {
    is_swift(start).then(|| swift::simplified(name)).flatten()
}

/// True if a name without its underscores has the mangling of Swift 4 and later.
fn is_swift(start: &str) -> bool {
    ["$s", "$S", "$e", "T0"].iter().any(|prefix| start.starts_with(prefix))
}

/// Reports how many of these names are Swift names that this build cannot demangle.
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
    /// Without the feature, Swift names cannot be demangled.
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
            ("_TtCC4Demo6Widget4Part", "Widget.Part"),
            ("_TF4Demo4drawFT_T_", "_TF4Demo4drawFT_T_"),
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
            assert_eq!(Demangler::default().display_name(mangled), shown);
        }
    }
}
