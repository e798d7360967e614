//! The contents of a Firefox Profiler file, with every index resolved: of version 55, which other programs write, and of our version.

use serde_json::Value;

/// A frame: the function, its library, the address in it, whether it is inlined, file and line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame {
    pub function: String,
    pub library: Option<String>,
    pub address: Option<u64>,
    pub is_inlined: bool,
    pub source: Option<(String, Option<u64>)>,
    pub category: String,
}

/// A sample: its time in nanoseconds, its weight as written, and its stack, root first.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub time: u64,
    pub weight: f64,
    pub stack: Vec<Frame>,
}

/// A thread with its samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Thread {
    pub name: String,
    pub process: String,
    pub pid: String,
    pub tid: String,
    pub is_main: bool,
    pub weight_type: String,
    pub samples: Vec<Sample>,
}

/// All threads of a file. Panics if a column and its table differ in length, or an index is out of range.
pub fn threads(file: &Value) -> Vec<Thread> {
    file["threads"].as_array().expect("threads").iter().map(|thread| resolve(file, thread)).collect()
}

/// A table whose columns all have its length.
struct Table<'v>(&'v Value);

impl<'v> Table<'v> {
    fn new(table: &'v Value) -> Self {
        let length = table["length"].as_u64().expect("a length") as usize;
        for (name, column) in table.as_object().expect("a table") {
            assert!(column.as_array().is_none_or(|rows| rows.len() == length), "{name} of {length} rows: {column}");
        }
        Self(table)
    }

    fn len(&self) -> usize {
        self.0["length"].as_u64().expect("a length") as usize
    }

    fn get(&self, column: &str, row: usize) -> &'v Value {
        assert!(row < self.len(), "row {row} of {}", self.len());
        &self.0[column][row]
    }

    fn index(&self, column: &str, row: usize) -> usize {
        self.get(column, row).as_u64().unwrap_or_else(|| panic!("{column} {row}: {}", self.get(column, row))) as usize
    }
}

fn resolve(file: &Value, thread: &Value) -> Thread {
    // Up to version 59, every thread has separate tables.
    let tables = if file["shared"].is_null() { thread } else { &file["shared"] };
    let text = |name: &str| thread[name].as_str().unwrap_or_else(|| panic!("no {name}")).to_owned();
    let samples = Table::new(&thread["samples"]);
    let stacks = stacks(file, tables);
    let mut last = 0.0;
    let rows = (0..samples.len()).filter_map(|row| {
        let millis = match thread["samples"].get("time") {
            Some(times) => times[row].as_f64().expect("a time"),
            None => last + samples.get("timeDeltas", row).as_f64().expect("a time"),
        };
        assert!(millis >= last, "samples are sorted by time");
        last = millis;
        let weight = samples.get("weight", row).as_f64().expect("a weight");
        if samples.get("stack", row).is_null() {
            assert!(weight == 0.0, "no weight is lost where a thread does not run");
            return None;
        }
        let (time, stack) = ((millis * 1e6).round() as u64, stacks[samples.index("stack", row)].clone());
        Some(Sample { time, weight, stack })
    });
    let samples = rows.collect();
    Thread {
        name: text("name"),
        process: text("processName"),
        pid: text("pid"),
        tid: text("tid"),
        is_main: thread["isMainThread"].as_bool().expect("main or not"),
        weight_type: thread["samples"]["weightType"].as_str().expect("a type").to_owned(),
        samples,
    }
}

fn stacks(file: &Value, tables: &Value) -> Vec<Vec<Frame>> {
    let table = Table::new(&tables["stackTable"]);
    let frames = frames(file, tables);
    let mut stacks: Vec<Vec<Frame>> = Vec::new();
    for row in 0..table.len() {
        let prefix = match tables["stackTable"].get("prefixOffset") {
            Some(offsets) => match offsets[row].as_u64().expect("an offset") as usize {
                0 => None,
                offset => Some(row - offset),
            },
            None => table.get("prefix", row).as_u64().map(|prefix| prefix as usize),
        };
        let mut stack = prefix.map_or_else(Vec::new, |prefix: usize| stacks[prefix].clone());
        stack.push(frames[table.index("frame", row)].clone());
        stacks.push(stack);
    }
    stacks
}

fn frames(file: &Value, tables: &Value) -> Vec<Frame> {
    let [frames, functions, resources] =
        ["frameTable", "funcTable", "resourceTable"].map(|name| Table::new(&tables[name]));
    let string = |index: usize| tables["stringArray"][index].as_str().expect("a string").to_owned();
    let frame = |row: usize| {
        let function = frames.index("func", row);
        let of_function = |column: &str, bit: u64| value(&functions, column, function, bit);
        let file_name = |sources: &Value, row: u64| string(Table::new(sources).index("filename", row as usize));
        let source = tables.get("sources").zip(of_function("source", 8)).map(|(sources, row)| file_name(sources, row));
        // Up to version 69, the library is found through the function's resource.
        let library = match frames.0.get("lib") {
            Some(_) => value(&frames, "lib", row, 2),
            None => of_function("resource", 4).map(|resource| resources.index("lib", resource as usize) as u64),
        };
        let is_inlined = match frames.0.get("inlineDepth") {
            Some(depths) => depths[row].as_u64().expect("a depth") > 0,
            None => frames.index("flags", row) & 1 == 1,
        };
        let category = frames.index("category", row);
        Frame {
            function: string(functions.index("name", function)),
            library: library.map(|lib| file["libs"][lib as usize]["name"].as_str().expect("a name").to_owned()),
            address: value(&frames, "address", row, 2),
            is_inlined,
            source: source.map(|file| (file, value(&frames, "line", row, 16))),
            category: file["meta"]["categories"][category]["name"].as_str().expect("a name").to_owned(),
        }
    };
    (0..frames.len()).map(frame).collect()
}

/// The value in a column, if it exists. A bit of the flags marks it since versions 71 and 75; before, -1 or null means that it is missing.
fn value(table: &Table<'_>, column: &str, row: usize, bit: u64) -> Option<u64> {
    let value = table.get(column, row).as_u64();
    match table.0.get("flags") {
        Some(flags) => value.filter(|_| flags[row].as_u64().expect("flags") & bit > 0),
        None => value,
    }
}
