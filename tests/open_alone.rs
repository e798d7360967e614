//! `open` and `read` without any feature: exports are read, and an input that needs a feature is an error that names it.

#![cfg(not(any(feature = "bundle", feature = "compression")))]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use support::Rng;
use support::apple_symbols_model::random_image;
use support::apple_symbols_writer::{Form, Symbol, write_container};
use traceparse::recording::Options;
use traceparse::{Diagnostic, ErrorKind};

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path)
}

/// The line of `Cargo.toml` that turns a feature on.
fn line(feature: &str) -> String {
    format!("in Cargo.toml: traceparse = {{ version = \"0.1\", features = [\"{feature}\"] }}")
}

#[test]
fn exports_and_reports_are_opened() {
    let export = traceparse::open(fixture("27/orchard/input.xml")).unwrap();
    assert!(export.recording().profile.samples().len() > 20);
    let report = traceparse::open(fixture("sample/demo.sample.txt")).unwrap();
    assert!(report.recording().profile.sums_or_samples().next().is_some());
    let error = traceparse::open("nowhere.xml").unwrap_err();
    assert!(matches!(&error.kind, ErrorKind::Unreadable { file } if file == "nowhere.xml"), "{error}");
}

#[test]
fn packed_input_names_the_feature_that_it_needs() {
    let folder = tempfile::tempdir().unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&fs::read(fixture("27/orchard/input.xml")).unwrap()).unwrap();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("a.trace/form.template", zip::write::SimpleFileOptions::default()).unwrap();
    let mut tar = tar::Builder::new(Vec::new());
    tar.append_path_with_name(fixture("27/orchard/input.xml"), "a.trace/form.template").unwrap();
    for (bytes, feature) in [
        (gzip.finish().unwrap(), "compression"),
        (b"\x28\xb5\x2f\xfd\x04\x00".to_vec(), "compression"),
        (zip.finish().unwrap().into_inner(), "bundle"),
        (tar.into_inner().unwrap(), "bundle"),
    ] {
        let path = folder.path().join("input");
        fs::write(&path, &bytes).unwrap();
        for error in [
            traceparse::open(&path).unwrap_err(),
            traceparse::read(bytes.as_slice(), "input", &Options::default()).unwrap_err(),
        ] {
            assert!(error.to_string().ends_with(&line(feature)), "{error}");
        }
    }
}

#[test]
fn a_bundle_names_the_feature_that_it_needs() {
    let folder = tempfile::tempdir().unwrap();
    for parts in ["named.trace", "renamed/corespace"] {
        let path = folder.path().join(parts);
        fs::create_dir_all(&path).unwrap();
        let bundle = folder.path().join(Path::new(parts).iter().next().unwrap());
        let error = traceparse::open(&bundle).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::UnsupportedBundle(_)), "{error}");
        assert!(error.to_string().ends_with(&line("bundle")), "{error}");
    }
    let error = traceparse::open(folder.path()).unwrap_err();
    assert!(error.to_string().contains("is a folder; name the exports"), "{error}");
}

#[test]
#[cfg(not(feature = "symbols"))]
fn a_dsym_names_the_feature_that_it_needs() {
    let mut analysis = traceparse::open(fixture("27/orchard/input.xml")).unwrap();
    let error = analysis.add_symbols(fixture("symbols/built/arm64-dwarf4/Demo.dSYM")).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::NoSymbols(_)) && error.to_string().ends_with(&line("symbols")), "{error}");
    let error = analysis.add_symbols(fixture("sample")).unwrap_err();
    assert!(error.to_string().ends_with("sample: no symbols found"), "{error}");
}

#[test]
#[cfg(not(feature = "swift"))]
fn swift_names_that_stay_mangled_are_reported_once() {
    const MANGLED: &str = "$s4Demo6WidgetC4draw5scaleS2i_tF";
    let reports = |notes: &[Diagnostic]| -> Vec<u64> {
        notes.iter().filter(|note| note.message.ends_with(&line("swift"))).map(|note| note.count).collect()
    };
    let export = fs::read_to_string(fixture("27/orchard/input.xml")).unwrap();
    assert_eq!(reports(&traceparse::open(fixture("27/orchard/input.xml")).unwrap().recording().diagnostics), [0; 0]);
    let mangled = export.replace("name=\"fruit_copy_fast\"", &format!("name=\"{MANGLED}\""));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mangled.xml");
    fs::write(&path, mangled).unwrap();
    let mut mangled = traceparse::open(&path).unwrap();
    assert_eq!(reports(&mangled.recording().diagnostics), [1]);

    // Symbols of a binary of the export, with a Swift name for all of its code.
    let mut image = random_image(&mut Rng::new(1), 1);
    image.uuid = *b"\xc2\xa4\xe1\xb7\x5d\x90\x3e\x6f\x8b\x13\x7f\x0a\x6d\x4c\x95\xe8";
    let (size, linker_name) = (0x7000, Some(format!("_{MANGLED}")));
    image.symbols =
        vec![Symbol { size, linker_name, flags: image.symbols[0].flags, address: 0x400, ..Symbol::default() }];
    image.lines.clear();
    let symbols = folder.path().join("OrchardKit.symbols");
    fs::write(&symbols, write_container(&[image], Form::Long, 5)).unwrap();
    let mut analysis = traceparse::open(fixture("27/orchard/input.xml")).unwrap();
    assert_eq!(reports(&analysis.add_symbols(&symbols).unwrap().notes), [1]);
    // The recording has reported it.
    assert_eq!(reports(&mangled.add_symbols(&symbols).unwrap().notes), [0; 0]);
}
