//! Demangles names of every language and source.
//!
//! ```text
//! _ZNSt3__16vectorIiNS_9allocatorIiEEE9push_backEOi
//! std::__1::vector<int, std::__1::allocator<int>>::push_back(int&&)
//! ```
//!
//! Names may come from untrusted sources. Parsing takes time and memory proportional to the length of the name, and printing takes time
//! proportional to the output, which is limited. Recursion is bounded in both.
//!
//! Names of D and Microsoft's C++ are not supported.

mod cpp;
mod error;
mod names;

pub use error::Error;
pub(crate) use names::{STUB, mangled_swift};

/// Demangles names of any language.
///
/// A [stub](Self::demangle) keeps its prefix. Names that would be too long stay mangled.
///
/// ```
/// # use traceparse::demangle::{Demangler, Error};
/// let demangler = Demangler::default();
/// assert_eq!(demangler.display_name("__ZN3foo3barEi"), "foo::bar(int)");
/// assert_eq!(demangler.display_name("_RNvCs1234_7orchard3foo"), "orchard::foo");
/// assert_eq!(demangler.display_name("_TtC4Demo6Widget"), "Widget");
/// assert_eq!(demangler.display_name("-[Widget draw:]"), "-[Widget draw:]");
/// assert_eq!(demangler.demangle_cpp("_Z1fv.cold").as_deref(), Ok("f() (.cold)"));
/// assert_eq!(demangler.demangle_cpp("___Z1fv_block_invoke").as_deref(), Ok("invocation function for block in f()"));
/// assert_eq!(demangler.demangle_cpp("_Z1f").as_deref(), Ok("f"));
/// assert_eq!(demangler.demangle_cpp("_Z2f"), Err(Error::Malformed { at: 3 }));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Demangler {
    longest: usize,
}

impl Default for Demangler {
    /// Creates a demangler for names of at most [`MAX_DEMANGLED`](Self::MAX_DEMANGLED) bytes.
    fn default() -> Self {
        Self::new(Self::MAX_DEMANGLED)
    }
}

impl Demangler {
    /// The maximum length of a demangled name by default. Of two million C++ names in published libraries, 351 are longer.
    pub const MAX_DEMANGLED: usize = 1 << 16;

    /// Creates a demangler for names of at most `longest` bytes. Names of Swift 4 and later are limited to 4 KiB.
    pub fn new(longest: usize) -> Self {
        Self { longest }
    }

    /// Demangles a C++ name (the [Itanium ABI]), in the spelling of LLVM 19 and Apple's tools. Rust's legacy names look like C++ and are demangled as
    /// C++.
    ///
    /// # Errors
    /// If the name is not a mangled C++ name, is malformed, or exceeds a limit.
    ///
    /// [Itanium ABI]: https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling
    pub fn demangle_cpp(self, name: &str) -> Result<String, Error> {
        if !is_mangled(name) {
            return Err(Error::NotMangled);
        }
        let (arena, root) = cpp::parse(name)?;
        cpp::print(name, &arena, root, self.longest)
    }
}

/// True for a name that starts like a mangled C++ name. It may still be malformed.
pub(crate) fn is_mangled(name: &str) -> bool {
    name.starts_with("_Z") || name.starts_with("___Z")
}
