//! The integrity of a dataset: changed, missing or foreign files are refused or left out, and never counted.

use std::fs;
use std::path::Path;

use traceparse::fleet::{DatasetTable, MadeWith};

use crate::content::{Content, content, copy, create_or_open, files, open};
use crate::runs;

const MANIFEST: &str = "traceparse-dataset.json";

/// A dataset of these runs in one data file, from a complete extract.
fn dataset(folder: &Path, seeds: &[u64]) -> Content {
    let store = create_or_open(folder).unwrap();
    store.begin(seeds.len() + 1, 0, MadeWith::default()).unwrap();
    for &seed in seeds {
        store.put(&[runs::run(seed, 12)]).unwrap();
    }
    store.put_failure(&runs::failure(seeds[0])).unwrap();
    store.compact(u64::MAX).unwrap();
    store.complete().unwrap();
    content(&store)
}

/// Flips one bit in every byte of the manifest and in every fifth byte of the tables, with a different bit in neighbouring bytes. All bits
/// of the manifest and every byte of the tables, which takes a minute and a half, were also detected (2026-11-23).
#[test]
fn a_flipped_bit_is_found_before_a_number_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), &[1, 2]);
    let (mut flips, mut tables) = (0, 0);
    for file in files(folder.path()) {
        let is_manifest = file.ends_with(MANIFEST);
        if !is_manifest && file.extension().is_none_or(|extension| extension != "parquet") {
            continue;
        }
        tables += usize::from(!is_manifest);
        let whole = fs::read(&file).unwrap();
        for (index, byte) in whole.iter().enumerate().step_by(if is_manifest { 1 } else { 5 }) {
            let mut flipped = whole.clone();
            flipped[index] = byte ^ (1 << (index % 8));
            fs::write(&file, flipped).unwrap();
            let error = open(folder.path()).expect_err("a flipped bit").to_string();
            let expected = file.display().to_string();
            let is_newer = is_manifest && error.contains("but this traceparse reads version 7");
            assert!(error.starts_with(&expected) && (error.contains("damaged") || is_newer), "{index}: {error}");
            flips += 1;
        }
        fs::write(&file, &whole).unwrap();
    }
    assert!(tables == 6 && flips > 3_000, "{flips} flips");
    assert!(open(folder.path()).is_ok());
}

/// A file with another length, or with bytes after its end.
#[test]
fn a_cut_or_longer_file_is_found() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), &[1, 2]);
    for table in DatasetTable::ALL {
        let file = files(&folder.path().join(table.name())).pop_first().unwrap();
        let whole = fs::read(&file).unwrap();
        for other in [whole[..whole.len() - 1].to_vec(), [&whole[..], b"\0"].concat(), Vec::new()] {
            fs::write(&file, other).unwrap();
            let error = open(folder.path()).unwrap_err().to_string();
            assert!(error.contains(&format!("(table {})", table.name())), "{error}");
        }
        fs::remove_file(&file).unwrap();
        let error = open(folder.path()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}: missing", file.display())), "{error}");
        fs::write(&file, whole).unwrap();
    }
    let manifest = folder.path().join(MANIFEST);
    let text = fs::read_to_string(&manifest).unwrap();
    for other in [format!("{text} "), text.trim_end().to_owned(), text.replacen("\": ", "\":", 1)] {
        fs::write(&manifest, other).unwrap();
        assert!(open(folder.path()).unwrap_err().to_string().contains(": damaged"));
    }
    // A manifest of an older version.
    fs::write(&manifest, text.replace("\"version\": 7", "\"version\": 6")).unwrap();
    assert!(open(folder.path()).unwrap_err().to_string().contains(": damaged"));
}

/// Checks the manifest without our code.
#[test]
fn the_manifest_tells_runs_rows_and_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let Content { runs, failures } = dataset(folder.path(), &[1, 2, 3]);
    let text = fs::read_to_string(folder.path().join(MANIFEST)).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((manifest["version"].clone(), manifest["complete"].clone()), (7.into(), true.into()));
    assert_eq!((manifest["runs"].clone(), manifest["failed"].clone()), (runs.len().into(), failures.len().into()));
    let files = manifest["files"].as_object().unwrap();
    assert_eq!(files.len(), 1);
    for (id, file) in files {
        for table in DatasetTable::ALL {
            let (entry, path) =
                (&file["tables"][table.name()], folder.path().join(table.name()).join(format!("{id}.parquet")));
            let bytes = fs::read(&path).unwrap();
            assert_eq!(entry["bytes"], bytes.len());
            assert_eq!(entry["blake3"], blake3::hash(&bytes).to_hex()[..32]);
            assert_eq!(entry["rows"], table.row_count(fs::File::open(path).unwrap()).unwrap());
        }
        let frames: usize = runs.values().map(|run| run.frames.len()).sum();
        assert_eq!(file["tables"]["frames"]["rows"], frames);
        assert_eq!(file["tables"]["runs"]["rows"], 4, "three runs and a failure");
    }
    // The checksum covers everything before it.
    let (body, checksum) = text.rsplit_once(",\n  \"checksum\": \"").unwrap();
    assert_eq!(checksum, format!("{}\"\n}}\n", &blake3::hash(body.as_bytes()).to_hex()[..32]));
}

/// Writes an edited manifest with a correct checksum.
fn edit(folder: &Path, change: impl FnOnce(&mut serde_json::Value)) {
    let path = folder.join(MANIFEST);
    let mut manifest: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    manifest.as_object_mut().unwrap().remove("checksum");
    change(&mut manifest);
    let text = format!("{manifest:#}");
    let body = text.strip_suffix("\n}").unwrap();
    let checksum = &blake3::hash(body.as_bytes()).to_hex()[..32];
    fs::write(path, format!("{body},\n  \"checksum\": \"{checksum}\"\n}}\n")).unwrap();
}

/// A checksum shows that the text is unchanged, not that it is right.
#[test]
fn manifests_that_contradict_the_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let expected = dataset(folder.path(), &[1, 2, 3]);
    edit(folder.path(), |_| {});
    assert_eq!(content(&open(folder.path()).unwrap()), expected);
    let read = || open(folder.path()).and_then(|store| store.rows(|_| Ok(())));
    for key in ["runs", "failed"] {
        let change = |by: i64| {
            edit(folder.path(), |manifest| {
                let file = manifest["files"].as_object_mut().unwrap().values_mut().next().unwrap();
                file[key] = (file[key].as_i64().unwrap() + by).into();
            });
        };
        change(1);
        let error = read().unwrap_err().to_string();
        assert!(error.contains("but the manifest lists"), "{error}");
        change(-1);
        assert!(read().is_ok());
    }
    // An unfinished merge is incomplete.
    edit(folder.path(), |manifest| manifest["merged"] = serde_json::json!({"inputs": "x", "done": false}));
    assert_eq!(open(folder.path()).unwrap().completeness().is_complete, Some(false));
    // A manifest that lists no shards is damaged.
    for shards in [serde_json::json!({"count": 0, "have": []}), serde_json::json!({"count": 2, "have": []})] {
        edit(folder.path(), |manifest| manifest["shards"] = shards);
        assert!(read().unwrap_err().to_string().contains(": damaged"));
    }
}

/// In this case, 600 runs were once reported as 621, when every file in the folder was included.
#[test]
fn two_datasets_in_one_folder_are_one_of_them() {
    let [a, b] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let of_a = dataset(a.path(), &[1, 2, 3, 4]);
    let of_b = dataset(b.path(), &[3, 4, 5]);
    for (replaces, expected) in [(true, &of_b), (false, &of_a)] {
        let both = tempfile::tempdir().unwrap();
        copy(a.path(), both.path(), |_| true);
        copy(b.path(), both.path(), |target| replaces || !target.exists());
        let store = open(both.path()).unwrap();
        assert_eq!(&content(&store), expected);
        let (foreign, count) = store.unnamed().unwrap().expect("the files of the other");
        assert_eq!(count, 6);
        drop(store);
        // Nothing is added to the mixed folder, and nothing is removed from it, since it may be the only copy.
        let before = files(both.path());
        let error = create_or_open(both.path()).unwrap_err().to_string();
        assert!(
            error.starts_with(&foreign.display().to_string()) && error.contains("not a file of the dataset"),
            "{error}"
        );
        assert_eq!(files(both.path()), before);
    }
}
