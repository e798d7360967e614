//! The frames without a name, and what can be done about them.

use super::Page;
use crate::output::text::style::fit;
use crate::output::text::words::share;
use crate::report::{UnnamedBinary, is_own_binary};

/// Names are missed from this percentage on.
const LEAST: f64 = 1.0;

impl Page<'_, '_> {
    /// How to get the missing names, starting with app binaries.
    pub(super) fn names(&self) -> String {
        let unnamed = &self.report.unnamed;
        if unnamed.unnamed == 0 {
            return String::new();
        }
        let own = |row: &&UnnamedBinary| is_own_binary(self.profile, row.binary);
        let nameless = self.overview.nameless;
        let of_own = unnamed.binaries.iter().find(own);
        // Missing names in the system matter only if their share is large.
        if of_own.is_none() && share(nameless.weight.value, self.series) < LEAST {
            return String::new();
        }
        let have = if unnamed.unnamed == 1 { "has" } else { "have" };
        let amount = self.percent(nameless);
        let addresses = if unnamed.frames == 1 { "address" } else { "addresses" };
        let of = format!("{} of {} {addresses} {have} no name, with {amount} of all", unnamed.unnamed, unnamed.frames);
        let Some(row) = of_own.or(unnamed.binaries.first()) else {
            return match self.profile.binary_ids().len() {
                0 => format!("{of}. No binary is known: --image UUID@ADDRESS says where one was loaded."),
                _ => format!("{of}. No known binary has them: code that was made at run time is like that."),
            };
        };
        let name = fit(self.profile.string(self.profile.binary(row.binary).name), Some(24));
        if own(&row) {
            let part = if row.frames == unnamed.unnamed { String::new() } else { format!("{} of them ", row.frames) };
            return format!("{of}, {part}in {name}: {}", self.advice(row));
        }
        if 2 * unnamed.without_binary > unnamed.unnamed {
            return format!("{of}. Most are in no known binary: code that was made at run time is like that.");
        }
        let part = if 2 * row.frames > unnamed.unnamed { "most".to_owned() } else { row.frames.to_string() };
        format!("{of}, {part} of them in {name}. Symbols of the same version name them: --symbols PATH")
    }

    /// How to name an app binary: symbols of exactly this build.
    fn advice(&self, row: &UnnamedBinary) -> String {
        let uuid = self.profile.binary(row.binary).uuid;
        if let Some(found) = self.found(uuid) {
            return found;
        }
        let uuid = uuid.map(|uuid| format!(" (UUID {uuid})")).unwrap_or_default();
        format!("give its dSYM{uuid} with --dsym.")
    }

    /// Which symbols the found files have for a binary; `None` if there are no files.
    fn found(&self, uuid: Option<crate::units::Uuid>) -> Option<String> {
        use crate::symbolicate::Missing;

        let summary = self.report.symbolication.as_ref()?;
        let images = summary.images.filter(|images| *images > 0)?;
        let uuid = uuid?;
        let binary = summary.binaries.iter().find(|binary| binary.uuid == Some(uuid))?;
        let found = match images {
            1 => "the only symbol file that was found is not".to_owned(),
            _ => format!("of {images} symbol files that were found none is"),
        };
        Some(match binary.missing.as_ref()? {
            Missing::NoFile { same_name } => match same_name.first() {
                Some(other) if other.arch == binary.arch => format!(
                    "{found} of this build, whose UUID is {uuid}: that of the same name has {}. Give the dSYM of this build with --dsym.",
                    other.uuid
                ),
                Some(other) => format!(
                    "{found} of {} (UUID {uuid}): that of the same name is of {}. Give the dSYM of this build with --dsym.",
                    binary.arch, other.arch
                ),
                None => format!("{found} of it; give its dSYM (UUID {uuid}) with --dsym."),
            },
            Missing::OutsideFunctions => format!("its symbols (UUID {uuid}) have no function there."),
            Missing::Nameless => format!("its symbols (UUID {uuid}) are stripped; give its dSYM with --dsym."),
        })
    }
}
