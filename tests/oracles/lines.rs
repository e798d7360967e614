//! The lines of samples, compared with those that `llvm-symbolizer-19` has for their addresses.
//!
//! Random stacks of addresses in each dSYM of the fixtures, and of the corpus that `TRACEPARSE_CORPUS` names, become an export without
//! names, which is read, symbolicated and reported as the command does it. The expected weight of each line is summed here, sample by
//! sample, from the tool's answers: self weight goes to the innermost line of the leaf, all weight once to every line of every inlined
//! chain of the stack. Without the tool the tests report themselves as ignored. In the corpus, names may differ for the reasons that
//! `symbols_llvm.rs` lists, so that lines are compared whatever function they are of.

use support::apple_symbols_rng as rng;

#[allow(dead_code)]
use support::dsym;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libtest_mimic::{Failed, Trial};
use traceparse::calltree::{Metric, StackWeights};
use traceparse::demangle::display_name;
use traceparse::files::FileSystem;
use traceparse::output::{self, Format};
use traceparse::profile::Selection;
use traceparse::read;
use traceparse::recording::{Options, Recording, SampleDetail};
use traceparse::report::{ReportOptions, View};
use traceparse::symbolicate::SymbolicateOptions;
use traceparse::symbols::{Index, Locator, Slice};

const TOOL: &str = "llvm-symbolizer-19";
const ADDRESSES: usize = 300;
const SAMPLES: u64 = 400;
const LOAD_ADDRESS: u64 = 0x1_02af_4000;

macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+).into());
        }
    };
}

pub(crate) fn trials() -> Vec<Trial> {
    let has_tool = Command::new(TOOL).arg("--version").output().is_ok_and(|output| output.status.success());
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/symbols/built");
    let corpus = std::env::var_os("TRACEPARSE_CORPUS").map(|corpus| PathBuf::from(corpus).join("dsym"));
    let mut trials = Vec::new();
    for (folder, has_equal_names) in corpus.map(|corpus| (corpus, false)).into_iter().chain([(fixtures, true)]) {
        // The tool refuses a file that was cut.
        let is_whole = |path: &PathBuf| path.to_string_lossy().contains(".dSYM") && !path.ends_with("Cut");
        for path in dsym::files(&folder).into_iter().filter(is_whole) {
            let name = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
            let trial = trial!(format!("llvm::{name}"), move || equals_llvm(&path, has_equal_names));
            trials.push(trial.with_ignored_flag(!has_tool));
        }
    }
    trials
}

/// A line as the tool names it: file, line, function; 0 is a line that the compiler made up.
type Line = (String, u64, String);

/// Self and all weight by what they are the weights of.
type Weights<K> = BTreeMap<K, (u64, u64)>;

/// A sample: weight, and addresses to look up from the root to the leaf, relative to the Mach-O header.
struct Sample {
    weight: u64,
    stack: Vec<u64>,
}

fn equals_llvm(path: &Path, has_equal_names: bool) -> Result<(), Failed> {
    let file = fs::read(path)?;
    for slice in &Slice::all(&file)? {
        let samples = samples(slice, &dsym::addresses(&file, slice, ADDRESSES));
        let mut addresses: Vec<u64> = samples.iter().flat_map(|sample| sample.stack.clone()).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let answers: BTreeMap<u64, Vec<Line>> =
            addresses.iter().copied().zip(llvm(&file, slice, &addresses)?).collect();
        let export = named(path, slice, &samples)?;
        let (of_lines, of_places, of_files) = (
            sums(&samples, &answers, |line| line.clone()),
            sums(&samples, &answers, |line| (line.0.clone(), line.1)),
            sums(&samples, &answers, |line| line.0.clone()),
        );
        let rows = lines_of_view(&export)?;
        if has_equal_names {
            same("lines", &rows, &of_lines)?;
        }
        let mut self_weights: Weights<(String, u64)> = BTreeMap::new();
        for ((path, line, _), (self_weight, _)) in rows {
            self_weights.entry((path, line)).or_default().0 += self_weight;
        }
        same(
            "self weights",
            &self_weights,
            &of_places.iter().map(|(place, sums)| (place.clone(), (sums.0, 0))).collect(),
        )?;
        let (places, files) = sources(&export);
        same("places", &places, &of_places.into_iter().filter(|((_, line), _)| *line > 0).collect())?;
        same("files", &files, &of_files)?;
        println!(
            "{} {}: {} samples on {} lines in {} files",
            path.display(),
            slice.architecture(),
            samples.len(),
            of_lines.len(),
            of_files.len()
        );
        // One file of the corpus has no lines.
        ensure!(!of_files.is_empty() || !has_equal_names, "no line was hit");
    }
    Ok(())
}

fn same<K: Ord + std::fmt::Debug>(what: &str, ours: &Weights<K>, theirs: &Weights<K>) -> Result<(), Failed> {
    let differ = |a: &Weights<K>, b: &Weights<K>| -> Vec<String> {
        a.iter().filter(|(key, sums)| b.get(key) != Some(sums)).map(|row| format!("{row:?}")).collect()
    };
    let (left, right) = (differ(ours, theirs), differ(theirs, ours));
    ensure!(left.is_empty() && right.is_empty(), "{what}\n  ours   {left:#?}\n  theirs {right:#?}");
    Ok(())
}

/// Random stacks, with recursion, whose leaves and calls hit the addresses.
fn samples(slice: &Slice, addresses: &[u64]) -> Vec<Sample> {
    let mut rng = rng::Rng(7);
    let is_arm = slice.architecture().starts_with("arm");
    let sample = |_| {
        let depth = 1 + rng.below(8) as usize;
        let mut stack = Vec::new();
        while stack.len() < depth {
            let repeated = stack.last().copied().filter(|_| rng.below(4) == 0);
            stack.push(repeated.unwrap_or_else(|| addresses[rng.below(addresses.len() as u64) as usize]));
        }
        if is_arm {
            // An instruction has four bytes; what is looked up in a caller is the last of them.
            let last = stack.len() - 1;
            for (position, address) in stack.iter_mut().enumerate() {
                *address = (*address & !3) + if position < last { 3 } else { 0 };
            }
        }
        Sample { weight: 1 + rng.below(1_000), stack }
    };
    (0..SAMPLES).map(sample).collect()
}

/// The tool's answer for each address: the lines of the inlined chain, innermost first.
fn llvm(file: &[u8], slice: &Slice, addresses: &[u64]) -> Result<Vec<Vec<Line>>, Failed> {
    let mut object = tempfile::NamedTempFile::new()?;
    object.write_all(dsym::bytes_of(file, slice))?;
    let mut input = tempfile::NamedTempFile::new()?;
    for address in addresses {
        writeln!(input, "{:#x}", address + slice.text_address)?;
    }
    let output = Command::new(TOOL)
        .arg(format!("--obj={}", object.path().display()))
        .args(["--no-demangle", "--inlines", "--output-style=JSON"])
        .stdin(Stdio::from(fs::File::open(input.path())?))
        .output()?;
    ensure!(output.status.success(), "{TOOL}: {}", String::from_utf8_lossy(&output.stderr));
    let mut answers = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let answer: serde_json::Value = serde_json::from_str(line)?;
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let frames = answer["Symbol"].as_array().into_iter().flatten();
        let frames = frames.map(|frame| {
            let function = display_name(&text(&frame["FunctionName"])).into_owned();
            (text(&frame["FileName"]), frame["Line"].as_u64().unwrap_or_default(), function)
        });
        answers.push(frames.collect());
    }
    ensure!(answers.len() == addresses.len(), "{} answers to {} addresses", answers.len(), addresses.len());
    Ok(answers)
}

/// The sums that must come out, by the part of a line that `key` takes. A place without a file has no line.
fn sums<K: Ord>(samples: &[Sample], answers: &BTreeMap<u64, Vec<Line>>, key: impl Fn(&Line) -> K) -> Weights<K> {
    let mut sums: Weights<K> = BTreeMap::new();
    for Sample { weight, stack } in samples {
        let leaf = stack.last().and_then(|address| answers[address].first());
        if let Some(line) = leaf.filter(|line| !line.0.is_empty()) {
            sums.entry(key(line)).or_default().0 += weight;
        }
        let lines = stack.iter().flat_map(|address| &answers[address]).filter(|line| !line.0.is_empty());
        for key in lines.map(&key).collect::<BTreeSet<K>>() {
            sums.entry(key).or_default().1 += weight;
        }
    }
    sums
}

/// An export of these samples, as Xcode 26 writes it, with the names that the file has.
fn named(path: &Path, slice: &Slice, samples: &[Sample]) -> Result<Recording, Failed> {
    let columns = ["time", "weight", "stack"].map(|name| format!("<col><mnemonic>{name}</mnemonic></col>")).concat();
    let mut xml = format!("<trace-query-result><node><schema name=\"time-profile\">{columns}</schema>");
    let uuid = slice.uuid.ok_or("a slice without UUID")?;
    for (time, sample) in samples.iter().enumerate() {
        xml += &format!("<row><sample-time>{time}</sample-time><weight>{}</weight><backtrace>", sample.weight);
        for address in sample.stack.iter().rev() {
            let address = LOAD_ADDRESS + address + 1;
            xml += &format!(
                "<frame name=\"{address:#x}\" addr=\"{address:#x}\"><binary name=\"Demo\" UUID=\"{uuid}\" arch=\"{}\" \
                 load-addr=\"{LOAD_ADDRESS:#x}\" path=\"/Demo\"/></frame>",
                slice.architecture()
            );
        }
        xml += "</backtrace></row>";
    }
    xml += "</node></trace-query-result>";
    let options = Options { samples: SampleDetail::Summed, ..Options::default() };
    let mut export = read(xml.as_bytes(), "", &options)?;
    ensure!(export.rejected() == 0, "rejected rows");
    let mut locator = Locator::new(&FileSystem);
    locator.add(path, &mut Index::default())?;
    (export.profile, _) = export.profile.symbolicate(&locator, &SymbolicateOptions::default())?;
    Ok(export)
}

/// The rows of the view, by path, line and function.
fn lines_of_view(export: &Recording) -> Result<Weights<Line>, Failed> {
    let mut out = Vec::new();
    let options = ReportOptions { view: View::Lines, ..ReportOptions::default() };
    output::write(&export.report(&options), &Format::Json, &mut out)?;
    let answer: serde_json::Value = serde_json::from_slice(&out)?;
    let mut rows = BTreeMap::new();
    let mut total = 0;
    for row in answer["lines"].as_array().ok_or("no lines")? {
        let number = |name: &str| row[name].as_u64();
        let sums = (number("self_weight").ok_or("no weight")?, number("all_weight").ok_or("no weight")?);
        total += sums.0;
        let Some(path) = row["path"].as_str() else { continue };
        let function = row["function"].as_str().unwrap_or_default();
        let earlier = rows.insert((path.to_owned(), number("line").unwrap_or(0), function.to_owned()), sums);
        ensure!(earlier.is_none(), "two rows for {path} {:?} {function}", number("line"));
    }
    ensure!(Some(total) == answer["series"][0]["all_weight"].as_u64(), "self weights add up to {total}");
    Ok(rows)
}

/// By path and line, and by path.
fn sources(export: &Recording) -> (Weights<(String, u64)>, Weights<String>) {
    let profile = &export.profile;
    let weights = StackWeights::new(&Selection::default().on(profile), Metric::Weight);
    let (mut places, mut files) = (BTreeMap::new(), BTreeMap::new());
    for file in weights.source_files(profile) {
        let path = profile.string(file.path).to_owned();
        for (line, sums) in file.lines {
            places.insert((path.clone(), u64::from(line)), (sums.self_weight, sums.all_weight));
        }
        files.insert(path, (file.sums.self_weight, file.sums.all_weight));
    }
    (places, files)
}
