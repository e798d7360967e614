//! Invented recordings in Instruments' format, for the tests of the command.

use std::io::Write;
use std::path::Path;

use crate::command::Folder;
use support::bundle::{BundleOptions, to_folder, to_tar, to_zip, write_bundle};
use support::other_tables::Hang;
use support::{Content, Invented, Node, RenderOptions, Shape, Signpost, Table, orchard, render};

const MILLISECOND: u64 = 1_000_000;

/// A few hundred milliseconds of the orchard. Each thread has one name, since a bundle records only the last name, and an export all names.
pub(crate) fn recording() -> Invented {
    let mut recording = orchard::session(120, 7);
    recording.threads.iter_mut().for_each(|thread| thread.names.truncate(1));
    recording.rows.iter_mut().for_each(|row| row.thread_name = 0);
    recording
}

/// A table of samples, and the intervals of the recording.
pub(crate) fn nodes(recording: &Invented, table: Table) -> Vec<Node> {
    let start = recording.rows[0].time_ns;
    let signposts = vec![
        Signpost::new("Layout", start, start + 20 * MILLISECOND, 0),
        Signpost::new("Draw", start + 60 * MILLISECOND, start + 61 * MILLISECOND, 0),
    ];
    let hang = Hang { start_ns: start + 30 * MILLISECOND, duration_ns: 10 * MILLISECOND, row: 0 };
    let node = |table_index, content| Node { run: 1, table_index, content };
    vec![
        Node::samples(1, table, recording),
        node(2, Content::SignpostIntervals(signposts)),
        node(3, Content::PotentialHangs(vec![hang])),
    ]
}

/// The same recording in every form: the export of it, and the bundle as a folder and in archives.
pub(crate) struct Forms {
    pub(crate) export: String,
    pub(crate) folder: String,
    pub(crate) archives: Vec<String>,
}

/// Writes a recording in every form.
pub(crate) fn write_forms(folder: &Folder, recording: &Invented, table: Table) -> Forms {
    let nodes = nodes(recording, table);
    let export = render(recording, &RenderOptions::with_nodes(Shape::Xcode26_2, nodes.clone()));
    let files = write_bundle(recording, &BundleOptions::with_nodes(nodes));
    let bundle = folder.path("app.trace");
    to_folder(&files, Path::new(&bundle));
    let inside = Some("app.trace");
    let archives = vec![
        folder.file("app.trace.zip", to_zip(&files, inside, true)),
        folder.file("stored.zip", to_zip(&files, Some("Desktop/app.trace"), false)),
        folder.file("top.zip", to_zip(&files, None, true)),
        folder.file("app.trace.tar", to_tar(&files, inside)),
        folder.file("app.tgz", gzip(&to_tar(&files, inside))),
        folder.file("app.tar.zst", zstd::encode_all(to_tar(&files, inside).as_slice(), 1).expect("in memory")),
    ];
    Forms { export: folder.file("export.xml", export), folder: bundle, archives }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("in memory")
}

/// A zip of these files.
pub(crate) fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).expect("in memory");
        writer.write_all(bytes).expect("in memory");
    }
    writer.finish().expect("in memory").into_inner()
}
