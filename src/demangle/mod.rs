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
//! A [`Demangler`] keeps its memory from name to name.
//!
//! A [`Demangler`] does not read names of Rust, Swift, D and Microsoft's C++. Rust's legacy names look like C++ and are read as such.
//!
//! [Itanium ABI]: https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling

mod cpp;
mod error;
mod names;

use cpp::{node, parse, print};
pub use error::Error;
pub(crate) use names::STUB;
pub use names::{NameDemangler, display_name};

/// Demangles one name after the other with the same memory.
///
/// ```
/// # use traceparse::demangle::{Demangler, Error};
/// let mut demangler = Demangler::default().with_max_output(100);
/// assert_eq!(demangler.demangle("_Z1fv.cold"), Ok("f() (.cold)"));
/// assert_eq!(demangler.demangle("___Z1fv_block_invoke"), Ok("invocation function for block in f()"));
/// assert_eq!(demangler.demangle("_Z1f"), Ok("f"));
/// assert_eq!(demangler.demangle("_Z2f"), Err(Error::Malformed { at: 3 }));
/// ```
#[derive(Debug)]
pub struct Demangler {
    max_output: usize,
    strips_underscore: bool,
    arena: node::Arena,
    tables: parse::Tables,
    steps: Vec<node::Step>,
    output: String,
}

/// A demangler takes no memory before the first name.
impl Default for Demangler {
    fn default() -> Self {
        let (arena, tables) = (node::Arena::new(), parse::Tables::default());
        let (max_output, strips_underscore) = (1 << 20, false);
        Self { max_output, strips_underscore, arena, tables, steps: Vec::new(), output: String::new() }
    }
}

impl Demangler {
    /// For how many bytes of output memory is kept between names.
    const KEPT: usize = 1 << 14;

    /// Sets the maximum length of demangled names, in bytes; longer names are [`Error::TooLong`]. The default is one mebibyte.
    #[must_use]
    pub fn with_max_output(self, max_output: usize) -> Self {
        Self { max_output, ..self }
    }

    /// For names with one more underscore than the ABI says, as in the symbol tables of macOS. Names without it are then
    /// [`Error::NotMangled`].
    #[must_use]
    pub fn stripping_underscore(self) -> Self {
        Self { strips_underscore: true, ..self }
    }

    /// The C++ spelling of a mangled name.
    ///
    /// # Errors
    /// If the name is not a mangled C++ name, is malformed, or exceeds a limit.
    pub fn demangle(&mut self, name: &str) -> Result<&str, Error> {
        let name = if self.strips_underscore { name.strip_prefix('_').ok_or(Error::NotMangled)? } else { name };
        if !is_mangled(name) {
            return Err(Error::NotMangled);
        }
        self.output.clear();
        self.output.shrink_to(Self::KEPT);
        let root = parse::parse(name, &mut self.arena, &mut self.tables)?;
        print::print(name, &self.arena, root, &mut self.steps, &mut self.output, self.max_output)?;
        Ok(&self.output)
    }
}

/// True for a name that begins like a mangled C++ name. It may still be malformed.
pub(crate) fn is_mangled(name: &str) -> bool {
    name.starts_with("_Z") || name.starts_with("___Z")
}
