//! The peer of `run.py`: a program that uses the crate `addr2line` as its documentation shows.
//!
//! ```text
//! addr2line-loop [--read] FILE ADDRESSES [FILE ADDRESSES]...
//! ```
//!
//! Each file is mapped (`--read`: read), then its addresses are looked up in the order of ADDRESSES, a
//! file with one hexadecimal address per line. Frames are written like `traceparse symbolicate -i --full-path` does, but names
//! are not demangled.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use addr2line::Context;
use gimli::{DwarfSections, EndianSlice, LittleEndian};
use object::{Object, ObjectSection};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_read = arguments.first().is_some_and(|first| first == "--read");
    arguments.drain(..usize::from(is_read));
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    for pair in arguments.chunks(2) {
        let [path, addresses] = pair else { return Err("FILE and ADDRESSES come in pairs".into()) };
        let name = Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path);
        let addresses = std::fs::read_to_string(addresses)?;
        if is_read {
            symbolicate(&std::fs::read(path)?, name, &addresses, &mut out)?;
        } else {
            // SAFETY: no other process writes to the file while the bench runs.
            symbolicate(&unsafe { memmap2::Mmap::map(&File::open(path)?)? }, name, &addresses, &mut out)?;
        }
    }
    Ok(out.flush()?)
}

fn symbolicate(data: &[u8], name: &str, addresses: &str, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let file = object::File::parse(data)?;
    let sections = DwarfSections::load(|id| match file.section_by_name(id.name()) {
        Some(section) => section.data(),
        None => Ok(&[][..]),
    })?;
    let context = Context::from_dwarf(sections.borrow(|section| EndianSlice::new(section, LittleEndian)))?;
    for line in addresses.lines() {
        let address = u64::from_str_radix(line.trim_start_matches("0x"), 16)?;
        let mut frames = context.find_frames(address).skip_all_loads()?;
        let mut is_known = false;
        while let Some(frame) = frames.next()? {
            is_known = true;
            match &frame.function {
                Some(function) => write!(out, "{} (in {name})", function.raw_name()?)?,
                None => write!(out, "<unknown> (in {name})")?,
            }
            match frame.location.and_then(|location| Some((location.file?, location.line.unwrap_or(0)))) {
                Some((file, line)) => writeln!(out, " ({file}:{line})")?,
                None => writeln!(out)?,
            }
        }
        if !is_known {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
