//! C++ names, which are parsed into nodes and printed in LLVM's spelling.

mod node;
mod operators;
mod parse;
mod print;

pub(super) use parse::parse;
pub(super) use print::print;
