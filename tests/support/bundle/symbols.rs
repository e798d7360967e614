//! The symbol archives in a bundle, which contain the names of the sampled functions.

use std::collections::BTreeSet;

use super::super::recording::Invented;
use super::BundleOptions;
use super::apple_symbols_writer::{FUNCTION, Image, Line, Place, Section, Segment, Symbol, write_record};
use super::images::{functions, processor, uuid_bytes};
use super::pack::Files;

/// A file for each image with names.
pub fn archives(recording: &Invented, options: &BundleOptions) -> Files {
    let Some(form) = options.symbols else { return Files::new() };
    let uuids: BTreeSet<&str> = recording.images.iter().map(|image| image.uuid.as_str()).collect();
    let images = uuids.into_iter().map(|uuid| image(recording, uuid)).filter(|image| !image.symbols.is_empty());
    images
        .map(|image| {
            let uuid = image.uuid;
            let name = recording.images.iter().find(|known| uuid_bytes(&known.uuid) == uuid).map(|known| &known.uuid);
            (format!("symbols/stores/{}.symbolsarchive", name.expect("a known image")), write_record(&image, form))
        })
        .collect()
}

/// The functions and lines of all frames in images with this UUID.
fn image(recording: &Invented, uuid: &str) -> Image {
    let functions = functions(recording, uuid);
    let size = functions.values().map(|(end, _)| *end).max().unwrap_or(0).next_multiple_of(0x4000);
    let text = 0x1_0000_0000;
    let mut lines: Vec<Line> = Vec::new();
    for frame in &recording.frames {
        let image = frame.image.map(|image| &recording.images[image]).filter(|image| image.uuid == uuid);
        let (Some(image), Some((file, line)), Some(_)) = (image, &frame.source, &frame.function) else { continue };
        let place = Place { file: Some(file.clone()), line: *line, column: 0 };
        lines.push(Line { address: frame.pc - image.load_address, size: 4, place });
    }
    lines.sort_by_key(|line| line.address);
    lines.dedup_by_key(|line| line.address);
    let known = recording.images.iter().find(|image| image.uuid == uuid).expect("a known image");
    let (cputype, cpusubtype) = processor(&known.arch);
    Image {
        uuid: uuid_bytes(uuid),
        cputype,
        cpusubtype,
        path: known.path.clone(),
        segments: vec![
            Segment { name: "__PAGEZERO", address: 0, size: text },
            Segment { name: "__TEXT", address: text, size },
        ],
        sections: vec![
            Section { name: "MACH_HEADER".to_owned(), address: 0, size: 0x400 },
            Section { name: "__TEXT __text".to_owned(), address: 0x400, size: size.saturating_sub(0x400) },
        ],
        symbols: functions.into_iter().map(|(start, (end, name))| symbol(start, end, name)).collect(),
        lines,
        has_record: true,
    }
}

fn symbol(start: u64, end: u64, name: String) -> Symbol {
    let linker_name = Some(format!("_{name}"));
    let size = (end - start) as u32;
    Symbol { address: start, size, flags: FUNCTION, display_name: Some(name), linker_name, ..Symbol::default() }
}
