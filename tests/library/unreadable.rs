//! Absent is not unreadable: only `<sentinel/>` and a missing column mean that nothing was recorded.
//!
//! In each case, a real reader once silently assumed that nothing was recorded, or misread the value. Both the scanner and the XML
//! reader read every document.

use traceparse::ErrorKind;
use traceparse::read;
use traceparse::recording::{Intervals, Options, Recording, RejectReason};

const COLUMNS: [&str; 7] = ["time", "thread", "process", "core", "thread-state", "weight", "stack"];

/// Defines all values that [`CELLS`] refer to.
const FIRST_ROW: &str = "<row><sample-time id=\"1\" fmt=\"00:00.100.000\">100000000</sample-time><thread id=\"2\" \
    fmt=\"Main Thread (0x51) (app, pid: 7)\"><tid id=\"3\" fmt=\"0x51\">81</tid><process id=\"4\" fmt=\"app (7)\"><pid id=\"5\" \
    fmt=\"7\">7</pid><device-session id=\"6\" fmt=\"TODO\">TODO</device-session></process></thread><process ref=\"4\"/><core \
    id=\"7\" fmt=\"CPU 2 (P Core)\">2</core><thread-state id=\"8\" fmt=\"Running\">Running</thread-state><weight id=\"9\" \
    fmt=\"1.00 ms\">1000000</weight><tagged-backtrace id=\"10\"><frame id=\"11\" name=\"work\" addr=\"0x104bfc505\"><binary \
    id=\"12\" name=\"app\" UUID=\"3D6F2C90-8E4B-34A7-A5D1-C07B19E82F46\" arch=\"arm64\" load-addr=\"0x104bfc000\" \
    path=\"/app\"/><source line=\"5\"><path id=\"13\">/main.c</path></source></frame><frame id=\"14\" name=\"main\" \
    addr=\"0x104bfc403\"><binary ref=\"12\"/></frame></tagged-backtrace></row>";

/// The cells of the second row, after its time.
const CELLS: [&str; 6] = [
    "<thread ref=\"2\"/>",
    "<process ref=\"4\"/>",
    "<core ref=\"7\"/>",
    "<thread-state ref=\"8\"/>",
    "<weight ref=\"9\"/>",
    "<tagged-backtrace ref=\"10\"/>",
];

fn document(columns: &[&str], rows: &str) -> String {
    let columns: String = columns.iter().map(|name| format!("<col><mnemonic>{name}</mnemonic></col>")).collect();
    format!(
        "<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'><schema \
         name=\"time-profile\">{columns}</schema>{rows}\n</node></trace-query-result>\n"
    )
}

/// A document in which this replaces one of the [`CELLS`] of the second row. The third row is unchanged.
fn with_cell(cell: usize, text: &str) -> String {
    let row = |id: u32, cells: &[&str]| {
        let time = format!("<sample-time id=\"{id}\" fmt=\"00:00.100.000\">{}</sample-time>", 100_000_000 + id);
        format!("\n<row>{time}{}</row>", cells.concat())
    };
    let mut cells = CELLS;
    cells[cell] = text;
    document(&COLUMNS, &[FIRST_ROW, &row(20, &CELLS), &row(21, &cells), &row(22, &CELLS)].concat())
}

/// The document as the scanner reads it. Checks that the XML reader agrees.
fn open(xml: &str) -> Recording {
    let by = |uses_scanner| read(xml.as_bytes(), "x.xml", &Options { uses_scanner, ..Options::default() });
    let (scanned, plain) = (by(true).expect(xml), by(false).expect(xml));
    assert_eq!(scanned.documents, plain.documents, "{xml}");
    assert_eq!(scanned.profile.samples(), plain.profile.samples(), "{xml}");
    assert_eq!(scanned.diagnostics, plain.diagnostics, "{xml}");
    scanned
}

/// The reason why the only rejected row was rejected, and true if a diagnostic names it.
fn rejection(xml: &str) -> Option<(RejectReason, bool)> {
    let export = open(xml);
    let table = export.tables().next().expect("there is a table");
    let mut reasons = table.rejected.iter();
    let (reason, 1) = reasons.next()? else { panic!("one row is rejected: {:?}", table.rejected) };
    assert_eq!((table.rows, table.samples, reasons.next()), (4, 3, None), "{xml}");
    let row = xml.rfind("<row>").and_then(|last| xml[..last].rfind("<row>")).expect("there are rows") as u64;
    let is_named = export.diagnostics.iter().any(|note| note.at.as_ref().is_some_and(|at| at.byte == row));
    Some((reason, is_named))
}

#[test]
fn the_document_as_it_is_has_nothing_to_be_told() {
    let export = open(&with_cell(0, CELLS[0]));
    assert_eq!((export.profile.samples().len(), export.rejected(), export.diagnostics.len()), (4, 0, 0));
    let absent = open(&with_cell(3, "<sentinel/>"));
    assert_eq!((absent.profile.samples().len(), absent.diagnostics.len()), (4, 0), "a sentinel is no rejection");
    assert_eq!(absent.profile.samples()[2].state, None);
}

#[test]
fn a_cell_without_a_value_is_a_rejection_in_every_column() {
    for (index, cell) in CELLS.into_iter().enumerate() {
        let name = cell[1..].split(' ').next().unwrap();
        let spoiled = [
            format!("<{name}/>"),
            format!("<{name}></{name}>"),
            format!("<{name}> </{name}>"),
            cell.replace(" ref=", " reference="),
            cell.replace(" ref=", " id=\"23\" reference="),
            cell.replace("/>", &format!("></{name}>")).replace(" ref=", " fmt="),
        ];
        for text in spoiled {
            // The ids of the following rows continue.
            let xml = with_cell(index, &text).replace("id=\"22\"", "id=\"24\"");
            let (reason, is_named) = rejection(&xml).unwrap_or_else(|| panic!("{text} is accepted"));
            assert!(matches!(reason, RejectReason::EmptyCell | RejectReason::BadNumber), "{text}: {reason:?}");
            assert!(is_named, "{text}");
        }
    }
}

#[test]
fn a_reference_to_another_kind_of_element_is_a_rejection() {
    for (index, cell) in CELLS.into_iter().enumerate() {
        let name = cell[1..].split(' ').next().unwrap();
        for id in [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13] {
            let own = cell.contains(&format!("\"{id}\""));
            let text = format!("<{name} ref=\"{id}\"/>");
            let found = rejection(&with_cell(index, &text));
            assert_eq!(found, (!own).then_some((RejectReason::WrongType, true)), "{text}");
            // The right value in an element with an uninformative name.
            let text = format!("<new-thing ref=\"{id}\"/>");
            let found = rejection(&with_cell(index, &text)).map(|(reason, _)| reason);
            match id {
                // Any element may contain the frames.
                10 if index == 5 => assert_eq!(found, None, "{text}"),
                _ => assert!(found.is_some(), "{text} in place of {cell}"),
            }
        }
    }
    for (id, text) in [(999, "<thread ref=\"999\"/>"), (21, "<thread ref=\"21\"/>"), (22, "<thread ref=\"22\"/>")] {
        let reason = rejection(&with_cell(0, text)).map(|(reason, _)| reason);
        let expected = if id == 21 { RejectReason::WrongType } else { RejectReason::UndefinedRef };
        assert_eq!(reason, Some(expected), "{text}");
    }
}

#[test]
fn what_a_stack_or_thread_is_made_of_has_to_be_read_as_well() {
    let frame = "<frame id=\"23\" name=\"f\" addr=\"0x5\"";
    let stack = |inner: &str| format!("<tagged-backtrace id=\"22\">{inner}</tagged-backtrace>");
    let thread = |inner: &str| format!("<thread id=\"22\" fmt=\"x (0x9) (app, pid: 7)\">{inner}</thread>");
    let process = "<process ref=\"4\"/>";
    let cases = [
        (5, stack("<fraem ref=\"11\"/>"), RejectReason::WrongType),
        (5, stack("<frame ref=\"11\"/><fraem ref=\"14\"/>"), RejectReason::WrongType),
        (5, stack("<frame ref=\"12\"/>"), RejectReason::WrongType),
        (5, stack("<frame/>"), RejectReason::BadNumber),
        (5, stack("<frame id=\"23\" name=\"f\"/>"), RejectReason::BadNumber),
        (5, stack(&format!("{frame}><binary/></frame>")), RejectReason::BadNumber),
        (5, stack(&format!("{frame}><binary ref=\"11\"/></frame>")), RejectReason::WrongType),
        (5, stack(&format!("{frame}><source line=\"5\"/></frame>")), RejectReason::EmptyCell),
        (5, stack(&format!("{frame}><source line=\"5\"><path id=\"24\"/></source></frame>")), RejectReason::EmptyCell),
        (5, stack(&format!("{frame}><binary ref=\"12\"/><binary ref=\"12\"/></frame>")), RejectReason::WrongType),
        (5, stack("<frame ref=\"11\"/><text-addresses id=\"23\">5</text-addresses>"), RejectReason::UnknownStack),
        (5, stack("<text-addresses id=\"23\"/>"), RejectReason::EmptyCell),
        (0, thread(process), RejectReason::EmptyCell),
        (0, thread("<tid ref=\"5\"/>"), RejectReason::WrongType),
        (0, thread(&format!("<tid ref=\"3\"/><tid ref=\"3\"/>{process}")), RejectReason::WrongType),
        (0, thread("<tid ref=\"3\"/><process fmt=\"a (7)\"/>"), RejectReason::EmptyCell),
        (4, "<weight id=\"22\">10<a/>00</weight>".to_owned(), RejectReason::WrongType),
        (3, "<thread-state id=\"22\">Run<a/>ning</thread-state>".to_owned(), RejectReason::WrongType),
    ];
    for (index, text, expected) in cases {
        let xml = with_cell(index, &text).replace("<sample-time id=\"22\"", "<sample-time id=\"30\"");
        assert_eq!(rejection(&xml), Some((expected, true)), "{text}");
    }
}

#[test]
fn what_is_missing_beside_a_value_is_told_where_it_is_missing() {
    let frame =
        |attributes: &str| format!("<tagged-backtrace id=\"22\"><frame id=\"23\" {attributes}/></tagged-backtrace>");
    let thread = |inner: &str, fmt: &str| format!("<thread id=\"22\"{fmt}>{inner}</thread>");
    let (tid, process, fmt) = ("<tid ref=\"3\"/>", "<process ref=\"4\"/>", " fmt=\"x (0x51) (app, pid: 7)\"");
    let cases = [
        (5, frame("addr=\"0x5\""), "a frame has no name"),
        (5, frame("nmae=\"f\" addr=\"0x5\""), "a frame has no name"),
        (5, frame("name=\"f\" addr=\"0x5\" inlinde=\"true\""), "has an attribute that this version does not recognise"),
        (0, thread(tid, fmt), "a thread names no process"),
        (0, thread(&format!("{tid}{process}"), ""), "has no display string"),
        (
            0,
            thread(&format!("{tid}{process}<qos>9</qos>"), fmt),
            "contains an element that this version does not recognise",
        ),
        (5, "<stack id=\"22\"><frame ref=\"11\"/></stack>".to_owned(), "a stack is an element with a name"),
        (5, "<stack ref=\"10\"/>".to_owned(), "a stack is an element with a name"),
        (
            0,
            "<thread ref=\"2\"><tid ref=\"3\"/></thread>".to_owned(),
            "an element that is a ref contains other elements",
        ),
    ];
    for (index, text, expected) in cases {
        let xml = with_cell(index, &text).replace("<sample-time id=\"22\"", "<sample-time id=\"30\"");
        let export = open(&xml);
        assert_eq!(export.rejected(), 0, "{text}");
        let note = export.diagnostics.iter().find(|note| note.message.contains(expected));
        let note = note.unwrap_or_else(|| panic!("{text}: {:?}", export.diagnostics));
        let at = note.at.as_ref().expect("it has a place").byte as usize;
        let cell = xml.find(&text).expect("the cell is there");
        assert!((cell..cell + text.len()).contains(&at), "{text}: {at}");
    }
}

#[test]
fn an_id_that_is_defined_twice_is_told_and_not_referred_to() {
    // No known file defines an id twice. If one did, it would be ambiguous.
    let xml = with_cell(4, "<weight id=\"9\" fmt=\"2.00 ms\">2000000</weight>");
    let export = open(&xml);
    let weights: Vec<u64> = export.profile.samples().iter().map(|sample| sample.weight).collect();
    assert_eq!(weights, [1_000_000, 1_000_000, 2_000_000], "the definition itself is read");
    assert_eq!(export.tables().next().unwrap().rejected.of(RejectReason::AmbiguousRef), 1);
    let note =
        export.diagnostics.iter().find(|note| note.message.contains("id 9 is defined twice")).expect("it is told");
    assert_eq!(note.at.as_ref().map(|at| at.byte as usize), xml.find("<weight id=\"9\" fmt=\"2"));
}

#[test]
fn a_renamed_column_is_told_and_a_missing_one_is_not() {
    let cells: String = [FIRST_ROW].concat();
    let renamed = COLUMNS.map(|name| if name == "thread-state" { "state-of-thread" } else { name });
    let export = open(&document(&renamed, &cells));
    assert!(export.diagnostics.iter().any(|note| note.message.contains("no column thread-state")));
    let fewer: Vec<&str> = COLUMNS.into_iter().filter(|name| *name != "thread-state").collect();
    let state = FIRST_ROW.find("<thread-state").unwrap()..FIRST_ROW.find("<weight").unwrap();
    let mut row = FIRST_ROW.to_owned();
    row.replace_range(state, "");
    let export = open(&document(&fewer, &row));
    assert_eq!((export.profile.samples().len(), export.diagnostics.len()), (1, 0));
}

#[test]
fn what_is_not_well_formed_is_an_error_with_its_place() {
    let broken = [
        ("<thread-state ref=\"8\"/>", "<t&read-state ref=\"8\"/>"),
        ("<thread-state ref=\"8\"/>", "<thread-state re&=\"8\"/>"),
        ("<thread-state ref=\"8\"/>", "<thread-state ref\"8\"/>"),
        ("<thread-state ref=\"8\"/>", "<thread-state ref=\"8\"\"/>"),
        ("<thread-state ref=\"8\"/>", "<thread-state ref=\"8\" ref=\"8\"/>"),
        ("<thread-state ref=\"8\"/>", "<thread-state ref=\"8\"/>]]>"),
        ("<weight ref=\"9\"/>", "<weight ref=\"9\"/><!-- a -- b -->"),
        ("name=\"work\"", "&ame=\"work\""),
        ("name=\"work\"", "name=\"w&rk\""),
        ("name=\"work\"", "name=\"work\" name=\"work\""),
        ("name=\"work\"", "name=\"w\u{1}rk\""),
        ("fmt=\"00:00.100.000\">100000021", "fmt=\"00:0&.100.000\">100000021"),
        ("id=\"8\" fmt=\"Running\"", "id=\"8\" -fmt=\"Running\""),
        ("<row><sample-time id=\"21\"", "<?xml?><row><sample-time id=\"21\""),
        ("\n<row><sample-time id=\"21\"", "\narow><sample-time id=\"21\""),
        (">Running<", ">Run]]>ning<"),
        ("/main.c", "/main.c\u{ffff}"),
        ("<?xml version=\"1.0\"?>", "<?xml vers&on=\"1.0\"?>"),
        ("<?xml version=\"1.0\"?>", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>"),
    ];
    for (part, other) in broken {
        let xml = with_cell(0, CELLS[0]).replacen(part, other, 1);
        assert!(xml.contains(other), "{part}");
        for uses_scanner in [true, false] {
            let options = Options { uses_scanner, ..Options::default() };
            let error = read(xml.as_bytes(), "x.xml", &options).map(|export| export.profile.samples().len());
            let error = error.expect_err(other);
            // An extra quote may hide the rest, and an element with a malformed start may be anything.
            let is_fitting =
                matches!(error.kind, ErrorKind::Malformed(_) | ErrorKind::Truncated { .. } | ErrorKind::NotAnExport(_));
            assert!(is_fitting, "{other}: {error}");
            let place = error.at.as_ref().expect("it has a place").byte as usize;
            assert!(place <= xml.find(other).unwrap() + other.len() + 200, "{other}: {error}");
        }
    }
}

#[test]
fn elements_of_a_table_that_is_not_read_have_to_end() {
    let other = "<node xpath='//trace-toc[1]/run[1]/data[1]/table[2]'><schema name=\"kdebug\"><col><mnemonic>a</mnemonic></col>\
                 </schema><row><a>1</a></row>\n<row><b/></row>\n</node>";
    let usual = with_cell(0, CELLS[0]).replace("<trace-query-result>\n", &format!("<trace-query-result>\n{other}"));
    assert_eq!(open(&usual).diagnostics, []);
    for comment in ["<!-- </row> -->", "<![CDATA[</a></a></a>]]>", "<?a </node>?>"] {
        let export = open(&usual.replacen("<b/>", &format!("{comment}<b/>"), 1));
        assert_eq!(
            (export.diagnostics.len(), export.tables().next().map(|table| table.rows)),
            (0, Some(2)),
            "{comment}"
        );
    }
    for (part, spoiled) in [("<row><b/></row>", "<row><b></row>"), ("<row><b/></row>", "<row><row><b/></row>")] {
        let export = open(&usual.replacen(part, spoiled, 1));
        assert!(export.diagnostics.iter().any(|note| note.message.contains("are not properly nested")), "{spoiled}");
    }
    // The CPU table after it would be missed.
    let xml = usual.replacen("</node>", "</nade>", 1);
    assert!(read(xml.as_bytes(), "x.xml", &Options::default()).is_err());
}

#[test]
fn cells_of_intervals_follow_the_same_rule() {
    let columns = ["start", "duration", "hang-type", "thread", "process"];
    let columns: String = columns.iter().map(|name| format!("<col><mnemonic>{name}</mnemonic></col>")).collect();
    let first = "<row><start-time id=\"1\">5</start-time><duration id=\"2\">7</duration><hang-type id=\"3\">Hang</hang-type>\
                 <thread id=\"4\" fmt=\"m (0x51) (a, pid: 7)\"><tid id=\"5\">81</tid><process id=\"6\" fmt=\"a (7)\"><pid \
                 id=\"7\">7</pid></process></thread><process ref=\"6\"/></row>";
    let cells = [
        "<start-time ref=\"1\"/>",
        "<duration ref=\"2\"/>",
        "<hang-type ref=\"3\"/>",
        "<thread ref=\"4\"/>",
        "<process ref=\"6\"/>",
    ];
    let rejected = |cells: &[&str]| {
        let xml = format!(
            "<trace-query-result><node xpath='/run[1]/table[1]'><schema name=\"potential-hangs\">{columns}</schema>{first}\
             <row>{}</row></node></trace-query-result>",
            cells.concat()
        );
        let found = Intervals::read(xml.as_bytes(), "x.xml", &Options::default()).expect(&xml);
        assert_eq!(found.tables[0].rows, 2);
        found.tables[0].rejected.total()
    };
    assert_eq!(rejected(&cells), 0);
    for (index, cell) in cells.into_iter().enumerate() {
        let name = cell[1..].split(' ').next().unwrap();
        let other = format!("<{name} ref=\"{}\"/>", [2, 1, 1, 6, 4][index]);
        for spoiled in [format!("<{name}/>"), cell.replace(" ref=", " re="), other] {
            let mut cells = cells;
            cells[index] = &spoiled;
            assert_eq!(rejected(&cells), 1, "{spoiled}");
        }
    }
}

#[test]
fn binaries_without_load_address_or_whole_uuid_cost_no_row() {
    let known = "UUID=\"3D6F2C90-8E4B-34A7-A5D1-C07B19E82F46\" arch=\"arm64\" load-addr=\"0x104bfc000\"";
    for (attributes, word) in [
        ("UUID=\"3D6F2C90-8E4B-34A7-A5D1-C07B19E82F46\" arch=\"arm64\"", "load-addr"),
        ("UUID=\"3D6F2C90-8E4B-34A7-A5D1-C07B19E82F46\" arch=\"arm64\" load-addr=\"x\"", "load-addr"),
        ("UUID=\"3D6F2C90\" arch=\"arm64\" load-addr=\"0x104bfc000\"", "UUID"),
    ] {
        let export = open(&with_cell(5, CELLS[5]).replace(known, attributes));
        let table = export.tables().next().expect("a table");
        assert_eq!((table.rows, table.samples), (4, 4), "{attributes}");
        let profile = &export.profile;
        let leaf = profile.frames_leaf_first(profile.samples()[0].stack).next().expect("a frame");
        assert_eq!(profile.function_name(leaf.function), "work");
        let binary = profile.binary(leaf.binary.expect("a binary"));
        assert_eq!((profile.string(binary.name), binary.uuid), ("app", None));
        let told: Vec<&str> = export.diagnostics.iter().map(|told| told.message.as_str()).collect();
        assert!(told.len() == 1 && told[0].contains(word), "{told:?}");
    }
}

#[test]
fn old_recordings_need_more_than_the_time_profiler() {
    let advice = |version: &str| {
        let summary = format!("<summary><instruments-version>{version}</instruments-version></summary>");
        let toc = format!("<trace-toc><run number=\"1\"><info>{summary}</info><data/></run></trace-toc>");
        let contents = read(toc.as_bytes(), "toc.xml", &Options::default()).expect("it is a table of contents");
        contents.no_cpu_table(true).expect("it has no table")
    };
    assert!(
        advice("7.3.1 (7D1014)").contains("made with Instruments 7.3.1 (7D1014), whose samples traceparse cannot read")
    );
    assert!(advice("16.0 (17F42)").contains("record with the Time Profiler"));
}
