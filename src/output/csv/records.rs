//! Records and fields that the tables share. Text in cells is verbatim, or protected from spreadsheets, which might run it as a formula.

use std::borrow::Cow;
use std::io::{self, Write};

use ::csv::Writer;

use crate::calltree::Label;
use crate::output::byte_writer::Put;
use crate::profile::Profile;
use crate::report::{Report, Scope, ScopeParts, SeriesReport, binary_of, function_of};

pub(in crate::output) type Out<'o> = Writer<&'o mut dyn Write>;

/// Writes a record. Errors of the writer below are returned unchanged, so a closed pipe is recognised.
pub(in crate::output) fn record(csv: &mut Out<'_>, fields: &[&str]) -> io::Result<()> {
    csv.write_record(fields).map_err(|error| match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    })
}

pub(super) fn optional(number: Option<u64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

/// The origin of the rows of a series: `input,run,table,schema,`.
pub(super) fn series_fields(report: &Report<'_>, series: &SeriesReport, cells: Cells) -> Vec<u8> {
    let profile = &report.recording.profile;
    let row = profile.series(series.series);
    let run = profile.run(row.run);
    let position = report.table(series.series).and_then(|table| table.position);
    let mut out = Vec::new();
    push_field(&cells.text(profile.string(run.input)), &mut out);
    out.put(format!(",{},{},", run.number, optional(position.map(u64::from))).as_bytes());
    push_field(&cells.text(profile.string(row.schema)), &mut out);
    out.push(b',');
    out
}

/// The process and thread of rows, as far as they apply: `pid,process,tid,thread,`.
pub(super) fn scope_fields(profile: &Profile, scope: Scope, cells: Cells) -> Vec<u8> {
    let ScopeParts { process, thread, .. } = scope.parts(profile);
    let mut out = Vec::new();
    let process = process.map(|process| (process.pid, process.name));
    let thread = thread.map(|thread| (thread.tid, thread.name));
    for part in [process, thread] {
        out.put(optional(part.and_then(|(number, _)| number)).as_bytes()).push(b',');
        push_field(&cells.text(part.map_or("", |(_, name)| profile.string(name))), &mut out);
        out.push(b',');
    }
    out
}

/// Appends a field as [`record`] writes it: in quotes, if it holds what ends a field or a record.
pub(in crate::output) fn push_field(field: &str, out: &mut Vec<u8>) {
    if memchr::memchr3(b',', b'"', b'\n', field.as_bytes()).is_none() && !field.contains('\r') {
        return out.extend_from_slice(field.as_bytes());
    }
    out.push(b'"');
    // Each quote in it is doubled.
    out.put(field.replace('"', "\"\"").as_bytes()).push(b'"');
}

/// Appends `field,field`: a function and its binary.
pub(super) fn push_function(profile: &Profile, label: Label, cells: Cells, out: &mut Vec<u8>) {
    push_field(&cells.text(function_of(profile, label)), out);
    out.push(b',');
    push_field(&cells.text(binary_of(profile, label).unwrap_or_default()), out);
}

/// How to write text in cells. Numbers are the same in both forms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cells {
    /// Verbatim, for programs.
    #[default]
    AsTheyAre,
    /// With an apostrophe before text that a spreadsheet would run as a formula (`=`, `+`, `-`, `@` and their full-width forms), and before
    /// leading white space (tab, line breaks, a null byte). `-[Widget draw:]` becomes `'-[Widget draw:]`.
    ForSpreadsheets,
}

impl Cells {
    /// Returns the text of a cell, without quotes.
    ///
    /// Some spreadsheets separate cells by `;` or tabs. They split text there, so the part after each of these characters is also
    /// protected.
    pub(in crate::output) fn text(self, text: &str) -> Cow<'_, str> {
        let mut starts: Vec<usize> = Vec::new();
        if self == Self::ForSpreadsheets {
            starts.extend(Some(0).filter(|_| starts_formula(text)));
            let behind = text.match_indices([';', '\t', '\n', '\r']).map(|(at, _)| at + 1);
            starts.extend(behind.filter(|&at| starts_formula(&text[at..])));
        }
        if starts.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len() + starts.len());
        let mut from = 0;
        for at in starts {
            out.push_str(&text[from..at]);
            out.push('\'');
            from = at;
        }
        Cow::Owned(out + &text[from..])
    }
}

/// True if a spreadsheet may treat a cell as a formula. Quotes are CSV syntax, and spreadsheets may ignore spaces before a formula.
fn starts_formula(cell: &str) -> bool {
    let formula = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
    cell.starts_with(['\t', '\r', '\n', '\0']) || cell.trim_start_matches([' ', '"']).starts_with(formula)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_of_the_other_tables() {
        for field in ["", "a", " a ", "a,b", "\"", "a\"b\"", "a\nb", "a\rb", "é;\t|'", ",", "\"\""] {
            let mut expected = Vec::new();
            let out: &mut dyn Write = &mut expected;
            let mut csv = Writer::from_writer(out);
            record(&mut csv, &[field, "x"]).unwrap();
            csv.flush().unwrap();
            drop(csv);
            let mut found = Vec::new();
            push_field(field, &mut found);
            found.extend_from_slice(b",x\n");
            assert_eq!(found, expected, "{field:?}");
        }
    }

    #[test]
    fn formulas_become_text() {
        for (text, safe) in [
            ("=1+1", "'=1+1"),
            ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
            ("-[Widget draw:]", "'-[Widget draw:]"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t'=1"),
            ("\r=1", "'\r'=1"),
            ("\"=1", "'\"=1"),
            (" =1", "' =1"),
            ("＝1", "'＝1"),
            ("main;=1", "main;'=1"),
            ("a\n@b", "a\n'@b"),
        ] {
            assert_eq!(Cells::ForSpreadsheets.text(text), safe);
            assert_eq!(Cells::AsTheyAre.text(text), text);
        }
        for text in ["", "main", "a = b", "operator-(int)", "f(T = int; U)", "日本", "a;b", "'x'"] {
            assert!(matches!(Cells::ForSpreadsheets.text(text), Cow::Borrowed(same) if same == text));
        }
    }
}
