//! Datasets: extracted once, extended, interrupted, and reported like the exports they come from.

use std::fs;
use std::process::Command;

use crate::command::{Folder, fails};
use crate::fleet_case::{bytes, export, extract, failures, fleet, report_with, says, sources, toc, write};

#[test]
fn a_dataset_reports_as_its_exports_do() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 5), folder.path("ds"));
    write(&folder, "x/cut.xml", &export(40)[..2000]);
    write(&folder, "x/copy.xml", export(12));
    let manifest = write(&folder, "fleet.csv", "path,ring,run_weight\nx/00.xml,beta,2.5\nx/03.xml,beta,\n");
    let inputs = [path.as_str(), "--manifest", &manifest];
    let said = says(0, &[&["extract"], &inputs[..], &["-o", &dataset, "--compact"]].concat());
    let expected = "compacted 1 data file into 1\nextracted 5 new, 0 changed, 0 unchanged, 2 failed\n";
    assert!(said.ends_with(expected), "{said}");
    for options in [
        &[][..],
        &["--by", "ring", "--weighted"],
        &["--measure", "all", "--scope", "function,thread", "--percentiles", "25,75"],
        &["--alert", "cpu.p50 > 90", "--alert", "function(\"work\").self.mean > 90"],
    ] {
        let of_exports = bytes(&[&inputs[..], options].concat());
        assert_eq!(bytes(&[&[dataset.as_str()], options].concat()), of_exports, "{options:?}");
    }
    assert_eq!(failures(&report_with(0, &[&dataset]).1).len(), 2);
    // Without the option as well.
    extract(&[&inputs[..], &["-o", &folder.path("other")]].concat());
    for dataset in ["ds", "other"] {
        let frames = fs::read_dir(folder.path(&format!("{dataset}/frames"))).expect("a table");
        assert_eq!(frames.count(), 1, "{dataset}");
    }
    assert_eq!(bytes(&[&folder.path("other")]), bytes(&inputs));
}

#[test]
fn only_new_and_changed_exports_are_read_again() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 4), folder.path("ds"));
    let whole = export(40);
    write(&folder, "x/cut.xml", &whole[..whole.len() / 2]);
    write(&folder, "x/empty.xml", "");
    write(&folder, "x/copy.xml", export(11));
    let args = [path.as_str(), "-o", &dataset];
    assert_eq!(extract(&args), "extracted 4 new, 0 changed, 0 unchanged, 3 failed");
    let report = bytes(&[&dataset]);
    let said = says(0, &["extract", &path, "-o", &dataset]);
    let expected = format!(
        "warning: 3 failed as before; `traceparse fleet report {dataset}` lists them\n\
         extracted 0 new, 0 changed, 4 unchanged, 3 failed\n"
    );
    assert_eq!(said, expected, "what failed before is not read, and not complained of");
    assert_eq!(bytes(&[&dataset]), report);
    // A file is repaired, one is new.
    write(&folder, "x/cut.xml", &whole);
    write(&folder, "x/new.xml", export(50));
    assert_eq!(extract(&args), "extracted 2 new, 0 changed, 4 unchanged, 2 failed");
    // A table of contents, and what a manifest says, change a run.
    write(&folder, "x/new-toc.xml", toc(50));
    let manifest = write(&folder, "fleet.csv", "path,ring\nx/00.xml,beta\n");
    let both = [&args[..], &["--manifest", &manifest]].concat();
    assert_eq!(extract(&both), "extracted 0 new, 2 changed, 4 unchanged, 2 failed");
    assert_eq!(bytes(&[&dataset]), bytes(&[&path, "--manifest", &manifest]));
    // Other settings change all, also what failed.
    assert_eq!(
        extract(&[&both[..], &["--allow-truncated"]].concat()),
        "extracted 0 new, 6 changed, 0 unchanged, 2 failed"
    );
    assert_eq!(bytes(&[&dataset]), bytes(&[&path, "--manifest", &manifest, "--allow-truncated"]));
}

/// The files are old, so their size and time tell that they are the same: nothing of them is read.
#[test]
fn unchanged_exports_are_not_even_opened() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 3), folder.path("ds"));
    for name in ["00.xml", "01.xml", "02.xml"] {
        let old = Command::new("touch").args(["-d", "2020-01-01", &folder.path(&format!("x/{name}"))]).status();
        assert!(old.expect("touch is there").success());
    }
    assert_eq!(extract(&[&path, "-o", &dataset]), "extracted 3 new, 0 changed, 0 unchanged, 0 failed");
    // Another content of the same size at the same time: only who reads it can tell.
    let file = folder.path("x/01.xml");
    let text = fs::read_to_string(&file).expect("it is there").replace("Orchard", "Drahcro");
    fs::write(&file, text).expect("it can be written");
    let old = Command::new("touch").args(["-d", "2020-01-01", &file]).status();
    assert!(old.expect("touch is there").success());
    assert_eq!(extract(&[&path, "-o", &dataset]), "extracted 0 new, 0 changed, 3 unchanged, 0 failed");
}

#[test]
fn exports_that_are_gone_stay_in_the_dataset() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 4), folder.path("ds"));
    extract(&[&path, "-o", &dataset]);
    fs::remove_file(folder.path("x/02.xml")).expect("it is there");
    let said = says(0, &["extract", &path, "-o", &dataset]);
    assert!(
        said.contains("1 file of the dataset is not among the inputs, ") && said.contains("02.xml; its runs stay"),
        "{said}"
    );
    assert_eq!(sources(&report_with(0, &[&dataset]).1), ["00.xml", "01.xml", "02.xml", "03.xml"]);
    // Also where it is asked for by name.
    let said = says(0, &["extract", &path, &folder.path("x/02.xml"), "-o", &dataset]);
    assert!(
        said.contains("02.xml: cannot be read") && said.ends_with("0 new, 0 changed, 3 unchanged, 1 failed\n"),
        "{said}"
    );
    assert_eq!(sources(&report_with(0, &[&dataset]).1).len(), 4);
}

#[test]
fn files_that_are_gone_are_forgotten_where_that_is_asked() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 4), folder.path("ds"));
    write(&folder, "x/copy.xml", export(11));
    extract(&[&path, "-o", &dataset]);
    let before = bytes(&[&dataset]);
    // Not by mistake.
    for (input, words) in [("y/*.xml", "no file matches"), ("z.jsonl", "cannot be opened")] {
        let said = fails(1, &["fleet", "extract", &path, &folder.path(input), "-o", &dataset, "--remove-others"]);
        assert!(said.contains(words), "{said}");
    }
    assert_eq!(bytes(&[&dataset]), before);
    // The copy counts when what it is a copy of is forgotten.
    fs::remove_file(folder.path("x/00.xml")).expect("it is there");
    fs::remove_file(folder.path("x/02.xml")).expect("it is there");
    let said = says(0, &["extract", &path, "-o", &dataset]);
    assert!(
        said.contains("2 files of the dataset are not among the inputs") && said.contains("--remove-others"),
        "{said}"
    );
    let said = says(0, &["extract", &path, "-o", &dataset, "--remove-others"]);
    assert!(said.contains("removed 2 files not among the inputs"), "{said}");
    assert!(said.ends_with("extracted 1 new, 0 changed, 2 unchanged, 0 failed\n"), "{said}");
    assert_eq!(bytes(&[&dataset]), bytes(&[&path]));
}

#[cfg(unix)]
#[test]
fn a_dataset_that_cannot_be_written_may_stay_as_it_is() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 3), folder.path("ds"));
    says(0, &["extract", &path, "-o", &dataset]);
    let allow = |file: u32| {
        let tables = fs::read_dir(&dataset).expect("a folder").map(|entry| entry.expect("an entry").path());
        for entry in tables.chain([dataset.clone().into()]) {
            let mode = if entry.is_dir() { file | 0o111 } else { file };
            fs::set_permissions(&entry, fs::Permissions::from_mode(mode)).expect("the mode can be set");
        }
    };
    allow(0o444);
    // Root may write everywhere, so there is nothing to see then.
    if fs::File::options().append(true).open(format!("{dataset}/.lock")).is_err() {
        let said = says(0, &["extract", &path, "-o", &dataset]);
        assert_eq!(said.lines().last(), Some("extracted 0 new, 0 changed, 3 unchanged, 0 failed"), "{said}");
        let touched = fs::File::options().append(true).open(format!("{path}/00.xml")).expect("it is there");
        touched.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("a time can be set");
        assert!(says(0, &["extract", &path, "-o", &dataset]).contains("3 unchanged"), "its content is the same");
        write(&folder, "x/new.xml", export(30));
        assert!(says(1, &["extract", &path, "-o", &dataset]).contains("cannot be written"));
        assert_eq!(report_with(0, &[&dataset]).1["runs"].as_array().map(Vec::len), Some(3));
    }
    allow(0o644);
}

#[test]
fn labels_do_not_get_lost_without_a_word() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 3), folder.path("ds"));
    let text = "path,app_version,lab\nx/00.xml,1.0,7\nx/01.xml,1.0,\n";
    let manifest = write(&folder, "fleet.csv", text);
    let said = says(0, &["extract", &path, "--manifest", &manifest, "-o", &dataset]);
    assert_eq!(said, "extracted 3 new, 0 changed, 0 unchanged, 0 failed\n");
    let said = says(0, &["extract", &path, "-o", &dataset]);
    assert!(said.contains("warning: 2 runs lose labels they had (app_version, lab): no manifest line"), "{said}");
    assert!(said.ends_with("extracted 0 new, 2 changed, 1 unchanged, 0 failed\n"), "{said}");
    // They come back, and one of them goes.
    let said = says(0, &["extract", &manifest, "-o", &dataset]);
    assert!(!said.contains("lose"), "{said}");
    fs::write(&manifest, text.replace("1.0,7", "2.0,")).expect("it can be written");
    let said = says(0, &["extract", &path, "--manifest", &manifest, "-o", &dataset]);
    assert!(said.contains("1 run loses labels it had (lab)"), "{said}");
    // Also those of a file that was moved.
    fs::rename(folder.path("x/01.xml"), folder.path("x/moved.xml")).expect("it is there");
    fs::rename(folder.path("x/01-toc.xml"), folder.path("x/moved-toc.xml")).expect("it is there");
    let said = says(0, &["extract", &path, "-o", &dataset]);
    assert!(said.contains("2 runs lose labels they had (app_version"), "{said}");
}

#[test]
fn a_damaged_data_file_is_extracted_again() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 3), folder.path("ds"));
    extract(&[&path, "-o", &dataset]);
    let before = bytes(&[&dataset]);
    let first = |table: &str| {
        let mut files: Vec<_> =
            fs::read_dir(folder.path(&format!("ds/{table}"))).expect("a table").flatten().map(|e| e.path()).collect();
        files.sort();
        files.swap_remove(0)
    };
    let frames = fs::read(first("frames")).expect("it is there");
    fs::write(first("frames"), &frames[..frames.len() / 2]).expect("it can be written");
    let said = fails(1, &["fleet", "report", &dataset]);
    let advice = || format!("Delete {}, then run the same `traceparse fleet extract` again", first("runs").display());
    assert!(said.contains(&advice()), "{said}");
    // Nothing of it is written into another file.
    for args in [&["fleet", "extract", &path, "-o", &dataset][..], &["fleet", "sql", &dataset]] {
        assert!(fails(1, args).contains(&advice()), "{args:?}");
    }
    fs::remove_file(first("runs")).expect("it is there");
    let said = says(0, &["extract", &path, "-o", &dataset]);
    assert!(said.contains("ds: lost 3 runs with data files that are gone"), "{said}");
    assert!(said.ends_with("extracted 3 new, 0 changed, 0 unchanged, 0 failed\n"), "{said}");
    assert_eq!(bytes(&[&dataset]), before);
    // Who deletes another table gets the same.
    let advice = advice();
    fs::remove_file(first("frames")).expect("it is there");
    assert!(fails(1, &["fleet", "report", &dataset]).contains(&advice));
    assert_eq!(extract(&[&path, "-o", &dataset]), "extracted 3 new, 0 changed, 0 unchanged, 0 failed");
    assert_eq!(bytes(&[&dataset]), before);
}

#[test]
fn strict_keeps_what_was_measured_and_fails() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 3), folder.path("ds"));
    write(&folder, "x/zero.xml", "");
    let said = fails(1, &["fleet", "extract", &path, "-o", &dataset, "--strict"]);
    assert!(said.contains("zero.xml: the file is empty; and --strict was given"), "{said}");
    assert_eq!(report_with(0, &[&dataset]).1["inputs"]["runs"], 3);
    let said = fails(1, &["fleet", "extract", &path, "-o", &dataset, "--strict"]);
    assert!(said.contains("zero.xml"), "{said}");
    let said = fails(1, &["fleet", "report", &dataset, "--strict"]);
    assert!(said.contains("zero.xml"), "{said}");
}

#[test]
fn a_dataset_stands_alone() {
    let folder = Folder::new();
    let (path, dataset) = (fleet(&folder, "x", 2), folder.path("ds"));
    extract(&[&path, "-o", &dataset]);
    for (args, word) in [
        (&["report", &dataset, &path][..], "must be the only input"),
        (&["report", &dataset, "--manifest", "m.csv"], "must be the only input"),
        (&["report", &dataset, "--schema", "time-profile"], "--schema"),
        (&["report", &dataset, "--dsym", "x.dSYM"], "--dsym"),
        (&["extract", &dataset, "-o", &dataset], "already a dataset"),
    ] {
        let said = says(2, args);
        assert!(said.contains(word), "{args:?}: {said}");
    }
    let said = fails(1, &["fleet", "extract", &path, "-o", &path]);
    assert!(said.contains("not empty, and not a dataset"), "{said}");
}
