//! Source files with what their lines weigh.

use std::io::{self, Write};

use crate::calltree::KeySums;
use crate::output::byte_writer::{ByteWriter, Put};
use crate::report::Report;

/// Writes the source files of all series, if their text was requested.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = ByteWriter::new(out);
    let mut separator: &[u8] = b",\n\"sources\":[\n";
    let mut has_asked = false;
    for (index, series) in report.series.iter().enumerate() {
        let Some(files) = report.annotated_files(series) else { continue };
        has_asked = true;
        for file in files {
            writer.put(separator);
            separator = b",\n";
            writer.put(b"{\"series\":").put_number(index as u64);
            writer.put(b",\"path\":").put_text(Some(file.path));
            writer.put(b",\"file\":").put_text(file.file.ok());
            writer.put(b",\"missing\":").put_text(file.file.err());
            put_sums(&file.sums, &mut writer);
            writer.put(format!(",\"unit\":\"{}\",\"lines\":[", series.unit.name()).as_bytes());
            for (position, line) in file.lines.iter().enumerate() {
                writer.put(if position > 0 { b",\n{\"line\":" } else { b"\n{\"line\":" });
                writer.put_number(u64::from(line.line));
                put_sums(&line.sums, &mut writer);
                writer.put(b",\"text\":").put_text(line.text).put(b"}");
                writer.flush_if_full()?;
            }
            writer.put(b"]}");
        }
    }
    if has_asked {
        writer.put(if separator == b",\n" { b"]" } else { b",\n\"sources\":[]" });
    }
    writer.finish()
}

fn put_sums(sums: &KeySums, writer: &mut ByteWriter<'_>) {
    let numbers = [
        (",\"self_weight\":", sums.self_weight),
        (",\"all_weight\":", sums.all_weight),
        (",\"self_samples\":", sums.self_samples),
        (",\"samples\":", sums.all_samples),
    ];
    for (name, number) in numbers {
        writer.put(name.as_bytes());
        writer.put_number(number);
    }
}
