//! Names that could control a terminal, break a line or reverse text, in every format and command.

use std::fs;

use unicode_width::UnicodeWidthStr;

use crate::command::{Folder, VIEWS, finish, fixture, orchard, read_text, stderr_of, stdout_of, traceparse};
use crate::fleet_case::{export, write};
use crate::symbols_case::{Case, DEMO_X86, built};
use crate::terminal::on_terminal;

/// Clears the screen, renames the window, ends lines in every possible way, overrides text directions, and hides text.
const ATTACK: &str = "\u{1b}[2J\u{1b}]0;t\u{7}\u{8}\r\n\t\u{b}\u{7f}\u{85}\u{9b}2J\u{ad}\u{61c}\u{200b}\u{200e}\u{200f}\u{2028}\u{2029}\
\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2060}\u{2066}\u{2067}\u{2068}\u{2069}\u{feff}\u{e0041}";
/// A string that must stay readable: letters of several scripts, and the characters that join or mark them.
const ORDINARY: &str = "果樹園 قلعة می\u{200c}خواهم e\u{301} 👩\u{200d}💻 ☺\u{fe0f}";
/// Cells that spreadsheets treat as formulas.
const FORMULA: &str = "=cmd|' /C calc'!A0";

/// True for a character that must not reach a reader. Independent of the library.
fn acts(c: char) -> bool {
    let listed = [0xad, 0x61c, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x2060, 0xfeff];
    let code = u32::from(c);
    let is_line_or_colour = code < 0x20 || (0x7f..0xa0).contains(&code);
    is_line_or_colour
        || listed.contains(&code)
        || (0x202a..=0x202e).contains(&code)
        || (0x2066..=0x2069).contains(&code)
        || (0xe0000..=0xe007f).contains(&code)
}

/// The text without the colours that the command adds.
fn without_colours(text: &str) -> String {
    let colours = ["0", "1", "2", "4", "31", "32", "33", "36", "1;31"].map(|code| format!("\x1b[{code}m"));
    colours.iter().fold(text.to_owned(), |text, colour| text.replace(colour, ""))
}

/// Checks that the output contains no active characters.
#[track_caller]
fn assert_inert(text: &str, what: &[&str]) {
    let plain = without_colours(text);
    let odd: Vec<&str> = plain.split('\n').filter(|line| line.contains(acts)).collect();
    assert!(odd.is_empty(), "{what:?}: {odd:#?}");
}

/// The part of a string that XML allows. File names and labels can also contain the rest.
fn without_escapes(text: &str) -> String {
    text.chars().filter(|&c| matches!(c, '\t' | '\n' | '\r' | ' '..)).collect()
}

/// The same string, escaped for XML.
fn in_xml(text: &str) -> String {
    let escape = |c: char| if u32::from(c) < 0x80 { format!("&#{};", u32::from(c)) } else { c.to_string() };
    without_escapes(text).chars().map(escape).collect()
}

/// A recording whose threads, processes, functions, binaries, files and states end with a string.
fn recording(folder: &Folder, name: &str, tail: &str) -> String {
    let mut text = read_text(&fixture("27/time-profile-waiting"));
    let tail = in_xml(tail);
    for start in ["fmt=\"Main", "fmt=\"Orch", "name=\"orchard::Tree", "name=\"dy", "\"Blocked\">Blo"] {
        assert!(text.contains(start), "{start}");
        text = text.replace(start, &format!("{start}{tail}"));
    }
    folder.file(name, text)
}

/// The views of the command, as arguments.
fn views() -> Vec<Vec<&'static str>> {
    let more =
        ["bottom-up", "heaviest", "binaries", "categories", "transitions", "lines", "processes", "states", "cores"];
    let timed = ["timeline", "flame-chart"];
    let views = VIEWS.into_iter().chain(more).chain(timed).map(|view| vec!["--view", view]);
    [vec![], vec!["--state", "all"], vec!["--no-threads"], vec!["--separate-by", "state"]]
        .into_iter()
        .chain(views)
        .collect()
}

#[test]
fn text_is_inert() {
    let folder = Folder::new();
    let (bad, good) = (recording(&folder, "bad.xml", ATTACK), recording(&folder, "good.xml", "x"));
    for view in views() {
        let run = |path: &str| {
            // Wide enough that no sentence is wrapped, regardless of the length of its names.
            let assert = finish(traceparse(&[&[path], &view[..]].concat()).env("COLUMNS", "2000")).success();
            (stdout_of(&assert), stderr_of(&assert))
        };
        let ((text, said), (plain, _)) = (run(&bad), run(&good));
        assert_inert(&text, &view);
        assert_inert(&said, &view);
        // A command with a name that cannot be typed is not suggested.
        let lines = |text: &str| text.lines().filter(|line| !line.contains("traceparse ")).count();
        assert_eq!(lines(&text), lines(&plain), "{view:?}: no line is broken");
    }
}

#[test]
fn a_terminal_gets_inert_lines_of_its_width() {
    let folder = Folder::new();
    let tail = format!("{ATTACK}{ORDINARY}");
    let path = recording(&folder, &format!("bad{tail}.xml").replace('/', ""), &tail);
    for columns in [80, 200] {
        for view in views() {
            let text = on_terminal(columns, &[&[path.as_str()], &view[..]].concat());
            assert_inert(&text, &view);
            let plain = without_colours(&text);
            let wide: Vec<&str> = plain.lines().filter(|line| line.width() > usize::from(columns)).collect();
            assert!(wide.is_empty(), "{view:?} at {columns}: {wide:#?}");
        }
    }
}

#[test]
fn ordinary_names_stay_as_they_are() {
    let folder = Folder::new();
    let path = recording(&folder, "bad.xml", ORDINARY);
    for view in ["threads", "tree", "functions", "samples", "binaries", "processes"] {
        let text = stdout_of(&finish(&mut traceparse(&[&path, "--view", view, "--state", "all"])).success());
        assert!(text.contains(ORDINARY) && !text.contains("\\u{"), "{view}: {text}");
    }
}

/// Formats for programs, with a view for each format that needs one.
const FORMATS: [&[&str]; 11] = [
    &["--format", "csv", "--view", "samples"],
    &["--format", "csv", "--view", "functions"],
    &["--format", "folded"],
    &["--format", "json"],
    &["--format", "ndjson", "--view", "samples"],
    &["--format", "svg"],
    &["--format", "d3"],
    &["--format", "chrome-trace"],
    &["--format", "firefox"],
    &["--format", "speedscope"],
    &["--format", "html"],
];

#[test]
fn a_terminal_gets_every_format_inert() {
    let folder = Folder::new();
    let path = recording(&folder, "bad.xml", ATTACK);
    for format in FORMATS {
        let args = [&[path.as_str(), "--state", "all"], format].concat();
        let (seen, piped) = (on_terminal(80, &args), stdout_of(&finish(&mut traceparse(&args)).success()));
        assert_inert(&seen, format);
        if format[1] == "csv" {
            let mut reader = csv::Reader::from_reader(piped.as_bytes());
            assert_eq!(seen.lines().count(), reader.records().count() + 1, "a line for each record");
        }
        if matches!(format[1], "json" | "d3" | "chrome-trace" | "firefox" | "speedscope") {
            let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
            // Messages may precede the output, since standard error is the same terminal.
            let start = if seen.starts_with(['{', '[']) { 0 } else { seen.find("\n{").expect("JSON") + 1 };
            assert_eq!(read(&seen[start..]), read(&piped), "{format:?}: values are the same");
        }
    }
}

/// Output that does not go to a terminal is unchanged.
#[test]
fn programs_get_every_byte_of_a_name() {
    let folder = Folder::new();
    let path = recording(&folder, "bad.xml", ATTACK);
    let out = |args: &[&str]| {
        stdout_of(&finish(&mut traceparse(&[&[path.as_str(), "--state", "all"], args].concat())).success())
    };
    let name = format!("orchard::Tree{}", without_escapes(ATTACK));
    let csv = out(FORMATS[1]);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert!(reader.records().any(|row| row.expect("CSV").iter().any(|cell| cell.starts_with(&name))), "{csv}");
    let folded = out(FORMATS[2]);
    // The format escapes the characters that end its lines.
    assert!(folded.contains(&name.replace(';', "%3B").replace("\r\n", "%0D%0A")), "{folded}");
    assert!(folded.lines().all(|line| line.rsplit_once(' ').is_some_and(|(_, weight)| weight.parse::<u64>().is_ok())));
    let json: serde_json::Value = serde_json::from_str(&out(FORMATS[3])).expect("JSON");
    assert!(json.to_string().contains(serde_json::json!(name).to_string().trim_end_matches('"')));
}

#[test]
fn contents_and_comparisons_are_inert() {
    let folder = Folder::new();
    let path = recording(&folder, &format!("bad{}.xml", ATTACK.replace('/', "")), ATTACK);
    let toc = folder.edited(
        "toc/two-runs",
        &[
            ("model=\"Mac", &format!("model=\"Mac{}", in_xml(ATTACK))),
            ("schema=\"kde", &format!("schema=\"kde{}", in_xml(ATTACK))),
        ],
    );
    for args in [
        &["toc", &path][..],
        &["toc", &toc],
        &["diff", &path, &path],
        &["diff", &path, &path, "--view", "tree"],
        &["diff", &path, &path, "--view", "binaries"],
        &["diff", &path, &path, "--alert", "function(*).self > 500%"],
        &["diff", &path, &orchard(), "--force"],
    ] {
        let assert = finish(&mut traceparse(args)).success();
        assert_inert(&stdout_of(&assert), args);
        assert_inert(&stderr_of(&assert), args);
        for format in ["json", "csv", "svg"].iter().filter(|format| args[0] == "diff" || **format == "json") {
            let args = [args, &["--format", format]].concat();
            if !(format == &"svg" && args.contains(&"binaries")) {
                assert_inert(&on_terminal(80, &args), &args);
            }
        }
    }
}

/// A recording of a hang, a hitch, system calls and signposts, in which every name ends with a string; and a run of a second app.
fn stretches(folder: &Folder, name: &str, tail: &str) -> String {
    let tail = &in_xml(tail);
    let table = |position: u32, schema: &str, columns: &str, rows: &str| {
        let column = |column: &str| {
            let (mnemonic, kind) = column.split_once(':').expect("a column");
            format!("<col><mnemonic>{mnemonic}</mnemonic><engineering-type>{kind}</engineering-type></col>")
        };
        let columns: String = columns.split(' ').map(column).collect();
        format!(
            "<node xpath='//trace-toc[1]/run[1]/data[1]/table[{position}]'><schema name=\"{schema}\">{columns}</schema>{rows}</node>\n"
        )
    };
    let thread = format!(
        "<thread id=\"1\" fmt=\"Main Thread{tail} 0x51 (Orchard{tail}, pid: 7)\"><tid id=\"2\" fmt=\"0x51\">81</tid>\
         <process id=\"3\" fmt=\"Orchard{tail} (7)\"><pid id=\"4\" fmt=\"7\">7</pid></process></thread>"
    );
    let sample = |index: u64| {
        let thread = if index == 0 { &thread } else { "<thread ref=\"1\"/>" };
        let state = if index < 50 { "Running" } else { "Blocked" };
        format!(
            "<row><sample-time>{}</sample-time>{thread}<thread-state fmt=\"{state}\">{state}</thread-state><weight>1000000</weight>\
             <backtrace><frame name=\"save{tail}\" addr=\"0x2000\"/><frame name=\"main{tail}\" addr=\"0x1000\"/></backtrace></row>",
            index * 1_000_000
        )
    };
    let stretch =
        |cells: &str| format!("<row><start-time>5000000</start-time><duration>80000000</duration>{cells}</row>");
    let (main, process) = ("<thread ref=\"1\"/>", "<process ref=\"3\"/>");
    let text = |value: &str| format!("<string>{value}{tail}</string>");
    let start = "start:start-time duration:duration";
    let tables = [
        table(
            1,
            "time-profile",
            "time:sample-time thread:thread thread-state:thread-state weight:weight stack:backtrace",
            &(0..100).map(sample).collect::<String>(),
        ),
        table(
            2,
            "potential-hangs",
            &format!("{start} hang-type:hang-type thread:thread"),
            &stretch(&format!("<hang-type>Hang{tail}</hang-type>{main}")),
        ),
        table(
            3,
            "hitches",
            &format!("{start} process:process narrative-description:string"),
            &stretch(&(process.to_owned() + &text("Late"))),
        ),
        table(
            4,
            "syscall",
            &format!("{start} thread:thread syscall:syscall"),
            &stretch(&format!("{main}<syscall fmt=\"read{tail}\">read</syscall>")),
        ),
        table(
            5,
            "os-signpost-interval",
            &format!("{start} name:string start-thread:thread"),
            &stretch(&(text("Checkout") + main)),
        ),
    ];
    folder.file(
        name,
        format!("<?xml version=\"1.0\"?>\n<trace-query-result>\n{}</trace-query-result>\n", tables.concat()),
    )
}

/// Every command with text output, with and without colours, at every width.
#[test]
fn text_of_every_command_is_inert() {
    let folder = Folder::new();
    let (bad, good) = (stretches(&folder, "bad.xml", ATTACK), stretches(&folder, "good.xml", "x"));
    let table = |schema| vec!["table", schema];
    let commands = [
        vec!["hangs"],
        vec!["intervals"],
        vec!["toc"],
        vec!["tables"],
        table("potential-hangs"),
        table("hitches"),
        table("syscall"),
        table("os-signpost-interval"),
        table("time-profile"),
        vec!["fleet", "report", "--view", "full"],
        vec!["fleet", "tree"],
        vec!["fleet", "intervals"],
    ];
    for command in &commands {
        for (columns, colour) in [("80", "never"), ("2000", "never"), ("2000", "always")] {
            let run = |path: &str| {
                let at = if command[0] == "table" { 1 } else { command.len() };
                let args = [&command[..at], &[path], &command[at..], &["--color", colour]].concat();
                let assert = finish(traceparse(&args).env("COLUMNS", columns));
                let (text, said) = (stdout_of(&assert), stderr_of(&assert));
                assert!(assert.get_output().status.success(), "{args:?}: {said}");
                (text, said)
            };
            let ((text, said), (plain, _)) = (run(&bad), run(&good));
            assert_inert(&text, command);
            assert_inert(&said, command);
            if columns == "80" {
                continue;
            }
            assert_eq!(text.lines().count(), plain.lines().count(), "{command:?}: a line is broken: {text}");
            assert!(!plain.contains("Orchard") || text.contains("\\u{9b}2J"), "{command:?}: {text}");
        }
    }
}

#[test]
fn symbols_are_inert() {
    let case = Case::new();
    let path = case.folder.path(&format!("Demo{}", ATTACK.replace('/', "")));
    fs::copy(built("x86_64-dwarf4/Demo"), &path).expect("the name is one");
    let folder = case.folder.path("");
    for args in [&["uuid", &folder][..], &["symbolicate", "-o", &path, "0x100000565"], &["uuid", &path]] {
        let text = case.ok(args);
        assert!(text.contains(DEMO_X86) || text.contains("(in Demo"), "{text}");
        assert_inert(&text, args);
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    let args = ["uuid", &folder, "--format", "json"];
    let seen = on_terminal(80, &args);
    assert_inert(&seen, &args);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&seen).expect("JSON")["images"][0]["path"], path);
}

/// Recordings with labels of a manifest, in a folder.
fn fleet(folder: &Folder, text: &str) -> String {
    let cell = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut manifest = format!("path,{}\n", cell(text));
    for index in 0..4 {
        let name = format!("{index}{}.xml", text.replace('/', ""));
        let tail = |start: &str| format!("{start}{}", in_xml(text));
        let content = export(11 + index).replace("\"Orchard", &tail("\"Orchard")).replace("\"work", &tail("\"work"));
        write(folder, &name, content);
        manifest += &format!("{},{}\n", cell(&name), cell(&format!("{text}{}", index % 2)));
    }
    write(folder, "bad.xml", "no export");
    manifest += "bad.xml,\n";
    write(folder, "manifest.csv", manifest)
}

#[test]
fn fleets_are_inert() {
    let folder = Folder::new();
    let label = ATTACK.replace(['\r', '\n'], "");
    let manifest = fleet(&folder, &label);
    let args = ["fleet", "report", "--manifest", &manifest, "--by", &label, "--alert", "cpu.max > 1"];
    let assert = finish(&mut traceparse(&args)).code(3);
    let text = stdout_of(&assert);
    // Labels, names and files.
    assert!(text.matches("\\u{202e}").count() > 5, "{text}");
    assert_inert(&text, &args);
    assert_inert(&stderr_of(&assert), &args);
    let full = [&args[..], &["--view", "full"]].concat();
    let text = stdout_of(&finish(&mut traceparse(&full)).code(3));
    assert!(text.matches("\\u{202e}").count() > 10, "{text}");
    assert_inert(&text, &full);
    for format in ["text", "csv", "json"] {
        let args = [&args[..], &["--format", format]].concat();
        assert_inert(&on_terminal(80, &args), &args);
        assert_inert(&on_terminal(200, &args), &args);
    }
    let unknown = ["fleet", "report", "--manifest", &manifest, "--by", "unknown"];
    assert_inert(&stderr_of(&finish(&mut traceparse(&unknown)).code(1)), &unknown);
}

#[test]
fn messages_are_inert() {
    let folder = Folder::new();
    let missing = folder.path(&format!("missing{}.xml", ATTACK.replace('/', "")));
    let (orchard, path) = (orchard(), recording(&folder, "bad.xml", ATTACK));
    let option = format!("--{ATTACK}");
    for (code, args) in [
        (1, &[missing.as_str()][..]),
        (1, &["toc", &missing]),
        (1, &["uuid", &missing]),
        (1, &["diff", &missing, &orchard]),
        (1, &["fleet", "report", &missing]),
        (1, &[&path, "--thread", "nobody"]),
        (1, &[&path, "--function", ATTACK]),
        (1, &[&orchard, "-o", &format!("{missing}/x.txt")]),
        (2, &[&orchard, "-o", &format!("{missing}/x")]),
        (2, &[&orchard, "-o", &format!("x.{}", ATTACK.replace('/', ""))]),
        (2, &[&orchard, &option]),
        (2, &[&orchard, "--top", ATTACK]),
        (2, &[&orchard, "--time", ATTACK]),
        (2, &[&orchard, "--view", ATTACK]),
        (2, &["symbolicate", "-o", &orchard, ATTACK]),
        (2, &["diff", &orchard, &orchard, "--alert", ATTACK]),
        (2, &[&missing, &missing]),
        (2, &["fleet", "report", &orchard, "--sort", ATTACK]),
    ] {
        let said = stderr_of(&finish(&mut traceparse(args)).code(code).stdout(""));
        assert!(said.contains("error"), "{args:?}: {said}");
        assert_inert(&said, args);
        assert_inert(&on_terminal(80, args), args);
    }
}

/// The CSV cells that a spreadsheet would treat as a formula, or as white space before a formula.
fn formulas(text: &str) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let cells = reader.records().flat_map(|row| row.expect("CSV").iter().map(str::to_owned).collect::<Vec<_>>());
    let is_formula = |cell: &String| {
        cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err() || cell.contains(";=")
    };
    cells.filter(is_formula).collect()
}

/// A recording whose functions, threads and processes are formulas.
fn spreadsheet(folder: &Folder, name: &str) -> String {
    let mut text = read_text(&fixture("27/time-profile-waiting"));
    for start in ["fmt=\"Main", "fmt=\"Orch", "name=\"orchard::Tree", "name=\"dy", "\"Blocked\">Blo"] {
        let (before, value) = start.rsplit_once(['"', '>']).expect("a value");
        let quote = &start[before.len()..=before.len()];
        text = text.replace(start, &format!("{before}{quote}{}{value}", in_xml(FORMULA)));
    }
    folder.file(name, text)
}

#[test]
fn spreadsheets_get_no_formula() {
    let folder = Folder::new();
    let path = spreadsheet(&folder, "a.xml");
    let csv_views = views().into_iter().filter(|view| view.contains(&"--view") && !view.contains(&"bottom-up"));
    let mut commands: Vec<Vec<&str>> =
        csv_views.map(|view| [&[path.as_str(), "--state", "all", "--format", "csv"], &view[..]].concat()).collect();
    commands.push(vec![&path, "--format", "csv", "--view", "tree", "--separate-by", "state"]);
    let orchard = orchard();
    for view in ["functions", "binaries", "tree"] {
        commands.push(vec!["diff", &orchard, &path, "--force", "--state", "all", "--format", "csv", "--view", view]);
    }
    let manifest = fleet(&folder, FORMULA);
    commands.push(vec!["fleet", "report", "--manifest", &manifest, "--by", FORMULA, "--format", "csv"]);
    let mut with_formulas = 0;
    for args in &commands {
        let run = |more: &[&str]| stdout_of(&finish(&mut traceparse(&[&args[..], more].concat())).success());
        let (as_it_is, safe) = (run(&[]), run(&["--csv-safe"]));
        with_formulas += usize::from(!formulas(&as_it_is).is_empty());
        assert_eq!(formulas(&safe), [""; 0], "{args:?}");
        assert_eq!(as_it_is, safe.replace("'=", "=").replace("'-[", "-["), "{args:?}: nothing else changes");
    }
    assert!(with_formulas >= commands.len() - 5, "{with_formulas} of {}: few views have no names", commands.len());
}

/// A change of weight is a number, though it begins with a minus sign.
#[test]
fn numbers_stay_numbers() {
    let args = ["diff", &orchard(), &fixture("27/time-profile-waiting"), "--force", "--format", "csv"];
    let run = |more: &[&str]| stdout_of(&finish(&mut traceparse(&[&args[..], more].concat())).success());
    let changes = |text: &str| text.lines().filter(|line| line.contains(",-")).count();
    assert!(changes(&run(&[])) > 3 && changes(&run(&[])) == changes(&run(&["--csv-safe"])));
}
