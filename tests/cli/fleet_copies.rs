//! Files with the same content: which of them counts, in one extract and in several.

use std::fs;

use serde_json::Value;

use crate::command::Folder;
use crate::fleet_case::{bytes, export, extract, failures, fleet, reason, report_with, says, sources, toc, write};

#[test]
fn of_copies_the_one_of_which_most_is_known_counts() {
    let folder = Folder::new();
    for name in ["a", "b", "c"] {
        write(&folder, &format!("x/{name}.xml"), export(20));
    }
    let (path, dataset) = (folder.path("x"), folder.path("ds"));
    let counting = |args: &[&str]| {
        says(0, &[&["extract", &path, "-o", &dataset], args].concat());
        assert_eq!(bytes(&[&dataset]), bytes(&[&[path.as_str()], args].concat()));
        sources(&report_with(0, &[&dataset]).1)
    };
    assert_eq!(counting(&[]), ["a.xml"]);
    write(&folder, "x/b-toc.xml", toc(20));
    assert_eq!(counting(&[]), ["b.xml"]);
    let manifest = write(&folder, "m.csv", "path\nx/c.xml\n");
    assert_eq!(counting(&["--manifest", &manifest]), ["c.xml"]);
    fs::write(&manifest, "path,app_version\nx/c.xml,1.0\nx/a.xml,1.1\n").expect("it can be written");
    assert_eq!(counting(&["--manifest", &manifest]), ["a.xml"]);
    let why = |name: &str| reason(&report_with(0, &[&dataset]).1, name);
    assert!(why("b.xml").ends_with("a.xml, which counts"));
    let expected = "a.xml, which counts; but its manifest line says app_version 1.0, and that of ";
    assert!(why("c.xml").contains(expected) && why("c.xml").ends_with("a.xml app_version 1.1"), "{}", why("c.xml"));
    // What is said of the one that counts changes the reason of the other.
    fs::write(&manifest, "path,app_version\nx/c.xml,1.0\nx/a.xml,1.2\n").expect("it can be written");
    counting(&["--manifest", &manifest]);
    assert!(why("c.xml").ends_with("app_version 1.2"), "{}", why("c.xml"));
}

#[test]
fn a_copy_counts_when_the_first_is_another_file_now() {
    let folder = Folder::new();
    write(&folder, "x/a.xml", export(20));
    write(&folder, "x/b.xml", export(20));
    let (path, dataset) = (folder.path("x"), folder.path("ds"));
    assert_eq!(extract(&[&path, "-o", &dataset]), "extracted 1 new, 0 changed, 0 unchanged, 1 failed");
    write(&folder, "x/a.xml", export(21));
    assert_eq!(extract(&[&path, "-o", &dataset]), "extracted 1 new, 1 changed, 0 unchanged, 0 failed");
    assert_eq!(bytes(&[&dataset]), bytes(&[&path]));
    // A first copy that comes later takes the place.
    write(&folder, "x/0.xml", export(20));
    assert_eq!(extract(&[&path, "-o", &dataset]), "extracted 1 new, 0 changed, 1 unchanged, 1 failed");
    let (_, answer) = report_with(0, &[&dataset]);
    assert_eq!(
        (sources(&answer), failures(&answer)[0].0.as_str()),
        (vec!["0.xml".to_owned(), "a.xml".to_owned()], "b.xml")
    );
    assert_eq!(bytes(&[&dataset]), bytes(&[&path]));
}

/// Files that are not among the inputs of the last extract count as if they were.
#[test]
fn of_copies_in_two_extracts_the_one_of_one_extract_counts() {
    let folder = Folder::new();
    let january = fleet(&folder, "january", 2);
    let february = folder.path("february");
    let count = |inputs: &[&str], name: &str| {
        let dataset = folder.path(name);
        for input in inputs {
            says(0, &["extract", input, "-o", &dataset]);
        }
        let answer = report_with(0, &[&dataset]).1;
        let [expected, done] = ["inputs_expected", "inputs_done"].map(|key| answer["inputs"][key].as_u64());
        assert_eq!((&answer["inputs"]["complete"], expected), (&true.into(), done));
        let mut counting = sources(&answer);
        counting.sort();
        (done, counting, failures(&answer), answer)
    };
    // A copy in another folder, of which less is known, and another one with a table of contents of its own.
    write(&folder, "february/0.xml", export(11));
    write(&folder, "february/1.xml", export(12));
    write(&folder, "february/1-toc.xml", toc(12));
    write(&folder, "february/2.xml", export(11));
    let whole = folder.path("whole");
    says(0, &["extract", &january, &february, "-o", &whole]);
    let expected = (Some(5), vec!["00.xml".to_owned(), "1.xml".to_owned()]);
    let reasons = |answer: &Value| ["0.xml", "01.xml", "2.xml"].map(|name| reason(answer, name));
    for (order, name) in [([&january, &february], "a"), ([&february, &january], "b")] {
        let (done, sources, failures, answer) = count(&order.map(String::as_str), name);
        assert_eq!((done, sources), expected, "{name}");
        assert_eq!(failures.len(), 3, "{name}");
        assert_eq!(reasons(&answer), reasons(&report_with(0, &[&whole]).1), "{name}");
        assert_eq!(bytes(&[&folder.path(name)]), bytes(&[&whole]), "{name}");
        // Nothing is to be done a second time.
        let said = says(0, &["extract", &january, &february, "-o", &folder.path(name)]);
        assert!(said.ends_with("extracted 0 new, 0 changed, 2 unchanged, 3 failed\n"), "{name}: {said}");
    }
    // Runs of a file that is gone have moved.
    fs::remove_file(folder.path("february/0.xml")).expect("it is there");
    fs::remove_file(folder.path("february/2.xml")).expect("it is there");
    fs::rename(folder.path("january/00.xml"), folder.path("february/9.xml")).expect("it is there");
    fs::remove_file(folder.path("january/00-toc.xml")).expect("it is there");
    let (done, sources, failures, _) = count(&[&february], "a");
    assert_eq!((done, sources), (Some(5), vec!["1.xml".to_owned(), "9.xml".to_owned()]));
    assert_eq!(failures.len(), 3);
}
