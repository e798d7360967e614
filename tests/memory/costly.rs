//! Small inputs that would take much time or memory if a list were searched for each of its items, or a document were built before it is written.

use std::fmt::Write as _;

/// A column: its mnemonic and its type.
type Column = (String, &'static str);

/// A table in an export: the columns, then the rows, each a list of cells.
fn table(out: &mut String, number: usize, schema: &str, columns: &[Column], rows: impl Iterator<Item = String>) {
    write!(out, "<node xpath='//trace-toc[1]/run[1]/data[1]/table[{number}]'><schema name=\"{schema}\">").unwrap();
    for (mnemonic, kind) in columns {
        write!(out, "<col><mnemonic>{mnemonic}</mnemonic><engineering-type>{kind}</engineering-type></col>").unwrap();
    }
    *out += "</schema>";
    rows.for_each(|cells| write!(out, "<row>{cells}</row>").unwrap());
    *out += "</node>\n";
}

fn export(write: impl FnOnce(&mut String)) -> String {
    let mut out = "<?xml version=\"1.0\"?>\n<trace-query-result>\n".to_owned();
    write(&mut out);
    out + "</trace-query-result>\n"
}

fn column(name: &str, kind: &'static str) -> Column {
    (name.to_owned(), kind)
}

/// Tables with the schema `wide`, each with another column.
pub(crate) fn tables(count: usize) -> String {
    export(|out| {
        for number in 1..=count {
            let columns = [column("time", "start-time"), column(&format!("c{number}"), "string")];
            let row = format!("<start-time>{number}</start-time><string>v{number}</string>");
            table(out, number, "wide", &columns, std::iter::once(row));
        }
    })
}

/// A table of intervals with the schema `wide` and this many more columns, whose names are all equal or all different.
pub(crate) fn columns(count: usize, are_equal: bool) -> String {
    let name = |number: usize| if are_equal { "c".to_owned() } else { format!("c{number}") };
    let times = [column("start", "start-time"), column("duration", "duration")];
    let columns: Vec<Column> = times.into_iter().chain((0..count).map(|number| (name(number), "string"))).collect();
    let row = format!("<start-time>1</start-time><duration>2</duration>{}", "<string>v</string>".repeat(count));
    export(|out| table(out, 1, "wide", &columns, std::iter::once(row)))
}

/// A table with the schema `wide` and rows of two cells, each of which has an id.
pub(crate) fn cells(rows: usize) -> String {
    let columns = [column("time", "start-time"), column("text", "string")];
    let row = |row: usize| {
        let id = 2 * row + 1;
        format!("<start-time id=\"{id}\">{row}</start-time><string id=\"{}\">v{}</string>", id + 1, row % 7)
    };
    export(|out| table(out, 1, "wide", &columns, (0..rows).map(row)))
}

/// A table with the schema `wide` and two rows, each with a string of this length.
pub(crate) fn long_texts(length: usize) -> String {
    let columns = [column("time", "start-time"), column("text", "string")];
    let row = |letter: &str| {
        let text = letter.repeat(length);
        format!("<start-time>1</start-time><string fmt=\"{text}\">{text}</string>")
    };
    export(|out| table(out, 1, "wide", &columns, ["x", "y"].map(row).into_iter()))
}

/// Signpost intervals with different names.
pub(crate) fn intervals(count: usize) -> String {
    let columns = [
        ("start", "start-time"),
        ("duration", "duration"),
        ("name", "string"),
        ("category", "category"),
        ("subsystem", "subsystem"),
        ("identifier", "os-signpost-identifier"),
    ];
    let row = |number: usize| {
        format!(
            "<start-time>{number}000</start-time><duration>500</duration><string>name {number}</string>\
             <category>c</category><subsystem>s</subsystem><os-signpost-identifier>{number}</os-signpost-identifier>"
        )
    };
    let columns = columns.map(|(name, kind)| column(name, kind));
    export(|out| table(out, 1, "os-signpost-interval", &columns, (0..count).map(row)))
}

/// A CPU profile with a sample in each of many threads, all of different functions.
pub(crate) fn threads(count: usize) -> String {
    let columns = [("time", "sample-time"), ("thread", "thread"), ("weight", "weight"), ("stack", "backtrace")];
    let row = |number: usize| {
        let tid = number + 1;
        format!(
            "<sample-time>{number}000000</sample-time><thread fmt=\"t{number} {tid:#x} (App, pid: 2)\"><tid>{tid}</tid>\
             <process fmt=\"App (2)\"><pid>2</pid></process></thread><weight>1000000</weight>\
             <backtrace><frame name=\"f{number}\" addr=\"{tid:#x}\"/><frame name=\"main\" addr=\"0x1\"/></backtrace>"
        )
    };
    let columns = columns.map(|(name, kind)| column(name, kind));
    export(|out| table(out, 1, "time-profile", &columns, (0..count).map(row)))
}

/// A CPU profile of stacks of 100 frames that hardly share a caller. Another `seed` gives other stacks of the same functions.
pub(crate) fn deep(stacks: usize, seed: usize) -> String {
    let columns = [("time", "sample-time"), ("weight", "weight"), ("stack", "backtrace")];
    let mut number = seed;
    let mut frame = || {
        // A linear congruential generator; its high bits are random enough.
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let function = (number >> 33) % 20;
        format!("<frame name=\"f{function}\" addr=\"{:#x}\"/>", function + 1)
    };
    let mut row = |at: usize| {
        let frames: String = (0..100).map(|_| frame()).collect();
        format!("<sample-time>{at}000000</sample-time><weight>1000000</weight><backtrace>{frames}</backtrace>")
    };
    let columns = columns.map(|(name, kind)| column(name, kind));
    export(|out| table(out, 1, "time-profile", &columns, (0..stacks).map(&mut row)))
}

/// A CPU profile with one sample per millisecond, each in a separate hang, with a system call and a signpost.
pub(crate) fn hangs(count: usize) -> String {
    let thread = "<thread fmt=\"Main Thread 0x1 (App, pid: 2)\"><tid>1</tid></thread>";
    let sample = |at: usize| {
        format!(
            "<sample-time>{at}000000</sample-time>{thread}<weight>1000000</weight>\
             <backtrace><frame name=\"f{at}\" addr=\"{:#x}\"/></backtrace>",
            at + 1
        )
    };
    let hang = |at: usize| format!("<start-time>{at}000000</start-time><duration>1000000</duration>{thread}");
    let named = |at: usize| format!("{}<string>read</string>", hang(at));
    let samples = [("time", "sample-time"), ("thread", "thread"), ("weight", "weight"), ("stack", "backtrace")];
    let hangs = [("start", "start-time"), ("duration", "duration"), ("thread", "thread"), ("name", "string")];
    export(|out| {
        table(out, 1, "time-profile", &samples.map(|(name, kind)| column(name, kind)), (0..count).map(sample));
        let hangs = hangs.map(|(name, kind)| column(name, kind));
        table(out, 2, "potential-hangs", &hangs[..3], (0..count).map(hang));
        table(out, 3, "os-signpost-interval", &hangs, (0..count).map(named));
        table(out, 4, "fs-syscall", &hangs, (0..count).map(named));
    })
}

/// A table of contents with this many processes and tables.
pub(crate) fn contents(count: usize) -> String {
    let list = |write: &dyn Fn(usize) -> String| (0..count).map(write).collect::<String>();
    let processes = list(&|pid| format!("<process name=\"p{pid}\" pid=\"{pid}\" path=\"/bin/p{pid}\"/>"));
    let tables = list(&|number| format!("<table schema=\"s{number}\" category=\"a\" codes=\"b\"/>"));
    format!(
        "<?xml version=\"1.0\"?>\n<trace-toc><run number=\"1\"><info><target><device name=\"d\"/></target></info>\
         <processes>{processes}</processes><data>{tables}</data></run></trace-toc>\n"
    )
}

/// MetricKit metrics with a histogram of this many bins.
pub(crate) fn metrics(bins: usize) -> String {
    let bin = |number: usize| {
        let start = 10 * number;
        format!("\"{number}\":{{\"bucketCount\":1,\"bucketStart\":\"{start} ms\",\"bucketEnd\":\"{} ms\"}}", start + 9)
    };
    let bins: Vec<String> = (0..bins).map(bin).collect();
    format!(
        "{{\"timeStampBegin\":\"2026-01-01 00:00:00\",\"timeStampEnd\":\"2026-01-02 00:00:00\",\"appVersion\":\"1\",\
         \"metaData\":{{\"osVersion\":\"iPhone OS 17.0 (21A1)\",\"regionFormat\":\"US\"}},\
         \"cpuMetrics\":{{\"cumulativeCPUTime\":\"100 sec\"}},\
         \"applicationTimeMetrics\":{{\"cumulativeForegroundTime\":\"700 sec\",\"cumulativeBackgroundTime\":\"0 sec\"}},\
         \"applicationResponsivenessMetrics\":{{\"histogrammedAppHangTime\":{{\"histogramValue\":{{{}}}}}}}}}",
        bins.join(",")
    )
}
