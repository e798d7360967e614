//! A comparison as a JUnit report, which CI systems show among their tests.

use std::io::{self, Write};

use quick_xml::escape::escape;

use super::sentences::{function_change, interval, verdict};
use crate::fleet::compare::{ComparedFunction, Comparison, Reason, Verdict};
use crate::output::fleet::opening::name_of;
use crate::output::inert::inert;

/// Writes a case for the total, and one for each slower function. Not to be able to tell is a skipped case.
///
/// # Errors
/// When `out` fails.
pub(in crate::output) fn write(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let slower: Vec<&ComparedFunction> = comparison.slower_functions().collect();
    let is_slower = match &comparison.verdict {
        Verdict::Slower(reasons) => reasons.iter().any(|reason| *reason != Reason::Function),
        _ => false,
    };
    let is_skipped = matches!(comparison.verdict, Verdict::CannotTell { .. });
    let (tests, failures) = (1 + slower.len(), usize::from(is_slower) + slower.len());
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{}\"", u8::from(is_skipped));
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>")?;
    writeln!(out, "  <testsuite name=\"traceparse compare\" {counts}>")?;
    let message = text(&verdict(comparison));
    let result = match (is_slower, is_skipped) {
        (true, _) => format!("<failure type=\"slower\" message=\"{message}\"/>"),
        (_, true) => format!("<skipped message=\"{message}\"/>"),
        _ => format!("<system-out>{message}</system-out>"),
    };
    writeln!(out, "    <testcase classname=\"traceparse\" name=\"total\">{result}</testcase>")?;
    for function in slower {
        let (name, binary) = name_of(&function.name);
        let message = text(&format!("{} ({})", function_change(function), interval(function.interval)));
        let failure = format!("<failure type=\"slower\" message=\"{message}\"/>");
        let (name, class) = (text(&name), text(&format!("traceparse.{binary}")));
        writeln!(out, "    <testcase classname=\"{class}\" name=\"{name}\">{failure}</testcase>")?;
    }
    out.write_all(b"  </testsuite>\n</testsuites>\n")
}

/// Without characters that XML lacks.
fn text(text: &str) -> String {
    escape(inert(text)).into_owned()
}
