//! What a file of the Firefox Profiler says, with every index looked up, whichever version of the format it has.

use serde_json::Value;

/// A frame: the function, its library, the address in it, how deep it is inlined, file and line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Frame {
    pub(crate) function: String,
    pub(crate) library: Option<String>,
    pub(crate) address: i64,
    pub(crate) inline_depth: u64,
    pub(crate) source: Option<(String, Option<u64>)>,
    pub(crate) category: String,
}

/// A sample: its time in nanoseconds, its weight as it stands there, and its stack, root first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) time: u64,
    pub(crate) weight: f64,
    pub(crate) stack: Vec<Frame>,
}

/// A thread with its samples.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Thread {
    pub(crate) name: String,
    pub(crate) process: String,
    pub(crate) pid: String,
    pub(crate) tid: String,
    pub(crate) is_main: bool,
    pub(crate) weight_type: String,
    pub(crate) samples: Vec<Sample>,
}

/// All threads of a file. Panics where a column is not as long as its table, or an index leads nowhere.
pub(crate) fn threads(file: &Value) -> Vec<Thread> {
    file["threads"].as_array().expect("threads").iter().map(|thread| resolve(file, thread)).collect()
}

/// A table with its columns, which have its length.
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
    // Up to version 59, every thread has tables of its own.
    let tables = if file["shared"].is_null() { thread } else { &file["shared"] };
    let text = |name: &str| thread[name].as_str().unwrap_or_else(|| panic!("no {name}")).to_owned();
    let samples = Table::new(&thread["samples"]);
    let stacks = stacks(file, tables);
    let mut last = 0.0;
    let rows = (0..samples.len()).map(|row| {
        let millis = match thread["samples"].get("time") {
            Some(times) => times[row].as_f64().expect("a time"),
            None => last + samples.get("timeDeltas", row).as_f64().expect("a time"),
        };
        assert!(millis >= last, "samples are sorted by time");
        last = millis;
        Sample {
            time: (millis * 1e6).round() as u64,
            weight: samples.get("weight", row).as_f64().expect("a weight"),
            stack: stacks[samples.index("stack", row)].clone(),
        }
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
        let mut stack = match table.get("prefix", row) {
            Value::Null => Vec::new(),
            prefix => stacks[prefix.as_u64().expect("a row before this one") as usize].clone(),
        };
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
        let library = match functions.get("resource", function).as_i64() {
            Some(-1) => None,
            resource => Some(resources.index("lib", resource.expect("a resource") as usize)),
        };
        let file_of_function =
            tables.get("sources").map(|sources| (Table::new(sources), functions.get("source", function)));
        let file_of_function =
            file_of_function.and_then(|(sources, row)| Some(sources.index("filename", row.as_u64()? as usize)));
        Frame {
            function: string(functions.index("name", function)),
            library: library.map(|lib| file["libs"][lib]["name"].as_str().expect("a name").to_owned()),
            address: frames.get("address", row).as_i64().expect("an address"),
            inline_depth: frames.get("inlineDepth", row).as_u64().expect("a depth"),
            source: file_of_function.map(|index| (string(index), frames.get("line", row).as_u64())),
            category: file["meta"]["categories"][frames.index("category", row)]["name"]
                .as_str()
                .expect("a name")
                .to_owned(),
        }
    };
    (0..frames.len()).map(frame).collect()
}
