//! Generated seeds: edit scripts, and files that would otherwise have to be packed.

use std::io::Write;

use super::targets::{bundle, dataset, dwarf, symbols};
use support::bundle::{Files, nodes_of_marks, to_tar, to_zip};
use support::{Content, Invented, Node, RenderOptions, Rng, Shape, Size, Table, render};

/// The generated seeds of a target, with names.
pub(crate) fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    match target {
        "bundle" => scripts(bundle::BASE_COUNT as usize, 2, 40),
        "tables" => tables(),
        "archive" => archives(),
        "symbols" => scripts(symbols::base_count(), 1, 40),
        "dwarf" => scripts(dwarf::BASE_COUNT, 1, 40),
        "dataset" => [scripts(dataset::BASE_COUNT as usize, 1, 24), runs()].concat(),
        _ => Vec::new(),
    }
}

/// Every base unchanged, and some random scripts: a header, whose first byte is the base, then edits.
fn scripts(bases: usize, header: usize, count: usize) -> Vec<(String, Vec<u8>)> {
    let mut rng = Rng::new(7);
    let base = |base: usize, rng: &mut Rng| -> Vec<u8> {
        std::iter::once(base as u8).chain((1..header).map(|_| rng.next_u64() as u8)).collect()
    };
    let mut found: Vec<(String, Vec<u8>)> =
        (0..bases).map(|index| (format!("base-{index:02}"), base(index, &mut rng))).collect();
    for index in 0..count {
        let mut script = base(index % bases, &mut rng);
        // An edit has five bytes, most often.
        script.extend((0..5 * (1 + rng.below(4))).map(|_| rng.next_u64() as u8));
        found.push((format!("script-{index:02}"), script));
    }
    found
}

/// Recordings, and exports with a table of each kind, in few rows.
fn tables() -> Vec<(String, Vec<u8>)> {
    let scripts = scripts(bundle::BASE_COUNT as usize, 2, 24).into_iter().map(|(name, mut input)| {
        input.swap(0, 1);
        input[0] |= 0x80;
        (name, input)
    });
    let document = |(index, document): (usize, String)| {
        (format!("export-{index:02}"), format!("{}{document}", index % 8).into_bytes())
    };
    let recording = Invented::random(3, &Size { rows: 3, depth: 2, ..Size::small() });
    let nodes =
        nodes_of_marks().into_iter().chain([Node { run: 1, table_index: 9, content: Content::FileCalls(vec![0, 1]) }]);
    let options = RenderOptions::with_nodes(Shape::Xcode27, nodes.collect());
    let written = [Table::TimeSample, Table::CountersProfile { pmi: false }]
        .map(|table| render(&recording, &RenderOptions::new(Shape::Xcode14_3.for_table(table), table, &recording)));
    let all = [render(&recording, &options), CELLS.to_owned()].into_iter().chain(written);
    scripts.chain(all.enumerate().map(document)).collect()
}

/// Cells with parts, and columns of unknown types.
const CELLS: &str = r#"<?xml version="1.0"?>
<trace-query-result>
<node xpath='//trace-toc[1]/run[1]/data[1]/table[2]'><schema name="odd-cells"><col><mnemonic>time</mnemonic><name>Time</name><engineering-type>event-time</engineering-type></col><col><mnemonic>task</mnemonic><name>Task</name><engineering-type>swift-task</engineering-type></col><col><mnemonic>file-created</mnemonic><name>Create</name><engineering-type>boolean</engineering-type></col><col><mnemonic>bytes</mnemonic><name>Size</name><engineering-type>size-in-bytes</engineering-type></col><col><mnemonic>x</mnemonic><name>X</name><engineering-type>invented</engineering-type></col><col><mnemonic>label</mnemonic><name>Label</name><engineering-type>formatted-label</engineering-type></col></schema>
<row><event-time id="1" fmt="00:01.000">1000</event-time><swift-task id="2" fmt="0x7 (3)"><swift-task-id id="3" fmt="3">3</swift-task-id><string id="4" fmt="load">load</string></swift-task><boolean id="5" fmt="Yes">1</boolean><size-in-bytes id="6" fmt="4 KiB">4096</size-in-bytes><invented id="7" fmt="seven">7</invented><formatted-label id="8"><string ref="4"/><uint64 id="9" fmt="4">4</uint64></formatted-label></row>
<row><event-time ref="1"/><sentinel/><boolean ref="5"/><sentinel/><invented id="10" fmt="a">text</invented><formatted-label ref="8"/></row>
</node></trace-query-result>
"#;

/// Changes of runs.
fn runs() -> Vec<(String, Vec<u8>)> {
    let mut rng = Rng::new(8);
    let mut of = |index: u8| {
        let changes = (0..3 * (1 + rng.below(6))).map(|_| rng.next_u64() as u8);
        (format!("runs-{index:02}"), std::iter::once(0x80 + index).chain(changes).collect())
    };
    (0..16).map(&mut of).collect()
}

/// Archives with a few small files, in every form.
fn archives() -> Vec<(String, Vec<u8>)> {
    let file = |path: &str, text: &str| (path.to_owned(), text.as_bytes().to_vec());
    let files: Files = vec![
        file("form.template", "bplist00"),
        file("corespace/run1/core/uniquing/strings", "<plist/>"),
        file("corespace/run1/core/stores/indexed-store-0/schema.xml", "<schema name=\"time-profile\"/>"),
    ];
    let mut twice = files.clone();
    twice.push(file("../outside", "x"));
    let tar = to_tar(&files, Some("orchard.trace"));
    let form = |form: u8, bytes: &[u8]| [&[form], bytes].concat();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&tar).expect("memory can be written");
    let gzip = encoder.finish().expect("memory can be written");
    let zstd = zstd::bulk::compress(&tar, 3).expect("memory can be compressed");
    let named = [
        ("zip-stored", form(0, &to_zip(&files, Some("orchard.trace"), false))),
        ("zip-deflated", form(0, &to_zip(&files, Some("a folder/orchard.trace"), true))),
        ("zip-of-parts", form(0, &to_zip(&files, None, false))),
        ("zip-leads-out", form(0, &to_zip(&twice, None, true))),
        ("tar", form(0, &tar)),
        ("tar-of-parts", form(0, &to_tar(&files, None))),
        ("tar-gzip", form(1, &tar)),
        ("tar-zstd", form(2, &tar)),
        ("tar-gzip-as-it-is", form(0, &gzip)),
        ("tar-zstd-as-it-is", form(0, &zstd)),
    ];
    named.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect()
}
