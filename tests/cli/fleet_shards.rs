//! A fleet that many processes extract, each a shard of it: merged, or read together, it is the fleet that one process extracts.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::command::{BINARY, Folder, fails, stdout_of};
use crate::fleet_case::{export, failures, fleet, report_with, run, says, toc, write};

const SHARDS: u64 = 16;

/// Exports with tables of contents and without, copies across folders of which more or less is known, files that give no run, and a
/// manifest; in the folder `exports`.
fn inputs(folder: &Folder) -> [String; 2] {
    let exports = fleet(folder, "exports/a", 24);
    for index in 0..12_u64 {
        // The copy counts where its path is first, or a manifest names it.
        let below = if index % 2 == 0 { "exports/A" } else { "exports/z" };
        write(folder, &format!("{below}/copy{index}.xml"), export(11 + index));
        write(folder, &format!("exports/b/{index}.xml"), export(60 + index));
        write(folder, &format!("exports/c/copy {index}.xml"), export(60 + index));
    }
    write(folder, "exports/c/copy 3-toc.xml", toc(63));
    for (index, text) in ["", "<?xml", "no export", "<trace-query-result><node>"].iter().enumerate() {
        write(folder, &format!("exports/broken/{index}.xml"), text);
    }
    let two_runs = export(90).replace("</trace-query-result>", "") + &export(91).replace("<?xml version=\"1.0\"?>", "");
    write(folder, "exports/two.xml", &two_runs);
    let lines: Vec<String> = (0..6)
        .map(|index| {
            format!("exports/z/copy{},beta\nexports/c/copy {index}.xml,gamma\n", format_args!("{}.xml", 2 * index + 1))
        })
        .collect();
    let manifest = write(folder, "m.csv", format!("path,ring\nexports/a/01.xml,alpha\n{}", lines.concat()));
    let root = Path::new(&exports).parent().expect("a folder").display().to_string();
    [root, manifest]
}

/// Extracts all shards, each in a process of its own.
fn extract_shards(folder: &Folder, root: impl Fn(u64) -> [String; 2], name: &str) -> Vec<String> {
    let shards: Vec<String> = (1..=SHARDS).map(|index| folder.path(&format!("{name}/{index:02}"))).collect();
    fs::create_dir_all(folder.path(name)).expect("a folder");
    let children: Vec<_> = (1..=SHARDS)
        .zip(&shards)
        .map(|(index, shard)| {
            let [root, manifest] = root(index);
            let number = format!("{index}/{SHARDS}");
            let args =
                ["fleet", "extract", &root, "--manifest", &manifest, "--shard", &number, "-o", shard, "--jobs", "1"];
            Command::new(BINARY).args(args).stderr(Stdio::null()).spawn().expect("it starts")
        })
        .collect();
    for (mut child, shard) in children.into_iter().zip(&shards) {
        assert!(child.wait().expect("it has ended").success(), "{shard}");
    }
    shards
}

fn texts(shards: &[String]) -> Vec<&str> {
    shards.iter().map(String::as_str).collect()
}

/// The report in every form.
fn reports(datasets: &[&str]) -> Vec<String> {
    ["text", "json", "csv"]
        .iter()
        .map(|format| stdout_of(&run(&[&["report", "--by", "ring", "--format", format], datasets].concat()).code(0)))
        .collect()
}

fn manifest_of(dataset: &str) -> Value {
    let text = fs::read(Path::new(dataset).join("traceparse-dataset.json")).expect("a manifest");
    serde_json::from_slice(&text).expect("JSON")
}

#[test]
fn shards_together_are_the_fleet() {
    let folder = Folder::new();
    let [root, manifest] = inputs(&folder);
    let one = folder.path("one");
    says(0, &["extract", &root, "--manifest", &manifest, "-o", &one]);
    let whole = reports(&[&one]);
    let inputs = report_with(0, &[&one]).1["inputs"].clone();
    let copies = inputs["failed"].as_array().expect("failed").iter().filter(|it| it["kind"] == "duplicate").count();
    assert_eq!((copies, &inputs["complete"]), (24, &Value::Bool(true)), "{inputs}");
    let shards = extract_shards(&folder, |_| [root.clone(), manifest.clone()], "shards");
    let expected = shards.iter().map(|shard| manifest_of(shard)["inputs_expected"].as_u64().expect("a number"));
    assert_eq!(expected.sum::<u64>(), inputs["inputs_expected"].as_u64().expect("a number"));
    let mut names = texts(&shards);
    assert_eq!(reports(&names), whole, "read together");
    assert_eq!(reports(&[&folder.path("shards")]), whole, "as a folder");
    // In any order, and in pieces.
    names.reverse();
    let (all, half, rest) = (folder.path("all"), folder.path("half"), folder.path("rest"));
    says(0, &[&["merge", "-o", &all], &names[..]].concat());
    assert_eq!(reports(&[&all]), whole, "merged");
    says(0, &[&["merge", "-o", &half], &names[3..11]].concat());
    says(0, &[&["merge", "-o", &rest, &half], &names[..3], &names[9..]].concat());
    assert_eq!(reports(&[&rest]), whole, "merged in pieces that overlap");
    assert_eq!(manifest_of(&rest)["shards"]["have"].as_array().map(Vec::len), Some(SHARDS as usize));
    let said = says(0, &[&["merge", "-o", &all], &names[..]].concat());
    assert!(said.contains("merged already"), "{said}");
    let said = fails(1, &[&["fleet", "sql"], &names[..]].concat());
    assert!(said.contains("SQL would count twice") && said.contains("fleet merge"), "{said}");
}

#[test]
fn mount_points_do_not_matter() {
    let folder = Folder::new();
    let [root, manifest] = inputs(&folder);
    let one = folder.path("one");
    says(0, &["extract", &root, "--manifest", &manifest, "-o", &one]);
    // Each process sees the exports elsewhere.
    let text = fs::read_to_string(&manifest).expect("the manifest");
    let elsewhere = |index: u64| {
        if index == 1 {
            return [root.clone(), manifest.clone()];
        }
        let mount = format!("mounts/{}", index % 3);
        for entry in walk(Path::new(&root)) {
            let below = Path::new(&entry).strip_prefix(&root).expect("below").display().to_string();
            let target = Path::new(&folder.path(&format!("{mount}/exports"))).join(&below);
            if !target.exists() {
                write(&folder, &format!("{mount}/exports/{below}"), fs::read(&entry).expect("a file"));
            }
        }
        [folder.path(&format!("{mount}/exports")), write(&folder, &format!("{mount}/m.csv"), &text)]
    };
    let mounts: Vec<[String; 2]> = (1..=SHARDS).map(elsewhere).collect();
    let shards = extract_shards(&folder, |index| mounts[index as usize - 1].clone(), "shards");
    let all = folder.path("all");
    says(0, &[&["merge", "-o", &all], &texts(&shards)[..]].concat());
    assert_eq!(reports(&[&all]), reports(&[&one]));
    assert_eq!(reports(&texts(&shards)), reports(&[&one]));
}

fn walk(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path.display().to_string()] }).collect()
}

#[test]
fn a_missing_shard_is_named() {
    let folder = Folder::new();
    let [root, manifest] = inputs(&folder);
    let shards = extract_shards(&folder, |_| [root.clone(), manifest.clone()], "shards");
    let part = folder.path("part");
    let said = says(0, &[&["merge", "-o", &part], &texts(&shards)[..15]].concat());
    assert!(said.contains("shard 16/16 is missing"), "{said}");
    for datasets in [&[part.as_str()][..], &texts(&shards)[..15]] {
        let (said, answer) = report_with(4, &[datasets, &["--alert", "cpu.mean > 0"]].concat());
        assert!(said.contains("incomplete: shard 16/16 is missing"), "{said}");
        assert!(
            said.contains("UNDECIDED") && said.contains("shard 16/16 is missing, which might change this"),
            "{said}"
        );
        let inputs = &answer["inputs"];
        assert_eq!((&inputs["complete"], &inputs["missing_shards"][0]), (&false.into(), &"16/16".into()));
        let left = manifest_of(&shards[15])["inputs_done"].as_u64().expect("a number");
        let [done, expected] = ["inputs_done", "inputs_expected"].map(|name| inputs[name].as_u64().expect("a number"));
        assert!(left > 0 && done + left == expected, "{inputs}");
        assert_eq!(
            report_with(3, &[datasets, &["--alert", "cpu.mean > 0", "--allow-incomplete"]].concat()).0.lines().count(),
            3
        );
        for format in ["text", "html"] {
            let text = stdout_of(&run(&[&["report", "--format", format], datasets].concat()).code(0));
            assert!(text.contains("Incomplete: shard 16/16 is missing; "), "{format}");
        }
        let said = fails(1, &[&["fleet", "report", "--strict"], datasets].concat());
        assert!(said.contains("and --strict was given"), "{said}");
    }
    let said = fails(1, &["fleet", "sql", &part]);
    assert!(said.contains("shard 16/16 is missing"), "{said}");
    let sql = stdout_of(&run(&["sql", &part, "--allow-incomplete"]).code(0));
    assert!(sql.starts_with("-- Dataset complete: NO; ") && sql.contains("; missing shards: 16/16\n"), "{sql}");
}

#[test]
fn lists_name_files_as_they_stand() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 4);
    let list = write(&folder, "list", format!("{path}/00.xml\n\n{path}/02.xml\n{path}/*.xml\n"));
    let (said, answer) = report_with(0, &["--files-from", &list]);
    assert_eq!(answer["runs"].as_array().map(Vec::len), Some(2), "{said}");
    assert_eq!(failures(&answer), [("*.xml".to_owned(), "unreadable".to_owned())]);
    let null = write(&folder, "null", format!("{path}/00.xml\0{path}/02.xml\0"));
    assert_eq!(report_with(0, &["--files-from", &null, "-0"]).1["runs"].as_array().map(Vec::len), Some(2));
    assert!(says(1, &["report", "--files-from", &null]).contains("pass -0"));
    assert!(says(2, &["report", "-0", &path]).contains("--files-from"));
    let stdin = Command::new(BINARY)
        .args(["fleet", "extract", "--files-from", "-", "-o", &folder.path("ds")])
        .stdin(fs::File::open(&list).expect("the list"))
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&stdin.stderr).into_owned();
    assert!(said.contains("extracted 2 new, 0 changed, 0 unchanged, 1 failed"), "{said}");
}

/// The job for Spark passes recordings with labels in a manifest, and only the others in the list.
#[test]
fn a_list_beside_a_manifest_may_be_empty() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 3);
    let manifest = write(&folder, "m.csv", format!("path,lab\n{path}/00.xml,north\n{path}/02.xml,south\n"));
    let (list, dataset) = (write(&folder, "list", ""), folder.path("ds"));
    let said = says(0, &["extract", "--files-from", &list, "--null", "--manifest", &manifest, "-o", &dataset]);
    assert!(said.contains("extracted 2 new, 0 changed, 0 unchanged, 0 failed"), "{said}");
    assert_eq!(report_with(0, &["--files-from", &list, &path]).1["runs"].as_array().map(Vec::len), Some(3));
    assert!(says(1, &["report", "--files-from", &list]).contains("the list names no files"));
}

#[test]
fn a_root_decides_what_a_shard_has() {
    let folder = Folder::new();
    let path = fleet(&folder, "x/y", 8);
    let count = |args: &[&str]| {
        let dataset = folder.path("ds");
        fs::remove_dir_all(&dataset).ok();
        run(&[&["extract", "-o", &dataset, "--shard", "1/3"], args].concat()).code(0);
        let answer = report_with(0, &[&dataset, "--allow-incomplete"]).1;
        answer["runs"].as_array().expect("runs").iter().map(|run| run["source"].clone()).collect::<Vec<_>>()
    };
    let list = write(&folder, "list", (0..8).map(|index| format!("{path}/{index:02}.xml\n")).collect::<String>());
    // `00.xml` … below x/y: 64-bit FNV-1a by a few lines of Python.
    let of_folder = count(&[&path]);
    assert_eq!(of_folder.len(), BELOW_Y);
    assert_eq!(count(&["--files-from", &list]), of_folder);
    let above = count(&["--files-from", &list, "--root", &folder.path("x")]);
    assert_eq!(above, count(&[&folder.path("x")]));
    assert_ne!(above, of_folder);
    let said = says(2, &["extract", &path, "-o", &folder.path("ds"), "--shard", "1/3", "--root", &folder.path("z")]);
    assert!(said.contains("is not below the root"), "{said}");
    assert!(says(2, &["extract", &path, "-o", &folder.path("ds"), "--shard", "0/3"]).contains("counted from 1"));
    assert!(
        says(1, &["extract", &path, "-o", &folder.path("ds"), "--shard", "2/3"]).contains("a dataset of shard 1/3")
    );
}

/// Of `00.xml` to `07.xml`, those in shard 1 of 3.
const BELOW_Y: usize = 2;

/// Exports of these lengths in a folder, by index.
fn exports(folder: &Folder, below: &str, names: &str, samples: impl Iterator<Item = u64>) -> String {
    for (index, samples) in samples.enumerate() {
        write(folder, &format!("{below}/{names}{index:02}.xml"), export(samples));
    }
    folder.path(below)
}

fn extract_shard(folder: &Folder, root: &str, shard: &str, name: &str) -> String {
    let dataset = folder.path(name);
    says(0, &["extract", root, "--shard", shard, "-o", &dataset]);
    dataset
}

/// The manifests of all shards are alike but for what they say of their recordings.
#[test]
fn shards_of_different_fleets_are_refused() {
    let folder = Folder::new();
    let january = exports(&folder, "january", "r", 11..21);
    // Of other names, and of the same names with other lengths.
    let fleets = [exports(&folder, "february", "s", 11..21), exports(&folder, "march", "r", 31..41)];
    let [j1, j2] = [1, 2].map(|index| extract_shard(&folder, &january, &format!("{index}/2"), &format!("j{index}")));
    let whole = folder.path("j");
    says(0, &["merge", &j1, &j2, "-o", &whole]);
    for (index, fleet) in fleets.iter().enumerate() {
        let [o1, o2] =
            [1, 2].map(|part| extract_shard(&folder, fleet, &format!("{part}/2"), &format!("o{index}{part}")));
        for datasets in [[&j1, &o2], [&o2, &j1], [&whole, &o1], [&o1, &whole]] {
            let [a, b] = datasets.map(String::as_str);
            for args in [&["fleet", "merge", a, b, "-o", &folder.path("new")][..], &["fleet", "report", a, b]] {
                let said = fails(1, args);
                assert!(
                    said.contains("are shards of different recordings") && said.contains(a) && said.contains(b),
                    "{said}"
                );
            }
        }
        // Merged, they are fleets like any others, and files keep their paths.
        let other = folder.path(&format!("o{index}"));
        says(0, &["merge", &o1, &o2, "-o", &other]);
        let answer = report_with(0, &[&whole, &other]).1;
        let inputs = &answer["inputs"];
        assert_eq!((&inputs["complete"], &inputs["inputs_expected"]), (&true.into(), &20.into()), "{inputs}");
        for run in answer["runs"].as_array().expect("runs") {
            assert!(Path::new(run["source"].as_str().expect("a path")).exists(), "{run}");
        }
        for failed in inputs["failed"].as_array().expect("failed") {
            assert!(Path::new(failed["source"].as_str().expect("a path")).exists(), "{failed}");
        }
    }
}

/// Of `0.xml` to `3.xml`, 64-bit FNV-1a by a few lines of Python puts these into shard 1 of 2.
const FIRST_HALF: [u64; 2] = [0, 2];

#[test]
fn a_shard_that_is_extracted_again_knows_the_others() {
    let folder = Folder::new();
    let add = |index: u64| write(&folder, &format!("x/{index}.xml"), export(20 + index));
    let of_half = |half: bool| (0..4).filter(move |index| FIRST_HALF.contains(index) == half);
    let (mut first, mut second) = (of_half(true), of_half(false));
    add(first.next().expect("one"));
    add(second.next().expect("one"));
    let path = folder.path("x");
    let [a, b] = ["1/2", "2/2"].map(|shard| extract_shard(&folder, &path, shard, &shard.replace('/', "of")));
    let complete = |expected: bool| {
        let inputs = report_with(0, &[&a, &b]).1["inputs"].clone();
        assert_eq!(inputs["complete"], expected, "{inputs}");
        inputs["inputs_done"].as_u64()
    };
    assert_eq!(complete(true), Some(2));
    // A new recording of one shard, then one that goes.
    let new = add(first.next().expect("one"));
    says(0, &["extract", &path, "--shard", "1/2", "-o", &a]);
    assert_eq!(complete(true), Some(3));
    fs::remove_file(&new).expect("it is there");
    says(0, &["extract", &path, "--shard", "1/2", "-o", &a, "--remove-others"]);
    assert_eq!(complete(true), Some(2));
    // Of both shards, and neither knows the other's.
    write(&folder, "x/0.xml", export(70));
    says(0, &["extract", &path, "--shard", "1/2", "-o", &a]);
    write(&folder, "x/0.xml", export(20));
    write(&folder, "x/1.xml", export(71));
    says(0, &["extract", &path, "--shard", "2/2", "-o", &b]);
    assert!(fails(1, &["fleet", "report", &a, &b]).contains("extract both again with the same inputs"));
    says(0, &["extract", &path, "--shard", "1/2", "-o", &a]);
    assert_eq!(complete(true), Some(2));
}

/// Schedulers copy the recordings of a shard to a machine, and name all.
#[test]
fn recordings_of_other_shards_need_not_be_there() {
    let folder = Folder::new();
    let list: String = (0..4).map(|index| format!("{}/{index}.xml\n", folder.path("x"))).collect();
    let list = write(&folder, "list", list);
    let shards = [true, false].map(|half| {
        let all: Vec<u64> = (0..4).filter(|index| FIRST_HALF.contains(index) == half).collect();
        for index in &all {
            write(&folder, &format!("x/{index}.xml"), export(20 + index));
        }
        let dataset = folder.path(if half { "a" } else { "b" });
        let shard = if half { "1/2" } else { "2/2" };
        says(0, &["extract", "--files-from", &list, "--shard", shard, "-o", &dataset]);
        for index in all {
            fs::remove_file(folder.path(&format!("x/{index}.xml"))).expect("it is there");
        }
        dataset
    });
    let inputs = report_with(0, &[&shards[0], &shards[1]]).1["inputs"].clone();
    assert_eq!(
        (&inputs["complete"], &inputs["inputs_done"], &inputs["failed"]),
        (&true.into(), &4.into(), &Value::Array(Vec::new()))
    );
}

/// A scheduler that divides the recordings itself tells each shard what the others have.
#[test]
fn a_plan_stands_for_the_recordings_of_other_shards() {
    let folder = Folder::new();
    let plan = |hashes: [&str; 2]| {
        let lists: serde_json::Map<_, _> = (1..).map(|at: u32| at.to_string()).zip(hashes.map(Value::from)).collect();
        write(&folder, "plan.json", serde_json::json!({"inputs": 4, "lists": lists}).to_string())
    };
    let root = folder.path("x");
    let extract = |shard: u64, plan: &str, dataset: &str| {
        let of_shard = |index: &u64| FIRST_HALF.contains(index) == (shard == 1);
        let list =
            (0..4).filter(of_shard).map(|index| write(&folder, &format!("x/{index}.xml"), export(20 + index)) + "\n");
        let list = write(&folder, "list", list.collect::<String>());
        let shard = format!("{shard}/2");
        ["extract", "--files-from", &list, "--root", &root, "--shard", &shard, "--plan", plan, "-o", dataset]
            .map(str::to_owned)
    };
    let says_of = |code, args: [String; 11]| says(code, &args.each_ref().map(String::as_str));
    let (a, b) = (folder.path("a"), folder.path("b"));
    says_of(0, extract(1, &plan(["one", "two"]), &a));
    says_of(0, extract(2, &plan(["one", "two"]), &b));
    let inputs = report_with(0, &[&a, &b]).1["inputs"].clone();
    assert_eq!((&inputs["complete"], &inputs["inputs_done"]), (&true.into(), &4.into()), "{inputs}");
    // Its recordings changed, so it is measured again, and no other.
    says_of(0, extract(2, &plan(["one", "other"]), &b));
    assert_eq!(report_with(0, &[&a, &b]).1["inputs"]["complete"], true);
    says_of(0, extract(2, &plan(["changed", "other"]), &b));
    assert!(fails(1, &["fleet", "report", &a, &b]).contains("extract both again with the same inputs"));
    let wrong = extract(1, &plan(["one", "two"]), &a).map(|arg| arg.replace("1/2", "2/2"));
    assert!(says_of(2, wrong).contains("belongs to shard 1/2"));
    let no_plan = write(&folder, "plan.json", "{}");
    assert!(says_of(2, extract(1, &no_plan, &a)).contains("not a plan"));
}

/// Names that are not UTF-8 differ, too.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_are_names() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::new();
    write(&folder, "x/plain.xml", export(20));
    let mut list = Vec::new();
    for (byte, samples) in [(0xfe_u8, 30), (0xff, 40)] {
        let mut name = folder.path("x/bad").into_bytes();
        name.push(byte);
        name.extend(b".xml");
        fs::write(OsStr::from_bytes(&name), export(samples)).expect("it can be written");
        list.extend(name);
        list.push(0);
    }
    let (list, dataset) = (write(&folder, "list", list), folder.path("ds"));
    says(0, &["extract", "--files-from", &list, "-0", "-o", &dataset]);
    let (said, answer) = report_with(0, &[&dataset]);
    let sources: Vec<String> =
        answer["runs"].as_array().expect("runs").iter().map(|it| it["source"].to_string()).collect();
    assert!(
        sources.len() == 2 && sources.concat().contains(r"bad\\xfe.xml") && sources.concat().contains(r"bad\\xff.xml"),
        "{said} {sources:?}"
    );
    // A folder leaves them out, and says so.
    let (said, answer) = report_with(0, &[&folder.path("x")]);
    assert!(said.contains("2 exports skipped, such as ") && said.contains("the name is not UTF-8"), "{said}");
    assert_eq!(answer["runs"].as_array().map(Vec::len), Some(1));
}
