//! One run of a recording: its folder in `corespace`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::thread::Scope;

use super::binaries::Binaries;
use super::damage::RunFailure;
use super::file::{Content, Room, broken_file};
use super::inflating_thread::RowPieces;
use super::layout::{RunTable, read_layout, read_schema};
use super::narratives::Narratives;
use super::rows::Rows;
use super::run_data::RunData;
use super::run_values::{self, Filling, Values};
use super::sample_columns::Columns;
use super::samples::SampleReader;
use super::stacks::Stacks;
use super::strings::Strings;
use super::table_rows::TableReader;
use super::tables::{self, StoredTable};
use super::threads::{Names, Threads};
use super::uniquer::Arrays;
use crate::error::{Diagnostic, Error, ErrorKind};
use crate::files::{Entry, Files, shown};
use crate::hash::HashMap;
use crate::recording::{InputBuilder, Notes, Options, Rejected, RowKind, TableKind, TocTable};
use crate::tables::{TableHead, TableVisitor};

pub(super) struct Run<'f> {
    files: &'f dyn Files,
    /// Starts at 1.
    pub(super) number: u32,
    folder: PathBuf,
    /// All tables, as in a table of contents.
    pub(super) contents: Vec<TocTable>,
    tables: Vec<RunTable>,
    /// Tables whose columns are unreadable, and the reason.
    unreadable: Vec<(TableHead, ErrorKind)>,
    pub(super) diagnostics: Vec<Diagnostic>,
    room: Room,
    jobs: usize,
}

/// Tables that are read only for their names.
const NAMES: [&str; 2] = ["thread-info", "process-info"];

/// Whether tables with this schema are read.
fn is_needed(schema: &str) -> bool {
    TableKind::of_schema(schema) == TableKind::Cpu || RowKind::of_schema(schema).is_some() || NAMES.contains(&schema)
}

impl<'f> Run<'f> {
    /// Opens a run in `corespace` and lists its tables.
    pub(super) fn open(files: &'f dyn Files, corespace: &Path, number: u32, options: &Options) -> Result<Self, Error> {
        let (room, jobs) = (Room::of(options), options.jobs);
        let name = format!("run{number}");
        let folder = corespace.join(&name).join("core");
        let path = folder.join("table-manager/tables.plist");
        let bytes = Content::require(files, &path)?.read_all(&room)?;
        let stored = tables::read(&bytes, &name).map_err(|broken| broken_file(&path, &broken))?;
        let (tables, unreadable, contents, diagnostics) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut run = Self { files, number, folder, tables, unreadable, contents, diagnostics, room, jobs };
        let folders = stored.iter().filter_map(|stored| Some(corespace.join(stored.folder.as_ref().ok()?)));
        let listed: HashSet<PathBuf> = folders.collect();
        for StoredTable { schema, attributes, folder } in stored {
            let folder = folder.map(|folder| corespace.join(folder)).map_err(|broken| broken_file(&path, &broken));
            run.add_table(folder, schema, attributes)?;
        }
        run.note_unlisted(&listed);
        Ok(run)
    }

    /// Adds a diagnostic for each needed table that exists but is not in the list.
    fn note_unlisted(&mut self, listed: &HashSet<PathBuf>) {
        let stores = self.files.list(&self.folder.join("stores")).unwrap_or_default();
        for store in stores.iter().filter(|store| !listed.contains(*store)) {
            let schema = read_schema(self.files, store, &self.room);
            if let Some(schema) = schema.ok().filter(|schema| is_needed(&schema.name)) {
                let message =
                    format!("{}: no table is listed for this {}, and it is not read", shown(store), schema.name);
                self.diagnostics.push(Diagnostic::new(message));
            }
        }
    }

    /// Adds a table. `folder` is an error if its location is unknown.
    fn add_table(
        &mut self,
        folder: Result<PathBuf, Error>,
        schema: String,
        attributes: Vec<(String, String)>,
    ) -> Result<(), Error> {
        let (files, room) = (self.files, self.room.clone());
        let found = folder.and_then(|folder| Ok((read_schema(files, &folder, &room)?, folder)));
        let is_needed = is_needed(&schema) || found.as_ref().is_ok_and(|(found, _)| is_needed(&found.name));
        let found_name = found.as_ref().ok().map(|(found, _)| found.name.clone());
        let table = found.and_then(|(found, folder)| {
            let layout = read_layout(files, &folder, &schema, found, &room)?;
            Ok(RunTable { layout, attributes: attributes.clone(), folder })
        });
        if let Err(error) = &table {
            let (schema, attributes) = (schema.clone(), attributes.clone());
            let head = TableHead { run: self.number, schema, attributes, ..TableHead::default() };
            self.unreadable.push((head, error.kind.clone()));
        }
        let is_cpu = |name: &str| TableKind::of_schema(name) == TableKind::Cpu;
        let table = match table {
            // An unneeded table may have an unsupported format.
            Err(_) if !is_needed => None,
            // Only names or intervals are lost; samples are correct without them.
            Err(error) if !is_cpu(&schema) && !found_name.as_deref().is_some_and(is_cpu) => {
                self.diagnostics.push(left_out(&error));
                None
            }
            table => Some(table?),
        };
        let rows = table.as_ref().map(|table| table.layout.rows);
        self.contents.push(TocTable { position: None, schema, attributes, rows });
        self.tables.extend(table);
        Ok(())
    }

    /// Returns the readable tables with this schema.
    pub(super) fn tables_of(&self, schema: &str) -> impl Iterator<Item = &RunTable> {
        self.tables.iter().filter(move |table| table.layout.schema.name == schema)
    }

    /// Returns the tables whose rows become samples: profiles or, if no profile is readable, raw samples as well.
    fn cpu_tables(&self) -> Vec<&RunTable> {
        let is_cpu = |table: &&RunTable| TableKind::of_schema(&table.layout.schema.name) == TableKind::Cpu;
        let (raw, profiles): (Vec<_>, Vec<_>) =
            self.tables.iter().filter(is_cpu).partition(|table| table.layout.schema.name == "time-sample");
        let has_samples = |table: &&RunTable| table.layout.rows > 0 && Columns::of(&table.layout).is_ok();
        if profiles.iter().any(has_samples) || raw.is_empty() {
            return profiles;
        }
        // Unreadable profiles are kept, so they are still reported.
        profiles.into_iter().chain(raw).collect()
    }

    /// Whether the run has rows that become samples.
    pub(super) fn has_samples(&self) -> bool {
        self.cpu_tables().iter().any(|table| table.layout.rows > 0)
    }

    /// The number of bytes on disk that are read for samples.
    pub(super) fn sample_bytes(&self) -> u64 {
        if !self.has_samples() {
            return 0;
        }
        let names = self.tables_of("thread-info").chain(self.tables_of("process-info"));
        let stores = self.cpu_tables().into_iter().chain(names).map(|table| table.folder.join("bulkstore"));
        let paths = run_values::FILES.iter().map(|path| self.folder.join(path)).chain(stores);
        paths
            .filter_map(
                |path| if let Ok(Entry::File { length, .. }) = self.files.entry(&path) { Some(length) } else { None },
            )
            .sum()
    }

    /// The schema of the first table with samples.
    pub(super) fn main_schema(&self) -> Option<&str> {
        self.cpu_tables().first().map(|table| table.layout.schema.name.as_str())
    }

    /// Adds the samples of the run, and returns the binaries. The number of threads does not affect whether damage costs the run or the
    /// recording.
    pub(super) fn read<'t>(
        &self,
        sources: SampleSources<'_, 't>,
        input: &mut InputBuilder<'_>,
        is_only_run: bool,
    ) -> Result<Binaries<'t>, RunFailure> {
        let mut has_begun = false;
        let start = Start { is_only_run, has_begun: &mut has_begun };
        let result = self.read_samples(sources, input, start);
        result.map_err(|error| if has_begun { RunFailure::Recording(error) } else { RunFailure::before_rows(error) })
    }

    fn read_samples<'t>(
        &self,
        sources: SampleSources<'_, 't>,
        input: &mut InputBuilder<'_>,
        start: Start<'_>,
    ) -> Result<Binaries<'t>, Error> {
        let tables = self.cpu_tables();
        if tables.iter().all(|table| table.layout.rows == 0) {
            for table in &tables {
                Rows::check_none(self.files, &table.folder, &table.layout)?;
            }
            for table in tables {
                input.start_table(table.as_exported(self.number), shown(&table.folder));
            }
            return Ok(sources.binaries);
        }
        let (values, data) = Values::open(self.files, &self.folder, &self.room)?;
        std::thread::scope(|scope| {
            let mut filling = values.fill(data, self.jobs, scope)?;
            let result = self.read_tables(&values, scope, sources, input, start, &mut filling);
            // Damaged arrays explain rows that refer to missing ones.
            filling.finish()?.into_iter().for_each(|odd| input.note(odd));
            result
        })
    }

    fn read_tables<'s, 't>(
        &'s self,
        values: &Values,
        scope: &'s Scope<'s, '_>,
        sources: SampleSources<'_, 't>,
        input: &mut InputBuilder<'_>,
        start: Start<'_>,
        filling: &mut Filling<'_>,
    ) -> Result<Binaries<'t>, Error> {
        let SampleSources { template, recorded, binaries } = sources;
        let (mut readable, mut notes) = (Vec::new(), Vec::new());
        for table in self.cpu_tables() {
            match Columns::of(&table.layout) {
                Ok(columns) => {
                    notes.extend(columns.renamed.iter().map(|reason| self.odd_columns(table, reason)));
                    readable.push((table, columns));
                }
                Err(reason) => notes.push(self.not_read(table, &reason)),
            }
        }
        notes.extend(self.odd_template(template, recorded));
        // Rows are inflated while names are read.
        let mut first_rows = readable.first().map(|(table, _)| self.pieces(table, scope)).transpose()?;
        let strings = values.strings()?;
        // Opens every store before the first row is added, so a store that cannot be opened costs only the run.
        for (table, _) in readable.iter().skip(1) {
            Rows::open(self.files, &table.folder, &table.layout)?;
        }
        if !start.is_only_run {
            filling.wait()?;
        }
        *start.has_begun = true;
        notes.into_iter().for_each(|note| input.note(note));
        let names = self.names(&strings, &values.arrays);
        names.diagnostics.iter().for_each(|note| input.note(note.clone()));
        let mut reader = SampleReader {
            arrays: &values.arrays,
            strings: &strings,
            threads: Threads::new(&values.arrays, &names, recorded),
            stacks: Stacks::new(&values.arrays, &strings, binaries, input),
            wanted: Vec::new(),
            states: HashMap::default(),
            cores: HashMap::default(),
            recorded,
            odd: Vec::new(),
            notes: Notes::default(),
            template,
        };
        for (table, columns) in readable {
            let pieces = first_rows.take().map_or_else(|| self.pieces(table, scope), Ok)?;
            let store = table.folder.join("bulkstore");
            input.start_table(table.as_exported(self.number), shown(&store));
            reader.read(pieces, &store, &table.layout, &columns, input)?;
        }
        reader.stacks.diagnostic().into_iter().for_each(|odd| input.note(odd));
        Ok(reader.stacks.into_binaries())
    }

    /// Returns the rows of a table. With several jobs, a separate thread starts to inflate them, and later sums samples.
    fn pieces<'s>(&'s self, table: &'s RunTable, scope: &'s Scope<'s, '_>) -> Result<RowPieces<'s>, Error> {
        let open = || Rows::open(self.files, &table.folder, &table.layout);
        if self.jobs > 1 { RowPieces::beside(scope, open) } else { open().map(RowPieces::here) }
    }

    /// Passes the rows of all tables to a visitor, and returns the binaries.
    pub(super) fn pass_tables<'t>(
        &self,
        sources: SampleSources<'_, 't>,
        input: &mut InputBuilder<'_>,
        visitor: &mut dyn TableVisitor,
    ) -> Result<Binaries<'t>, RunFailure> {
        for (head, error) in &self.unreadable {
            if visitor.wants(head) {
                let error = Error::new(error.clone(), None);
                visitor.unreadable(head, None, error).map_err(RunFailure::Recording)?;
            }
        }
        let heads = self.tables.iter().map(|table| (table, table.head(self.number)));
        let mut wanted: Vec<_> = heads.filter(|(_, head)| visitor.wants(head)).collect();
        if wanted.iter().all(|(table, _)| table.layout.rows == 0) {
            for (table, head) in wanted {
                Rows::check_none(self.files, &table.folder, &table.layout).map_err(RunFailure::before_rows)?;
                visitor.start(&head);
                input.start_table(table.as_exported(self.number), shown(&table.folder));
                visitor.end(0, &Rejected::default());
            }
            return Ok(sources.binaries);
        }
        let values = Values::open(self.files, &self.folder, &self.room);
        let (values, data) = values.map_err(RunFailure::before_rows)?;
        let odd = values.arrays.fill(data).map_err(RunFailure::before_rows)?;
        odd.into_iter().for_each(|odd| visitor.note(odd));
        let strings = values.strings().map_err(RunFailure::before_rows)?;
        let narratives = self.narratives(&mut wanted, visitor)?;
        let names = self.names(&strings, &values.arrays);
        names.diagnostics.iter().for_each(|note| visitor.note(note.clone()));
        self.odd_template(sources.template, sources.recorded).for_each(|note| visitor.note(note));
        let mut reader = TableReader {
            arrays: &values.arrays,
            strings: &strings,
            threads: Threads::new(&values.arrays, &names, sources.recorded),
            stacks: Stacks::new(&values.arrays, &strings, sources.binaries, input),
            narratives: narratives.as_ref(),
            template: sources.template,
            known_strings: HashMap::default(),
            known_messages: HashMap::default(),
            known_numbers: HashMap::default(),
            odd: Vec::new(),
        };
        for (table, head) in wanted {
            let read = reader.read(self.files, (table, &head), &self.room, visitor, input);
            if let Err(error) = read {
                visitor.unreadable(&head, Some(table.layout.rows), error).map_err(RunFailure::Recording)?;
            }
        }
        reader.stacks.diagnostic().into_iter().for_each(|odd| visitor.note(odd));
        Ok(reader.stacks.into_binaries())
    }

    /// Reads the parts of messages if a wanted table has messages. If they are unreadable, tables that need them are removed from `wanted`.
    fn narratives(
        &self,
        wanted: &mut Vec<(&RunTable, TableHead)>,
        visitor: &mut dyn TableVisitor,
    ) -> Result<Option<Narratives>, RunFailure> {
        let has_messages = |(table, head): &(&RunTable, TableHead)| table.has_messages(head, visitor);
        if !wanted.iter().any(has_messages) {
            return Ok(None);
        }
        match Narratives::read(self.files, &self.folder.join("uniquing"), &self.room) {
            Ok((narratives, odd)) => {
                odd.into_iter().for_each(|odd| visitor.note(odd));
                Ok(Some(narratives))
            }
            Err(error) => {
                let (without, others) = std::mem::take(wanted).into_iter().partition(has_messages);
                *wanted = others;
                let without: Vec<(&RunTable, TableHead)> = without;
                for (table, head) in without {
                    let error = Error::new(error.kind.clone(), None);
                    let read = visitor.unreadable(&head, Some(table.layout.rows), error);
                    read.map_err(RunFailure::Recording)?;
                }
                Ok(None)
            }
        }
    }

    /// Reads names from tables. Samples are correct without them, so an unreadable table is only reported.
    fn names<'v>(&self, strings: &'v Strings<'v>, arrays: &Arrays) -> Names<'v> {
        let mut names = Names::new(strings);
        for table in self.tables_of("thread-info").chain(self.tables_of("process-info")) {
            if let Err(error) = names.read(self.files, &table.folder, &table.layout, arrays) {
                names.diagnostics.push(left_out(&error));
            }
        }
        names
    }

    /// Diagnostics about problems with the run's data in `form.template`.
    fn odd_template(&self, template: &Path, recorded: &RunData) -> impl Iterator<Item = Diagnostic> {
        recorded.odd.iter().map(move |odd| Diagnostic::new(format!("{}: run {}: {odd}", shown(template), self.number)))
    }

    fn odd_columns(&self, table: &RunTable, reason: &str) -> Diagnostic {
        let (folder, schema, run) = (shown(&table.folder), &table.layout.schema.name, self.number);
        Diagnostic::new(format!("{folder}: {schema} of run {run}: {reason}"))
    }

    fn not_read(&self, table: &RunTable, reason: &str) -> Diagnostic {
        let (folder, schema) = (shown(&table.folder), &table.layout.schema.name);
        let (run, rows) = (self.number, table.layout.rows);
        Diagnostic::new(format!("{folder}: {schema} of run {run} ({rows} rows) is not read: {reason}"))
    }
}

/// The data outside the run that samples need.
pub(super) struct SampleSources<'a, 't> {
    /// The path of `form.template`.
    pub(super) template: &'a Path,
    pub(super) recorded: &'a RunData,
    pub(super) binaries: Binaries<'t>,
}

/// State for handling damage before the first row.
struct Start<'a> {
    /// True if damage of the run fails the whole recording anyway. If false, all arrays must be read before the first row is added.
    is_only_run: bool,
    /// Set once rows were added, after which the run can no longer be left out.
    has_begun: &'a mut bool,
}

/// The diagnostic for an unreadable table that samples do not need.
fn left_out(error: &Error) -> Diagnostic {
    Diagnostic::new(format!("left out: {error}"))
}
