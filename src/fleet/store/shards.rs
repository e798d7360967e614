//! The shards of a fleet in a dataset.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// Some or all of the shards of a fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shards {
    /// The number of shards in the fleet.
    pub count: u64,
    /// The shards in the dataset, counted from 1.
    pub have: BTreeSet<u64>,
    /// The number of inputs in all shards, if known.
    pub inputs: Option<u64>,
    /// The canonical path of the folder that all paths were relative to, if there was one.
    pub root: Option<String>,
    /// The recordings of every shard, as found by the extract, even if it did not read them. They show which shards belong to one fleet.
    pub(crate) lists: BTreeMap<u64, RecordingList>,
}

/// Hashes that identify the recordings of a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordingList {
    /// The hash of the paths relative to the root.
    names: String,
    /// The hash of the paths and file lengths; `None` if some files did not exist, for example because only one shard's files were copied.
    lengths: Option<String>,
}

impl RecordingList {
    /// Hashes recordings by their paths relative to the root and their file lengths, which are 0 for folders.
    pub(crate) fn new(mut recordings: Vec<(String, Option<u64>)>) -> Self {
        recordings.sort();
        let hash = |text: fn(&(String, Option<u64>)) -> Option<String>| {
            let texts = recordings.iter().map(text).collect::<Option<Vec<String>>>()?;
            let mut hasher = blake3::Hasher::new();
            for text in texts {
                hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
            }
            Some(hasher.finalize().to_hex()[..16].to_owned())
        };
        let names = hash(|(name, _)| Some(name.clone())).unwrap_or_default();
        Self { names, lengths: hash(|(name, length)| Some(format!("{name}\0{}", (*length)?))) }
    }

    /// True if the lists do not contradict each other.
    fn may_be(&self, other: &Self) -> bool {
        let lengths = self.lengths.as_ref().zip(other.lengths.as_ref());
        self.names == other.names && lengths.is_none_or(|(own, other)| own == other)
    }

    fn to_json(&self) -> Value {
        json!(self.lengths.iter().fold(self.names.clone(), |names, lengths| format!("{names}-{lengths}")))
    }

    fn from_json(value: &Value) -> Option<Self> {
        let text = value.as_str()?;
        let (names, lengths) = text.split_once('-').map_or((text, None), |(names, lengths)| (names, Some(lengths)));
        Some(Self { names: names.to_owned(), lengths: lengths.map(str::to_owned) })
    }
}

/// Facts about the other shards, for an extract that has only its own shard's recordings.
pub struct ShardPlan {
    /// The number of inputs in all shards.
    pub inputs: u64,
    /// Like [`Shards::lists`], with hashes that the plan's author chooses.
    pub(crate) lists: BTreeMap<u64, RecordingList>,
}

impl ShardPlan {
    /// Parses `{"inputs": 1000000, "lists": {"1": "5d0c…", "2": "a7e4…"}}`.
    pub fn from_json(text: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(text).ok()?;
        Some(Self { inputs: value["inputs"].as_u64()?, lists: lists_of(&value)? })
    }
}

fn lists_of(value: &Value) -> Option<BTreeMap<u64, RecordingList>> {
    let lists = value["lists"].as_object().into_iter().flatten();
    lists.map(|(index, list)| Some((index.parse().ok()?, RecordingList::from_json(list)?))).collect()
}

/// The maximum number of missing shards to list.
const NAMED: usize = 8;

impl Shards {
    /// True if no shard is missing.
    pub fn is_whole(&self) -> bool {
        self.have.len() as u64 == self.count
    }

    /// True if this dataset lists the same recordings for the other dataset's shards as that one does. A shard that was extracted again after its
    /// recordings changed agrees with the lists of older datasets, but not vice versa.
    pub fn knows(&self, other: &Self) -> bool {
        let may_be = |index: &u64| match (self.lists.get(index), other.lists.get(index)) {
            (Some(own), Some(list)) => own.may_be(list),
            (own, list) => own.is_none() && list.is_none(),
        };
        self.count == other.count && other.have.iter().all(may_be)
    }

    /// The missing shards, such as `16/16`. If there are many, only the first ones and the number of others.
    pub fn missing(&self) -> Vec<String> {
        let count = self.count;
        let missing = (1..=count).filter(|index| !self.have.contains(index));
        let mut named: Vec<String> = missing.take(NAMED).map(|index| format!("{index}/{count}")).collect();
        let more = (count as usize).saturating_sub(self.have.len() + named.len());
        if more > 0 {
            named.push(format!("{more} more"));
        }
        named
    }

    /// Describes the shards: `shard 3/16`, or `15 of 16 shards`.
    pub fn name(&self) -> String {
        match self.have.first() {
            Some(index) if self.have.len() == 1 => format!("shard {index}/{}", self.count),
            _ => format!("{} of {} shards", self.have.len(), self.count),
        }
    }

    /// The manifest fields `shard` and `shards`: `shard` for one, as an extract reads it, or `shards` for those in a merge.
    pub(super) fn to_json(shards: Option<&Self>) -> [Value; 2] {
        let Some(Self { count, have, inputs, root, lists }) = shards else { return [Value::Null, Value::Null] };
        let lists: Map<_, _> = lists.iter().map(|(index, list)| (index.to_string(), list.to_json())).collect();
        match have.first() {
            Some(index) if have.len() == 1 => {
                [json!({"index": index, "count": count, "inputs": inputs, "root": root, "lists": lists}), Value::Null]
            }
            _ => [Value::Null, json!({"count": count, "have": have, "inputs": inputs, "root": root, "lists": lists})],
        }
    }

    /// Parses these fields. The outer `None` means invalid values.
    pub(super) fn from_json(manifest: &Value) -> Option<Option<Self>> {
        let (value, have) = match (&manifest["shard"], &manifest["shards"]) {
            (Value::Null, Value::Null) => return Some(None),
            (Value::Null, shards) => (shards, serde_json::from_value(shards["have"].clone()).ok()?),
            (shard, _) => (shard, BTreeSet::from([shard["index"].as_u64()?])),
        };
        let count = value["count"].as_u64()?;
        let is_possible = !have.is_empty() && have.iter().all(|index| (1..=count).contains(index));
        let root = value["root"].as_str().map(str::to_owned);
        let lists = lists_of(value)?;
        is_possible.then(|| Some(Self { count, have, inputs: value["inputs"].as_u64(), root, lists }))
    }
}
