//! The JSON of a comparison for the page that shows it.

use serde_json::{Value, json};

use super::json::{document, functions, runs};
use super::sentences;
use crate::fleet::compare::{Comparison, Functions};
use crate::output::fleet::opening::name_of;

/// The maximum number of runs per side on a page.
const PAGE_RUNS: usize = 2_000;

/// The document for the page. In addition to the JSON, it contains the verdict and its scope in words, and the number format for CPU use. It is
/// limited to the functions that changed, largest change first, and to 2,000 runs per side, evenly chosen from each block.
pub(in crate::output) fn page_document(comparison: &Comparison, root: Option<&str>) -> Value {
    let mut page = document(comparison);
    page["compared"] = json!(sentences::compared(comparison));
    page["quantity"] = json!(sentences::quantity_name(&comparison.first().quantity, comparison.unit));
    page["scope"] = json!(sentences::scope(comparison));
    page["differences"] = json!(sentences::differences(comparison));
    page["root"] = json!(root);
    page["shown_unit"] = sentences::measures(comparison).head();
    page["function_unit"] = sentences::function_measures(comparison).head();
    page["functions"] = comparison.functions.as_ref().map(|of| functions(of, of.changed())).into();
    let changed = comparison.functions.iter().flat_map(Functions::changed);
    for (shown, function) in page["functions"].as_array_mut().into_iter().flatten().zip(changed) {
        shown["name"] = json!(name_of(&function.name).0);
    }
    let steps = comparison.runs.map(|count| (count as usize).div_ceil(PAGE_RUNS).max(1));
    for (shown, block) in page["blocks"].as_array_mut().into_iter().flatten().zip(&comparison.blocks) {
        shown["name"] = json!(sentences::block_name(&block.labels));
        for (side, name) in ["base", "new"].into_iter().enumerate() {
            shown["count"][name] = json!(block.runs[side].len());
            let count = block.runs[side].len();
            let is_shown = |place: usize| place.is_multiple_of(steps[side]) || place + 1 == count;
            let chosen = block.runs[side].iter().enumerate().filter(|(place, _)| is_shown(*place));
            shown["runs"][name] = runs(chosen.map(|(_, run)| run));
            // The page does not use the units, which are for other programs.
            shown[name].take();
        }
    }
    page
}
