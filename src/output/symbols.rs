//! Symbol files, and the binaries of a recording that lack symbols, as text or JSON.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::text::style::clean;
use crate::calltree::percent;
use crate::report::{Report, UnnamedBinary};
use crate::symbols::Found;

/// Writes a line for each file and for each binary without symbols.
pub(super) fn write_text(found: &[Found], report: Option<&Report<'_>>, out: &mut dyn Write) -> io::Result<()> {
    for found in found {
        let path = found.path.display().to_string();
        write!(out, "{}  {:<8} {:<14}  {}", found.uuid, found.arch, found.kind.name(), clean(&path))?;
        match &found.image_path {
            Some(image) => writeln!(out, "  {}", clean(image))?,
            None => writeln!(out)?,
        }
    }
    let Some(report) = report else { return Ok(()) };
    let (profile, systems) = (&report.recording.profile, report.systems_without_names());
    for (row, samples) in report.wanted() {
        let binary = profile.binary(row.binary);
        let uuid = binary.uuid.map_or_else(|| "no UUID".to_owned(), |uuid| uuid.to_string());
        let arch = binary.arch.map_or("", |arch| profile.string(arch));
        let path =
            [binary.path, binary.name].map(|text| profile.string(text)).into_iter().find(|text| !text.is_empty());
        let path = clean(path.unwrap_or_default());
        let systems = binary.uuid.and_then(|uuid| systems.get(&uuid)).into_iter().flatten();
        let systems: String = systems.map(|system| format!(" · {}", clean(system))).collect();
        let share = match samples {
            0 => "–".to_owned(),
            _ => format!("{:.1}%", percent(samples, all_samples(report))),
        };
        writeln!(out, "{uuid:<36}  {arch:<8} wanted {share:>6}   {path}{systems}")?;
    }
    Ok(())
}

/// Writes the same information as a JSON document.
pub(super) fn write_json(found: &[Found], report: Option<&Report<'_>>, out: &mut dyn Write) -> io::Result<()> {
    let images: Value = found.iter().map(found_value).collect();
    let wanted = report.map_or_else(|| json!([]), wanted_values);
    let document = json!({"format": "traceparse-uuid", "version": 1, "images": images, "wanted": wanted});
    writeln!(out, "{document}")
}

fn found_value(found: &Found) -> Value {
    json!({
        "uuid": found.uuid.to_string(),
        "arch": found.arch,
        "kind": found.kind.name(),
        "name": found.name,
        "path": found.path.display().to_string(),
        "image_path": found.image_path,
        "text_address": found.text_address,
        "text_size": found.text_size,
    })
}

fn all_samples(report: &Report<'_>) -> u64 {
    report.series.iter().map(|series| series.counted.samples).sum()
}

fn wanted_values(report: &Report<'_>) -> Value {
    let (profile, systems) = (&report.recording.profile, report.systems_without_names());
    let value = |(row, samples): (UnnamedBinary, u64)| {
        let binary = profile.binary(row.binary);
        json!({
            "uuid": binary.uuid.map(|uuid| uuid.to_string()),
            "arch": binary.arch.map(|arch| profile.string(arch)),
            "name": profile.string(binary.name),
            "path": profile.string(binary.path),
            "frames": row.frames,
            "samples": samples,
            "percent": percent(samples, all_samples(report)),
            "systems": binary.uuid.and_then(|uuid| systems.get(&uuid)).into_iter().flatten().collect::<Vec<_>>(),
        })
    };
    report.wanted().into_iter().map(value).collect()
}
