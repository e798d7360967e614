//! Helpers for tests of symbols: the built fixtures, exports that contain their addresses, and a separate cache folder.

use std::fs;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use predicates::str::contains;
use serde_json::Value;

use crate::command::{Folder, finish, stderr_of, stdout_of, traceparse};

/// UUIDs of `fixtures/symbols/README.md`.
pub(crate) const DEMO: &str = "4C4C443B-5555-3144-A14B-1553F2DDDC05";
pub(crate) const DEMO_X86: &str = "4C4C448F-5555-3144-A1F6-FD5AB9C5E50C";
pub(crate) const INLINING: &str = "4C4C446D-5555-3144-A14C-ADA0C4848C5D";
pub(crate) const FAT_X86: &str = "4C4C44C1-5555-3144-A130-9F3E59C98AD8";
/// The address at which the images of the exports were loaded.
pub(crate) const LOAD_ADDRESS: u64 = 0x1_02a4_0000;

/// The stack `draw` of `recording.md` as exports have it, leaf first: addresses relative to the Mach-O header.
pub(crate) const DRAW: [(u64, &str); 5] = [(0x565, ""), (0x50c, ""), (0x600, ""), (0x670, ""), (0x714, "")];
/// The names that llvm-symbolizer has for these, root first.
pub(crate) const DRAW_NAMES: [&str; 5] = ["main", "run_loop", "draw_frame", "draw_shape", "fill_span"];

/// A leaf under three inlined calls (`expected.tsv` has 0x3c8; the leaf of an export is one further).
pub(crate) const INLINED_LEAF: (u64, &str) = (0x3c9, "");
/// The functions there, outermost first.
pub(crate) const INLINED_NAMES: [&str; 4] = [
    "paint::blend_image(paint::Pixel const*, paint::Pixel const*, int, int)",
    "paint::blend_row(paint::Pixel const*, paint::Pixel const*, int)",
    "paint::blend_pixel(paint::Pixel const&, paint::Pixel const&)",
    "paint::clamp_channel(int)",
];

/// The UUID of [`macho`].
pub(crate) const SAME_ADDRESS: &str = "00112233-4455-3677-8899-AABBCCDDEE11";

/// A library for arm64 with code from 0x1000 to 0x3000, and external symbols there.
pub(crate) fn macho(symbols: &[(&str, u64)]) -> Vec<u8> {
    fn put(bytes: &mut Vec<u8>, words: &[u32]) {
        words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    }
    fn put_long(bytes: &mut Vec<u8>, numbers: &[u64]) {
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    }
    fn put_name(bytes: &mut Vec<u8>, name: &str) {
        bytes.extend(name.bytes().chain(std::iter::repeat(0)).take(16));
    }
    const SIZE: u32 = 0x4000;
    let (mut table, mut strings) = (Vec::new(), vec![0]);
    for (name, address) in symbols {
        put(&mut table, &[strings.len() as u32]);
        table.extend([0xf, 1, 0, 0]);
        put_long(&mut table, &[*address]);
        strings.extend(name.bytes().chain([0]));
    }
    let mut file = Vec::new();
    // The header, and the segment of code with one section.
    put(&mut file, &[0xfeed_facf, 0x0100_000c, 0, 6, 3, 152 + 24 + 24, 0, 0, 0x19, 152]);
    put_name(&mut file, "__TEXT");
    put_long(&mut file, &[0, SIZE.into(), 0, SIZE.into()]);
    put(&mut file, &[5, 5, 1, 0]);
    put_name(&mut file, "__text");
    put_name(&mut file, "__TEXT");
    put_long(&mut file, &[0x1000, 0x2000]);
    put(&mut file, &[0x1000, 2, 0, 0, 0x8000_0400, 0, 0, 0]);
    // The UUID, and the symbols.
    put(&mut file, &[0x1b, 24]);
    let digits: String = SAME_ADDRESS.chars().filter(|&digit| digit != '-').collect();
    file.extend((0..16).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).expect("digits")));
    put(&mut file, &[2, 24, SIZE, symbols.len() as u32, SIZE + table.len() as u32, strings.len() as u32]);
    file.resize(SIZE as usize, 0);
    [file, table, strings].concat()
}

/// A path among the built fixtures, such as `arm64-dwarf4/Demo.dSYM`.
pub(crate) fn built(path: &str) -> String {
    let path = support::repository("fixtures/symbols/built").join(path);
    assert!(path.exists(), "{} is not there", path.display());
    path.into_os_string().into_string().expect("the path is UTF-8")
}

/// The DWARF file of a bundle.
pub(crate) fn dwarf_file(case: &str, name: &str) -> String {
    built(&format!("{case}/{name}.dSYM/Contents/Resources/DWARF/{name}"))
}

/// A folder for one test, with a cache folder, and a command that uses only these folders.
pub(crate) struct Case {
    pub(crate) folder: Folder,
}

impl Case {
    pub(crate) fn new() -> Self {
        Self { folder: Folder::new() }
    }

    /// An export with one sample, whose frames are in one image: offset and name, leaf first. `""` means no name.
    pub(crate) fn export(&self, name: &str, uuid: &str, frames: &[(u64, &str)]) -> String {
        let frames: String = frames.iter().map(|(address, function)| frame(name, uuid, *address, function)).collect();
        self.folder.file("export.xml", document(&format!("<tagged-backtrace>{frames}</tagged-backtrace>")))
    }

    /// The export of most tests: the stack `draw`, without a single name.
    pub(crate) fn draw(&self) -> String {
        self.export("Demo", DEMO, &DRAW)
    }

    /// The stack `draw` as Xcode 13 to 14.2 write it: addresses without images.
    pub(crate) fn draw_of_xcode_13(&self) -> String {
        let addresses = DRAW.map(|(address, _)| (LOAD_ADDRESS + address).to_string());
        let (leaf, callers) = addresses.split_first().expect("there is a leaf");
        self.folder.file(
            "export.xml",
            document(&format!(
                "<backtrace fmt=\"{:#x} ← (4 other frames)\"><text-addresses>{leaf}</text-addresses>\
                 <text-addresses>{}</text-addresses></backtrace>",
                LOAD_ADDRESS + DRAW[0].0,
                callers.join(" ")
            )),
        )
    }

    /// The command with the cache folder of this test.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = traceparse(args);
        command.env("XDG_CACHE_HOME", self.folder.path("cache"));
        command
    }

    /// Standard output of a run that succeeds, with or without warnings.
    pub(crate) fn answer(&self, args: &[&str]) -> String {
        stdout_of(&finish(&mut self.command(args)).success())
    }

    /// Standard output of a run that succeeds and has nothing to complain about.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        stdout_of(&finish(&mut self.command(args)).success().stderr(""))
    }

    /// Standard error of a run that ends with `code`, having written no output.
    pub(crate) fn fails(&self, code: i32, args: &[&str]) -> String {
        let assert: Assert = finish(&mut self.command(args)).code(code).stdout("").stderr(contains("error: "));
        stderr_of(&assert)
    }

    /// The JSON output of a run that succeeds.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let text = self.answer(&[args, &["--format", "json"]].concat());
        serde_json::from_str(&text).expect("the output is JSON")
    }

    /// The functions of the stack of the first sample, root first.
    pub(crate) fn stack(&self, args: &[&str]) -> Vec<String> {
        let answer = self.json(&[args, &["--view", "samples"]].concat());
        let stack = answer["samples"][0]["stack"].as_array().expect("the sample has a stack");
        stack.iter().map(|frame| frame["function"].as_str().expect("functions are text").to_owned()).collect()
    }

    /// The files that remember folders.
    pub(crate) fn cache_files(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.folder.path("cache/traceparse")) else { return Vec::new() };
        let mut paths: Vec<String> = entries
            .map(|entry| entry.expect("an entry").path().into_os_string().into_string().expect("UTF-8"))
            .collect();
        paths.sort();
        paths
    }
}

pub(crate) fn frame(name: &str, uuid: &str, address: u64, function: &str) -> String {
    let address = LOAD_ADDRESS + address;
    let function = if function.is_empty() { format!("{address:#x}") } else { function.replace('<', "&lt;") };
    let arch = if [DEMO_X86, FAT_X86].contains(&uuid) { "x86_64" } else { "arm64" };
    format!(
        "<frame name=\"{function}\" addr=\"{address:#x}\"><binary name=\"{name}\" UUID=\"{uuid}\" arch=\"{arch}\" \
         load-addr=\"{LOAD_ADDRESS:#x}\" path=\"/Applications/{name}\"/></frame>"
    )
}

fn document(stack: &str) -> String {
    let columns = ["time", "weight", "stack"].map(|name| format!("<col><mnemonic>{name}</mnemonic></col>")).concat();
    format!(
        "<?xml version=\"1.0\"?>\n<trace-query-result>\n<node><schema name=\"time-profile\">{columns}</schema>\
         <row><sample-time>1000000</sample-time><weight>1000000</weight>{stack}</row></node></trace-query-result>\n"
    )
}

/// The names that a stack without symbols has.
pub(crate) fn addresses(frames: &[(u64, &str)]) -> Vec<String> {
    frames.iter().rev().map(|(address, _)| format!("{:#x}", LOAD_ADDRESS + address)).collect()
}
