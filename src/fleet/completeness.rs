//! The share of the inputs of a fleet that was looked at.

/// The inputs that a fleet should be of, and those that it has a result of. A failed input is done: it has been looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completeness {
    /// True if nothing is missing; `None` if unknown: an engine rewrote the dataset.
    pub is_complete: Option<bool>,
    /// Files that it should be of, if that is known.
    pub inputs_expected: Option<u64>,
    /// Files that it has runs or a failure of, if that is known; at most `inputs_expected`.
    pub inputs_done: Option<u64>,
}

impl Completeness {
    /// The state of a fleet that has looked at so many files, and should look at no more.
    pub const fn whole(inputs: u64) -> Self {
        Self { is_complete: Some(true), inputs_expected: Some(inputs), inputs_done: Some(inputs) }
    }

    /// The sentence for a fleet of which something is missing.
    pub(super) fn sentence(&self, missing_shards: &[String]) -> Option<String> {
        let files = match (self.inputs_done, self.inputs_expected) {
            (Some(done), Some(expected)) => format!("{done} of {expected} input files are done"),
            (None, Some(expected)) => format!("of {expected} input files, nobody knows how many are done"),
            (_, None) => "its last extract did not finish".to_owned(),
        };
        let shards = match missing_shards {
            [] => String::new(),
            [shard] => format!("shard {shard} is missing; "),
            shards => format!("shards {} are missing; ", shards.join(", ")),
        };
        self.is_incomplete().then(|| format!("Incomplete: {shards}{files}."))
    }

    /// True if something is known to be missing.
    pub fn is_incomplete(&self) -> bool {
        self.is_complete == Some(false)
    }
}
