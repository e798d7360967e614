//! Runs the workflows of `docs/ci.md`, their action and the recipes for CI like a CI runner. Recordings are invented, and scripts replace the
//! programs of a Mac and GitHub.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::command::{Folder, finish, read_text, traceparse};
use crate::documented::{make_files, make_programs, read_project, shell, stand_ins};
use crate::fleet_case::{self, recording};
use support::Table;
use support::bundle::{BundleOptions, to_folder, write_bundle};

/// Percent that a run deviates from a typical one, in turn.
const VARIATION: [i64; 10] = [0, 4, -3, 5, -4, 2, -5, 3, -2, 1];
const MINUTE: u64 = 60_000_000_000;

const RUNNER: [(&str, &str); 6] = [
    ("date", "echo \"$TODAY\""),
    // `gh run download --name ARTIFACT --dir FOLDER`
    ("gh", "cp -R \"$TEST/artifacts/$4\" \"$6\""),
    // `git worktree add FOLDER COMMIT`
    ("git", "mkdir \"$3\""),
    // Installs the action's command.
    ("python3", ""),
    (
        "xcodebuild",
        "while [ \"$1\" != -derivedDataPath ]; do shift; done\n\
         mkdir -p \"$2/Build/Products/Release\"\ntouch \"$2/Build/Products/Release/ShopBench\"",
    ),
    // Records a built program: the next of the recordings. The exit code of xctrace is 54 at the time limit.
    (
        "xcrun",
        "code=0\nwhile [ \"$1\" != --output ]; do\nif [ \"$1\" = --time-limit ]; then code=54; fi\nshift\ndone\ntest -f \"$5\" || exit 1\n\
         number=$(cat \"$TEST/number\")\necho $((number + 1)) >\"$TEST/number\"\ncp -R \"$TEST/recordings/$number.trace\" \"$2\" && exit $code",
    ),
];

type Fields = BTreeMap<String, String>;

/// The keys of a YAML mapping with the scalar of each, or the lines below it.
fn fields(text: &str) -> Fields {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("  "), line.split_once(':')) {
            (None, Some((key, value))) if !line.starts_with('#') => {
                let value = value.trim();
                let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
                fields.push((key.to_owned(), value.strip_prefix('|').unwrap_or(value).to_owned()));
            }
            (below, _) => {
                if let Some((_, lines)) = fields.last_mut() {
                    lines.push_str(below.unwrap_or_default());
                    lines.push('\n');
                }
            }
        }
    }
    fields.into_iter().collect()
}

/// The steps of a job or an action.
fn steps(job: &str) -> Vec<Fields> {
    let list = format!("\n{}", fields(job)["steps"]);
    list.split("\n- ").skip(1).map(|step| fields(&step.replace("\n  ", "\n"))).collect()
}

/// A machine with the folders and programs of a job, and the values of expressions.
struct Runner {
    folder: Folder,
    values: BTreeMap<&'static str, &'static str>,
}

/// The end of a job: its exit code, what the action wrote to the summary and the outputs, and what was printed.
struct Job {
    code: i32,
    summary: String,
    outputs: String,
    printed: String,
}

impl Runner {
    fn new() -> Self {
        let folder = Folder::new();
        make_programs(&folder, &RUNNER);
        for name in ["workspace/job", "home", "runner temp", "recordings", "artifacts"] {
            fs::create_dir_all(folder.path(name)).unwrap();
        }
        folder.file("number", "0");
        Self { folder, values: BTreeMap::new() }
    }

    /// A recording of an app that works for `samples` milliseconds and exits after ten times as long, or after `length` milliseconds.
    fn record(&self, number: u64, minute: u64, samples: u64, length: Option<u64>) {
        let mut recording = recording(samples);
        for (index, row) in (0..).zip(&mut recording.rows) {
            row.time_ns = length.map_or(row.time_ns, |length| 1_000_000 * length * index / (samples - 1));
        }
        let mut options = BundleOptions::new(Table::TimeProfile, &recording);
        options.start_time += minute * MINUTE;
        options.end_reason = if length.is_some() { "Time limit reached" } else { "Target app exited" };
        let path = self.folder.path(&format!("recordings/{number}.trace"));
        to_folder(&write_bundle(&recording, &options), Path::new(&path));
    }

    fn evaluated(&self, text: &str, inputs: &Fields) -> String {
        let mut pieces = text.split("${{ ");
        let mut evaluated = pieces.next().unwrap().to_owned();
        for piece in pieces {
            let (name, rest) = piece.split_once(" }}").expect("the end of an expression");
            let input = name.strip_prefix("inputs.").and_then(|name| inputs.get(name));
            evaluated += input.map_or_else(|| self.values[name], String::as_str);
            evaluated += rest;
        }
        evaluated
    }

    fn script(&self, step: &Fields, inputs: &Fields) -> Output {
        let mut shell: Command = shell(&self.folder, &step["run"]);
        shell.current_dir(self.folder.path("workspace/job")).env("TEST", self.folder.path(""));
        shell.env("RUNNER_TEMP", self.folder.path("runner temp"));
        shell.env("GITHUB_STEP_SUMMARY", self.folder.path("summary.md"));
        shell.env("GITHUB_OUTPUT", self.folder.path("outputs"));
        shell.envs(self.values.get("today").map(|today| ("TODAY", today)));
        for (name, value) in fields(step.get("env").map_or("", String::as_str)) {
            shell.env(name, self.evaluated(&value, inputs));
        }
        shell.output().expect("there is a shell")
    }

    /// Runs steps until one fails.
    fn run(&self, steps: &[Fields], inputs: &Fields) -> (i32, String) {
        let mut printed = String::new();
        for step in steps {
            let uses = step.get("uses").map_or("", String::as_str);
            let (code, more) = if uses.starts_with("traceparse/") {
                let with = fields(&self.evaluated(&step["with"], inputs));
                self.run_action(&with)
            } else if step.contains_key("run") {
                let output = self.script(step, inputs);
                let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
                (output.status.code().unwrap(), said.concat())
            } else {
                assert!(uses.starts_with("actions/checkout@"), "{step:?}");
                (0, String::new())
            };
            printed += &more;
            if code != 0 {
                return (code, printed);
            }
        }
        (0, printed)
    }

    fn run_action(&self, with: &Fields) -> (i32, String) {
        let action = fields(&read_project("action.yml"));
        let defaults = fields(&action["inputs"]).into_iter();
        let default = |(name, about): (String, String)| Some((name, fields(&about).get("default")?.clone()));
        let mut inputs: Fields = defaults.filter_map(default).collect();
        inputs.extend(with.clone());
        self.run(&steps(&action["runs"]), &inputs)
    }

    fn job(&self, run: impl Fn() -> (i32, String)) -> Job {
        let [summary, outputs] = ["summary.md", "outputs"].map(|name| self.folder.file(name, ""));
        let (code, printed) = run();
        Job { code, summary: read_text(&summary), outputs: read_text(&outputs), printed }
    }

    /// Runs the only job of the workflow with this name.
    fn workflow(&self, name: &str, inputs: &Fields) -> Job {
        let documents = read_project("docs/ci.md");
        let blocks = documents.split("```yaml\n").skip(1).map(|block| fields(block.split("```").next().unwrap()));
        let workflow = blocks.into_iter().find(|workflow| workflow["name"] == name).expect("it is documented");
        let jobs = fields(&workflow["jobs"]);
        self.job(|| self.run(&steps(jobs.values().next().unwrap()), inputs))
    }

    fn action(&self, with: &[(&str, &str)]) -> Job {
        let with = with.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.job(|| self.run_action(&with))
    }

    /// Writes exports with about `samples` samples to a folder of the workspace.
    fn exports(&self, name: &str, count: u64, samples: u64) {
        let first_minute = name.len() as u64;
        for index in 0..count {
            let samples = varied(samples, index + first_minute);
            let toc = fleet_case::toc(samples).replace("<start-date>", &format!("<!-- {name} {index} --><start-date>"));
            fleet_case::write(&self.folder, &format!("workspace/job/{name}/{index}.xml"), fleet_case::export(samples));
            fleet_case::write(&self.folder, &format!("workspace/job/{name}/{index}-toc.xml"), toc);
        }
    }
}

fn varied(samples: u64, index: u64) -> u64 {
    samples.saturating_add_signed(samples as i64 * VARIATION[(index * 3 % 10) as usize] / 100)
}

#[test]
fn two_builds_are_compared_in_one_job() {
    for (new, code, verdict) in [(300, 3, "verdict=slower\n"), (150, 0, "verdict=no-slowdown\n")] {
        let mut runner = Runner::new();
        runner.values.insert("github.base_ref", "main");
        for number in 0..30 {
            let samples = if number % 2 == 0 { 150 } else { new };
            runner.record(number, number, varied(samples, number / 2), None);
        }
        let job = runner.workflow("performance", &Fields::new());
        assert_eq!((job.code, job.outputs.as_str()), (code, verdict), "{}", job.printed);
        assert!(!job.summary.is_empty());
    }
}

#[test]
fn nights_without_a_verdict_are_green() {
    let mut runner = Runner::new();
    let codes = (0..15).map(|night| {
        runner.values.insert("today", format!("2026-03-{:02}", night + 1).leak());
        for number in 10 * night..10 * (night + 1) {
            // Twice as much work from the tenth night on.
            let samples = if night < 9 { 100 } else { 200 };
            let samples = varied(samples + night % 3, number);
            runner.record(number, night * 24 * 60 + number, samples, Some(2_000));
        }
        let job = runner.workflow("nightly performance", &Fields::new());
        assert!(matches!(job.code, 0 | 3), "night {night}: {}", job.printed);
        fs::remove_dir_all(runner.folder.path("workspace/job/runs")).expect("as a checkout does");
        job.code
    });
    let codes: Vec<i32> = codes.collect();
    assert!(codes[..10].iter().all(|code| *code == 0) && codes.is_sorted() && codes[14] == 3, "{codes:?}");
}

/// Recordings of six devices of two models with their manifest, as a lab uploads them.
fn lab(runner: &Runner, artifact: &str, samples: u64, names: [&str; 2]) -> String {
    let mut manifest = "path,device,device_id\n".to_owned();
    fs::create_dir_all(runner.folder.path(&format!("artifacts/{artifact}"))).unwrap();
    for index in 0..24_u64 {
        let device = names[index as usize % 2];
        let number = 1_000 * samples + index;
        runner.record(number, 24 * 60 * (samples / 100) + index, varied(samples + 40 * (index % 2), index), None);
        let [from, to] = [format!("recordings/{number}.trace"), format!("artifacts/{artifact}/{index}.trace")];
        fs::rename(runner.folder.path(&from), runner.folder.path(&to)).unwrap();
        manifest += &format!("{index}.trace,{device},lab-{}\n", index % 12);
    }
    runner.folder.file(&format!("artifacts/{artifact}/lab.csv"), manifest)
}

#[test]
fn a_device_lab_compares_with_its_baseline() {
    let mut runner = Runner::new();
    runner.values.extend([("github.token", "invented"), ("github.repository", "shop/shop")]);
    let phones = ["iPhone 15", "iPhone SE"];
    let base = lab(&runner, "main", 100, phones);
    let baseline = runner.folder.path("artifacts/baseline");
    finish(&mut traceparse(&["fleet", "extract", &base, "-o", &baseline])).success();
    lab(&runner, "recordings-same", 101, phones);
    lab(&runner, "recordings-slow", 200, phones);
    lab(&runner, "recordings-pads", 300, ["iPad Air", "iPad Pro"]);
    for (build, code, verdicts) in
        [("same", 0, &["no-slowdown", "unknown"][..]), ("slow", 3, &["slower"]), ("pads", 1, &["invalid"])]
    {
        let inputs = [("build".to_owned(), build.to_owned())].into();
        let job = runner.workflow("device lab", &inputs);
        let is_expected = verdicts.iter().any(|verdict| job.outputs == format!("verdict={verdict}\n"));
        assert!(job.code == code && is_expected, "{build}: {}, {}{}", job.code, job.outputs, job.printed);
        for name in ["new", "baseline.dataset"] {
            fs::remove_dir_all(runner.folder.path(&format!("workspace/job/{name}"))).unwrap();
        }
    }
}

#[test]
fn the_action_takes_one_entry_per_line() {
    let runner = Runner::new();
    runner.exports("first base", 4, 150);
    runner.exports("second", 4, 150);
    runner.exports("new runs", 8, 250);
    let job = runner.action(&[("base", "first base\n\n  second\n"), ("new", "new runs")]);
    assert_eq!((job.code, job.outputs.as_str()), (3, "verdict=slower\n"), "{}", job.printed);
    assert!(job.summary.contains("8 against 8 runs"), "{}", job.summary);
    let options = "--min-effect 90%\n--where app=Orchard\n";
    let job = runner.action(&[("base", "first base\nsecond"), ("new", "new runs"), ("options", options)]);
    assert_eq!((job.code, job.outputs.as_str()), (0, "verdict=no-slowdown\n"), "{}", job.printed);
    // If the command refuses its arguments, the summary of an earlier use is not repeated.
    let job = runner.action(&[("base", "first base"), ("new", "new runs"), ("options", "--min-effect much")]);
    assert_eq!((job.code, job.summary.as_str(), job.outputs.as_str()), (2, "", "verdict=invalid\n"), "{}", job.printed);
}

#[test]
fn the_action_fails_for_invalid_input() {
    let runner = Runner::new();
    runner.exports("base", 8, 150);
    runner.exports("unreadable", 8, 151);
    for index in 0..2 {
        fleet_case::write(&runner.folder, &format!("workspace/job/unreadable/{index}.xml"), "");
    }
    for new in ["base", "unreadable", "missing"] {
        for fail_on in ["slower", "unknown"] {
            let job = runner.action(&[("base", "base"), ("new", new), ("fail-on", fail_on)]);
            assert_eq!((job.code, job.outputs.as_str()), (1, "verdict=invalid\n"), "{new}: {}", job.printed);
        }
    }
    let too_few = [("base", "base/0.xml\nbase/1.xml"), ("new", "unreadable/3.xml\nunreadable/4.xml")];
    let job = runner.action(&too_few);
    assert_eq!((job.code, job.outputs.as_str()), (0, "verdict=unknown\n"), "{}", job.printed);
    let job = runner.action(&[&too_few[..], &[("fail-on", "slower,unknown")]].concat());
    assert_eq!((job.code, job.outputs.as_str()), (4, "verdict=unknown\n"), "{}", job.printed);
}

#[test]
fn recipes_end_with_the_code_of_the_command() {
    let document = read_project("docs/cli.md");
    let recipes: Vec<&str> =
        document.split("```bash\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    assert_eq!(recipes.len(), 3, "recipes that end with their first error");
    let code = |folder: &Folder, recipe: &str| shell(folder, recipe).output().unwrap().status.code().unwrap();
    let real = Folder::new();
    make_files(&real);
    make_programs(&real, &stand_ins());
    for recipe in recipes {
        let expected: &[i32] = if recipe.contains("--alert") { &[0, 3] } else { &[0] };
        assert!(expected.contains(&code(&real, recipe)), "{recipe}");
        for (command, expected) in [(0, 0), (1, 1), (3, 3), (4, if recipe.contains("--alert") { 0 } else { 4 })] {
            let folder = Folder::new();
            make_programs(&folder, &[("jq", ""), ("traceparse", &format!("exit {command}"))]);
            assert_eq!(code(&folder, recipe), expected, "{command}: {recipe}");
        }
    }
}
