//! Demangles names: [`display_name`] for every language and source, [`Demangler`] for C++ (the [Itanium ABI]) in the spelling of LLVM 19
//! and Apple's tools.
//!
//! ```text
//! _ZNSt3__16vectorIiNS_9allocatorIiEEE9push_backEOi
//! std::__1::vector<int, std::__1::allocator<int>>::push_back(int&&)
//! ```
//!
//! Names may come from anywhere: reading one takes time and memory in proportion to its length, writing it time in
//! proportion to what is written, which has a limit. Neither recurses without a bound.
//!
//! A [`Demangler`] does not read names of Rust, Swift, D and Microsoft's C++. Rust's legacy names look like C++ and are read as such.
//!
//! [Itanium ABI]: https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling

mod cpp;
mod error;
mod names;

pub use error::Error;
pub use names::{NameDemangler, display_name};
pub(crate) use names::{STUB, mangled_swift};

/// Demangles C++ names.
///
/// ```
/// # use traceparse::demangle::{Demangler, Error};
/// let demangler = Demangler::default().with_max_output(100);
/// assert_eq!(demangler.demangle("_Z1fv.cold").as_deref(), Ok("f() (.cold)"));
/// assert_eq!(demangler.demangle("___Z1fv_block_invoke").as_deref(), Ok("invocation function for block in f()"));
/// assert_eq!(demangler.demangle("_Z1f").as_deref(), Ok("f"));
/// assert_eq!(demangler.demangle("_Z2f"), Err(Error::Malformed { at: 3 }));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Demangler {
    max_output: usize,
}

impl Default for Demangler {
    fn default() -> Self {
        Self { max_output: 1 << 20 }
    }
}

impl Demangler {
    /// Sets the maximum length of demangled names, in bytes; longer names are [`Error::TooLong`]. The default is one mebibyte.
    #[must_use]
    pub fn with_max_output(self, max_output: usize) -> Self {
        Self { max_output }
    }

    /// The C++ spelling of a mangled name.
    ///
    /// # Errors
    /// If the name is not a mangled C++ name, is malformed, or exceeds a limit.
    pub fn demangle(self, name: &str) -> Result<String, Error> {
        if !is_mangled(name) {
            return Err(Error::NotMangled);
        }
        let (arena, root) = cpp::parse(name)?;
        cpp::print(name, &arena, root, self.max_output)
    }
}

/// True for a name that begins like a mangled C++ name. It may still be malformed.
pub(crate) fn is_mangled(name: &str) -> bool {
    name.starts_with("_Z") || name.starts_with("___Z")
}
