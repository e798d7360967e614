//! A fleet extracted by many processes, one shard each. Merged or read together, the shards equal the result of a single process.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::command::{BINARY, Folder, stdout_of};
use crate::fleet_case::{export, fleet, report_with, run, says, toc, write};

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

/// Extracts all shards, each in a separate process.
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
    assert_eq!((copies, &inputs["complete"]), (6, &Value::Bool(true)), "{inputs}");
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
    assert!(said.contains("already merged"), "{said}");
}
