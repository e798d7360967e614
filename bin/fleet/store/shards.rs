//! The shards that a dataset has of a fleet.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// Some of the shards of a fleet, or all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shards {
    /// The number of shards of the fleet.
    pub(crate) count: u64,
    /// Those that the dataset has, counted from 1.
    pub(crate) have: BTreeSet<u64>,
    /// The number of inputs of all shards together, if it is known.
    pub(crate) inputs: Option<u64>,
    /// The real path of the folder that paths were taken below, if there was one for all.
    pub(crate) root: Option<String>,
}

/// Missing shards up to this many are named.
const NAMED: usize = 8;

impl Shards {
    /// True if none is missing.
    pub(crate) fn is_whole(&self) -> bool {
        self.have.len() as u64 == self.count
    }

    /// The shards that are missing, as `16/16`; of many, the first.
    pub(crate) fn missing(&self) -> Vec<String> {
        let count = self.count;
        let missing = (1..=count).filter(|index| !self.have.contains(index));
        let mut named: Vec<String> = missing.take(NAMED).map(|index| format!("{index}/{count}")).collect();
        let more = (count as usize).saturating_sub(self.have.len() + named.len());
        if more > 0 {
            named.push(format!("{more} more"));
        }
        named
    }

    /// Says which shards there are: `shard 3/16`, or `15 of 16 shards`.
    pub(crate) fn name(&self) -> String {
        match self.have.first() {
            Some(index) if self.have.len() == 1 => format!("shard {index}/{}", self.count),
            _ => format!("{} of {} shards", self.have.len(), self.count),
        }
    }

    /// The fields `shard` and `shards` of the manifest: one shard as an extract reads it, or what a merge has of them.
    pub(super) fn to_json(shards: Option<&Self>) -> [Value; 2] {
        let Some(Self { count, have, inputs, root }) = shards else { return [Value::Null, Value::Null] };
        match have.first() {
            Some(index) if have.len() == 1 => {
                [json!({"index": index, "count": count, "inputs": inputs, "root": root}), Value::Null]
            }
            _ => [Value::Null, json!({"count": count, "have": have, "inputs": inputs, "root": root})],
        }
    }

    /// Reads them; the outer `None` is for values that cannot be.
    pub(super) fn from_json(manifest: &Value) -> Option<Option<Self>> {
        let (value, have) = match (&manifest["shard"], &manifest["shards"]) {
            (Value::Null, Value::Null) => return Some(None),
            (Value::Null, shards) => (shards, serde_json::from_value(shards["have"].clone()).ok()?),
            (shard, _) => (shard, BTreeSet::from([shard["index"].as_u64()?])),
        };
        let count = value["count"].as_u64()?;
        let is_possible = have.iter().all(|index| (1..=count).contains(index));
        let root = value["root"].as_str().map(str::to_owned);
        is_possible.then(|| Some(Self { count, have, inputs: value["inputs"].as_u64(), root }))
    }
}
