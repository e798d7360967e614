//! The texts of a payload: names of functions and paths of source files, each once.

use crate::hash::HashMap;
use crate::profile::{Profile, StringId};

/// The texts that columns name, in the order of their first use.
pub(super) struct Texts {
    pub(super) ids: Vec<StringId>,
    place_of: HashMap<StringId, u64>,
}

impl Texts {
    pub(super) fn new(profile: &Profile) -> Self {
        let mut texts = Self { ids: Vec::new(), place_of: HashMap::default() };
        let names = profile.function_ids().map(|id| profile.function(id).name);
        let paths = profile.frame_ids().filter_map(|id| Some(profile.frame(id).source?.path));
        for id in names.chain(paths) {
            let next = texts.ids.len() as u64;
            if *texts.place_of.entry(id).or_insert(next) == next {
                texts.ids.push(id);
            }
        }
        texts
    }

    /// The number of a text.
    pub(super) fn place(&self, id: StringId) -> u64 {
        self.place_of.get(&id).copied().unwrap_or_default()
    }
}
