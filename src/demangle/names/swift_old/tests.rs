use super::simplified;

const LONGEST: usize = 1 << 16;

fn shown(name: &str) -> Option<String> {
    simplified(name, LONGEST)
}

#[test]
fn one_or_two_underscores_stand_in_front() {
    assert_eq!(shown("_TF4Demo4pickFT_T_").as_deref(), Some("pick()"));
    assert_eq!(shown("__TF4Demo4pickFT_T_").as_deref(), Some("pick()"));
    for name in ["TF4Demo4pickFT_T_", "___TF4Demo4pickFT_T_", "", "_", "_T", "__T"] {
        assert_eq!(shown(name), None, "{name}");
    }
}

#[test]
fn names_of_c_are_no_names_of_swift() {
    for name in [
        "_TSave",
        "_TSi",
        "_TSiRead",
        "_TMalloc",
        "_TMaSize",
        "_TPA",
        "_TPAcket",
        "_TtSize",
        "_TVersion",
        "_TWVSc",
        "_TIFF",
    ] {
        let expected = (name == "_TWVSc").then_some("value witness table for UnicodeScalar");
        assert_eq!(shown(name).as_deref(), expected, "{name}");
    }
    // Words of the optimiser and the linker may follow, and anything once there is a name.
    assert_eq!(shown("_TtSi.llvm.7").as_deref(), Some("Int"));
    assert_eq!(shown("_TF4Demo4pickFT_T__promote0").as_deref(), Some("pick()"));
}

#[test]
fn the_output_is_no_longer_than_allowed() {
    for longest in 0..10 {
        let expected = (longest >= 6).then_some("pick()");
        assert_eq!(simplified("_TF4Demo4pickFT_T_", longest).as_deref(), expected);
    }
}

#[test]
fn letters_of_later_compilers_are_refused() {
    for name in
        ["_TtFDfSiSi", "_TtFZSiSi", "_TtFySiSi", "_TtQu", "_TtkSi", "_TFC4Demo6WidgetZ", "_TFC4Demo6Widgetr5scaleSi"]
    {
        assert_eq!(shown(name), None, "{name}");
    }
}

#[test]
fn nesting_is_bounded() {
    for (start, more, middle, end) in [
        ("_Tt", "M", "Si", ""),
        ("_Tt", "GSq", "Si", "_"),
        ("_Tt", "T", "", "_"),
        ("_Tt", "FT_", "Si", ""),
        ("_Tt", "ur", "Si", ""),
        ("_Tt", "XFo_", "", "dSi__"),
        ("_Tt", "XFo__d", "Si", "_"),
        ("_Tt", "Q", "s1a", "1a"),
        ("_Tt", "XBm", "Si", "_"),
        ("_TtC", "C", "1a1b", "1c"),
        ("_TF", "F", "1a1bFT_T_", "1cFT_T_"),
        ("_TF", "F", "1aU_FT_T_", "U_FT_T_"),
        ("_TF", "E1a", "s", "1bFT_T_"),
        ("_TF", "e1ar", "s", "1bFT_T_"),
        ("_TtP", "P", "1a1b", "1c"),
        ("_TtuRx", "C", "1a1b", "1crx"),
        ("_TtqxP", "PqxP", "1a1b", "1c"),
        ("_TPA", "__TPA", "_", ""),
        ("_TTSg5", "GSq", "Si", "_"),
    ] {
        let name = |depth: usize| format!("{start}{}{middle}{}", more.repeat(depth), end.repeat(depth));
        for depth in [1_000, 10_000] {
            assert_eq!(shown(&name(depth)), None, "{start}{more}");
        }
    }
    let optional = |depth: usize| format!("_Tt{}Si{}", "GSq".repeat(depth), "_".repeat(depth));
    assert_eq!(shown(&optional(100)).map(|shown| shown.len()), Some(103));
}

/// Each type is in an extension of the type before and is bound to it twice, so each step triples the length.
#[test]
fn tripling_mentions_are_stopped() {
    let name = |levels: usize| {
        let level = |level: usize| format!("VEsGS{level}_S{level}_S{level}__1c");
        format!("_TtTV1a1b{}_", (0..levels).map(level).collect::<String>())
    };
    assert_eq!(shown(&name(1)).as_deref(), Some("(b, b<b, b>.c)"));
    assert_eq!(shown(&name(2)).as_deref(), Some("(b, b<b, b>.c, b<b, b>.c<b<b, b>.c, b<b, b>.c>.c)"));
    assert!(shown(&name(6)).is_some_and(|shown| shown.len() > 3_000));
    assert!(name(40).len() < 1_000);
    for longest in [100, LONGEST, 1 << 22] {
        assert_eq!(simplified(&name(40), longest), None);
    }
}

/// Far deeper than any real name, by mentions alone.
#[test]
fn mentions_that_nest_are_bounded() {
    let mut name = String::from("_TtTC1a1b");
    (0..3_000).for_each(|level: usize| name.push_str(&format!("CS{level}_1c")));
    name.push('_');
    assert_eq!(shown(&name), None);
}

#[test]
fn wide_names_are_read_whole() {
    let name = format!("_TtT{}_", "C4Demo6Widget".repeat(1_000));
    assert_eq!(shown(&name).map(|shown| shown.len()), Some(2 + 8 * 1_000 - 2));
    let name = format!("_TtT{}_", "Si".repeat(LONGEST));
    assert_eq!(shown(&name), None);
}
