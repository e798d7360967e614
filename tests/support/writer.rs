//! Writes a recording as one document.
//!
//! ```text
//! let options = RenderOptions::new(Shape::Xcode14_3, Table::TimeProfile, &recording);
//! let xml = render(&recording, &options);
//! ```
//!
//! Documents with several tables list their [`Node`]s; ids continue from node to node.

use super::cells::Document;
use super::hang_risks::HangRisk;
use super::other_tables::Hang;
use super::random::Rng;
use super::recording::Invented;
use super::shape::{Shape, Table};
use super::signposts::Signpost;
use super::xml::Layout;

/// The options for writing a recording.
#[derive(Clone, Debug)]
pub struct RenderOptions {
    pub shape: Shape,
    pub layout: Layout,
    /// Whether pointer authentication bits of frames leak into the addresses of callers.
    pub pointer_authentication: bool,
    pub nodes: Vec<Node>,
}

/// One `node` of the document.
#[derive(Clone, Debug)]
pub struct Node {
    pub run: u32,
    /// The table number in the run, from 1. Ignored for track details.
    pub table_index: u32,
    pub content: Content,
}

/// The content of a node. Rows are indices into [`Invented::rows`], in the order in which they are written.
#[derive(Clone, Debug)]
pub enum Content {
    Samples {
        table: Table,
        rows: Vec<usize>,
    },
    PotentialHangs(Vec<Hang>),
    HangRisks(Vec<HangRisk>),
    SignpostIntervals(Vec<Signpost>),
    /// The same with the table of Xcode 27.
    RecentIntervals(Vec<Signpost>),
    SignpostEvents(Vec<Signpost>),
    /// The same as regions, which no real export has.
    Regions(Vec<Signpost>),
    FileCalls(Vec<usize>),
    /// A table with this schema name and no rows.
    Empty(&'static str),
    /// Not well-formed XML.
    TrackDetail,
}

impl RenderOptions {
    /// Creates a node for each run of the recording, with all rows of the run in recording order.
    pub fn new(shape: Shape, table: Table, recording: &Invented) -> RenderOptions {
        let nodes = recording.runs().into_iter().map(|run| Node::samples(run, table, recording)).collect();
        RenderOptions::with_nodes(shape, nodes)
    }

    pub fn with_nodes(shape: Shape, nodes: Vec<Node>) -> RenderOptions {
        RenderOptions { shape, layout: shape.layout(), pointer_authentication: false, nodes }
    }

    pub fn layout(mut self, layout: Layout) -> RenderOptions {
        self.layout = layout;
        self
    }

    pub fn pointer_authentication(mut self) -> RenderOptions {
        self.pointer_authentication = true;
        self
    }

    /// Shuffles the rows of every samples table.
    pub fn shuffled(mut self, seed: u64) -> RenderOptions {
        let mut rng = Rng::new(seed);
        for node in &mut self.nodes {
            if let Content::Samples { rows, .. } = &mut node.content {
                rng.shuffle(rows);
            }
        }
        self
    }

    /// Inserts a node before the node at `position`.
    pub fn insert(mut self, position: usize, node: Node) -> RenderOptions {
        self.nodes.insert(position, node);
        self
    }
}

impl Node {
    /// All rows of a run.
    pub fn samples(run: u32, table: Table, recording: &Invented) -> Node {
        Node {
            run,
            table_index: table.usual_index(),
            content: Content::Samples { table, rows: recording.rows_of_run(run) },
        }
    }

    fn xpath(&self) -> String {
        let Node { run, table_index, content } = self;
        match content {
            Content::TrackDetail => {
                format!("//trace-toc[1]/run[{run}]/tracks[1]/track[1]/details[1]/detail[1]")
            }
            _ => format!("//trace-toc[1]/run[{run}]/data[1]/table[{table_index}]"),
        }
    }
}

/// Writes one document.
///
/// # Panics
///
/// If `Shape::TimeSample` is used with a table other than `Table::TimeSample`.
pub fn render(recording: &Invented, options: &RenderOptions) -> String {
    let ordinary = |node: &Node| matches!(node.content, Content::Samples { table, .. } if table != Table::TimeSample);
    assert!(
        options.shape != Shape::TimeSample || !options.nodes.iter().any(ordinary),
        "Shape::TimeSample goes with Table::TimeSample only"
    );
    let spelling = if options.shape == Shape::TimeSample { Shape::Xcode26_4 } else { options.shape };
    let mut document = Document::new(recording, spelling, options.layout);
    document.pointer_authentication = options.pointer_authentication;
    for node in &options.nodes {
        document.xml.start_node(&node.xpath());
        match &node.content {
            Content::Samples { table, rows } => samples(&mut document, *table, rows),
            Content::PotentialHangs(hangs) => document.potential_hangs(hangs),
            Content::HangRisks(risks) => document.hang_risks(risks),
            Content::SignpostIntervals(signposts) => document.signpost_intervals(signposts, false),
            Content::RecentIntervals(signposts) => document.signpost_intervals(signposts, true),
            Content::Regions(_) => document.table_without_rows("region-of-interest"),
            Content::SignpostEvents(signposts) => document.signpost_events(signposts),
            Content::FileCalls(rows) => document.file_calls(rows),
            Content::Empty(schema) => document.table_without_rows(schema),
            Content::TrackDetail => document.track_detail(),
        }
        document.xml.end("node");
    }
    document.xml.finish()
}

fn samples(document: &mut Document<'_>, table: Table, rows: &[usize]) {
    let documentation = document.shape.documents_schema().then(|| table.documentation());
    document.schema(table.schema(), documentation, &table.columns(document.shape));
    for &row in rows {
        let row = &document.recording.rows[row];
        document.sample_row(table, row);
    }
}

/// Concatenates documents, as scripts do: ids start again in each, and all but the first lack their first line, the XML declaration.
pub fn concatenate(documents: &[String]) -> String {
    let mut all = String::new();
    for (position, document) in documents.iter().enumerate() {
        let body = match document.split_once('\n') {
            Some((_, body)) if position > 0 => body,
            _ => document,
        };
        all.push_str(body);
    }
    all
}
