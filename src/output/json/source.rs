//! Source files with what their lines weigh.

use std::io::{self, Write};

use super::values::push_text;
use crate::calltree::KeySums;
use crate::output::texts::Page;
use crate::report::Report;

/// Writes the source files of all series, where their texts were asked for.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(out);
    let mut separator: &[u8] = b",\n\"sources\":[\n";
    let mut has_asked = false;
    for (index, series) in report.series.iter().enumerate() {
        let Some(files) = report.annotated_files(series) else { continue };
        has_asked = true;
        for file in files {
            page.put(separator);
            separator = b",\n";
            page.put(b"{\"series\":");
            page.put_number(index as u64);
            page.put(b",\"path\":");
            push_text(Some(file.path), &mut page.text);
            page.put(b",\"file\":");
            push_text(file.file.ok(), &mut page.text);
            page.put(b",\"missing\":");
            push_text(file.file.err(), &mut page.text);
            put_sums(&file.sums, &mut page);
            page.put(format!(",\"unit\":\"{}\",\"lines\":[", series.unit.name()).as_bytes());
            for (position, line) in file.lines.iter().enumerate() {
                page.put(if position > 0 { b",\n{\"line\":" } else { b"\n{\"line\":" });
                page.put_number(u64::from(line.line));
                put_sums(&line.sums, &mut page);
                page.put(b",\"text\":");
                push_text(line.text, &mut page.text);
                page.put(b"}");
                page.turn()?;
            }
            page.put(b"]}");
        }
    }
    match (has_asked, separator) {
        (false, _) => {}
        (true, b",\n") => page.put(b"]"),
        (true, _) => page.put(b",\n\"sources\":[]"),
    }
    page.finish()
}

fn put_sums(sums: &KeySums, page: &mut Page<'_>) {
    let numbers = [
        (",\"self_weight\":", sums.self_weight),
        (",\"all_weight\":", sums.all_weight),
        (",\"self_samples\":", sums.self_samples),
        (",\"samples\":", sums.all_samples),
    ];
    for (name, number) in numbers {
        page.put(name.as_bytes());
        page.put_number(number);
    }
}
