//! Determines who owns each binary of a diagnostic, since diagnostics contain no paths.
//!
//! A binary belongs to Apple if it has one of Apple's names, and to the app if its name is part of the bundle identifier. Other binaries are
//! classified by address if possible: on 64-bit ARM devices, all of Apple's libraries are in one cache, which begins at 0x1_8000_0000, and the
//! app with its extensions and frameworks is below it. This rule applies only if the recorded addresses show one of Apple's libraries in the
//! cache.

use super::diagnostic::{Diagnostic, Node};
use crate::hash::HashMap;
use crate::profile::Category;
use crate::units::Uuid;

/// A binary: its UUID and its name.
type Key<'d> = (Option<Uuid>, Option<&'d str>);

/// The address ranges of app code, and of the cache with Apple's libraries.
const APP: std::ops::Range<u64> = 1 << 32..0x1_8000_0000;
const CACHE: std::ops::Range<u64> = 0x1_8000_0000..1 << 36;

pub(super) struct AppCode<'d> {
    diagnostic: &'d Diagnostic,
    /// The lowest and highest frame address in each binary.
    addresses: HashMap<Key<'d>, (u64, u64)>,
    /// True if the addresses show that Apple's libraries are in the cache.
    has_cache: bool,
}

impl<'d> AppCode<'d> {
    pub(super) fn new(diagnostic: &'d Diagnostic) -> Self {
        let mut addresses: HashMap<Key<'d>, (u64, u64)> = HashMap::default();
        for node in diagnostic.threads().iter().flat_map(|thread| &thread.nodes) {
            let Some(address) = node.address else { continue };
            let (first, last) = addresses.entry(key_of(diagnostic, node)).or_insert((address, address));
            (*first, *last) = ((*first).min(address), (*last).max(address));
        }
        let is_mac = diagnostic.fact("osVersion").is_some_and(|system| system.starts_with("mac"));
        let is_in_cache = |(key, (first, _)): (&Key<'d>, &(u64, u64))| {
            CACHE.contains(first) && matches!(by_name(key.1), Category::System | Category::Runtime)
        };
        // A Mac loads third-party libraries and Apple's plug-ins at any address.
        let has_cache = !is_mac && addresses.iter().any(is_in_cache);
        Self { diagnostic, addresses, has_cache }
    }

    /// Returns the path of a binary: `…/NAME` for app code, since its folder is unknown.
    pub(super) fn path(&self, uuid: Option<Uuid>, name: Option<&str>, text: &str) -> String {
        match self.category((uuid, name)) {
            Category::User => format!("…/{text}"),
            Category::System if by_name(name) == Category::Unknown => format!("/System/…/{text}"),
            _ => text.to_owned(),
        }
    }

    fn category(&self, key: Key<'_>) -> Category {
        let is_in = |range: &std::ops::Range<u64>| {
            let found = self.addresses.get(&key).filter(|_| self.has_cache);
            found.is_some_and(|(first, last)| range.contains(first) && range.contains(last))
        };
        let is_of_bundle = || key.1.is_some_and(|name| self.is_of_bundle(name));
        match by_name(key.1) {
            Category::Unknown if is_in(&CACHE) => Category::System,
            Category::Unknown if is_in(&APP) || is_of_bundle() => Category::User,
            // An app may have the same name as an Apple library.
            _ if is_in(&APP) && is_of_bundle() => Category::User,
            known => known,
        }
    }

    /// True for the name of the bundle. Xcode derives the last part of the identifier from the app name, replacing other characters with hyphens.
    /// `NAME.debug.dylib` contains the code of a debug build. The identifier of an extension starts with its app's.
    fn is_of_bundle(&self, name: &str) -> bool {
        let hyphens = |name: &str| name.replace(|c: char| !c.is_ascii_alphanumeric(), "-").to_lowercase();
        let name = name.strip_suffix(".debug.dylib").unwrap_or(name);
        let Some(bundle) = self.diagnostic.fact("bundleIdentifier") else { return false };
        bundle.split('.').skip(1).any(|part| hyphens(part) == hyphens(name))
    }
}

/// The binary of a frame.
fn key_of<'d>(diagnostic: &'d Diagnostic, node: &'d Node) -> Key<'d> {
    (node.uuid, diagnostic.name_of(node))
}

fn by_name(name: Option<&str>) -> Category {
    name.map_or(Category::Unknown, |name| Category::of_path("", name))
}
