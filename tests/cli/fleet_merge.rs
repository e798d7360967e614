//! `fleet merge`, and reports of several datasets: which can be taken together, and what becomes of them.

use std::fs;
use std::path::Path;

use crate::command::{Folder, fails, stdout_of};
use crate::fleet_case::{export, failures, fleet, reason, report, report_with, run, says, sources, toc, write};

/// A dataset of the exports in a folder.
fn extract(folder: &Folder, name: &str, args: &[&str]) -> String {
    let dataset = folder.path(name);
    run(&[&["extract", "-o", &dataset], args].concat()).code(0);
    dataset
}

#[test]
fn different_recordings_become_one_fleet() {
    let folder = Folder::new();
    let (january, february) = (fleet(&folder, "january", 3), fleet(&folder, "february", 5));
    write(&folder, "february/broken.xml", "");
    let [a, b, one] = [("a", &[&january[..]][..]), ("b", &[&february]), ("one", &[&january, &february])]
        .map(|(name, args)| extract(&folder, name, args));
    let merged = folder.path("merged");
    let said = says(0, &["merge", &a, &b, "-o", &merged]);
    assert_eq!(said, "merged 2 datasets: 5 runs, 4 failed\n");
    let of = |datasets: &[&str]| stdout_of(&run(&[&["report", "--format", "json"], datasets].concat()).code(0));
    assert_eq!(of(&[&merged]), of(&[&one]));
    assert_eq!(of(&[&b, &a]), of(&[&one]));
    // Merged datasets are datasets.
    let more = fleet(&folder, "march", 6);
    let again = folder.path("again");
    says(0, &["merge", &merged, &extract(&folder, "c", &[&more]), "-o", &again]);
    let whole = extract(&folder, "whole", &[&january, &february, &more]);
    assert_eq!(of(&[&again]), of(&[&whole]));
    // And extracts go on in them.
    let said = says(0, &["extract", &january, &february, "-o", &merged]);
    assert!(said.contains("extracted 0 new, 0 changed, 5 unchanged, 4 failed"), "{said}");
    assert_eq!(of(&[&merged]), of(&[&one]));
}

/// A build machine records to the same path each day.
#[test]
fn a_path_with_other_content_is_another_run() {
    let folder = Folder::new();
    let path = write(&folder, "x/run.xml", export(20));
    let monday = extract(&folder, "monday", &[&path]);
    write(&folder, "x/run.xml", export(30));
    let tuesday = extract(&folder, "tuesday", &[&path]);
    let wednesday = extract(&folder, "wednesday", &[&path]);
    let answer = report(&[&monday, &tuesday, &wednesday]);
    assert_eq!(sources(&answer), ["run.xml", "run.xml"]);
    assert_eq!((&answer["inputs"]["complete"], &answer["inputs"]["inputs_done"]), (&true.into(), &2.into()));
    // Of shards, that is a change between their extracts: nobody knows which is right.
    let shard = extract(&folder, "shard", &[&folder.path("x"), "--shard", "1/1"]);
    write(&folder, "x/run.xml", export(40));
    let later = extract(&folder, "later", &[&folder.path("x"), "--shard", "1/1"]);
    let said = fails(1, &["fleet", "report", &shard, &later]);
    assert!(said.contains("have different contents of") && said.contains("x/run.xml"), "{said}");
}

#[test]
fn the_first_copy_counts_whichever_dataset_has_it() {
    let folder = Folder::new();
    let (first, second) = (write(&folder, "x/1.xml", export(20)), write(&folder, "x/2.xml", export(20)));
    let manifest = write(&folder, "m.csv", "path,ring\nx/2.xml,beta\n");
    let [a, b] = [("a", &first), ("b", &second)].map(|(name, path)| extract(&folder, name, &[path]));
    for datasets in [[&a, &b], [&b, &a]] {
        let answer = report_with(0, &datasets.map(String::as_str)).1;
        assert_eq!(sources(&answer), ["1.xml"]);
        assert_eq!(failures(&answer), [("2.xml".to_owned(), "duplicate".to_owned())]);
        assert!(
            reason(&answer, "2.xml").starts_with("it has the same content as ")
                && reason(&answer, "2.xml").contains("1.xml")
        );
    }
    // Of the one that a manifest names more is known.
    let described = extract(&folder, "described", &["--manifest", &manifest]);
    let answer = report_with(0, &[&a, &described, "--by", "ring"]).1;
    assert_eq!(sources(&answer), ["2.xml"]);
    assert!(reason(&answer, "1.xml").contains("2.xml, which counts"));
}

#[test]
fn unlike_datasets_are_refused() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 4);
    let plain = extract(&folder, "plain", &[&path]);
    let shard = |name: &str, number: &str| extract(&folder, name, &[&path, "--shard", number]);
    let [first, second, of_three] =
        [("s1", "1/2"), ("s2", "2/2"), ("t1", "1/3")].map(|(name, number)| shard(name, number));
    let selected = extract(&folder, "selected", &[&path, "--only-main-thread"]);
    let other = extract(&folder, "other", &[&path, "--allow-truncated"]);
    let cases = [
        ([&plain, &selected], "another selection (--only-main-thread) than"),
        ([&plain, &other], "measured with other settings"),
        ([&first, &of_three], "shard 1/3, but"),
        ([&first, &plain], "no shard, but"),
        ([&plain, &second], "shard 2/2, but"),
    ];
    for ([a, b], words) in cases {
        let merged = folder.path("merged");
        for args in [&["fleet", "merge", a, b, "-o", &merged][..], &["fleet", "report", a, b], &["fleet", "sql", a, b]]
        {
            let said = fails(1, args);
            let names = [a, b].iter().all(|name| said.contains(name.as_str()));
            assert!(
                names
                    && (said.contains(words)
                        || words.starts_with("another selection (") && said.contains("another selection")),
                "{words}: {said}"
            );
        }
        assert!(!Path::new(&merged).exists());
    }
    // A whole merge of shards is like any other dataset.
    let whole = folder.path("whole");
    says(0, &["merge", &first, &second, "-o", &whole]);
    assert_eq!(sources(&report(&[&whole, &plain])).len(), 4);
    assert!(says(2, &["merge", &plain, &folder.path("x"), "-o", &whole]).contains("not a dataset"));
    assert!(says(2, &["merge", &plain, &whole, "-o", &whole]).contains("an input"));
    assert!(says(1, &["merge", &plain, &plain, "-o", &folder.path("new")]).contains("named more than once"));
    assert!(says(1, &["merge", &plain, "-o", &first]).contains("a dataset already"));
    assert!(says(1, &["merge", &plain, "-o", &folder.path("x")]).contains("not empty, and not a dataset"));
}

/// A dataset whose extract did not finish, after so many of its files.
fn unfinished(dataset: &str, done: u64, expected: u64) {
    let path = Path::new(dataset).join("traceparse-dataset.json");
    let text = fs::read_to_string(&path).expect("a manifest");
    let text = text.replace("\"complete\": true", "\"complete\": false");
    let text = text.replace(&format!("\"inputs_expected\": {done}"), &format!("\"inputs_expected\": {expected}"));
    let (body, _) = text.rsplit_once(",\n  \"checksum\": \"").expect("a checksum");
    let checksum = &blake3::hash(body.as_bytes()).to_hex()[..32];
    fs::write(&path, format!("{body},\n  \"checksum\": \"{checksum}\"\n}}\n")).expect("it can be written");
}

#[test]
fn an_incomplete_dataset_makes_an_incomplete_one() {
    let folder = Folder::new();
    let (january, february) = (fleet(&folder, "january", 3), fleet(&folder, "february", 5));
    write(&folder, "january/x.xml", export(99));
    let [a, b] = [("a", &january), ("b", &february)].map(|(name, path)| extract(&folder, name, &[path]));
    unfinished(&a, 4, 7);
    let merged = folder.path("merged");
    let said = fails(1, &["fleet", "merge", &a, &b, "-o", &merged]);
    assert!(said.contains("a: incomplete: the last extract did not finish (4 of 7 files done)"), "{said}");
    assert!(said.contains("--allow-incomplete") && !Path::new(&merged).exists(), "{said}");
    says(0, &["merge", &a, &b, "-o", &merged, "--allow-incomplete"]);
    for datasets in [&[&merged[..]][..], &[&a, &b]] {
        let (said, answer) = report_with(4, &[datasets, &["--alert", "cpu.mean > 0"]].concat());
        assert!(said.contains("incomplete: "), "{said}");
        let inputs = &answer["inputs"];
        let of = |name: &str| inputs[name].as_u64();
        assert_eq!((&inputs["complete"], of("inputs_done"), of("inputs_expected")), (&false.into(), Some(9), Some(12)));
    }
}

#[test]
fn a_statement_names_the_files_of_all() {
    let folder = Folder::new();
    let (january, february) = (fleet(&folder, "january", 3), folder.path("february"));
    for index in 0..3_u64 {
        write(&folder, &format!("february/{index}.xml"), export(40 + index));
    }
    let [a, b] = [("all/a", &january), ("all/b", &february)].map(|(name, path)| extract(&folder, name, &[path]));
    let sql = stdout_of(&run(&["sql", &a, &b]).code(0));
    assert!(sql.starts_with("-- Dataset complete: yes; 6 of 6 input files\n"), "{sql}");
    for dataset in [&a, &b] {
        for entry in fs::read_dir(Path::new(dataset).join("frames")).expect("the table") {
            let path = entry.expect("a file").path().display().to_string();
            assert!(sql.contains(&path), "{path}: {sql}");
        }
    }
    assert_eq!(stdout_of(&run(&["sql", &folder.path("all")]).code(0)), sql);
}

/// The order of arguments would decide between the numbers.
#[test]
fn a_file_that_was_measured_differently_is_refused() {
    let folder = Folder::new();
    let path = folder.path("x");
    let run = write(&folder, "x/run.xml", export(20));
    write(&folder, "x/other.xml", export(30));
    let manifest = write(&folder, "m.csv", "path,run_weight\nx/run.xml,2\n");
    let plain = extract(&folder, "plain", &[&path]);
    let same = extract(&folder, "same", &[&run]);
    let shard = extract(&folder, "shard", &[&path, "--shard", "1/1"]);
    let described = extract(&folder, "described", &["--manifest", &manifest]);
    // Then only the model of the device is another one.
    write(&folder, "x/run-toc.xml", toc(20));
    let timed = extract(&folder, "timed", &[&path]);
    let timed_shard = extract(&folder, "timed_shard", &[&path, "--shard", "1/1"]);
    let device = toc(20);
    assert!(device.contains("model=\"MacBook Pro"), "{device}");
    write(&folder, "x/run-toc.xml", device.replace("model=\"MacBook Pro", "model=\"MacBook Air"));
    let elsewhere = extract(&folder, "elsewhere", &[&path]);
    for [a, b] in
        [[&plain, &timed], [&plain, &described], [&timed, &described], [&shard, &timed_shard], [&timed, &elsewhere]]
    {
        for [a, b] in [[a, b], [b, a]] {
            for args in [&["fleet", "report", a, b][..], &["fleet", "merge", a, b, "-o", &folder.path("new")]] {
                let said = fails(1, args);
                assert!(
                    said.contains(&format!("{a} and {b} measured ")) && said.contains("x/run.xml differently"),
                    "{said}"
                );
            }
        }
    }
    let answer = report_with(0, &[&plain, &same]).1;
    assert_eq!((sources(&answer).len(), &answer["inputs"]["complete"]), (2, &true.into()));
}

#[test]
fn a_recording_of_several_runs_is_one_file_of_several_datasets() {
    let folder = Folder::new();
    let two_runs = export(90).replace("</trace-query-result>", "") + &export(91).replace("<?xml version=\"1.0\"?>", "");
    write(&folder, "x/two.xml", two_runs);
    write(&folder, "x/one.xml", export(30));
    let path = folder.path("x");
    for shard in [&[][..], &["--shard", "1/1"]] {
        let [a, b] =
            ["a", "b"].map(|name| extract(&folder, &format!("{name}{}", shard.len()), &[&[&path[..]], shard].concat()));
        let answer = report_with(0, &[&a, &b]).1;
        let inputs = &answer["inputs"];
        let of = |name: &str| inputs[name].as_u64();
        assert_eq!(
            (&inputs["complete"], of("inputs_done"), of("inputs_expected")),
            (&true.into(), Some(2), Some(2)),
            "{inputs}"
        );
        assert_eq!(sources(&answer), sources(&report_with(0, &[&a]).1));
        let merged = folder.path(&format!("merged{}", shard.len()));
        says(0, &["merge", &a, &b, "-o", &merged]);
        assert_eq!(report_with(0, &[&merged]).1["inputs"], *inputs);
    }
}

#[test]
fn a_merge_that_lost_files_is_written_again() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 6);
    let [a, b] = [("a", "1/2"), ("b", "2/2")].map(|(name, shard)| extract(&folder, name, &[&path, "--shard", shard]));
    let merged = folder.path("merged");
    let merge = ["merge", &a, &b, "-o", &merged];
    says(0, &merge);
    let of = |dataset: &str| stdout_of(&run(&["report", "--format", "json", dataset]).code(0));
    let before = of(&merged);
    for is_noticed in [false, true] {
        for table in ["runs", "frames"] {
            for file in fs::read_dir(folder.path(&format!("merged/{table}"))).expect("a table").flatten() {
                fs::remove_file(file.path()).expect("it is there");
            }
            let said = fails(1, &["fleet", "report", &merged]);
            assert!(said.contains("then run the same `traceparse fleet merge` again"), "{said}");
            if is_noticed {
                // It is refused, but it sees the loss.
                assert!(fails(1, &["fleet", "extract", &path, "-o", &merged]).contains("2 of 2 shards"));
            }
            assert_eq!(says(0, &merge), "merged 2 datasets: 6 runs, 0 failed\n");
            assert_eq!(of(&merged), before);
            assert!(says(0, &merge).contains("merged already"));
        }
    }
}

#[test]
fn a_folder_of_datasets_may_have_more_in_it() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 4);
    for (name, shard) in [("all/a", "1/2"), ("all/b", "2/2")] {
        extract(&folder, name, &[&path, "--shard", shard]);
    }
    write(&folder, "all/_SUCCESS", "");
    write(&folder, "all/notes.txt", "");
    let (all, merged) = (folder.path("all"), folder.path("all/c"));
    assert_eq!(sources(&report_with(0, &[&all]).1).len(), 4);
    says(0, &["merge", &all, "-o", &merged]);
    assert!(says(0, &["merge", &all, "-o", &merged]).contains("merged already"));
    assert!(says(2, &["merge", &all, &merged, "-o", &merged]).contains("an input"));
    // A link to one of them is that one.
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path("all/a"), folder.path("all/z")).expect("links can be made");
    assert_eq!(sources(&report_with(0, &[&all]).1).len(), 4);
    // One that was killed before it was a dataset is a part that is missing.
    write(&folder, "all/d/.lock", "");
    assert!(fails(1, &["fleet", "report", &all]).contains("all/d: no dataset yet, since a process was killed"));
    fs::remove_dir_all(folder.path("all/d")).expect("it is there");
    // Recordings beside a dataset are the fleet.
    write(&folder, "all/run.xml", export(20));
    assert_eq!(sources(&report_with(0, &[&all]).1), ["run.xml"]);
}

#[cfg(unix)]
#[test]
fn more_datasets_than_files_may_be_open_are_told() {
    let folder = Folder::new();
    let path = write(&folder, "x/run.xml", export(20));
    let paths: Vec<String> = (0..40).map(|index| extract(&folder, &format!("all/{index}"), &[&path])).collect();
    let mut codes = Vec::new();
    // Enough for some of the locks, for all of them, for these and some files, for everything.
    for limit in (30..60).step_by(2).chain([200]) {
        let command = format!("ulimit -n {limit}; exec {} fleet report {}", crate::command::BINARY, paths.join(" "));
        let output = std::process::Command::new("sh").args(["-c", &command]).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let code = output.status.code();
        codes.push(code);
        // Nothing is wrong with any file.
        let is_told = said.contains("too many datasets for the limit of open files") && !said.contains("Delete");
        assert!(code == Some(0) || (code == Some(1) && is_told), "{limit}: {said}");
    }
    assert_eq!((codes[0], codes.last()), (Some(1), Some(&Some(0))));
}

#[test]
fn what_is_no_dataset_is_named() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 2);
    let dataset = extract(&folder, "ds", &[&path]);
    for (none, others) in [(folder.path("nothing"), vec![&dataset]), (path.clone(), vec![&dataset, &path])] {
        let said =
            says(2, &[&["report", &none][..], &others.iter().map(|it| it.as_str()).collect::<Vec<_>>()].concat());
        assert!(said.contains(&format!("{none}: not a dataset, but {dataset} is one")), "{said}");
    }
    // Several URLs are not read by an engine, which gets the names of files.
    for sources in [["s3://bucket/x", "s3://bucket/y"], [&dataset, "s3://bucket/y"]] {
        let args = [&["sql"][..], &sources].concat();
        if cfg!(feature = "object-store") {
            assert!(!says(1, &args).is_empty());
        } else {
            assert!(says(2, &args).contains("--features object-store"));
        }
    }
}

#[test]
fn a_shard_without_recordings_says_so() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 1);
    let shards: Vec<String> = (1..=3)
        .map(|index| extract(&folder, &format!("s{index}"), &[&path, "--shard", &format!("{index}/3")]))
        .collect();
    let (empty, full): (Vec<&String>, Vec<&String>) =
        shards.iter().partition(|shard| run(&["report", shard]).get_output().status.code() == Some(1));
    assert_eq!((empty.len(), full.len()), (2, 1));
    for shard in empty {
        let said = says(1, &["report", shard]);
        assert!(said.contains("/3 of a fleet of 1 file has none of them"), "{said}");
    }
}
