//! A recording that contains names of people, devices, other programs and places, in every spelling.

use crate::command::Folder;

/// The names that no output may contain, in lower case and in this spelling; [`spellings`] returns the other spellings.
pub(crate) const SECRETS: [&str; 16] = [
    "jané",
    "kowalczyk",
    "ruud",
    "siobhán",
    "caladan",
    "00008110-00aa11bb22cc33dd",
    "acef90fd-9bb0-56e0-9a50-8ee09341798b",
    "zaubertrank",
    "nachtwache",
    "geheimnis",
    "streng",
    "schatzkammer",
    "rechenknecht",
    "1d2e3f40-0000-4000-8000-123456789abc",
    "wunderlampe",
    "bericht",
];

/// A name as it may be written: small and composed, with separate marks, and percent-encoded.
pub(crate) fn spellings(name: &str) -> Vec<String> {
    let apart = name.replace('é', "e\u{301}").replace('á', "a\u{301}");
    let plain = name.replace('é', "e").replace('á', "a");
    let encoded = |text: &str| {
        let byte = |byte: u8| if byte < 0x80 { char::from(byte).to_string() } else { format!("%{byte:02x}") };
        text.bytes().map(byte).collect::<String>()
    };
    let escaped: String =
        name.chars().map(|c| if c.is_ascii() { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) }).collect();
    let mut all = vec![encoded(name), encoded(&apart), name.to_owned(), apart, plain, escaped];
    all.sort();
    all.dedup();
    all
}

/// One sample: its thread and process, its weight, and its frames from the leaf to the root: name, binary, path, source.
pub(crate) struct Row {
    pub(crate) thread: (&'static str, u32),
    pub(crate) process: (&'static str, u32),
    pub(crate) weight: u64,
    pub(crate) frames: &'static [(&'static str, &'static str, &'static str, &'static str)],
}

const APP: &str = "/Users/jané/Library/Developer/Xcode/DerivedData/Orchard-abcdefghijklmnop/Build/Products/Debug/Orchard.app/Contents/MacOS/Orchard";
const DEVICE_APP: &str = "/private/var/containers/Bundle/Application/1D2E3F40-0000-4000-8000-123456789ABC/Orchard.app/Frameworks/Cider.framework/Cider";
const SIMULATOR: &str = "/Users/jané/Library/Developer/CoreSimulator/Profiles/Runtimes/iOS 16.4.simruntime/Contents/Resources/RuntimeRoot/usr/lib/libz.dylib";
const SUPPORT: &str = "/Users/jané/Library/Developer/Xcode/iOS DeviceSupport/iPhone14,2 17.0 (21A329)/Symbols/System/Library/Frameworks/UIKit.framework/UIKit";
const DYLD: (&str, &str, &str, &str) = ("start", "dyld", "/usr/lib/dyld", "");

const ROWS: [Row; 6] = [
    Row {
        thread: ("Main Thread", 11),
        process: ("Orchard", 100),
        weight: 1_000_000,
        frames: &[
            ("jane\u{301}::Feed::layout(int)", "Orchard", APP, "/Users/jane\u{301}/Projekte/Streng/Feed.swift"),
            (
                "closure #1 in Feed.load (/Users/jané/Projekte/Streng/Load.swift:12)",
                "Orchard",
                APP,
                "file:///Users/ruud/Projekte/Streng/Load.swift",
            ),
            ("main", "Orchard", APP, "C:\\Users\\kowalczyk\\streng\\main.cpp"),
            DYLD,
        ],
    },
    Row {
        thread: ("com.jané.worker", 12),
        process: ("Orchard", 100),
        weight: 2_000_000,
        frames: &[
            ("Cider::press()", "Cider", DEVICE_APP, "\\\\schatzkammer\\streng\\Press.cpp"),
            ("inflate", "libz.dylib", SIMULATOR, ""),
            ("-[UIView layout]", "UIKit", SUPPORT, ""),
            ("Feed::Jane%CC%81::run()", "Orchard", APP, "/Users/jané/Projekte/Streng/Feed.swift"),
        ],
    },
    Row {
        thread: ("Zaubertrank queue of Siobhán", 21),
        process: ("Zaubertrank", 200),
        weight: 4_000_000,
        frames: &[
            (
                "Zaubertrank::brew()",
                "Zaubertrank",
                "/Applications/Geheimnis.app/Contents/MacOS/Zaubertrank",
                "/Volumes/Schatzkammer/src/brew.c",
            ),
            ("_dispatch_worker_thread", "libdispatch.dylib", "/usr/lib/system/libdispatch.dylib", ""),
        ],
    },
    Row {
        thread: ("thread", 31),
        process: ("Nachtwache Helper (Renderer)", 300),
        weight: 8_000_000,
        frames: &[(
            "paint",
            "Nachtwache Helper (Renderer)",
            "/System/Volumes/Data/Users/ruud/Geheimnis.app/Contents/MacOS/Nachtwache Helper (Renderer)",
            "",
        )],
    },
    Row {
        thread: ("Main Thread", 41),
        process: ("Wunderlampe", 400),
        weight: 16_000_000,
        frames: &[
            (
                "0x18a0c2000",
                "Wunderlampe",
                "/System/Library/CoreServices/Wunderlampe.app/Contents/MacOS/Wunderlampe",
                "",
            ),
            ("start", "dyld", "/usr/lib/dyld", ""),
        ],
    },
    Row {
        thread: ("Main Thread", 51),
        process: ("Rechenknecht", 500),
        weight: 32_000_000,
        frames: &[
            ("secret::Tangerine::peel()", "Rechenknecht", "/opt/geheimnis/bin/Rechenknecht", ""),
            ("secret::Tangerine::eat()", "Rechenknecht", "/opt/geheimnis/bin/Rechenknecht", ""),
        ],
    },
];

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// Numbers the elements of an export.
#[derive(Default)]
struct Ids(u32);

impl Ids {
    fn next(&mut self) -> u32 {
        self.0 += 1;
        self.0
    }
}

fn process(ids: &mut Ids, (name, pid): (&str, u32)) -> String {
    let (id, pid_id) = (ids.next(), ids.next());
    format!(
        "<process id=\"{id}\" fmt=\"{} ({pid})\"><pid id=\"{pid_id}\" fmt=\"{pid}\">{pid}</pid></process>",
        escaped(name)
    )
}

fn frame(ids: &mut Ids, place: u64, (name, binary, path, source): (&str, &str, &str, &str)) -> String {
    let (id, binary_id, path_id) = (ids.next(), ids.next(), ids.next());
    // Each path is a separate binary.
    let number = path.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte))) % 1_000_000;
    let base = 0x1_0000_0000 + number * 0x10000;
    let source = match source {
        "" => String::new(),
        source => format!("<source line=\"{place}\"><path id=\"{path_id}\">{}</path></source>", escaped(source)),
    };
    format!(
        "<frame id=\"{id}\" name=\"{}\" addr=\"0x{:x}\"><binary id=\"{binary_id}\" name=\"{}\" UUID=\"3D6F2C90-8E4B-34A7-A5D1-{number:012}\" \
         arch=\"arm64\" load-addr=\"0x{base:x}\" path=\"{}\"/>{source}</frame>",
        escaped(name),
        base + 0x100 + place * 16 + 1,
        escaped(binary),
        escaped(path),
    )
}

fn columns(names: &[(&str, &str)]) -> String {
    let column = |(name, kind): &(&str, &str)| {
        format!("<col><mnemonic>{name}</mnemonic><name>{name}</name><engineering-type>{kind}</engineering-type></col>")
    };
    names.iter().map(column).collect()
}

fn samples(ids: &mut Ids, rows: &[Row]) -> String {
    let mut place = 0;
    let mut row = |(index, row): (usize, &Row)| {
        let time = 1_000_000 * (index as u64 + 1);
        let Row { thread: (thread, tid), process: (name, pid), weight, frames } = row;
        let (time_id, thread_id, tid_id, state_id) = (ids.next(), ids.next(), ids.next(), ids.next());
        let process = process(ids, (name, *pid));
        let weight_id = ids.next();
        let stack_id = ids.next();
        let frames: String = frames
            .iter()
            .map(|parts| {
                place += 1;
                frame(ids, place, *parts)
            })
            .collect();
        format!(
            "<row><sample-time id=\"{time_id}\" fmt=\"t\">{time}</sample-time><thread id=\"{thread_id}\" fmt=\"{thread} (0x{tid:x}) ({}, pid: {pid})\">\
             <tid id=\"{tid_id}\" fmt=\"0x{tid:x}\">{tid}</tid>{process}</thread><thread-state id=\"{state_id}\" fmt=\"Running\">Running</thread-state>\
             <weight id=\"{weight_id}\" fmt=\"w\">{weight}</weight><tagged-backtrace id=\"{stack_id}\">{frames}</tagged-backtrace></row>\n",
            escaped(name),
        )
    };
    let rows: String = rows.iter().enumerate().map(&mut row).collect();
    let columns = columns(&[
        ("time", "sample-time"),
        ("thread", "thread"),
        ("thread-state", "thread-state"),
        ("weight", "weight"),
        ("stack", "tagged-backtrace"),
    ]);
    format!(
        "<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'><schema name=\"time-profile\">{columns}</schema>{rows}</node>"
    )
}

fn signposts(ids: &mut Ids) -> String {
    let mut row = |start: u64, name: &str, subsystem: &str, who: (&str, u32)| {
        let [a, b, c, d, e] = [ids.next(), ids.next(), ids.next(), ids.next(), ids.next()];
        let process = process(ids, who);
        format!(
            "<row><start-time id=\"{a}\" fmt=\"t\">{start}</start-time><duration id=\"{b}\" fmt=\"d\">2000000</duration><string id=\"{c}\" fmt=\"{name}\">{name}</string>\
             <category id=\"{d}\" fmt=\"work\">work</category><subsystem id=\"{e}\" fmt=\"{subsystem}\">{subsystem}</subsystem>{process}</row>\n"
        )
    };
    let rows = row(500_000, "Layout of Siobhán", "com.jané.orchard", ("Orchard", 100))
        + &row(2_500_000, "Tangerine /Users/ruud/Streng/x", "com.example", ("Zaubertrank", 200));
    let columns = columns(&[
        ("start", "start-time"),
        ("duration", "duration"),
        ("name", "string"),
        ("category", "category"),
        ("subsystem", "subsystem"),
        ("process", "process"),
    ]);
    format!(
        "<node xpath='//trace-toc[1]/run[1]/data[1]/table[2]'><schema name=\"os-signpost-interval\">{columns}</schema>{rows}</node>"
    )
}

/// The recording as an export.
pub(crate) fn export() -> String {
    let mut ids = Ids::default();
    let nodes = samples(&mut ids, &ROWS) + &signposts(&mut ids);
    document(&nodes)
}

/// An export with only these samples.
pub(crate) fn export_of(rows: &[Row]) -> String {
    document(&samples(&mut Ids::default(), rows))
}

fn document(nodes: &str) -> String {
    format!("<?xml version=\"1.0\"?>\n<trace-query-result>\n{nodes}</trace-query-result>\n")
}

/// The table of contents of the recording, for all processes or for a launched process.
pub(crate) fn toc(has_target: bool) -> String {
    let target = match has_target {
        true => {
            "<process type=\"launched\" return-exit-status=\"0\" name=\"Orchard\" pid=\"100\" termination-reason=\"exit(0)\" arguments=\"--user jané\"/>"
        }
        false => "<process>ALL</process>",
    };
    format!(
        "<?xml version=\"1.0\"?>\n<trace-toc><run number=\"1\"><info><target><device platform=\"iOS\" model=\"iPhone 17\" name=\"Siobhán’s iPhone\" \
         os-version=\"26.3 (23D1)\" uuid=\"00008110-00AA11BB22CC33DD\" odd=\"schatzkammer\"/><host-device platform=\"macOS\" model=\"MacBook Pro\" \
         name=\"caladan\" uuid=\"ACEF90FD-9BB0-56E0-9A50-8EE09341798B\"/>{target}</target><summary><start-date>2026-03-05T17:27:38.879Z</start-date>\
         <duration>3.4</duration><instruments-version>26.0</instruments-version><template-name>Siobhan’s /Users/ruud/Streng/T.tracetemplate</template-name>\
         </summary></info><processes><process name=\"Orchard\" pid=\"100\" path=\"{APP}\"/><process name=\"Zaubertrank\" pid=\"200\" \
         path=\"/Applications/Geheimnis.app/Contents/MacOS/Zaubertrank\"/></processes><data><table schema=\"time-profile\" target-pid=\"ALL\"/>\
         <table schema=\"os-signpost-interval\" target=\"Zaubertrank\"/></data><tracks><track name=\"Zaubertrank\"/></tracks></run></trace-toc>\n"
    )
}

/// A folder with the export and the table of contents, whose file names are private.
pub(crate) struct Written {
    pub(crate) folder: Folder,
    pub(crate) export: String,
    pub(crate) toc: String,
}

pub(crate) fn written(has_target: bool) -> Written {
    let folder = Folder::new();
    let export = folder.file("jané-bericht.xml", export());
    let toc = folder.file("jané-bericht_toc.xml", toc(has_target));
    Written { folder, export, toc }
}
