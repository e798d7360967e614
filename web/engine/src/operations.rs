//! Converts the page's operations to those of the crate.

use traceparse::calltree::{Action, AtPlace, FunctionSet, Operation, PlaceAction, TreeDirection};
use traceparse::profile::{Function, Id, Matcher, Profile};

use crate::protocol::{self, Direction, Step, TreePlace};
use crate::search::compile;
use crate::wire::Refused;

/// Prepares an operation for a profile.
pub(crate) fn operation_of(profile: &Profile, operation: &protocol::Operation) -> Result<Operation, Refused> {
    use protocol::Operation as Of;
    let by_pattern = |action: fn(FunctionSet) -> Action, option: &str, pattern: &str| {
        let regex = compile(pattern)?;
        let functions = FunctionSet::of_names(profile, |name| regex.is_match(name));
        Ok(Operation { action: action(functions), text: format!("--{option} '{pattern}'") })
    };
    let of_binary = |action: fn(FunctionSet) -> Action, option: &str, binary: &str| Operation {
        action: action(FunctionSet::of_binary(profile, binary)),
        text: format!("--{option} '{binary}'"),
    };
    let of_binaries = |action: fn(FunctionSet) -> Action, option: &str, names: &[String]| {
        let matchers = names.iter().map(|name| Matcher::parse(name).map_err(Refused)).collect::<Result<Vec<_>, _>>()?;
        let texts: Vec<String> = names.iter().map(|name| format!("--{option} '{name}'")).collect();
        Ok(Operation { action: action(FunctionSet::of_binaries(profile, &matchers)), text: texts.join(" ") })
    };
    let at = |action: PlaceAction, option: &str, place: &TreePlace| at_place(profile, action, option, place);
    let plain = |action: Action, option: &str| Operation { action, text: format!("--{option}") };
    Ok(match operation {
        Of::Focus { pattern } => by_pattern(Action::Focus, "focus", pattern)?,
        Of::FocusLeaves { pattern } => by_pattern(Action::FocusLeaves, "focus-leaves", pattern)?,
        Of::RootAt { pattern } => by_pattern(Action::RootAt, "root-at", pattern)?,
        Of::Prune { pattern } => by_pattern(Action::Prune, "prune", pattern)?,
        Of::PruneLeaves { pattern } => by_pattern(Action::PruneLeaves, "prune-leaves", pattern)?,
        Of::Charge { pattern } => by_pattern(Action::Charge, "charge", pattern)?,
        Of::Collapse { pattern } => by_pattern(Action::Collapse, "collapse", pattern)?,
        Of::ChargeBinary { binary } => of_binary(Action::Charge, "charge-binary", binary),
        Of::FlattenBinary { binary } => of_binary(Action::Flatten, "flatten-binary", binary),
        Of::Binary { names } => of_binaries(Action::Focus, "binary", names)?,
        Of::LeafBinary { names } => of_binaries(Action::FocusLeaves, "leaf-binary", names)?,
        Of::RootAtPlace { place } => at(PlaceAction::RootAt, "root-at-place", place),
        Of::PrunePlace { place } => at(PlaceAction::Prune, "prune-place", place),
        Of::ChargePlace { place } => at(PlaceAction::Charge, "charge-place", place),
        Of::ChargeSystem => plain(Action::Charge(FunctionSet::of_system(profile)), "charge-system"),
        Of::HideSystem => plain(Action::Hide(FunctionSet::of_system(profile)), "hide-system"),
        Of::FlattenRecursion => plain(Action::FlattenRecursion, "flatten-recursion"),
        Of::SkipIdle => plain(Action::SkipIdle, "skip-idle"),
        Of::Invert => plain(Action::Invert, "invert"),
    })
}

fn at_place(profile: &Profile, action: PlaceAction, option: &str, place: &TreePlace) -> Operation {
    let (direction, word) = match place.direction {
        Direction::Down => (TreeDirection::Down, "down"),
        Direction::Up => (TreeDirection::Up, "up"),
    };
    let names: Vec<&str> = place.path.iter().map(|step| step.name.as_str()).collect();
    let path = place.path.iter().map(|step| FunctionSet::new(profile, |id| is_step(profile, step, id))).collect();
    Operation {
        action: Action::AtPlace(AtPlace { action, direction, path }),
        text: format!("{option} {word} {}", names.join(";")),
    }
}

/// True if a step refers to this function.
fn is_step(profile: &Profile, step: &Step, id: Id<Function>) -> bool {
    profile.function_name(id) == step.name
        && profile.binary_name(id) == step.binary.as_deref()
        && step.which.as_ref().is_none_or(|which| *which == binary_mark(profile, id))
}

/// A few letters that distinguish binaries with the same name, as in links.
fn binary_mark(profile: &Profile, id: Id<Function>) -> String {
    let Some(binary) = profile.function(id).binary.map(|binary| profile.binary(binary)) else { return String::new() };
    let parts = (
        binary.uuid.map(|uuid| uuid.to_string()),
        binary.arch.map(|arch| profile.string(arch)),
        binary.load_address.to_string(),
        profile.string(binary.path),
    );
    serde_json::to_string(&parts).map_or_else(|_| String::new(), |text| mark_of(&text))
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A 48-bit hash as eight letters, with the mixing of cyrb53. `web/src/state/steps.ts` computes the same.
fn mark_of(text: &str) -> String {
    let (mut first, mut second) = (0xdead_beef_u32, 0x41c6_ce57_u32);
    for unit in text.encode_utf16() {
        first = (first ^ u32::from(unit)).wrapping_mul(2_654_435_761);
        second = (second ^ u32::from(unit)).wrapping_mul(1_597_334_677);
    }
    let mix = |hash: u32, other: u32| {
        (hash ^ hash >> 16).wrapping_mul(2_246_822_507) ^ (other ^ other >> 13).wrapping_mul(3_266_489_909)
    };
    let one = mix(first, second);
    let other = mix(second, one);
    let letters =
        [one, other].into_iter().flat_map(|bits| [0, 6, 12, 18].map(|shift| LETTERS[(bits >> shift & 63) as usize]));
    letters.map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_those_of_links() {
        // The results of `markOfStep` in web/src/state/steps.ts.
        assert_eq!(mark_of(r#"["main","App"]"#), "Kfoai4mp");
        assert_eq!(mark_of(r#"["größe 😀",null]"#), "uiL8vCbR");
    }
}
