//! Advice on unnamed frames.

use super::{Page, VISIBLE};
use crate::output::text::style::{clean, fit};
use crate::output::text::words::share;
use crate::recording::TocRun;
use crate::report::{UnnamedBinary, UnnamedFrames, is_own_binary};
use crate::settings::{self, DSYM, IMAGE, SYMBOLS};

/// Missing names are reported from this percentage on.
const LEAST: f64 = 1.0;

impl Page<'_, '_> {
    /// Explains how to get the missing names, starting with app binaries.
    pub(super) fn names(&self) -> String {
        let unnamed = self.report.unnamed();
        if unnamed.binaries.is_empty() && unnamed.unnamed == 0 {
            return String::new();
        }
        let own = |row: &&UnnamedBinary| is_own_binary(self.profile, row.binary);
        let nameless = self.overview.nameless;
        let wanted: Vec<UnnamedBinary> =
            self.report.by_samples(&self.overview.nameless_in).into_iter().map(|(row, _)| row).collect();
        let of_own = wanted.iter().find(own);
        // Missing system names matter only if their share is large.
        if of_own.is_none() && share(nameless.weight.value, self.series) < LEAST {
            return String::new();
        }
        if unnamed.frames == 0 {
            // A sum of runs has no addresses.
            let Some(row) = of_own else { return String::new() };
            let name = fit(self.profile.string(self.profile.binary(row.binary).name), Some(24));
            let amount = self.percent(nameless);
            return format!("Code without names has {amount} of the weight. For {name}: {}", self.advice(row, ""));
        }
        let have = if unnamed.unnamed == 1 { "has" } else { "have" };
        let amount = self.percent(nameless);
        let addresses = if unnamed.frames == 1 { "address" } else { "addresses" };
        // Addresses are counted once for all tables of a recording.
        let [of_all, weight] =
            if self.report.series.len() > 1 { [" of all tables", "this one's weight"] } else { ["", "the weight"] };
        let UnnamedFrames { unnamed: nameless, frames, .. } = unnamed;
        let hides_little =
            self.overview.stop.is_some() || share(self.overview.nameless.weight.value, self.series) < VISIBLE;
        let hide = if *nameless == 1 { "hides" } else { "hide" };
        let part = if hides_little { String::new() } else { format!(" and {hide} {amount} of {weight}") };
        let of = format!("{nameless} of {frames} {addresses}{of_all} {have} no name{part}");
        let Some(row) = of_own.or(wanted.first()) else {
            return match self.profile.binary_ids().len() {
                0 => format!("{of}. No binary is known; use {IMAGE} UUID@ADDRESS to specify where one was loaded."),
                _ => format!("{of}. They are in no known binary, as is typical of code generated at run time."),
            };
        };
        let name = fit(self.profile.string(self.profile.binary(row.binary).name), Some(24));
        let more = match wanted.len() {
            _ if settings::is_without_command() => "",
            0 | 1 => " (docs/symbols.md)",
            _ => " (traceparse uuid FILE lists all)",
        };
        if own(&row) {
            let part = match row.frames {
                1 if unnamed.unnamed == 1 => "it is".to_owned(),
                frames if frames == unnamed.unnamed => "all are".to_owned(),
                1 => "1 is".to_owned(),
                frames => format!("{frames} are"),
            };
            return format!("{of}; {part} in {name}: {}", self.advice(row, more));
        }
        if 2 * unnamed.without_binary > unnamed.unnamed {
            return format!("{of}. Most are in no known binary, as is typical of code generated at run time.");
        }
        // Binaries with the same name may have different UUIDs.
        let name_of = |row: &UnnamedBinary| self.profile.binary(row.binary).name;
        let of_name = wanted.iter().filter(|other| name_of(other) == name_of(row)).map(|row| row.frames).sum();
        let part = match of_name {
            1 if unnamed.unnamed == 1 => "it is".to_owned(),
            frames if 2 * frames > unnamed.unnamed => "most of them are".to_owned(),
            1 => "1 of them is".to_owned(),
            frames => format!("{frames} of them are"),
        };
        let system = self.overview.toc.and_then(TocRun::os).unwrap_or_else(|| "the same version".to_owned());
        let system = clean(&system);
        format!("{of}; {part} in {name}. Symbols from {system} would name them; pass them with {SYMBOLS}{more}.")
    }

    /// Explains how to name an app binary, which needs symbols of exactly this build. `more` points to the documentation or is empty.
    fn advice(&self, row: &UnnamedBinary, more: &str) -> String {
        let uuid = self.profile.binary(row.binary).uuid;
        if let Some(found) = self.found(uuid) {
            return found;
        }
        let uuid = uuid.map(|uuid| format!(" {uuid}")).unwrap_or_default();
        format!("pass its dSYM{uuid} with {DSYM}{more}.")
    }

    /// Describes which symbols the symbol files contain for a binary; `None` if there are no files.
    fn found(&self, uuid: Option<crate::units::Uuid>) -> Option<String> {
        use crate::symbolicate::Missing;

        let summary = self.report.symbolication.as_ref()?;
        let images = summary.images.filter(|images| *images > 0)?;
        let uuid = uuid?;
        let binary = summary.binaries.iter().find(|binary| binary.uuid == Some(uuid))?;
        let found = match images {
            1 => "the only symbol file found is not".to_owned(),
            _ => format!("none of the {images} symbol files found is"),
        };
        Some(match binary.missing.as_ref()? {
            Missing::NoFile { same_name } => match same_name.first() {
                Some(other) if other.arch == binary.arch => format!(
                    "{found} from this build (UUID {uuid}); the one with the same name has UUID {}. Pass the dSYM of this build with {DSYM}.",
                    other.uuid
                ),
                Some(other) => format!(
                    "{found} for {} (UUID {uuid}); the one with the same name is for {}. Pass the dSYM of this build with {DSYM}.",
                    binary.arch, other.arch
                ),
                None => format!("{found} for it; pass its dSYM (UUID {uuid}) with {DSYM}."),
            },
            Missing::OutsideFunctions => format!("its symbols (UUID {uuid}) contain no function at these addresses."),
            Missing::Nameless => format!("its symbols (UUID {uuid}) are stripped; pass its dSYM with {DSYM}."),
        })
    }
}
