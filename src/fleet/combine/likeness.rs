//! Datasets that can be taken together: runs that were measured differently cannot be compared.

use crate::fleet::error::{Result, bail};

use crate::fleet::store::{MadeWith, Shards, Store, described};

/// Checks that a dataset can be taken together with the first one.
///
/// # Errors
/// Fails with the settings in which two datasets differ.
pub(super) fn check(first: (&str, &Store), other: (&str, &Store)) -> Result<()> {
    let ((a, first), (b, other)) = (first, other);
    let [of_first, of_other] = [first.selection(), other.selection()];
    if of_first != of_other {
        let [of_first, of_other] = [of_first, of_other].map(|selection| described(&selection));
        bail!(
            "{b}: measured with another selection ({of_other}) than {a} ({of_first}); extract one of them again with the selection of the other"
        );
    }
    let [of_first, of_other] = [first.made_with(), other.made_with()];
    if of_first.settings.is_some() && of_other.settings.is_some() && of_first.settings != of_other.settings {
        let [of_first, of_other] = [of_first, of_other].map(|made_with| symbols(&made_with));
        let [of_first, of_other] = match of_first == of_other {
            true => [String::new(), String::new()],
            false => [of_first, of_other].map(|symbols| format!(" ({symbols})")),
        };
        bail!(
            "{b}: measured with other settings{of_other} than {a}{of_first}: the symbols, --schema, --allow-truncated, --no-inlines, \
             --no-bundled-symbols or the version of traceparse differ; extract one of them again with the settings of the other"
        );
    }
    check_shards((a, first.shards().as_ref()), (b, other.shards().as_ref()))
}

fn check_shards((a, first): (&str, Option<&Shards>), (b, other): (&str, Option<&Shards>)) -> Result<()> {
    let is_part = |shards: &Option<&Shards>| shards.is_some_and(|shards| !shards.is_whole());
    if !is_part(&first) && !is_part(&other) {
        return Ok(());
    }
    match (first, other) {
        (Some(first), Some(other)) if first.count == other.count => Ok(()),
        _ => {
            let name = |shards: Option<&Shards>| shards.map_or("no shard".to_owned(), Shards::name);
            let (first, other) = (name(first), name(other));
            bail!(
                "{b}: {other}, but {a}: {first}; shards of different fleets cannot be put together: merge those of each fleet, then the results"
            )
        }
    }
}

fn symbols(made_with: &MadeWith) -> String {
    match made_with.symbols.as_slice() {
        [] => "no symbols".to_owned(),
        paths => format!("symbols of {}", paths.join(", ")),
    }
}
