//! The tables that all threads share: stacks, frames, functions, libraries and strings of selected samples.

use std::io;

use super::columns::{column, length};
use crate::hash::{HashMap, IndexMap, IndexSet};
use crate::output::by_thread::ThreadSamples;
use crate::output::byte_writer::{ByteWriter, Put, push_number};
use crate::output::recorded::Programs;
use crate::profile::{Binary, BinaryId, Category, Frame, FrameId, FunctionId, Profile, StackId, StringId};
use crate::report::NO_STACK;
use crate::units::Uuid;

/// Marks a row that is not in the file.
const NONE: u32 = u32::MAX;

/// A frame in the file: a frame of the profile at an inline depth.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct FrameRow {
    frame: FrameId,
    inline_depth: u32,
    /// The function that contains the code. The frame's function may be inlined into it.
    outer: FunctionId,
}

/// The rows of the file, in order.
pub(super) struct Tables<'p> {
    profile: &'p Profile,
    stacks: Vec<StackId>,
    /// By stack of the profile: its row.
    stack_rows: Vec<u32>,
    /// By row of `stacks`: the row of its frame.
    stack_frames: Vec<u32>,
    frames: IndexSet<FrameRow>,
    functions: Vec<FunctionRow>,
    /// By function of the profile: its row.
    function_rows: Vec<u32>,
    libraries: IndexMap<LibraryKey, BinaryId>,
    /// By binary of the profile: its row.
    library_rows: Vec<u32>,
    symbols: NativeSymbols,
    /// By row of `frames`: its native symbol.
    frame_symbols: Vec<Option<u32>>,
    sources: IndexSet<StringId>,
    strings: IndexSet<&'p str>,
    /// True if an extra last stack, frame and function represent [`NO_STACK`].
    has_no_stack: bool,
}

/// A function in the file. Its source is the first file with lines of the function.
struct FunctionRow {
    name: u32,
    library: Option<u32>,
    source: Option<u32>,
}

impl<'p> Tables<'p> {
    /// Collects the rows of the file. `texts` are additional strings.
    pub(super) fn new(
        profile: &'p Profile,
        threads: &[ThreadSamples<'p>],
        programs: &Programs<'p>,
        texts: impl Iterator<Item = &'p str>,
    ) -> Self {
        let mut tables = Self {
            profile,
            stacks: Vec::new(),
            stack_rows: vec![NONE; profile.stack_ids().len()],
            stack_frames: Vec::new(),
            frames: IndexSet::default(),
            functions: Vec::new(),
            function_rows: vec![NONE; profile.function_ids().len()],
            libraries: IndexMap::default(),
            library_rows: vec![NONE; profile.binary_ids().len()],
            symbols: NativeSymbols::default(),
            frame_symbols: Vec::new(),
            sources: IndexSet::default(),
            strings: IndexSet::default(),
            has_no_stack: threads.iter().flat_map(|thread| &thread.samples).any(|sample| sample.stack.is_none()),
        };
        tables.add_stacks(threads);
        tables.add_libraries(programs);
        tables.add_functions();
        tables.add_symbols();
        if tables.has_no_stack {
            tables.strings.insert(NO_STACK);
        }
        tables.strings.extend(texts);
        tables
    }

    /// Adds the stacks of samples and all their callers, parents first.
    fn add_stacks(&mut self, threads: &[ThreadSamples<'_>]) {
        let profile = self.profile;
        let mut is_used = vec![false; self.stack_rows.len()];
        for sample in threads.iter().flat_map(|thread| &thread.samples) {
            let mut next = sample.stack;
            while let Some(id) = next.filter(|id| !std::mem::replace(&mut is_used[id.index()], true)) {
                next = profile.stack(id).parent;
            }
        }
        let mut inlining: Vec<(Inlining, FunctionId)> = Vec::new();
        for id in profile.stack_ids().filter(|id| is_used[id.index()]) {
            let stack = profile.stack(id);
            let frame = profile.frame(stack.frame);
            // Parents precede their children, so the parent already has a row.
            let parent = stack.parent.map(|parent| {
                (profile.frame(profile.stack(parent).frame), inlining[self.stack_rows[parent.index()] as usize])
            });
            let inline = Inlining::of(frame, parent.map(|(caller, (inline, _))| (caller, inline)));
            let outer = parent.filter(|_| inline.depth > 0).map_or(frame.function, |(_, (_, outer))| outer);
            let row = FrameRow { frame: stack.frame, inline_depth: inline.depth, outer };
            let frame = self.frames.insert_full(row).0 as u32;
            self.stack_rows[id.index()] = self.stacks.len() as u32;
            self.stacks.push(id);
            self.stack_frames.push(frame);
            inlining.push((inline, outer));
        }
    }

    /// Adds the libraries of all frames and functions, each once, starting with the main executables.
    fn add_libraries(&mut self, programs: &Programs<'_>) {
        let profile = self.profile;
        let frames = self.frames.iter().map(|row| profile.frame(row.frame));
        let binaries = frames.flat_map(|frame| [profile.function(frame.function).binary, frame.binary]).flatten();
        let mut is_seen = vec![false; self.library_rows.len()];
        let mut binaries: Vec<BinaryId> =
            binaries.filter(|id| !std::mem::replace(&mut is_seen[id.index()], true)).collect();
        binaries.sort_by_key(|&id| programs.rank(profile, id));
        for id in binaries {
            let library = self.libraries.entry(LibraryKey::of(profile.binary(id)));
            self.library_rows[id.index()] = library.index() as u32;
            library.or_insert(id);
        }
        self.strings.extend(self.libraries.values().map(|&id| profile.string(profile.binary(id).name)));
    }

    fn library(&self, binary: Option<BinaryId>) -> Option<u32> {
        binary.map(|id| self.library_rows[id.index()])
    }

    /// Adds the functions of all frames, with their source files.
    fn add_functions(&mut self) {
        let profile = self.profile;
        for FrameRow { frame, .. } in &self.frames {
            let frame = profile.frame(*frame);
            let row = &mut self.function_rows[frame.function.index()];
            if *row == NONE {
                *row = self.functions.len() as u32;
                let binary = profile.function(frame.function).binary;
                let library = binary.map(|id| self.library_rows[id.index()]);
                let name = self.strings.insert_full(profile.function_name(frame.function)).0 as u32;
                self.functions.push(FunctionRow { name, library, source: None });
            }
            let function = &mut self.functions[*row as usize];
            if let (None, Some(line)) = (function.source, frame.source) {
                self.strings.insert(profile.string(line.path));
                function.source = Some(self.sources.insert_full(line.path).0 as u32);
            }
        }
    }

    /// Adds the functions that contain the code of frames, if their names are known.
    fn add_symbols(&mut self) {
        let profile = self.profile;
        for row in &self.frames {
            let frame = profile.frame(row.frame);
            let library = frame.binary.map(|id| self.library_rows[id.index()]);
            let is_named = profile.function(row.outer).is_named;
            let place = library.zip(relative_address(profile, frame)).filter(|_| is_named);
            let name = self.strings.insert_full(profile.function_name(row.outer)).0 as u32;
            self.frame_symbols
                .push(place.map(|(library, address)| self.symbols.add(library, row.outer, name, address)));
        }
    }

    /// Returns the row of a stack.
    pub(super) fn stack(&self, stack: Option<StackId>) -> u64 {
        stack.map_or(self.stacks.len() as u64, |id| u64::from(self.stack_rows[id.index()]))
    }

    /// Writes `"libs":[…],"shared":{…}`.
    pub(super) fn write(&self, writer: &mut ByteWriter<'_>) -> io::Result<()> {
        self.write_libraries(writer)?;
        writer.put(b",\n\"shared\":{\"stackTable\":{");
        self.write_stacks(writer)?;
        writer.put(b",\n\"frameTable\":{");
        self.write_frames(writer)?;
        writer.put(b",\n\"funcTable\":{");
        self.write_functions(writer)?;
        writer.put(b",\n\"resourceTable\":{");
        self.write_resources(writer)?;
        writer.put(b",\n\"nativeSymbols\":{");
        self.symbols.write(writer)?;
        writer.put(b"},\n\"sources\":{");
        self.write_sources(writer)?;
        writer.put(b"},\n\"sourceLocationTable\":{\"length\":0,\"source\":[],\"line\":[],\"column\":[]}");
        column(writer, "stringArray", self.strings.iter(), |text, out| {
            out.put_text(Some(text));
        })?;
        writer.put(b"}");
        Ok(())
    }

    fn write_libraries(&self, writer: &mut ByteWriter<'_>) -> io::Result<()> {
        writer.put(b"\"libs\":[");
        for (index, &id) in self.libraries.values().enumerate() {
            let binary = self.profile.binary(id);
            let (name, path) = (self.profile.string(binary.name), self.profile.string(binary.path));
            writer.put(if index == 0 { b"\n{" } else { b",\n{" });
            for (key, text) in [("name", name), ("path", path), ("debugName", name), ("debugPath", path)] {
                writer.put_text(Some(key));
                writer.put(b":").put_text(Some(text)).put(b",");
            }
            writer.put(b"\"breakpadId\":\"");
            let uuid = binary.uuid.unwrap_or(Uuid::from_bytes([0; 16]));
            writer.put(uuid.breakpad_id().as_bytes());
            writer.put(b"\",\"codeId\":null,\"arch\":");
            writer.put_text(binary.arch.map(|arch| self.profile.string(arch)));
            writer.put(b"}");
            writer.flush_if_full()?;
        }
        writer.put(b"]");
        Ok(())
    }

    fn write_stacks(&self, writer: &mut ByteWriter<'_>) -> io::Result<()> {
        let no_stack = self.has_no_stack.then_some(());
        length(self.stacks.len() + usize::from(self.has_no_stack), writer);
        let frames = self.stack_frames.iter().map(|&frame| u64::from(frame));
        column(writer, "frame", frames.chain(no_stack.map(|()| self.frames.len() as u64)), push_number)?;
        // The distance in rows between a stack and its parent; 0 for stacks without a parent.
        let offset = |(row, &id): (usize, &StackId)| {
            let parent = self.profile.stack(id).parent;
            parent.map_or(0, |parent| row as u64 - u64::from(self.stack_rows[parent.index()]))
        };
        let offsets = self.stacks.iter().enumerate().map(offset);
        column(writer, "prefixOffset", offsets.chain(no_stack.map(|()| 0)), push_number)?;
        writer.put(b"}");
        Ok(())
    }

    fn write_frames(&self, writer: &mut ByteWriter<'_>) -> io::Result<()> {
        let profile = self.profile;
        let rows = || self.frames.iter().map(Some).chain(self.has_no_stack.then_some(None));
        let frame = |row: &FrameRow| profile.frame(row.frame);
        let symbols = || self.frame_symbols.iter().copied().chain(self.has_no_stack.then_some(None));
        let place = |row: &FrameRow| self.library(frame(row).binary).zip(relative_address(profile, frame(row)));
        let of_functions = categories_of_functions(profile);
        let number = |number: Option<u32>| u64::from(number.unwrap_or(0));
        length(rows().count(), writer);
        column(writer, "flags", rows().zip(symbols()), |(row, symbol), out| {
            let is_inlined = row.is_some_and(|row| row.inline_depth > 0);
            let has_line = row.and_then(|row| self.line(frame(row))).is_some();
            let has = [is_inlined, row.and_then(place).is_some(), true, symbol.is_some(), has_line];
            push_number(flags(&has), out);
        })?;
        let address = |row: &FrameRow| place(row).map(|(_, address)| address);
        column(writer, "address", rows().map(|row| number(row.and_then(address))), push_number)?;
        let library = |row: &FrameRow| place(row).map(|(library, _)| library);
        column(writer, "lib", rows().map(|row| number(row.and_then(library))), push_number)?;
        let categories = rows().map(|row| row.map_or(0, |row| of_functions[frame(row).function.index()]));
        column(writer, "category", categories, push_number)?;
        column(writer, "subcategory", rows().map(|_| 0), push_number)?;
        let function = |row: &FrameRow| self.function_rows[frame(row).function.index()].into();
        let functions = rows().map(|row| row.map_or(self.functions.len() as u64, function));
        column(writer, "func", functions, push_number)?;
        column(writer, "nativeSymbol", symbols().map(number), push_number)?;
        column(writer, "innerWindowID", rows().map(|_| 0), push_number)?;
        let lines = rows().map(|row| number(row.and_then(|row| self.line(frame(row)))));
        column(writer, "line", lines, push_number)?;
        column(writer, "column", rows().map(|_| 0), push_number)?;
        column(writer, "originalLocation", rows().map(|_| 0), push_number)?;
        writer.put(b"}");
        Ok(())
    }

    /// Returns the line of a frame, if it is in the source file of its function.
    fn line(&self, frame: &Frame) -> Option<u32> {
        let source = frame.source?;
        let file = self.functions[self.function_rows[frame.function.index()] as usize].source?;
        (self.sources[file as usize] == source.path && source.line > 0).then_some(source.line)
    }

    fn write_functions(&self, writer: &mut ByteWriter<'_>) -> io::Result<()> {
        let rows = || self.functions.iter().map(Some).chain(self.has_no_stack.then_some(None));
        let names = rows().map(|row| row.map_or_else(|| self.string(NO_STACK), |row| row.name.into()));
        length(rows().count(), writer);
        column(writer, "name", names, push_number)?;
        let library = |row: Option<&FunctionRow>| row.and_then(|row| row.library);
        let source = |row: Option<&FunctionRow>| row.and_then(|row| row.source);
        let number = |number: Option<u32>| u64::from(number.unwrap_or(0));
        let has = |row| [false, false, library(row).is_some(), source(row).is_some()];
        column(writer, "flags", rows().map(|row| flags(&has(row))), push_number)?;
        column(writer, "resource", rows().map(|row| number(library(row))), push_number)?;
        column(writer, "source", rows().map(|row| number(source(row))), push_number)?;
        for name in ["lineNumber", "columnNumber", "originalLocation"] {
            column(writer, name, rows().map(|_| 0), push_number)?;
        }
        writer.put(b"}");
        Ok(())
    }

    /// Writes resources, which are the origins of functions. Each resource is a library.
    fn write_resources(&self, writer: &mut ByteWriter<'_>) -> io::Result<()> {
        let names = self.libraries.values().map(|&id| self.string(self.profile.string(self.profile.binary(id).name)));
        length(self.libraries.len(), writer);
        column(writer, "name", names, push_number)?;
        column(writer, "host", self.libraries.values(), push_null)?;
        column(writer, "type", self.libraries.values().map(|_| 1), push_number)?;
        writer.put(b"}");
        Ok(())
    }

    fn write_sources(&self, writer: &mut ByteWriter<'_>) -> io::Result<()> {
        let rows = || self.sources.iter();
        let name = |&source: &StringId| self.string(self.profile.string(source));
        length(self.sources.len(), writer);
        column(writer, "id", rows(), push_null)?;
        column(writer, "filename", rows().map(name), push_number)?;
        for name in ["startLine", "startColumn"] {
            column(writer, name, rows().map(|_| 1), push_number)?;
        }
        column(writer, "sourceMapURL", rows(), push_null)?;
        column(writer, "content", rows(), push_null)
    }

    /// Returns the index of a string in the file, or 0 if the file does not contain it.
    pub(super) fn string(&self, text: &str) -> u64 {
        self.strings.get_index_of(text).unwrap_or_default() as u64
    }
}

/// Returns the flags of a row, the first in the lowest bit. They mark which of the non-nullable columns have a value.
fn flags(has: &[bool]) -> u64 {
    has.iter().rev().fold(0, |flags, &has| flags << 1 | u64::from(has))
}

/// The identity by which libraries are merged: the UUID, regardless of the load address, or else name and path.
#[derive(PartialEq, Eq, Hash)]
enum LibraryKey {
    Uuid(Uuid),
    Path(StringId, StringId),
}

impl LibraryKey {
    fn of(binary: &Binary) -> Self {
        binary.uuid.map_or(Self::Path(binary.path, binary.name), Self::Uuid)
    }
}

/// Returns the lookup address relative to the Mach-O header of its binary. `None` if there is no binary, or if the offset does not fit in 32 bits.
fn relative_address(profile: &Profile, frame: &Frame) -> Option<u32> {
    let binary = profile.binary(frame.binary?);
    u32::try_from(frame.lookup_address.get().checked_sub(binary.load_address.get())?).ok()
}

pub(super) fn push_null<T>(_: T, out: &mut Vec<u8>) {
    out.put(b"null");
}

/// The categories. The first one is for frames without a category; the viewer requires it to be grey.
pub(super) const CATEGORIES: &str = "[\
    {\"name\":\"Unknown\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},\
    {\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},\
    {\"name\":\"System\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},\
    {\"name\":\"Runtime\",\"color\":\"green\",\"subcategories\":[\"Other\"]},\
    {\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}]";

/// By function: the index of its category in [`CATEGORIES`].
fn categories_of_functions(profile: &Profile) -> Vec<u64> {
    Category::of_functions(profile).into_iter().map(place).collect()
}

fn place(category: Category) -> u64 {
    match category {
        Category::Unknown => 0,
        Category::User => 1,
        Category::System => 2,
        Category::Runtime => 3,
        Category::Kernel => 4,
    }
}

/// The inline depth of a frame at its address. There are two conventions for marks ([`Frame::is_inlined`]): recordings mark the outer frames of an
/// address, symbol files the inner ones. The outermost frame of the address shows which one applies.
#[derive(Clone, Copy)]
pub(super) struct Inlining {
    pub(super) depth: u32,
    marks: Marks,
}

/// The marks that the following inner frames may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marks {
    /// The outermost frame was marked, so all frames except the innermost are.
    Outer,
    /// The outermost frame was not marked, so all other frames are.
    Inner,
    /// The innermost frame was seen. The next frame is a call, even if it has the same address.
    Done,
}

impl Inlining {
    pub(super) fn of(frame: &Frame, caller: Option<(&Frame, Self)>) -> Self {
        let beside = caller.filter(|(caller, _)| caller.address == frame.address && caller.binary == frame.binary);
        match (beside, frame.is_inlined) {
            (Some((_, Self { depth, marks: Marks::Outer })), false) => Self { depth: depth + 1, marks: Marks::Done },
            (Some((_, Self { depth, marks: marks @ (Marks::Outer | Marks::Inner) })), true) => {
                Self { depth: depth + 1, marks }
            }
            (_, true) => Self { depth: 0, marks: Marks::Outer },
            (_, false) => Self { depth: 0, marks: Marks::Inner },
        }
    }
}

/// A function in a library.
struct Symbol {
    library: u32,
    /// The lowest sampled address of the function, since its start is not recorded.
    address: u32,
    /// The index of its name among the strings of the file.
    name: u32,
}

/// The native symbols in the file.
#[derive(Default)]
pub(super) struct NativeSymbols {
    rows: Vec<Symbol>,
    row_of: HashMap<(u32, FunctionId), u32>,
}

impl NativeSymbols {
    /// Returns the row of a library's function in which `address` was sampled, and adds it if necessary.
    pub(super) fn add(&mut self, library: u32, function: FunctionId, name: u32, address: u32) -> u32 {
        let rows = &mut self.rows;
        let row = *self.row_of.entry((library, function)).or_insert_with(|| {
            rows.push(Symbol { library, address, name });
            rows.len() as u32 - 1
        });
        let lowest = &mut rows[row as usize].address;
        *lowest = address.min(*lowest);
        row
    }

    /// Writes the columns. The sizes of functions are not recorded either.
    pub(super) fn write(&self, writer: &mut ByteWriter<'_>) -> io::Result<()> {
        let rows = || self.rows.iter();
        length(self.rows.len(), writer);
        column(writer, "libIndex", rows().map(|symbol| symbol.library.into()), push_number)?;
        column(writer, "address", rows().map(|symbol| symbol.address.into()), push_number)?;
        column(writer, "name", rows().map(|symbol| symbol.name.into()), push_number)?;
        column(writer, "functionSize", rows(), |_, out| out.extend_from_slice(b"-1"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Binary, ProfileBuilder};
    use crate::units::Address;

    #[test]
    fn every_category_has_its_place() {
        let names: Vec<serde_json::Value> = serde_json::from_str(CATEGORIES).unwrap();
        assert_eq!(names.len(), Category::ALL.len());
        assert_eq!(names[0]["color"], "grey", "the viewer wants one that is the default");
        for category in Category::ALL {
            let name = names[place(category) as usize]["name"].as_str().unwrap().to_lowercase();
            assert_eq!(name, category.name());
        }
    }

    #[test]
    fn functions_have_the_category_of_their_binary_but_stubs_are_the_systems() {
        let mut builder = ProfileBuilder::new();
        let paths =
            ["/usr/lib/libobjc.A.dylib", "/Users/ada/Orchard.app/Contents/MacOS/Orchard", "/usr/lib/libz.dylib"];
        for path in paths {
            let path = builder.string(path).unwrap();
            let load_address = Address::new(0x1_0000_0000);
            let binary = builder.binary(Binary { name: path, uuid: None, arch: None, load_address, path }).unwrap();
            for name in ["f", "DYLD-STUB$$f"] {
                let name = builder.string(name).unwrap();
                builder.function(name, Some(binary), true).unwrap();
            }
        }
        let name = builder.string("f").unwrap();
        builder.function(name, None, true).unwrap();
        assert_eq!(categories_of_functions(&builder.finish()), [3, 3, 1, 2, 2, 2, 0]);
    }

    /// The inline depths of frames, root first, each given by its address and its mark.
    fn depths(frames: &[(u64, bool)]) -> Vec<u32> {
        let mut builder = ProfileBuilder::new();
        let name = builder.string("work").unwrap();
        let function = builder.function(name, None, true).unwrap();
        let frame = |&(address, is_inlined): &(u64, bool)| {
            let address = Address::new(address);
            Frame { function, binary: None, address, lookup_address: address, source: None, is_inlined }
        };
        let frames: Vec<Frame> = frames.iter().map(frame).collect();
        let mut inlining: Vec<Inlining> = Vec::new();
        for (index, frame) in frames.iter().enumerate() {
            let caller = index.checked_sub(1).map(|caller| (&frames[caller], inlining[caller]));
            inlining.push(Inlining::of(frame, caller));
        }
        inlining.into_iter().map(|inlining| inlining.depth).collect()
    }

    #[test]
    fn symbol_files_mark_the_inner_frames() {
        assert_eq!(depths(&[(1, false), (2, false), (2, true), (2, true), (3, false)]), [0, 0, 1, 2, 0]);
        // A call at the same address is recursion.
        assert_eq!(depths(&[(2, false), (2, true), (2, false), (2, true)]), [0, 1, 0, 1]);
        assert_eq!(depths(&[(2, false), (2, false)]), [0, 0]);
    }

    #[test]
    fn recordings_mark_the_outer_frames() {
        assert_eq!(depths(&[(1, false), (2, true), (2, false), (3, false)]), [0, 0, 1, 0]);
        assert_eq!(depths(&[(2, true), (2, false), (2, true), (2, false)]), [0, 1, 0, 1]);
        assert_eq!(depths(&[(2, true), (2, true), (2, false)]), [0, 1, 2]);
        // Marked frames that are alone at their address.
        assert_eq!(depths(&[(1, true), (2, true), (3, false)]), [0, 0, 0]);
    }
}
