//! Ends the process with the process that started it (`--end-with-input`), however that one ends.

use std::io::Read as _;
use std::path::Path;

use crate::interrupt::interrupted;
use crate::unchanged::InputFile;

/// The exit code after SIGTERM.
const TERMINATED: u8 = 143;

/// Starts a thread that ends the process when standard input ends. Nobody writes to it: it is a pipe that the other process closes, or that the
/// system closes with it.
pub(crate) fn end_with_input() -> anyhow::Result<()> {
    let input = InputFile::open(Path::new("-"))?;
    let wait = move || {
        while (&input).read(&mut [0]).is_ok_and(|count| count > 0) {}
        interrupted(TERMINATED);
    };
    std::thread::Builder::new().name("parent".to_owned()).spawn(wait)?;
    Ok(())
}
