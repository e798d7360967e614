//! C++ names: parsed into nodes, and printed in LLVM's spelling.

pub(super) mod node;
mod operators;
pub(super) mod parse;
pub(super) mod print;
