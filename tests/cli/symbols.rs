//! `--dsym`, `--symbols`, `--image` and `--no-inlines`: names for the frames of an export.

use crate::symbols_case::{Case, SAME_ADDRESS, macho};

#[test]
fn keeps_a_recorded_name_that_any_symbol_at_the_address_has() {
    let case = Case::new();
    let symbols = [("__Z3foov", 0x1000), ("__Z3barv", 0x1000), ("_plain", 0x1100), ("_twin", 0x1100)];
    let library = case.folder.file("libsame.dylib", macho(&symbols));
    let names = ["foo()", "bar()", "plain", "twin", "other", ""];
    let shown = ["foo()", "bar()", "plain", "twin", "plain", "plain"];
    for (index, (name, shown)) in names.into_iter().zip(shown).enumerate() {
        let address = if index < 2 { 0x1010 } else { 0x1110 };
        let export = case.export("libsame.dylib", SAME_ADDRESS, &[(address + 1, name)]);
        assert_eq!(case.stack(&[&export, "--dsym", &library]), [shown], "{name}");
        let answer = case.json(&[&export, "--dsym", &library, "--view", "summary"]);
        let disagreements = &answer["symbolication"]["binaries"][0]["disagreements"];
        assert_eq!(disagreements, u32::from(name == "other"), "{name}");
    }
}
