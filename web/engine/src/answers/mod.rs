//! The answers by kind of question.

pub(crate) mod chart;
pub(crate) mod diff;
#[cfg(feature = "reader")]
pub(crate) mod files;
pub(crate) mod flame;
pub(crate) mod intervals;
pub(crate) mod overview;
pub(crate) mod tables;
pub(crate) mod tracks;
pub(crate) mod trees;

use traceparse::calltree::{ForestWeights, KeySums, Label};
use traceparse::report;

use crate::protocol::{Amount, SumColumns};

/// The label for samples without a recorded stack, and the root of a tree.
pub(crate) const NO_STACK: i32 = -1;
pub(crate) const ROOT: i32 = -2;

/// The page's number for a label: the index of a function, or one of these constants.
pub(crate) fn label_number(label: Label) -> i32 {
    match label {
        Label::Root => ROOT,
        Label::NoStack => NO_STACK,
        Label::Function(id) => id.index() as i32,
    }
}

pub(crate) fn amount(amount: report::Amount) -> Amount {
    Amount { weight: amount.weight.value.into(), samples: amount.samples.into() }
}

/// The total of a tree.
pub(crate) fn amount_of(tree: &ForestWeights) -> Amount {
    let KeySums { all_weight, all_samples, .. } = tree.total();
    Amount { weight: all_weight.into(), samples: all_samples.into() }
}

impl FromIterator<KeySums> for SumColumns {
    fn from_iter<I: IntoIterator<Item = KeySums>>(rows: I) -> Self {
        let mut columns = Self::default();
        for row in rows {
            columns.own.0.push(row.self_weight);
            columns.all.0.push(row.all_weight);
            columns.self_samples.0.push(row.self_samples);
            columns.samples.0.push(row.all_samples);
        }
        columns
    }
}
