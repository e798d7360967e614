//! `traceparse symbolicate`: names the frames of a crash report, or addresses with output like atos.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::{Args, ValueHint};
use traceparse::demangle::Demangler;
use traceparse::symbols::{Asked, Found, Index, Locator, SourceKind, SymbolFinder as _, SymbolFrame};
use traceparse::units::several;

use crate::arguments::SearchArgs;
use crate::exit_codes::{EXIT_CODES, Failure};
use crate::formats::{Format, JSON};
use crate::given::Given;
use crate::guard::will_write;
use crate::sink::write_to;
use crate::symbolicate_report::name_report;
use crate::symbols::{begin, warn, watch};
use crate::unchanged::{InputFile, WatchedFiles};
use crate::{printable, resource_limits, warning};

const EXAMPLES: &str = "\
Examples:
  traceparse symbolicate crash.ips --dsym App.dSYM > named.ips
      The crash report with names, lines and inlined functions
  traceparse symbolicate crash.ips --dsym App.dSYM --format json | jq '.threads[].frames[].function'
      The same as one JSON document, whose frames are objects
  traceparse symbolicate - --symbols ~/Library/Developer/Xcode/Archives < crash.crash
      A report from standard input, with the dSYMs of all archives
  traceparse symbolicate -o App.dSYM -l 0x102a40000 -i 0x102a4031c
      One address, as atos does";

#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct SymbolicateArgs {
    #[command(flatten)]
    given: Given,
    /// Crash report (.ips, .crash), or hex addresses with -o
    ///
    /// `-` reads a report from standard input. With -o and without addresses, they are read from standard input.
    #[arg(value_name = "REPORT|ADDRESS", value_hint = ValueHint::FilePath)]
    what: Vec<PathBuf>,
    #[command(flatten)]
    search: SearchArgs,
    /// Write one JSON document, with frames as objects
    ///
    /// By default, the report keeps its own form.
    #[arg(long, value_parser = Format::parser(JSON))]
    format: Option<Format>,
    /// Symbol file, such as a dSYM or dyld cache
    #[arg(short = 'o', long = "object", value_name = "FILE", value_hint = ValueHint::AnyPath, help_heading = ADDRESSES)]
    object: Option<PathBuf>,
    /// Architecture to use, if the file has several
    #[arg(long, value_name = "ARCH", help_heading = ADDRESSES)]
    arch: Option<String>,
    /// Image to use, by name, path or UUID
    ///
    /// By default, an address in a dyld shared cache selects its image. `--load-address` and `--offset` need an image.
    #[arg(long, value_name = "NAME", help_heading = ADDRESSES)]
    image: Option<String>,
    /// Load address of the binary, in hex
    ///
    /// By default, addresses are interpreted as addresses in the file.
    #[arg(short, long, value_name = "ADDRESS", value_parser = parse_address, help_heading = ADDRESSES)]
    load_address: Option<u64>,
    /// Addresses are offsets from the Mach-O header
    #[arg(long, conflicts_with = "load_address", help_heading = ADDRESSES)]
    offset: bool,
    /// Show inlined functions
    ///
    /// The innermost is first, with an empty line between addresses.
    #[arg(short, long, help_heading = ADDRESSES)]
    inlines: bool,
    /// Show full paths of source files
    #[arg(long, help_heading = ADDRESSES)]
    full_path: bool,
}

const ADDRESSES: &str = "Single addresses (-o)";

/// Names a report or addresses, as the arguments request.
pub(crate) fn symbolicate(args: &SymbolicateArgs) -> Result<(), Failure> {
    let is_report = args.object.is_none();
    let checked = args.given.check(&[
        ("--dsym --symbols --no-cache --no-inlines --format", is_report, "crash reports, and not to addresses with -o"),
        ("--arch --image --load-address --offset --inlines --full-path", !is_report, "addresses with -o"),
    ]);
    checked.map_err(Failure::Usage)?;
    let usage = |message: &str| Err(Failure::Usage(message.to_owned()));
    match (&args.object, args.what.as_slice()) {
        (Some(object), what) => {
            let address = |text: &PathBuf| parse_address(&text.to_string_lossy());
            let addresses: Vec<u64> = what.iter().map(address).collect::<Result<_, _>>().map_err(Failure::Usage)?;
            Ok(name_addresses(object, addresses, args)?)
        }
        (None, [_]) if args.search.paths().next().is_none() => usage(
            "the report needs symbols: pass them with --dsym or --symbols; traceparse uuid FILE lists the missing ones",
        ),
        (None, [report]) => Ok(name_report(report, &args.search, args.format.is_some())?),
        (None, _) => usage("name one crash report, or pass the symbol file of addresses with -o"),
    }
}

fn parse_address(text: &str) -> Result<u64, String> {
    let digits = text.trim().trim_start_matches("0x").trim_start_matches("0X");
    let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = is_hex.then(|| u64::from_str_radix(digits, 16).ok()).flatten();
    number.ok_or_else(|| format!("{text:?} is not a hexadecimal address, such as 0x102a4040f"))
}

fn name_addresses(path: &Path, addresses: Vec<u64>, args: &SymbolicateArgs) -> Result<()> {
    will_write(None);
    let watched = WatchedFiles::default();
    let mut locator = Locator::new(&watched).within(&resource_limits::memory());
    begin(path, &watched)?;
    locator.add(path, &mut Index::default()).with_context(|| format!("{}: cannot be read", path.display()))?;
    watch(&locator, &watched, None)?;
    warn(&locator);
    let images = choose(&locator, path, args)?;
    let addresses = if addresses.is_empty() { read_addresses()? } else { addresses };
    let mut lookups: BTreeMap<usize, Lookup<'_>> = BTreeMap::new();
    let mut positions = Vec::with_capacity(addresses.len());
    for &address in &addresses {
        let position = position(&images, address, args);
        if let Some((image, relative)) = position {
            let lookup = lookups.entry(image).or_insert_with(|| Lookup::new(&images[image], args));
            lookup.relative.push(relative);
        }
        positions.push(position);
    }
    let mut lines = Lines { text: String::new(), names: HashMap::new(), name_bytes: 0, args };
    for lookup in lookups.values_mut() {
        lookup.look_up(&locator, &mut lines)?;
    }
    watched.unless_changed(Ok(()))?;
    report_faults(lookups.values())?;
    write_to(None, |out| {
        for (index, (address, position)) in addresses.iter().zip(&positions).enumerate() {
            if args.inlines && index > 0 {
                writeln!(out)?;
            }
            let place = position.and_then(|(image, relative)| lookups[&image].place(relative));
            match place.map(|place| &lines.text[place]).filter(|answer| !answer.is_empty()) {
                Some(answer) => writeln!(out, "{answer}")?,
                None => writeln!(out, "{address:#x}")?,
            }
        }
        Ok(())
    })
}

/// The addresses to look up in one image, and their results.
struct Lookup<'f> {
    found: &'f Found,
    /// The base of the user's addresses.
    base: u64,
    /// Offsets from the Mach-O header; sorted and distinct during the lookup.
    relative: Vec<u64>,
    /// The lines of each, as a range of all lines.
    places: Vec<Range<usize>>,
    asked: Vec<Asked>,
}

impl<'f> Lookup<'f> {
    fn new(found: &'f Found, args: &SymbolicateArgs) -> Self {
        Self { found, base: base(found, args), relative: Vec::new(), places: Vec::new(), asked: Vec::new() }
    }

    /// Looks up the addresses. If an address is looked up repeatedly, the last result is used.
    fn look_up(&mut self, locator: &Locator<'_>, lines: &mut Lines<'_>) -> Result<()> {
        self.relative.sort_unstable();
        self.relative.dedup();
        let mut places = vec![0..0; self.relative.len()];
        let (budget, mut over) = (resource_limits::memory(), None);
        let mut reserved = budget.nothing();
        let asked = locator.look_up(self.found.uuid, &self.relative, &budget, &mut |index, frames| {
            over = over.or(reserved.resize(lines.memory()).err());
            if over.is_some() {
                return;
            }
            let start = lines.text.len();
            lines.add((self.found, self.base), self.relative[index], frames);
            places[index] = start..lines.text.len();
        });
        (self.places, self.asked) = (places, asked);
        over.map_or(Ok(()), Err).with_context(|| format!("{}: its names are too long", self.found.path.display()))
    }

    fn place(&self, relative: u64) -> Option<Range<usize>> {
        self.relative.binary_search(&relative).ok().map(|index| self.places[index].clone())
    }
}

/// Warns about damaged files. Fails if no file of an image could be read.
fn report_faults<'l>(lookups: impl Iterator<Item = &'l Lookup<'l>>) -> Result<()> {
    let mut warned = HashSet::new();
    for lookup in lookups {
        let mut failed = None;
        for one in &lookup.asked {
            let path = one.found.path.display();
            match &one.result {
                Ok(notes) => {
                    let note = notes.first().map(|note| format!("{path}: {note}"));
                    note.filter(|note| warned.insert(note.clone())).iter().for_each(|note| warning(note));
                }
                Err(error) => failed = Some(format!("{path}: {error}")),
            }
        }
        let is_read = lookup.asked.iter().any(|one| one.result.is_ok());
        ensure!(failed.is_none() || is_read, "{}", failed.unwrap_or_default());
    }
    Ok(())
}

/// The address of the Mach-O header among the user's addresses: by default, the address of `__TEXT` in the file.
fn base(found: &Found, args: &SymbolicateArgs) -> u64 {
    if args.offset { 0 } else { args.load_address.or(found.text_address).unwrap_or(0) }
}

/// Returns the image of an address, and the offset from its Mach-O header. Several images are sorted by address.
fn position(images: &[Found], address: u64, args: &SymbolicateArgs) -> Option<(usize, u64)> {
    if let [image] = images {
        return address.checked_sub(base(image, args)).map(|relative| (0, relative));
    }
    let index = images.partition_point(|image| image.text_address <= Some(address)).checked_sub(1)?;
    let relative = address - images[index].text_address?;
    (relative < images[index].text_size?).then_some((index, relative))
}

/// Chooses the image that the arguments describe, or all images of a dyld shared cache, sorted by address.
fn choose(locator: &Locator<'_>, path: &Path, args: &SymbolicateArgs) -> Result<Vec<Found>> {
    let object = path.display();
    let mut found: Vec<&Found> = locator.found().iter().collect();
    found.retain(|found| args.arch.as_ref().is_none_or(|arch| *arch == found.arch));
    if found.is_empty() {
        let mut arches: Vec<&str> = locator.found().iter().map(|found| found.arch.as_str()).collect();
        // The images of a dyld shared cache have one architecture.
        arches.dedup();
        match &args.arch {
            Some(arch) if !arches.is_empty() => bail!("it has no {arch}, only {}", arches.join(", ")),
            _ => bail!(
                "{object}: no symbols found; pass a dSYM, a binary with symbols, a .symbols file or a dyld shared cache"
            ),
        }
    }
    if let Some(name) = &args.image {
        let is_uuid = |found: &Found| found.uuid.to_string().eq_ignore_ascii_case(name);
        found.retain(|found| found.name == *name || found.image_path.as_ref() == Some(name) || is_uuid(found));
        ensure!(!found.is_empty(), "{object}: it has no image {name}; `traceparse uuid {object}` lists its images");
    }
    found.sort_by_key(|found| found.kind);
    let best = found[0];
    let Some(other) = found.iter().find(|other| other.uuid != best.uuid) else { return Ok(vec![best.clone()]) };
    let is_one_cache = found.iter().all(|found| found.kind == SourceKind::DyldCache && found.path == best.path);
    if args.image.is_some() || !is_one_cache {
        let [one, other] = [best, *other].map(|image| {
            let name = image.image_path.as_ref().map(|path| format!(" {path}")).unwrap_or_default();
            format!("{} {}{name}", image.arch, image.uuid)
        });
        bail!(
            "{object} contains several images, such as {one} and {other}; choose one with --arch or --image, or name one \
             file"
        );
    }
    ensure!(
        !args.offset && args.load_address.is_none(),
        "{object} contains {}; choose one with --image NAME",
        several(found.len(), "image")
    );
    found.sort_by_key(|found| found.text_address);
    Ok(found.into_iter().cloned().collect())
}

fn read_addresses() -> Result<Vec<u64>> {
    let input = InputFile::open(Path::new("-"))?;
    let mut addresses = Vec::new();
    let text =
        resource_limits::read_all(&input, resource_limits::ADDRESSES).context("standard input cannot be read")?;
    for word in String::from_utf8_lossy(&text).split_whitespace() {
        addresses.push(parse_address(word).map_err(|error| anyhow!(error))?);
    }
    input.unless_changed(Ok(addresses))
}

/// The lines of all results.
struct Lines<'f> {
    text: String,
    /// The displayed form of each name in the file, cached because most functions occur at many addresses.
    names: HashMap<Box<str>, Box<str>>,
    /// The total length of these names in bytes.
    name_bytes: usize,
    args: &'f SymbolicateArgs,
}

impl Lines<'_> {
    /// Adds `function (in Module) (File.mm:45)` for the function that contains the code and, if inlined functions are shown, for each function
    /// inlined there. If the line is unknown, the offset from the start of the function follows instead: ` + 24`.
    fn add(&mut self, (found, base): (&Found, u64), relative: u64, frames: &[SymbolFrame<'_>]) {
        let first = if self.args.inlines { 0 } else { frames.len().saturating_sub(1) };
        for (index, frame) in frames[first..].iter().enumerate() {
            if index > 0 {
                self.text.push('\n');
            }
            self.add_name(base.wrapping_add(relative), frame);
            // Writing to a string cannot fail.
            let _ = write!(self.text, " (in {})", printable(&found.name));
            if let Some(file) = frame.file {
                let file = if self.args.full_path { file } else { file.rsplit('/').next().unwrap_or(file) };
                let _ = write!(self.text, " ({}:{})", printable(file), frame.line.unwrap_or(0));
            } else if let Some(offset) = frame.offset {
                let _ = write!(self.text, " + {offset}");
            }
        }
    }

    fn add_name(&mut self, address: u64, frame: &SymbolFrame<'_>) {
        let Some(name) = frame.function.or(frame.linkage_name) else {
            // In a stripped binary, a function is identified by its start address.
            match frame.offset.filter(|_| frame.file.is_none()) {
                Some(offset) => {
                    let _ = write!(self.text, "{:#x}", address.wrapping_sub(offset));
                }
                None => self.text.push_str("<unknown>"),
            }
            return;
        };
        if let Some(shown) = self.names.get(name) {
            return self.text.push_str(shown);
        }
        let shown: Box<str> = printable(&Demangler::default().display_name(name)).into();
        self.text.push_str(&shown);
        self.name_bytes += name.len() + shown.len();
        self.names.insert(name.into(), shown);
    }

    /// Returns the approximate size in bytes.
    fn memory(&self) -> u64 {
        (self.text.capacity() + self.name_bytes + self.names.capacity() * size_of::<(Box<str>, Box<str>)>()) as u64
    }
}
