//! Each check finds each kind of fault in sources written for this test, and reports nothing else.

use super::circles;
use super::code::Code;
use super::order::{self, Floors};
use super::world::{self, Door};
use crate::rust_sources::Source;

fn read(files: &[(&str, &str)]) -> Code {
    let sources: Vec<Source> =
        files.iter().map(|(path, text)| Source { path: (*path).into(), text: (*text).into() }).collect();
    Code::read(files[0].0, &sources)
}

fn order_faults(files: &[(&str, &str)], floors: &[(&'static str, u32)]) -> Vec<String> {
    let floors = floors.iter().copied().collect();
    order::faults(&read(files), &Floors { floors, readers: "readers", tests_of: &[("bundle", "export")] })
}

fn world_faults(text: &str) -> Vec<String> {
    world::library_faults(&read(&[("src/lib.rs", text)]), &[])
}

fn circle_faults(files: &[(&str, &str)]) -> Vec<String> {
    circles::faults(&read(files), &[])
}

/// Exactly one fault, which contains this string.
#[track_caller]
fn one(faults: Vec<String>, text: &str) {
    assert!(faults.len() == 1 && faults[0].contains(text), "not one fault with {text:?}: {faults:#?}");
}

#[track_caller]
fn none(faults: Vec<String>) {
    assert!(faults.is_empty(), "{faults:#?}");
}

const TWO: [(&str, u32); 2] = [("high", 1), ("low", 0)];

#[test]
fn a_higher_floor_is_found_however_it_is_named() {
    let names = [
        "use crate::high::Tower;",
        "use crate::{\n    high::{\n        self,\n    },\n};",
        "use super::high::Tower;",
        "use self::super::high as elsewhere;",
        "pub(crate) use crate::high::Tower;",
        "use crate::Tower;",
        "use crate::*; fn f(_: &Tower) {}",
        "fn f() -> crate::high::Tower { todo() }",
        "fn f() { let _ = super::high::build::<u8>(); }",
        "fn f() { use crate::high as h; h::build(); }",
        "fn f(x: u8) -> bool { matches!(x, crate::high::MOST) }",
        "struct S { field: Vec<Option<crate::high::Tower>> }",
        "impl crate::high::Tall for u8 {}",
        "macro_rules! m { () => { $crate::high::build() }; }",
        "mod inside { fn f() { super::super::high::build(); } }",
        "#[cfg(test)] mod tests { use crate::high::Tower; }",
        "#[cfg(test)] fn first() {}\nfn second() { crate::high::build(); }",
    ];
    for text in names {
        let faults = order_faults(
            &[("src/lib.rs", "mod high; mod low; pub use high::Tower;"), ("src/high.rs", HIGH), ("src/low.rs", text)],
            &TWO,
        );
        assert!(!faults.is_empty() && faults[0].contains("low (floor 0) uses high (floor 1)"), "{text}: {faults:?}");
        assert!(faults[0].starts_with("src/low.rs:"), "{faults:?}");
    }
}

const HIGH: &str = "pub struct Tower; pub trait Tall {} pub const MOST: u8 = 1; pub fn build() {}";

#[test]
fn lower_floors_comments_and_texts_are_no_faults() {
    let low = r#"
        //! [`crate::high`] is above.
        /// Not `crate::high::Tower`.
        #[doc = "crate::high::build()"]
        pub(in crate::low) fn low() -> &'static str { "crate::high::build()" }
        mod high { pub fn build() {} }
        fn own() { high::build(); }
    "#;
    let high = "use crate::low; fn high() { crate::low::low(); }";
    let files = [("src/lib.rs", "mod high; mod low;"), ("src/high.rs", high), ("src/low.rs", low)];
    none(order_faults(&files, &TWO));
}

#[test]
fn a_re_export_hides_no_floor() {
    let files = [
        ("src/lib.rs", "mod high; mod low; mod middle;"),
        ("src/high.rs", "pub use crate::low::Brick;"),
        ("src/low.rs", "pub struct Brick;"),
        ("src/middle.rs", "use crate::high::Brick;"),
    ];
    one(order_faults(&files, &[("high", 2), ("low", 0), ("middle", 1)]), "middle (floor 1) uses high (floor 2)");
}

#[test]
fn readers_use_none_of_each_other() {
    let with = |bundle: &str, export: &str| {
        let files = [
            ("src/lib.rs", "mod readers; pub use readers::{bundle, export};"),
            ("src/readers/mod.rs", "pub mod bundle; pub mod export; mod formats;"),
            ("src/readers/bundle/mod.rs", bundle),
            ("src/readers/export/mod.rs", export),
            ("src/readers/formats.rs", "use super::{bundle, export}; fn f() { bundle::read(); export::read(); }"),
        ];
        order_faults(&files, &[("readers", 0)])
    };
    let (bundle, export) = ("pub fn read() {}", "pub fn read() {}");
    none(with(bundle, export));
    one(with("fn f() { super::export::read(); }", export), "the reader bundle uses the reader export");
    one(with("use crate::export::read;", export), "the reader bundle uses the reader export");
    one(with(bundle, "use crate::readers::bundle::read;"), "the reader export uses the reader bundle");
    let tests = "#[cfg(test)] mod tests { #[test] fn f() { crate::export::read(); } }";
    none(with(tests, export));
    one(with(bundle, &tests.replace("export", "bundle")), "the reader export uses the reader bundle");
    // `cfg(test)` covers only one item: the next function is not test code.
    one(with(&format!("{tests} fn f() {{ crate::export::read(); }}"), export), "the reader bundle");
}

#[test]
fn a_module_has_a_floor_and_a_floor_a_module() {
    let files = [("src/lib.rs", "mod low; mod new;"), ("src/low.rs", ""), ("src/new.rs", "")];
    one(order_faults(&files, &[("low", 0)]), "new has no floor");
    one(order_faults(&files, &[("low", 0), ("new", 0), ("old", 0)]), "old has a floor and no code");
}

#[test]
fn all_files_are_read() {
    let faults = |files: &[(&str, &str)]| read(files).faults;
    one(faults(&[("src/lib.rs", "mod a;"), ("src/a.rs", ""), ("src/b.rs", "")]), "src/b.rs: no module declares");
    one(faults(&[("src/lib.rs", "mod a;")]), "the file of `mod a` is missing");
    one(faults(&[("src/lib.rs", "\n\nfn {")]), "src/lib.rs:3");
    let nested = [("src/lib.rs", "mod a { mod b; }"), ("src/a/b.rs", "mod c;"), ("src/a/b/c/mod.rs", "mod d;")];
    one(faults(&nested), "src/a/b/c/mod.rs: the file of `mod d`");
}

#[test]
fn printing_is_found_wherever_it_stands() {
    one(world_faults("#[cfg(test)]\nmod tests {}\nfn f() { println!(\"x\"); }"), "src/lib.rs:3: println!");
    one(world_faults("impl S { #[cfg(test)] fn f() { println!(); } fn g() { eprintln!(); } }"), "eprintln!");
    one(world_faults("fn f() { vec![if true { dbg!(1) }]; }"), "dbg!");
    one(world_faults("macro_rules! say { () => { std::print!() }; }"), "print!");
    one(world_faults("mod a { mod b { fn f() { todo!() } } }"), "todo!");
    none(world_faults(
        "#[cfg(test)] fn f() { println!(); } #[cfg(all(test, unix))] mod tests { fn f() { panic!(); } }",
    ));
    one(world_faults("#[cfg(any(test, unix))] fn f() { println!(); }"), "println!");
    one(world_faults("#[cfg(not(test))] fn f() { println!(); }"), "println!");
    none(world_faults("fn f() { write!(out, \"println!\"); /* println!() */ }"));
}

#[test]
fn the_environment_is_found_wherever_it_is_named() {
    let code = "mod a { mod b { fn f() { std::env::var(\"X\"); } } }";
    one(world_faults(code), "std::env::var");
    one(world_faults("use std::{\n    fmt,\n    env,\n};"), "src/lib.rs:3: std::env");
    one(world_faults("use std as s; fn f() { s::process::exit(1); }"), "std::process::exit");
    one(world_faults("mod a { use std::io; fn f() { io::stdin(); } }"), "std::io::stdin");
    one(world_faults("fn f() -> Option<std::fs::File> { None }"), "std::fs::File");
    one(world_faults("fn f(path: &Path) { path.read_dir(); }"), ".read_dir()");
    one(world_faults("fn f() { assert!(path.canonicalize().is_ok()); }"), ".canonicalize()");
    none(world_faults("mod env { pub fn var() {} } fn f() { env::var(); }"));
    none(world_faults("use std::io::Read; fn f(env: u8) { g(env) }"));
}

#[test]
fn the_command_opens_files_at_its_doors_only() {
    const DOORS: [Door; 3] = [
        Door { name: "std::fs::File::open", files: &["bin/door.rs"] },
        Door { name: "std::fs::write", files: &[] },
        Door { name: ".persist", files: &["bin/door.rs"] },
    ];
    let door = "use std::fs::File; fn f(t: T) { File::open(\"x\"); t.persist(); }";
    let with = |other: &str| {
        let code = [("bin/main.rs", "mod door; mod other;"), ("bin/door.rs", door), ("bin/other.rs", other)];
        world::door_faults(&read(&code), &DOORS)
    };
    none(with("use std::fs::File; struct InputFile; fn f() { InputFile::open(); }"));
    one(with("use std::fs; fn f() { fs::File::open(\"x\"); }"), "bin/other.rs:1: std::fs::File::open belongs to");
    one(with("use std::fs::File as F; fn f() { g.map(F::open); }"), "bin/other.rs:1: std::fs::File::open belongs to");
    one(with("use std::fs::*; fn f() { File::open(\"x\"); }"), "bin/other.rs:1: std::fs::File::open belongs to");
    one(with("fn f() { ensure!(t.persist(path)); }"), ".persist belongs to bin/door.rs");
    one(with("use std::fs::write; fn f() { write(\"x\"); }"), "nothing may use it");
    none(with("#[cfg(test)] mod tests { fn f() { std::fs::write(\"x\"); } }"));
    let code = [("bin/main.rs", "mod door;"), ("bin/door.rs", "fn f(t: T) { t.persist(); }")];
    one(world::door_faults(&read(&code), &DOORS), "bin/door.rs does not use std::fs::File::open");
}

#[test]
fn a_circle_across_two_folders_is_found() {
    let with = |one: &str, other: &str| {
        circle_faults(&[
            ("src/lib.rs", "mod a; mod b;"),
            ("src/a/mod.rs", "pub mod one;"),
            ("src/a/one.rs", one),
            ("src/b/mod.rs", "pub mod other; pub use other::Other;"),
            ("src/b/other.rs", other),
        ])
    };
    let (plain_one, plain_other) = ("pub struct One;", "pub struct Other;");
    none(with(plain_one, "pub struct Other(crate::a::one::One);"));
    let circle = "a circle of 2 files";
    one(with("pub struct One(crate::b::Other);", "pub struct Other(crate::a::one::One);"), circle);
    one(with("use crate::b::Other; pub struct One;", "use crate::a::one::One; pub struct Other;"), circle);
    one(with("pub struct One(crate::b::Other);", "fn f() { g!(crate::a::one::build()) }"), "src/b/other.rs:1");
    // Tests and comments may name any item.
    none(with("/// [`crate::b::Other`] \n pub struct One; #[cfg(test)] mod tests { use crate::b::Other; }", {
        "pub struct Other(crate::a::one::One);"
    }));
    none(with(plain_one, plain_other));
}

#[test]
fn files_of_one_folder_that_need_each_other_are_listed() {
    let files = [
        ("src/lib.rs", "mod a;"),
        ("src/a/mod.rs", "mod one; mod other; pub use one::One; pub(crate) use other::Other; fn f() { One; }"),
        ("src/a/one.rs", "pub struct One(super::Other);"),
        ("src/a/other.rs", "pub struct Other(super::One);"),
    ];
    one(circle_faults(&files), "a circle of 2 files");
    none(circles::faults(&read(&files), &["src/a/one.rs"]));
}

#[test]
fn a_fault_at_the_end_of_any_file_is_found() {
    for (root, folder) in [("src/lib.rs", "src"), ("bin/main.rs", "bin")] {
        let mut sources = super::sources(folder);
        sources.iter_mut().for_each(|source| source.text.push_str("\nfn added() { std::net::lookup(); }\n"));
        let code = Code::read(root, &sources);
        let faults = world::library_faults(&code, &[]);
        let tests = code.modules.iter().filter(|module| module.is_test).map(|module| module.file.as_str());
        let all_tests = tests.filter(|file| !code.modules.iter().any(|module| module.file == *file && !module.is_test));
        let expected = sources.len() - all_tests.collect::<std::collections::BTreeSet<_>>().len();
        let found = faults.iter().filter(|fault| fault.contains("std::net::lookup")).count();
        assert_eq!(found, expected, "in {folder}");
    }
}
