//! Demangles C++ names of the [Itanium ABI], spelled as LLVM 19 and Apple's tools spell them.
//!
//! ```text
//! _ZNSt3__16vectorIiNS_9allocatorIiEEE9push_backEOi
//! std::__1::vector<int, std::__1::allocator<int>>::push_back(int&&)
//! ```
//!
//! Names may come from anywhere: reading one takes time and memory in proportion to its length, writing it time in
//! proportion to what is written, which has a limit. Neither recurses without a bound.
//!
//! [`demangle`] is for one name. A [`Demangler`] keeps its memory from name to name.
//!
//! Names of Rust, Swift, D and Microsoft's C++ are not read. The older names of Rust look like C++, and are read as such.
//!
//! [Itanium ABI]: https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling

mod error;
mod node;
mod operators;
mod parse;
mod print;

pub use error::Error;

/// The C++ spelling of a mangled name, or `None` if it is no mangled name of C++ or exceeds a limit of [`Options`].
///
/// ```
/// # use traceparse::demangle::demangle;
/// assert_eq!(demangle("_ZN3foo3barEi").as_deref(), Some("foo::bar(int)"));
/// assert_eq!(demangle("main"), None);
/// ```
pub fn demangle(name: &str) -> Option<String> {
    let mut demangler = Demangler::default();
    demangler.demangle(name).ok()?;
    Some(demangler.output)
}

/// The form of the names that a [`Demangler`] reads, and the longest result it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Most bytes of a demangled name; names that would be longer are [`Error::TooLong`]. One mebibyte by default.
    pub max_output: usize,
    /// True if names have one more underscore than the ABI says, as in the symbol tables of macOS. Names without it are then
    /// [`Error::NotMangled`]. False by default.
    pub strips_underscore: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_output: 1 << 20, strips_underscore: false }
    }
}

/// Demangles one name after the other with the same memory.
///
/// ```
/// # use traceparse::demangle::{Demangler, Error, Options};
/// let mut demangler = Demangler::new(Options { max_output: 100, ..Options::default() });
/// assert_eq!(demangler.demangle("_Z1fv.cold"), Ok("f() (.cold)"));
/// assert_eq!(demangler.demangle("___Z1fv_block_invoke"), Ok("invocation function for block in f()"));
/// assert_eq!(demangler.demangle("_Z1f"), Ok("f"));
/// assert_eq!(demangler.demangle("_Z2f"), Err(Error::Malformed { at: 3 }));
/// ```
#[derive(Debug)]
pub struct Demangler {
    options: Options,
    arena: node::Arena,
    tables: parse::Tables,
    scratch: print::Scratch,
    output: String,
}

impl Default for Demangler {
    fn default() -> Self {
        Self::new(Options::default())
    }
}

impl Demangler {
    /// For how many bytes of output memory is kept between names.
    const KEPT: usize = 1 << 14;

    /// Makes a demangler, which takes no memory before the first name.
    pub fn new(options: Options) -> Self {
        let (arena, tables) = (node::Arena::new(), parse::Tables::default());
        Self { options, arena, tables, scratch: print::Scratch::default(), output: String::new() }
    }

    /// The C++ spelling of a mangled name.
    ///
    /// # Errors
    /// The name is none of C++, is malformed, or exceeds a limit.
    pub fn demangle(&mut self, name: &str) -> Result<&str, Error> {
        let name = if self.options.strips_underscore { name.strip_prefix('_').ok_or(Error::NotMangled)? } else { name };
        if !is_mangled(name) {
            return Err(Error::NotMangled);
        }
        self.output.clear();
        self.output.shrink_to(Self::KEPT);
        let root = parse::parse(name, &mut self.arena, &mut self.tables)?;
        print::print(name, &self.arena, root, &mut self.scratch, &mut self.output, self.options.max_output)?;
        Ok(&self.output)
    }
}

/// True for a name that begins as a mangled name of C++ does. It may still be unreadable.
///
/// ```
/// # use traceparse::demangle::is_mangled;
/// assert!(is_mangled("_Z1fv"));
/// assert!(!is_mangled("__Z1fv"));
/// ```
pub fn is_mangled(name: &str) -> bool {
    name.starts_with("_Z") || name.starts_with("___Z")
}
