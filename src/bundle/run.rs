//! One run of a recording: its folder below `corespace`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use super::ahead::Pieces;
use super::binaries::Binaries;
use super::columns::Columns;
use super::file::{Content, broken_file, broken_whole, failed};
use super::intervals::{IntervalColumns, IntervalReader};
use super::layout::Layout;
use super::people::{Names, People};
use super::rows::Rows;
use super::run_data::RunData;
use super::samples::SampleReader;
use super::schema::{Schema, exported_type};
use super::stacks::Stacks;
use super::strings::Strings;
use super::tables::{self, StoredTable};
use super::uniquer::{ArrayData, Arrays};
use crate::error::{Diagnostic, Error};
use crate::export::{Column, Intake, IntervalTable, Intervals, Options, Table, TableKind, TocTable};
use crate::hash::HashMap;
use crate::symbols::Files;

/// A run whose tables are known.
pub(super) struct Run<'f> {
    files: &'f dyn Files,
    /// Its number, from 1.
    pub(super) number: u32,
    folder: PathBuf,
    /// All tables, as a table of contents lists them.
    pub(super) contents: Vec<TocTable>,
    tables: Vec<RunTable>,
    /// What was noticed of its tables.
    pub(super) diagnostics: Vec<Diagnostic>,
    limit: u64,
    jobs: usize,
}

/// Tables that are read beside those of samples.
const NEEDED: [&str; 4] = ["thread-info", "process-info", "os-signpost-interval", "potential-hangs"];

/// Whether tables of this schema are read.
fn is_needed(schema: &str) -> bool {
    TableKind::of_schema(schema) == TableKind::Cpu || NEEDED.contains(&schema)
}

/// A table of a run whose rows may be read.
pub(super) struct RunTable {
    pub(super) layout: Layout,
    pub(super) folder: PathBuf,
}

impl<'f> Run<'f> {
    /// Looks at the run in a folder of `corespace`.
    pub(super) fn open(files: &'f dyn Files, corespace: &Path, number: u32, options: &Options) -> Result<Self, Error> {
        let (limit, jobs) = (options.limits.file_bytes, options.jobs);
        let name = format!("run{number}");
        let folder = corespace.join(&name).join("core");
        let path = folder.join("table-manager/tables.plist");
        let bytes = Content::require(files, &path)?.read_all(limit)?;
        let stored = tables::read(&bytes, &name).map_err(|broken| broken_file(&path, &broken))?;
        let (tables, contents, diagnostics) = (Vec::new(), Vec::new(), Vec::new());
        let mut run = Self { files, number, folder, tables, contents, diagnostics, limit, jobs };
        let listed: HashSet<PathBuf> = stored.iter().map(|stored| corespace.join(&stored.folder)).collect();
        for stored in stored {
            run.add_table(&corespace.join(&stored.folder), stored)?;
        }
        run.note_unlisted(&listed);
        Ok(run)
    }

    /// Says which tables are there that would be read and are not listed.
    fn note_unlisted(&mut self, listed: &HashSet<PathBuf>) {
        let stores = self.files.list(&self.folder.join("stores")).unwrap_or_default();
        for store in stores.iter().filter(|store| !listed.contains(*store)) {
            let schema = read_schema(self.files, store, self.limit);
            if let Some(schema) = schema.ok().filter(|schema| is_needed(&schema.name)) {
                let message =
                    format!("{}: no table is listed for this {}, and it is not read", store.display(), schema.name);
                self.diagnostics.push(Diagnostic { at: None, message, count: 1 });
            }
        }
    }

    fn add_table(&mut self, folder: &Path, stored: StoredTable) -> Result<(), Error> {
        let StoredTable { schema, attributes, .. } = stored;
        let found = read_schema(self.files, folder, self.limit);
        let is_needed = is_needed(&schema) || found.as_ref().is_ok_and(|found| is_needed(&found.name));
        let found_name = found.as_ref().ok().map(|found| found.name.clone());
        let layout = found.and_then(|found| read_layout(self.files, folder, &schema, found, self.limit));
        let is_cpu = |name: &str| TableKind::of_schema(name) == TableKind::Cpu;
        let layout = match layout {
            // What is not read may be of a kind that nobody knows.
            Err(_) if !is_needed => None,
            // Names and intervals are missed, and samples are right without them.
            Err(error) if !is_cpu(&schema) && !found_name.as_deref().is_some_and(is_cpu) => {
                self.diagnostics.push(left_out(&error));
                None
            }
            layout => Some(layout?),
        };
        let rows = layout.as_ref().map(|layout| layout.rows);
        self.contents.push(TocTable { position: None, schema, attributes, rows });
        if let Some(layout) = layout.filter(|_| is_needed) {
            self.tables.push(RunTable { layout, folder: folder.to_owned() });
        }
        Ok(())
    }

    /// The tables of this schema whose rows can be read.
    pub(super) fn tables_of(&self, schema: &str) -> impl Iterator<Item = &RunTable> {
        self.tables.iter().filter(move |table| table.layout.schema.name == schema)
    }

    /// The tables whose rows become samples: profiles, and raw samples where no profile has any that can be read.
    fn cpu_tables(&self) -> Vec<&RunTable> {
        let is_cpu = |table: &&RunTable| TableKind::of_schema(&table.layout.schema.name) == TableKind::Cpu;
        let (raw, profiles): (Vec<_>, Vec<_>) =
            self.tables.iter().filter(is_cpu).partition(|table| table.layout.schema.name == "time-sample");
        let has_samples = |table: &&RunTable| table.layout.rows > 0 && Columns::of(&table.layout).is_ok();
        if profiles.iter().any(has_samples) || raw.is_empty() {
            return profiles;
        }
        // Why a profile cannot be read is told all the same.
        profiles.into_iter().chain(raw).collect()
    }

    /// Adds the samples of the run. Gives back what looked for binaries.
    pub(super) fn read<'t>(
        &self,
        template: &Path,
        recorded: &RunData,
        binaries: Binaries<'t>,
        intake: &mut Intake<'_>,
    ) -> Result<Binaries<'t>, Error> {
        let tables = self.cpu_tables();
        if tables.is_empty() {
            return Ok(binaries);
        }
        if tables.iter().all(|table| table.layout.rows == 0) {
            for table in tables {
                intake.start_table(table.as_exported(self.number), table.folder.display().to_string());
            }
            return Ok(binaries);
        }
        let (values, data) = self.values()?;
        std::thread::scope(|scope| {
            let filling = self.fill(&values.arrays, data, scope)?;
            let result = self.read_tables(&tables, &values, scope, (template, recorded, binaries), intake);
            // Arrays that cannot be read are why rows refer to none.
            let odd = match filling {
                Filling::Done(odd) => odd,
                Filling::Begun(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?,
            };
            odd.into_iter().for_each(|odd| intake.note(odd));
            result
        })
    }

    fn read_tables<'s, 't>(
        &'s self,
        tables: &[&'s RunTable],
        values: &Values,
        scope: &'s Scope<'s, '_>,
        (template, recorded, binaries): (&Path, &RunData, Binaries<'t>),
        intake: &mut Intake<'_>,
    ) -> Result<Binaries<'t>, Error> {
        let mut readable = Vec::new();
        for &table in tables {
            match Columns::of(&table.layout) {
                Ok(columns) => readable.push((table, columns)),
                Err(reason) => intake.note(self.not_read(table, &reason)),
            }
        }
        // They are inflated while names are read.
        let mut first_rows = readable.first().map(|(table, _)| self.pieces(table, scope)).transpose()?;
        let strings = values.strings()?;
        let names = self.names(&strings, &values.arrays);
        names.diagnostics.iter().for_each(|note| intake.note(note.clone()));
        let mut reader = SampleReader {
            arrays: &values.arrays,
            strings: &strings,
            people: People::new(&values.arrays, &names, recorded),
            stacks: Stacks::new(&values.arrays, binaries, intake),
            wanted: Vec::new(),
            states: HashMap::default(),
            cores: HashMap::default(),
            recorded,
            strangers: 0,
            template,
        };
        for (table, columns) in readable {
            let pieces = first_rows.take().map_or_else(|| self.pieces(table, scope), Ok)?;
            let file = table.folder.join("bulkstore").display().to_string();
            intake.start_table(table.as_exported(self.number), file);
            reader.read(pieces, &table.folder, &table.layout, &columns, intake)?;
        }
        reader.stacks.diagnostic().into_iter().for_each(|odd| intake.note(odd));
        Ok(reader.stacks.into_binaries())
    }

    /// Reads the arrays; where several threads are allowed, one of them does so from now on.
    fn fill<'s>(
        &self,
        arrays: &'s Arrays,
        data: ArrayData<'s>,
        scope: &'s Scope<'s, '_>,
    ) -> Result<Filling<'s>, Error> {
        if self.jobs <= 1 {
            return arrays.fill(data).map(Filling::Done);
        }
        let thread = Builder::new().spawn_scoped(scope, move || arrays.fill(data));
        thread.map(Filling::Begun).map_err(|error| failed(&self.folder, error))
    }

    /// The rows of a table; where several threads are allowed, one of them inflates rows from now on.
    fn pieces<'s>(&'s self, table: &'s RunTable, scope: &'s Scope<'s, '_>) -> Result<Pieces<'s>, Error> {
        let open = || Rows::open(self.files, &table.folder, &table.layout);
        if self.jobs > 1 { Pieces::ahead(scope, open) } else { open().map(Pieces::here) }
    }

    /// Adds the intervals of the run.
    pub(super) fn read_intervals(&self, input: &str, recorded: &RunData, found: &mut Intervals) -> Result<(), Error> {
        let tables: Vec<_> = self.tables_of("os-signpost-interval").chain(self.tables_of("potential-hangs")).collect();
        if tables.is_empty() {
            return Ok(());
        }
        let (values, data) = self.values()?;
        found.diagnostics.extend(values.arrays.fill(data)?);
        let strings = values.strings()?;
        let names = self.names(&strings, &values.arrays);
        found.diagnostics.extend(names.diagnostics.iter().cloned());
        let (run, arrays, texts) = (self.number, &values.arrays, HashMap::default());
        let mut reader = IntervalReader { run, arrays, strings: &strings, names: &names, recorded, texts };
        for table in tables {
            match IntervalColumns::of(&table.layout) {
                Ok(columns) => {
                    let (input, schema) = (input.to_owned(), table.layout.schema.name.clone());
                    let mut counts = IntervalTable { input, run, schema, ..IntervalTable::default() };
                    let RunTable { layout, folder } = table;
                    let note = reader.read(self.files, folder, layout, &columns, &mut counts, &mut found.intervals)?;
                    found.diagnostics.extend(note);
                    found.tables.push(counts);
                    found.diagnostics.extend(columns.unread.iter().map(|reason| self.not_read(table, reason)));
                }
                Err(reason) => found.diagnostics.push(self.not_read(table, &reason)),
            }
        }
        Ok(())
    }

    /// What rows refer to; the arrays are still to be filled.
    fn values(&self) -> Result<(Values, ArrayData<'f>), Error> {
        let uniquing = self.folder.join("uniquing");
        let strings_path = uniquing.join("strings");
        let strings = Content::require(self.files, &strings_path)?.read_all(self.limit)?;
        let (arrays, data) = Arrays::open(self.files, &uniquing.join("arrayUniquer"), self.limit)?;
        Ok((Values { strings_path, strings, arrays }, data))
    }

    /// The names that tables give. Without them samples are right, so a table that cannot be read is only told.
    fn names<'v>(&self, strings: &'v Strings<'v>, arrays: &Arrays) -> Names<'v> {
        let mut names = Names::new(strings);
        for table in self.tables_of("thread-info").chain(self.tables_of("process-info")) {
            if let Err(error) = names.read(self.files, &table.folder, &table.layout, arrays) {
                names.diagnostics.push(left_out(&error));
            }
        }
        names
    }

    fn not_read(&self, table: &RunTable, reason: &str) -> Diagnostic {
        let (folder, schema) = (table.folder.display(), &table.layout.schema.name);
        let (run, rows) = (self.number, table.layout.rows);
        let message = format!("{folder}: {schema} of run {run} ({rows} rows) is not read: {reason}");
        Diagnostic { at: None, message, count: 1 }
    }
}

/// Arrays that are read, or being read, with what is odd about them.
enum Filling<'s> {
    Done(Option<Diagnostic>),
    Begun(ScopedJoinHandle<'s, Result<Option<Diagnostic>, Error>>),
}

/// The values that rows of a run refer to.
struct Values {
    strings_path: PathBuf,
    strings: Vec<u8>,
    arrays: Arrays,
}

impl Values {
    fn strings(&self) -> Result<Strings<'_>, Error> {
        Strings::read(&self.strings).map_err(|broken| broken_file(&self.strings_path, &broken))
    }
}

impl RunTable {
    /// The table as an export describes it.
    fn as_exported(&self, run: u32) -> Table {
        let column = |column: &super::schema::SchemaColumn| Column {
            mnemonic: column.mnemonic.clone(),
            engineering_type: exported_type(&column.engineering_type).to_owned(),
        };
        Table {
            run,
            schema: Some(self.layout.schema.name.clone()),
            kind: TableKind::Cpu,
            columns: self.layout.schema.columns.iter().map(column).collect(),
            ..Table::default()
        }
    }
}

fn read_schema(files: &dyn Files, folder: &Path, limit: u64) -> Result<Schema, Error> {
    let path = folder.join("schema.xml");
    let bytes = Content::require(files, &path)?.read_all(limit)?;
    Schema::read(&bytes).map_err(|broken| broken_file(&path, &broken))
}

/// Says that a table could not be read, which is not needed for samples.
fn left_out(error: &Error) -> Diagnostic {
    Diagnostic { at: None, message: format!("left out: {error}"), count: 1 }
}

/// How the rows of the store in a folder are laid out; its schema must be that of the table.
fn read_layout(files: &dyn Files, folder: &Path, name: &str, schema: Schema, limit: u64) -> Result<Layout, Error> {
    if schema.name != name {
        let path = folder.join("schema.xml");
        return Err(broken_whole(&path, format_args!("its schema is {:?}, and the table's is {name:?}", schema.name)));
    }
    let path = folder.join("bulkstore_descriptor");
    let bytes = Content::require(files, &path)?.read_all(limit)?;
    Layout::read(schema, &bytes).map_err(|broken| broken_file(&path, &broken))
}
