//! The command on a terminal: standard output and standard error are a pseudo-terminal created by Python.

use std::process::Command;

use crate::command::BINARY;

/// Makes a terminal of so many columns that passes bytes on as they are, runs the rest of its arguments on it, and prints what they
/// wrote.
const ON_A_TERMINAL: &str = "\
import fcntl, os, pty, struct, sys, termios, tty
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 40, int(sys.argv[1]), 0, 0))
    tty.setraw(1)
    os.execv(sys.argv[2], sys.argv[2:])
written = b''
while True:
    try:
        part = os.read(terminal, 1 << 16)
    except OSError:
        break
    if not part:
        break
    written += part
os.waitpid(child, 0)
sys.stdout.buffer.write(written)
";

/// The output of the command on a terminal with this many columns, on both streams.
#[track_caller]
pub(crate) fn on_terminal(columns: u16, args: &[&str]) -> String {
    let python = std::env::var_os("TRACEPARSE_PYTHON").unwrap_or_else(|| "python3".into());
    let mut command = Command::new(python);
    command.args(["-c", ON_A_TERMINAL, &columns.to_string(), BINARY]).args(args);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    let output = command.env("TERM", "xterm-256color").env("RUST_BACKTRACE", "0").output().expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("a terminal is shown text");
    assert!(!text.is_empty() && !text.contains("panicked"), "{args:?}: {text}");
    text
}
