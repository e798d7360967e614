//! Files that a dataset lost because someone deleted data files. The dataset is incomplete until they are back, even
//! after an extract of other files.

use serde_json::{Value, json};

/// The sum of the hashes of paths: a set of files, without their order, of which one part can be taken away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceSum(u128);

impl SourceSum {
    /// The sum for these paths.
    pub fn of<'s>(sources: impl IntoIterator<Item = &'s str>) -> Self {
        sources.into_iter().fold(Self::default(), Self::with)
    }

    /// The set with one more file.
    pub(super) fn with(self, source: &str) -> Self {
        let mut bytes = [0; 16];
        blake3::Hasher::new().update(source.as_bytes()).finalize_xof().fill(&mut bytes);
        self.and(Self(u128::from_le_bytes(bytes)))
    }

    /// Both sets, which have no file in common.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// The set without a part of it.
    pub(super) const fn without(self, part: Self) -> Self {
        Self(self.0.wrapping_sub(part.0))
    }

    pub(super) fn to_json(self) -> Value {
        json!(format!("{:032x}", self.0))
    }

    pub(super) fn from_json(value: &Value) -> Option<Self> {
        u128::from_str_radix(value.as_str()?, 16).ok().map(Self)
    }
}

/// The files that were lost, and are not back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lost {
    pub(super) files: u64,
    /// The lost files; `None` if unknown.
    pub(super) sources: Option<SourceSum>,
}

impl Lost {
    pub(super) fn to_json(lost: Option<Self>) -> Value {
        let sources = |lost: Self| lost.sources.map(SourceSum::to_json);
        lost.map_or(Value::Null, |lost| json!({"files": lost.files, "sources": sources(lost)}))
    }

    pub(super) fn from_json(value: &Value) -> Option<Self> {
        Some(Self { files: value["files"].as_u64()?, sources: SourceSum::from_json(&value["sources"]) })
    }

    /// Adds more lost files.
    pub(super) fn and(self, more: Self) -> Self {
        let sources = self.sources.zip(more.sources).map(|(own, more)| own.and(more));
        Self { files: self.files.saturating_add(more.files), sources }
    }
}
