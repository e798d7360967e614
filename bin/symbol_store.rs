//! `traceparse symbols`: packs the symbols of images into a folder of Breakpad files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueHint};
use traceparse::symbols::{BreakpadFile, Found, Index, Locator, SymbolFinder as _};

use crate::exit_codes::EXIT_CODES;
use crate::guard::will_write;
use crate::progress::Progress;
use crate::sink::{replace_different, write_to};
use crate::symbols::{begin, warn, watch};
use crate::unchanged::WatchedFiles;
use crate::{is_closed_pipe, printable, resource_limits, warning};

const EXAMPLES: &str = "\
Examples:
  traceparse symbols App.xcarchive -o symbols
      The dSYMs of a build, for the CI jobs that read its recordings
  traceparse symbols ~/Library/Developer/Xcode/'iOS DeviceSupport' -o symbols
      System libraries, once for each OS version
  traceparse app.trace --symbols symbols
      Names from the folder, on any machine";

#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct SymbolStoreArgs {
    /// dSYMs, other symbol files, recordings, or their folders
    #[arg(required = true, value_name = "SOURCE", value_hint = ValueHint::AnyPath)]
    sources: Vec<PathBuf>,
    /// Folder for the files; created if missing
    ///
    /// Files with the same content are kept. Others are replaced, and files of other images stay.
    #[arg(short, long, required = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: PathBuf,
}

/// Writes a file for each image, and prints a line for it.
pub(crate) fn write_store(args: &SymbolStoreArgs) -> Result<()> {
    will_write(None);
    resource_limits::check_named_place(&args.output)?;
    let watched = WatchedFiles::default();
    let mut locator = Locator::new(&watched).within(&resource_limits::of_found_symbols());
    for path in &args.sources {
        begin(path, &watched)?;
        locator.add(path, &mut Index::default()).with_context(|| format!("{}: cannot be searched", path.display()))?;
    }
    watch(&locator, &watched, None)?;
    warn(&locator);
    ensure!(!locator.found().is_empty(), "no symbols found; pass dSYMs, binaries, .symbols files or folders of them");
    let (mut seen, mut failed) = (HashSet::new(), 0);
    for found in locator.found().iter().filter(|found| seen.insert(found.uuid)) {
        // The best file names the image, in the path as in the `MODULE` record.
        let best = locator.find(found.uuid).swap_remove(0);
        match write_image(&locator, &best, &args.output) {
            Err(error) if is_closed_pipe(&error) => return Err(error),
            Err(error) => {
                warning(&format!("{error:#}"));
                failed += 1;
            }
            Ok(()) => {}
        }
    }
    watched.unless_changed(Ok(()))?;
    ensure!(failed == 0, "{failed} of {} images could not be written", seen.len());
    Ok(())
}

/// Writes the symbols of an image, and prints its UUID, architecture, `written` or `unchanged`, and the path.
fn write_image(locator: &Locator<'_>, found: &Found, folder: &Path) -> Result<()> {
    let size = locator.find(found.uuid).iter().map(|found| found.range.1).sum();
    let (mut progress, mut shown) = (Progress::new(&found.name, Some(size)), 0);
    // The sources are read in proportion to the addresses.
    let mut on_progress = |done: u64, all: u64| {
        let bytes = (u128::from(size) * u128::from(done) / u128::from(all.max(1))) as u64;
        progress.add(bytes.saturating_sub(shown));
        shown = bytes.max(shown);
    };
    let file = BreakpadFile::read(locator, found.uuid, &resource_limits::memory(), &mut on_progress);
    drop(progress);
    let file = file.with_context(|| format!("{} {}: its symbols cannot be read", found.name, found.uuid))?;
    // An image may have several files, and any of them may be damaged.
    let name = format!("{} {}", printable(&found.name), found.uuid);
    file.notes().iter().take(1).for_each(|note| warning(&format!("{name}: {note}")));
    if file.is_empty() {
        warning(&format!("{name}: left out, since it has no functions"));
        return Ok(());
    }
    let image = file_name(&found.name);
    let folder = folder.join(&image).join(found.uuid.breakpad_id());
    let path = folder.join(format!("{image}.sym"));
    let failed = || format!("{}: cannot be written", path.display());
    resource_limits::check_place(&path).with_context(failed)?;
    std::fs::create_dir_all(&folder).with_context(failed)?;
    let is_new = replace_different(&path, |out| file.write(out)).with_context(failed)?;
    let state = if is_new { "written" } else { "unchanged" };
    let line = format!("{}  {:<8} {state:<9}  {}", found.uuid, found.arch, path.display());
    write_to(None, |out| writeln!(out, "{}", printable(&line)))
}

/// Returns the name of an image as the name of a file on any system.
fn file_name(name: &str) -> String {
    let is_allowed = |c: char| !c.is_control() && !"/\\:*?\"<>|".contains(c);
    let name: String = name.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect();
    if name.trim_matches('.').is_empty() { "image".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn names_of_images_lead_out_of_no_folder() {
        for (name, expected) in [
            ("libobjc.A.dylib", "libobjc.A.dylib"),
            ("My App", "My App"),
            ("../../etc/passwd", ".._.._etc_passwd"),
            ("..", "image"),
            ("", "image"),
            ("C:\\a\nb", "C__a_b"),
        ] {
            assert_eq!(file_name(name), expected);
        }
    }
}
