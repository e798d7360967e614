//! Truncated, mutated and malicious input results in an error or a consistent result, never in a panic, a hang, or an empty success.

use std::fmt::Write as _;

use support::{RenderOptions, Shape, Size, Table, render};
use traceparse::read;
use traceparse::recording::{
    Document, DocumentContent, Intervals, Limits, Options, Recording, RejectReason, TableKind,
};
use traceparse::{Error, ErrorKind};

fn open(xml: &str) -> Result<Recording, Error> {
    read(xml.as_bytes(), "test.xml", &Options::default())
}

/// A document with one table, which has the columns time, weight and stack, and these rows.
fn table(rows: &str) -> String {
    let columns = ["time", "thread", "weight", "stack"].map(|name| format!("<col><mnemonic>{name}</mnemonic></col>"));
    format!(
        "<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'><schema \
         name=\"time-profile\">{}</schema>{rows}</node></trace-query-result>",
        columns.concat()
    )
}

/// A row with this stack.
fn row(stack: &str) -> String {
    table(&format!("<row><sample-time id=\"1\">5</sample-time><sentinel/><weight id=\"2\">7</weight>{stack}</row>"))
}

/// Checks that each row of a CPU table is either a sample or rejected, and that the profile contains the samples.
fn assert_adds_up(export: &Recording) {
    let mut samples = 0;
    for table in export.tables() {
        if table.kind == TableKind::Cpu {
            assert_eq!(table.rows, table.samples + table.rejected.total());
            samples += table.samples;
        }
    }
    assert_eq!(samples as usize, export.profile.samples().len());
}

#[test]
fn every_prefix_of_every_shape_is_refused_and_its_rows_are_found() {
    let recording = support::Invented::random(2, &Size { rows: 6, depth: 4, ..Size::small() });
    for shape in Shape::ALL {
        let xml = render(&recording, &RenderOptions::new(shape, Table::TimeProfile, &recording));
        let document_end = xml.rfind("</trace-query-result>").unwrap() + "</trace-query-result>".len();
        for end in (0..document_end).filter(|&end| xml.is_char_boundary(end)) {
            let prefix = &xml[..end];
            let error = open(prefix).expect_err("a prefix is no document");
            assert!(matches!(error.kind, ErrorKind::Truncated { .. } | ErrorKind::NotAnExport(_)), "{end}: {error}");
            let lenient = read(prefix.as_bytes(), "", &Options { allow_truncated: true, ..Options::default() });
            let rows = prefix.matches("</row>").count();
            if let Ok(export) = lenient {
                assert_eq!(export.profile.samples().len(), rows);
                assert_eq!(export.documents[0].cut_at, Some(end as u64));
                assert_adds_up(&export);
            } else {
                assert_eq!(rows, 0);
            }
        }
    }
}

#[test]
fn a_cut_file_says_where_and_how_far() {
    let xml = row("<sentinel/>");
    let cut = xml.find("<weight").unwrap() + 3;
    let error = open(&xml[..cut]).unwrap_err();
    let row_start = xml.find("<row>").unwrap() as u64;
    assert_eq!(error.at.as_ref().map(|at| (at.line, at.byte)), Some((3, row_start)));
    let expected = ErrorKind::Truncated { inside: "trace-query-result/node/row".to_owned(), end: cut as u64, rows: 0 };
    assert_eq!(error.kind, expected);
    let text = error.to_string();
    assert!(text.contains("test.xml:3:") && text.contains("--allow-truncated"), "{text}");
}

fn only_reason(export: &Recording) -> Option<RejectReason> {
    assert_adds_up(export);
    let table = export.tables().next().unwrap();
    assert_eq!(table.rows, 1);
    table.rejected.iter().next().map(|(reason, _)| reason)
}

#[test]
fn rows_are_rejected_with_their_reason() {
    let cells = "<sample-time id=\"1\">5</sample-time><sentinel/><weight id=\"2\">7</weight>";
    let frame = "<frame name=\"f\" addr=\"0x10\"/>";
    let cases: [(String, RejectReason); 12] = [
        (format!("<row>{cells}</row>"), RejectReason::CellCount),
        (format!("<row>{cells}<sentinel/><sentinel/></row>"), RejectReason::CellCount),
        ("<row><sentinel/><sentinel/><weight>7</weight><sentinel/></row>".to_owned(), RejectReason::NoTime),
        ("<row><sample-time>5</sample-time><sentinel/><sentinel/><sentinel/></row>".to_owned(), RejectReason::NoWeight),
        (format!("<row>{cells}<backtrace ref=\"99\"/></row>"), RejectReason::UndefinedRef),
        (format!("<row>{cells}<backtrace>{frame}<frame ref=\"99\"/></backtrace></row>"), RejectReason::UndefinedRef),
        (
            "<row><sample-time>5</sample-time><sentinel/><weight>x</weight><sentinel/></row>".to_owned(),
            RejectReason::BadNumber,
        ),
        (
            "<row><sample-time>-5</sample-time><sentinel/><weight>7</weight><sentinel/></row>".to_owned(),
            RejectReason::BadNumber,
        ),
        (format!("<row>{cells}<backtrace><frame name=\"f\" addr=\"zz\"/></backtrace></row>"), RejectReason::BadNumber),
        (format!("<row>{cells}<weight ref=\"2\"/></row>"), RejectReason::UnknownStack),
        (format!("<row>{cells}<backtrace><call name=\"f\"/></backtrace></row>"), RejectReason::UnknownStack),
        (
            "<row><weight id=\"1\">5</weight><sentinel/><weight ref=\"1\"/><sentinel/></row>".to_owned(),
            RejectReason::WrongType,
        ),
    ];
    for (row, reason) in cases {
        let export = open(&table(&row)).unwrap();
        assert_eq!(only_reason(&export), Some(reason), "{row}");
        assert!(!export.diagnostics.is_empty(), "{row}");
    }
}

#[test]
fn a_bad_definition_rejects_every_row_that_uses_it() {
    let first = "<row><sample-time id=\"1\">5</sample-time><sentinel/><weight id=\"2\">many</weight><sentinel/></row>";
    let second = "<row><sample-time id=\"3\">6</sample-time><sentinel/><weight ref=\"2\"/><sentinel/></row>";
    let third = "<row><sample-time id=\"4\">7</sample-time><sentinel/><weight id=\"5\">1</weight><sentinel/></row>";
    let export = open(&table(&[first, second, third].concat())).unwrap();
    let table = export.tables().next().unwrap();
    assert_eq!((table.rows, table.samples, table.rejected.of(RejectReason::BadNumber)), (3, 1, 2));
    assert_adds_up(&export);
}

#[test]
fn frames_are_found_whatever_they_are_wrapped_in() {
    let frames = "<frame name=\"leaf\" addr=\"0x11\"/><frame name=\"root\" addr=\"0x20\"/>";
    for stack in [
        format!("<backtrace>{frames}</backtrace>"),
        format!("<tagged-backtrace>{frames}</tagged-backtrace>"),
        format!("<tagged-backtrace><backtrace>{frames}</backtrace><uint64>0</uint64></tagged-backtrace>"),
        format!("<next-backtrace><odd/><more><backtrace>{frames}</backtrace></more></next-backtrace>"),
        format!("<next-backtrace>{frames}</next-backtrace>"),
    ] {
        let export = open(&row(&stack)).unwrap();
        let profile = &export.profile;
        let names =
            profile.frames_leaf_first(profile.samples()[0].stack).map(|frame| profile.function_name(frame.function));
        assert!(names.eq(["leaf", "root"]), "{stack}");
    }
}

#[test]
fn odd_but_legal_xml_is_read() {
    let xml =
        row("<backtrace id='3'><frame addr='0x11' name='a&#x41;&lt;b>' id='4'></frame><!-- <row> --></backtrace>");
    let xml = xml.replace(">5<", "><![CDATA[5]]><").replace(">7<", ">&#55;<");
    let export = open(&format!("\u{feff}{xml}\n<!-- end -->")).unwrap();
    let sample = &export.profile.samples()[0];
    assert_eq!((sample.time.as_nanos(), sample.weight), (5, 7));
    let leaf = export.profile.frames_leaf_first(sample.stack).next().unwrap();
    assert_eq!(export.profile.function_name(leaf.function), "aA<b>");
}

#[test]
fn what_is_no_export_is_named() {
    for (text, word) in [
        ("", "empty"),
        ("<!DOCTYPE html><html></html>", "web page"),
        ("<html></html>", "web page"),
        ("<plist></plist>", "<plist>"),
        ("PK\x03\x04", "zip"),
        ("BZh91AY&SY\u{1}", "bzip2"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 2\n", "git lfs pull"),
        ("Process: Demo [7]\nThread 0 Crashed:\n", "crash report"),
        ("> Analysis of sampling a (pid 7)\n> Call graph:\n>   1 <a> + 2\n", "indented or quoted"),
        ("<?xml version=\"1.0\"?>\n", "ends before"),
        ("xctrace[1:2] Document Missing Template Error\n", "not saved"),
    ] {
        let error = open(text).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::NotAnExport(_)), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn malformed_xml_is_an_error_with_its_place() {
    for (stack, at) in [
        ("<backtrace></frame>", "</frame>"),
        ("</backtrace>", "</backtrace>"),
        ("&nothing;", "&nothing;"),
        ("<backtrace id=\"x\"/>", "<backtrace"),
        ("<backtrace id=\"99999999999999999999\"/>", "<backtrace"),
        ("<!DOCTYPE a>", "<!DOCTYPE"),
    ] {
        let xml = row(stack);
        let error = open(&xml).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Malformed(_)), "{stack}: {error}");
        if stack != "&nothing;" {
            assert_eq!(error.at.unwrap().byte, xml.find(at).unwrap() as u64, "{stack}");
        }
    }
    let good = row("<backtrace/>");
    let declaration = "<?xml version=\"1.0\"?>";
    for (prolog, word) in [
        ("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>", "ISO-8859-1"),
        ("<?xml version=\"1.0\" encoding=\"UTF-16\"?>", "UTF-16"),
        ("<?xml version=\"1.1\"?>", "XML 1.1"),
        ("<!-- a --><?xml version=\"1.0\"?>", "is not at the start"),
        ("<?a?>\n<?xml version=\"1.0\"?>", "is not at the start"),
        ("<?xml version=\"1.0\"?><?xml version=\"1.0\"?>", "is not at the start"),
        ("<?xml version=\"1.0\"?><!-- a -->\n<?xml version=\"1.0\"?>", "is not at the start"),
    ] {
        let xml = good.replacen(declaration, prolog, 1);
        for error in [open(&xml).unwrap_err(), Intervals::read(xml.as_bytes(), "", &Options::default()).unwrap_err()] {
            assert!(matches!(&error.kind, ErrorKind::Malformed(text) if text.contains(word)), "{prolog}: {error}");
            assert_eq!(error.at.unwrap().byte, prolog.rfind("<?xml").unwrap() as u64, "{prolog}");
        }
    }
    for more in ["<!-- a -->", "\n<?a?>\n", ""] {
        let two = format!("{declaration}{more}{}{more}{good}", &good[declaration.len()..]);
        assert_eq!(open(&two).unwrap().documents.len(), 2, "{more}");
    }
    let error = read(&b"<trace-query-result>\xff</trace-query-result>"[..], "", &Options::default()).unwrap_err();
    assert!(error.to_string().contains("UTF-8"), "{error}");
}

#[test]
fn limits_hold() {
    let deep = format!("{}{}", "<a>".repeat(300), "</a>".repeat(300));
    assert!(matches!(open(&row(&deep)).unwrap_err().kind, ErrorKind::Limit(_)));

    let long = format!("<backtrace fmt=\"{}\"/>", "x".repeat(200_000));
    let options = Options { limits: Limits { token_bytes: 100_000, ..Limits::default() }, ..Options::default() };
    let error = read(row(&long).as_bytes(), "", &Options { buffer_size: 1_000, ..options.clone() }).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Limit(_)), "{error}");
    let parts = format!("<path>{}</path>", "a&amp;".repeat(100_000));
    assert!(matches!(read(row(&parts).as_bytes(), "", &options).unwrap_err().kind, ErrorKind::Limit(_)));

    let deep_stack = format!("<backtrace>{}</backtrace>", "<frame name=\"f\" addr=\"0x10\"/>".repeat(5_000));
    assert_eq!(only_reason(&open(&row(&deep_stack)).unwrap()), Some(RejectReason::StackTooDeep));

    let wide = Options { limits: Limits { children: 100, ..Limits::default() }, ..Options::default() };
    let error = read(row(&"<a/>".repeat(200)).as_bytes(), "", &wide).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Limit(_)), "{error}");
}

/// A fragment of addresses that many stacks share as their leaf part takes memory for each of them.
#[test]
fn fragments_cannot_multiply_without_bound() {
    let addresses: Vec<String> = (1..=1_000).map(|address| (address * 4).to_string()).collect();
    let mut rows = format!(
        "<row><sample-time>1</sample-time><sentinel/><weight>1</weight><backtrace fmt=\"f\"><text-addresses id=\"1\">{}\
         </text-addresses></backtrace></row>",
        addresses.join(" ")
    );
    for number in 0..3_000 {
        let root = 1_000_000 + number * 4;
        write!(
            rows,
            "<row><sample-time>1</sample-time><sentinel/><weight>1</weight><backtrace fmt=\"f\"><text-addresses \
             ref=\"1\"/><text-addresses>{root}</text-addresses></backtrace></row>"
        )
        .unwrap();
    }
    let error = open(&table(&rows)).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Limit(_)), "{error}");
}

#[test]
fn weights_that_overflow_are_rejected_not_wrapped() {
    let row =
        |weight: u64| format!("<row><sample-time>1</sample-time><sentinel/><weight>{weight}</weight><sentinel/></row>");
    let export = open(&table(&[row(u64::MAX), row(1), row(0)].concat())).unwrap();
    let table = export.tables().next().unwrap();
    assert_eq!((table.samples, table.rejected.of(RejectReason::WeightOverflow)), (2, 1));
    assert_adds_up(&export);
}

#[test]
fn text_around_the_document_is_ignored_and_said() {
    let xml = format!("2026-01-01 xctrace[12:34] starting\n{}", row("<sentinel/>"));
    let export = open(&xml).unwrap();
    assert_eq!(export.profile.samples().len(), 1);
    assert!(export.diagnostics[0].message.contains("outside"));
}

#[test]
fn tables_that_are_not_read_are_counted_even_ill_formed() {
    let other = "<trace-query-result><node xpath='/trace-toc/run[3]/data/table[7]'><schema name=\"odd\"><col><mnemonic>a\
                 </mnemonic></col></schema><row resident-%=\"1\"/><row><a b=1>x & y</a></row>\n<row\n/></node></trace-query-result>";
    let export = open(other).unwrap();
    let Document { content: DocumentContent::Tables(tables), .. } = &export.documents[0] else { panic!("tables") };
    assert_eq!((tables[0].rows, tables[0].kind, tables[0].run), (3, TableKind::Other, 3));
    assert_eq!((tables[0].schema.as_deref(), tables[0].position), (Some("odd"), Some(7)));
}

/// A list of counter values that many rows refer to takes memory for each of them.
#[test]
fn counters_cannot_multiply_without_bound() {
    let columns = ["time", "weight", "stack", "counters-array"];
    let columns = columns.map(|name| format!("<col><mnemonic>{name}</mnemonic></col>")).concat();
    let values = "7 ".repeat(1_000);
    let cells = "<sample-time>1</sample-time><weight>1</weight><sentinel/>";
    let xml = format!(
        "<trace-query-result><node><schema name=\"counters-profile\">{columns}</schema><row>{cells}<pmc-events \
         id=\"1\">{values}</pmc-events></row><row>{cells}<pmc-events ref=\"1\"/></row></node></trace-query-result>"
    );
    let export = open(&xml).unwrap();
    assert_eq!(export.tables().next().unwrap().rejected.of(RejectReason::BadNumber), 2);
}

/// Later rows may refer to an id that an unread table defines: Xcode 26.4 writes a `uint64` next to the frames of every stack, and every
/// table contains such elements.
#[test]
fn elements_that_say_nothing_may_be_defined_in_a_table_that_is_not_read() {
    let other = "<node xpath='/run[1]'><schema name=\"kdebug\"><col><mnemonic>a</mnemonic></col></schema><row><uint64 id=\"20\" \
                 fmt=\"0\">0</uint64><boolean id=\"21\">1</boolean></row></node>";
    let stack = "<tagged-backtrace><backtrace><frame name=\"f\" addr=\"0x11\"/></backtrace><uint64 ref=\"20\"/></tagged-backtrace>";
    let xml = row(stack).replace("<trace-query-result>\n", &format!("<trace-query-result>\n{other}"));
    let export = open(&xml).unwrap();
    assert_eq!((export.profile.samples().len(), export.rejected()), (1, 0));
    assert!(export.diagnostics.is_empty(), "{:?}", export.diagnostics);
}

/// Unknown elements next to frames are reported; elements that might be frames are refused.
#[test]
fn no_part_of_a_stack_is_dropped_without_a_word() {
    let frames = "<frame name=\"leaf\" addr=\"0x11\"/>";
    let odd = open(&row(&format!("<backtrace>{frames}<colour>1</colour></backtrace>"))).unwrap();
    assert_eq!(odd.profile.samples().len(), 1);
    assert!(odd.diagnostics[0].message.contains("does not recognise"), "{:?}", odd.diagnostics);
    for stack in [
        format!("<backtrace>{frames}<async-frame name=\"mid\" addr=\"0x20\"/></backtrace>"),
        format!("<tagged-backtrace><backtrace>{frames}</backtrace><backtrace>{frames}</backtrace></tagged-backtrace>"),
    ] {
        assert_eq!(only_reason(&open(&row(&stack)).unwrap()), Some(RejectReason::UnknownStack), "{stack}");
    }
}

/// A truncated document followed by another one: neither document hides the other.
#[test]
fn a_document_after_a_cut_one_is_read() {
    let whole = row("<sentinel/>");
    for cut in [whole.find("</row>").unwrap(), whole.find("</node>").unwrap()] {
        for second in [whole.as_str(), whole.split_once('\n').unwrap().1] {
            let both = format!("{}{second}", &whole[..cut]);
            let error = open(&both).unwrap_err();
            assert!(matches!(error.kind, ErrorKind::Truncated { end, .. } if end == cut as u64), "{error}");
            let options = Options { allow_truncated: true, ..Options::default() };
            let export = read(both.as_bytes(), "test.xml", &options).unwrap();
            assert_eq!(
                export.documents.iter().map(|document| document.cut_at).collect::<Vec<_>>(),
                [Some(cut as u64), None]
            );
            assert_adds_up(&export);
            assert_eq!(export.tables().map(|table| table.rows).sum::<u64>(), 2);
        }
    }
    let in_a_tag = format!("{}{whole}", &whole[..whole.find("<weight").unwrap() + 3]);
    assert!(open(&in_a_tag).unwrap_err().to_string().contains("a tag is truncated"));
}

/// The remainder of a broken input must not affect the next input.
#[test]
fn a_reader_that_failed_gives_nothing_any_more() {
    let mut recording = traceparse::recording::RecordingBuilder::new(Options::default());
    let bad = "<trace-query-result><node><schema name=\"time-profile\"/><row><weight id=\"2\">999</weight>";
    assert!(recording.read(bad.as_bytes(), "bad").is_err());
    let error = recording.read(row("<sentinel/>").as_bytes(), "good").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Failed);
    assert!(recording.finish().is_err());
}

#[test]
fn the_line_of_a_cut_row_is_the_line_it_starts_in() {
    let filler = "<row><sample-time>5</sample-time><sentinel/><weight>7</weight><sentinel/></row>\n".repeat(50);
    let xml = table(&format!("{filler}<row>\n\n\n<sample-time>{}", "5\n".repeat(5_000)));
    let cut = &xml[..xml.rfind("</node>").unwrap()];
    let start = cut.rfind("<row>").unwrap();
    for buffer_size in [64, 1 << 20] {
        let error = read(cut.as_bytes(), "", &Options { buffer_size, ..Options::default() }).unwrap_err();
        let line = cut[..start].matches('\n').count() as u64 + 1;
        assert_eq!(error.at.map(|at| (at.byte, at.line)), Some((start as u64, line)));
    }
}

/// Functions without a name are identified by address: at another load address, the same address is another function.
#[test]
fn unnamed_functions_of_two_load_addresses_are_not_mixed_up() {
    let frame = |load: &str, id: u32| {
        let uuid = "00000000-0000-0000-0000-000000000001";
        format!(
            "<row><sample-time>1</sample-time><sentinel/><weight>10</weight><backtrace><frame name=\"0x100004000\" \
             addr=\"0x100004001\"><binary id=\"{id}\" name=\"a\" UUID=\"{uuid}\" arch=\"arm64\" load-addr=\"{load}\" \
             path=\"/a\"/></frame></backtrace></row>"
        )
    };
    let export = open(&table(&[frame("0x100000000", 1), frame("0x100004000", 2)].concat())).unwrap();
    assert_eq!(export.profile.function_ids().len(), 2);
}

#[test]
fn lists_of_names_in_sentences_are_bounded() {
    let node = |number: u32| {
        format!(
            "<node xpath='//trace-toc[1]/run[1]/data[1]/table[{number}]'><schema name=\"s{number}\"><col>\
             <mnemonic>a</mnemonic></col></schema><row><sample-time>5</sample-time></row></node>"
        )
    };
    let nodes: String = (1..=5_000).map(node).collect();
    let export = open(&format!("<?xml version=\"1.0\"?>\n<trace-query-result>\n{nodes}</trace-query-result>")).unwrap();
    let sentence = export.no_cpu_table(false).unwrap();
    assert!(sentence.starts_with("no CPU table here, only: s1 (1 row), s2 (1 row), "), "{sentence}");
    assert!(sentence.contains("s8 (1 row), … 4,992 more. Export one with: "), "{sentence}");
    let sentence = export.no_table("t");
    assert!(sentence.len() < 500 && sentence.ends_with(", … 4,940 more"), "{sentence}");
}
