//! Demangles C++ names: reads one name per line from standard input, and writes the demangled name, or the unchanged line if it is not a
//! mangled name.
//!
//! ```sh
//! llvm-nm --just-symbol-name libfoo.so | cargo run --release --example cxxfilt
//! ```

use std::io::{self, BufRead, BufWriter, Write};

use traceparse::demangle::Demangler;

fn main() -> io::Result<()> {
    let (demangler, mut line) = (Demangler::new(1 << 20), String::new());
    let (mut input, mut output) = (io::stdin().lock(), BufWriter::new(io::stdout().lock()));
    while input.read_line(&mut line)? > 0 {
        let name = line.trim_end_matches('\n');
        writeln!(output, "{}", demangler.demangle_cpp(name).as_deref().unwrap_or(name))?;
        line.clear();
    }
    output.flush()
}
