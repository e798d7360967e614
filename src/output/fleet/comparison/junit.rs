//! A comparison as a JUnit report, which CI systems show with their tests.

use std::io::{self, Write};

use quick_xml::escape::escape;

use super::sentences::{function_change, interval, verdict};
use crate::fleet::compare::{ComparedFunction, Comparison, Reason, Verdict};
use crate::output::fleet::opening::name_of;
use crate::output::inert::inert;

/// Writes a test case for the total, and one for each slower function, which fails if the function makes the total slower by enough. An unknown
/// result is a skipped case, and an invalid comparison an error.
///
/// # Errors
/// If `out` fails.
pub(in crate::output) fn write(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let slower: Vec<&ComparedFunction> = comparison.slower_functions().collect();
    let fails = |function: &ComparedFunction| comparison.functions.as_ref().is_some_and(|all| all.fails(function));
    let failed = slower.iter().filter(|function| fails(function)).count();
    let message = text(&verdict(comparison));
    let is_of_total = |reasons: &[Reason]| reasons.iter().any(|reason| *reason != Reason::Function);
    let (result, [failures, errors, skipped]) = match &comparison.verdict {
        Verdict::Slower(reasons) if is_of_total(reasons) => {
            (format!("<failure type=\"slower\" message=\"{message}\"/>"), [1, 0, 0])
        }
        Verdict::Invalid { .. } => (format!("<error type=\"invalid\" message=\"{message}\"/>"), [0, 1, 0]),
        Verdict::Unknown { .. } => (format!("<skipped message=\"{message}\"/>"), [0, 0, 1]),
        _ => (format!("<system-out>{message}</system-out>"), [0, 0, 0]),
    };
    let (tests, failures) = (1 + slower.len(), failures + failed);
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"");
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>")?;
    writeln!(out, "  <testsuite name=\"traceparse compare\" {counts}>")?;
    writeln!(out, "    <testcase classname=\"traceparse\" name=\"total\">{result}</testcase>")?;
    for function in slower {
        let (name, binary) = name_of(&function.name);
        let message = text(&format!("{} ({})", function_change(function), interval(function.interval)));
        let result = match fails(function) {
            true => format!("<failure type=\"slower\" message=\"{message}\"/>"),
            false => format!("<system-out>{message}</system-out>"),
        };
        let (name, class) = (text(&name), text(&format!("traceparse.{binary}")));
        writeln!(out, "    <testcase classname=\"{class}\" name=\"{name}\">{result}</testcase>")?;
    }
    out.write_all(b"  </testsuite>\n</testsuites>\n")
}

/// Escapes text for XML, including characters that XML does not allow.
fn text(text: &str) -> String {
    escape(inert(text)).into_owned()
}
