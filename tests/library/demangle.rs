//! The spelling of names, compared with LLVM 19, and the limits.

use std::fmt::Write;
use std::thread;

use traceparse::demangle::{Demangler, Error};

/// Names and what `llvm-cxxfilt-19` makes of them; nothing where it refuses them. Some are written by hand, rule by rule
/// of the grammar; the others are symbols of small programs, compiled by Clang 19 and GCC 12.
const NAMES: &str = include_str!("../demangle/names.tsv");

/// Checks the names of a table, in the first column.
fn assert_spelled(table: &str, mut spell: impl FnMut(&str) -> String) {
    let mut differing = String::new();
    for line in table.lines() {
        let (name, expected) = line.split_once('\t').expect("two columns");
        let spelled = spell(name);
        if spelled != expected {
            writeln!(differing, "{name}\n  there: {expected}\n  here:  {spelled}").expect("a string takes all");
        }
    }
    assert!(differing.is_empty(), "{differing}");
}

#[test]
fn names_are_spelled_as_llvm_spells_them() {
    let demangler = Demangler::default();
    assert_spelled(NAMES, |name| demangler.demangle_cpp(name).unwrap_or_default());
}

#[test]
fn no_prefix_of_a_name_panics() {
    let demangler = Demangler::default();
    for line in NAMES.lines() {
        let name = line.split('\t').next().unwrap_or("");
        for end in (0..name.len()).filter(|&end| name.is_char_boundary(end)) {
            if let Err(Error::Malformed { at }) = demangler.demangle_cpp(&name[..end]) {
                assert!(at <= end + 2, "{at} in {}", &name[..end]);
            }
        }
    }
}

#[test]
fn characters_are_not_cut() {
    assert_eq!(demangle("_ZN2é1fEv").as_deref(), Some("é::f()"));
    assert_eq!(demangle("_ZN1é1fEv"), None);
}

/// The start of a name, and a rule that can be inside itself.
const NESTED: &str = "1f P, 1f 1AI, 1f N1AI, 1fI J, 1fIX pl, 1fIX cl, 1fIX cvi_, 1fIX tl1A, 1fIX nw, 1fIX rqX, 1fIX qu, Z, \
    1f Z1fI, 1fI LZ1fI, 1fU 1AI, 1f U1A, 1f F, 1f FDOL_Z1f, 1fI NUl, 1fI NUlTn, N1AUl Tt, N1AUl Tp, \
    N1AUlTyQ rqQ, 1fIX sr1AI, 1fIX srNDt, 1fIX onplIX, N1A CI1N1A, 1fIXtl1A di1x, 1f Ast, 1f DTst, 1f Dk1AI, \
    Tv0_0_, TA J, Ncv, NcvFi, 1f u1AI, 1fIX u1AX, 1fIX sPJX, 1f MKDv_, 1f A_";

#[test]
fn nesting_does_not_exhaust_a_stack() {
    let nested = || {
        for rule in NESTED.split(", ") {
            let (start, repeated) = rule.split_once(' ').unwrap_or(("", rule));
            let name = format!("_Z{start}{}", repeated.repeat(100_000));
            assert_eq!(Demangler::default().demangle_cpp(&name), Err(Error::TooDeep), "{rule}");
        }
        let pointers = format!("_Z1f{}i", "P".repeat(500));
        assert_eq!(demangle(&pointers), Some(format!("f(int{})", "*".repeat(500))));
        assert_eq!(Demangler::default().demangle_cpp(&format!("_Z1f{}i", "P".repeat(600))), Err(Error::TooDeep));
    };
    thread::Builder::new().stack_size(1 << 20).spawn(nested).expect("a thread").join().expect("no overflow");
}

/// `S_`, `S0_`, … `SZ_`, `S10_`
fn substitution(index: usize) -> String {
    let Some(mut number) = index.checked_sub(1) else { return "S_".to_owned() };
    let mut digits = Vec::new();
    loop {
        digits.push(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % 36]);
        number /= 36;
        if number == 0 {
            break;
        }
    }
    let digits = digits.into_iter().rev().map(char::from).collect::<String>();
    format!("S{digits}_")
}

#[test]
fn depth_by_substitutions_needs_no_stack() {
    // Each parameter is a pointer to the one before.
    let mut name = String::from("_Z1f1A");
    for index in 0..1_000 {
        write!(name, "P{}", substitution(index)).expect("a string takes all");
    }
    let spell = move || demangle(&name).map(|text| text.len());
    let length = thread::Builder::new().stack_size(1 << 18).spawn(spell).expect("a thread").join();
    let expected = "f(A)".len() + (1..=1_000).map(|stars| ", A".len() + stars).sum::<usize>();
    assert_eq!(length.expect("no overflow"), Some(expected));
}

#[test]
fn doubling_is_stopped_by_the_limit() {
    // Each parameter has the one before twice: 2 to the power of 60.
    let mut name = String::from("_Z1f1AIiE");
    for index in 0..60 {
        write!(name, "S_I{0}{0}E", substitution(index + 1)).expect("a string takes all");
    }
    let demangler = Demangler::new(10_000);
    assert_eq!(demangler.demangle_cpp(&name), Err(Error::TooLong));
}

#[test]
fn doubling_of_nothing_is_stopped() {
    // Each pack expands the one before twice, and the first is empty.
    let mut name = String::from("_Z1fIJE");
    for index in 0..60 {
        let before = if index == 0 { String::new() } else { (index - 1).to_string() };
        write!(name, "JDpT{before}_DpT{before}_E").expect("a string takes all");
    }
    name.push_str("Evv");
    assert_eq!(Demangler::default().demangle_cpp(&name), Err(Error::TooLong));
}

#[test]
fn the_output_is_no_longer_than_allowed() {
    for max_output in 0..20 {
        let demangler = Demangler::new(max_output);
        let expected = if max_output < 13 { Err(Error::TooLong) } else { Ok("foo::bar(int)".to_owned()) };
        assert_eq!(demangler.demangle_cpp("_ZN3foo3barEi"), expected);
    }
}

#[test]
fn other_names_are_not_mangled() {
    for name in ["__Z1fv", "____Z1fv_block_invoke", "_", "", "Z1fv", "main", "?f@@YAXXZ", "_RNvC1a1b", "$s1a"] {
        assert_eq!(Demangler::default().demangle_cpp(name), Err(Error::NotMangled), "{name}");
    }
}

/// Names of Swift types in the Objective-C runtime, one or more for each rule of their grammar, and the output of Swift's demangler with the
/// options of `swift demangle -simplified`; nothing for names that are not read.
const SWIFT_TYPES: &str = include_str!("../demangle/swift_types.tsv");

#[test]
fn swift_types_are_spelled_as_swift_simplifies_them() {
    let demangler = Demangler::default();
    assert_spelled(SWIFT_TYPES, |name| demangler.demangle(name).unwrap_or_default());
}

/// Names of a large program (SwiftLint 0.57 for macOS and Linux, some of each kind), and what Swift's demangler makes of them with the
/// options of `swift demangle -simplified`. `tests/oracle/demangle_swift.py` compares all names of a program.
#[cfg(feature = "swift")]
const SWIFT_NAMES: &str = include_str!("../demangle/swift.tsv");

#[cfg(feature = "swift")]
#[test]
fn swift_names_are_spelled_as_swift_simplifies_them() {
    assert_spelled(SWIFT_NAMES, |name| Demangler::default().display_name(name).into_owned());
}

/// How one name is demangled.
fn demangle(name: &str) -> Option<String> {
    Demangler::new(1 << 20).demangle_cpp(name).ok()
}
