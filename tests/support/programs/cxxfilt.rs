//! Demangles C++ names: reads them from standard input, one a line, and writes what they mean, or those that are none as they are.
//!
//! ```sh
//! llvm-nm --just-symbol-name libfoo.so | cargo run --release --example cxxfilt
//! ```

use std::io::{self, BufRead, BufWriter, Write};

use traceparse::demangle::Demangler;

fn main() -> io::Result<()> {
    let (mut demangler, mut line) = (Demangler::default(), String::new());
    let (mut input, mut output) = (io::stdin().lock(), BufWriter::new(io::stdout().lock()));
    while input.read_line(&mut line)? > 0 {
        let name = line.trim_end_matches('\n');
        writeln!(output, "{}", demangler.demangle(name).unwrap_or(name))?;
        line.clear();
    }
    output.flush()
}
