//! The tables that all threads share: stacks, frames, functions, libraries, strings; only of samples that count.

use std::io;

use super::super::json::push_text;
use super::super::labels::NO_STACK;
use super::super::texts::{Page, push_number};
use super::category::BinaryCategories;
use super::column;
use super::inlining::Inlining;
use crate::hash::HashMap;
use crate::output::by_thread::ThreadSamples;
use crate::profile::{Binary, BinaryId, Frame, FrameId, Profile, StackId, StringId};
use crate::units::Uuid;

/// What is written of a row, where there is none.
const NONE: u32 = u32::MAX;

/// A frame of the file: one of the profile at a depth of inlining.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct FrameRow {
    frame: FrameId,
    inline_depth: u32,
}

/// Which rows of the profile stand in the file, in which order.
pub(super) struct Tables<'p> {
    profile: &'p Profile,
    stacks: Vec<StackId>,
    /// By stack of the profile: its row.
    stack_rows: Vec<u32>,
    /// By row of `stacks`: the row of its frame.
    stack_frames: Vec<u32>,
    frames: Vec<FrameRow>,
    functions: Vec<FunctionRow>,
    /// By function of the profile: its row.
    function_rows: Vec<u32>,
    libraries: Vec<BinaryId>,
    sources: Vec<StringId>,
    strings: Strings<'p>,
    /// Whether a stack, a frame and a function of [`NO_STACK`] stand behind all others.
    has_no_stack: bool,
}

/// A function of the file. Of the places in which its lines stand, the first is its file.
struct FunctionRow {
    name: u32,
    library: Option<u32>,
    source: Option<u32>,
}

impl<'p> Tables<'p> {
    pub(super) fn new(profile: &'p Profile, threads: &[ThreadSamples<'p>]) -> Self {
        let mut tables = Self {
            profile,
            stacks: Vec::new(),
            stack_rows: vec![NONE; profile.stack_ids().len()],
            stack_frames: Vec::new(),
            frames: Vec::new(),
            functions: Vec::new(),
            function_rows: vec![NONE; profile.function_ids().len()],
            libraries: Vec::new(),
            sources: Vec::new(),
            strings: Strings::default(),
            has_no_stack: threads.iter().flat_map(|thread| &thread.samples).any(|sample| sample.stack.is_none()),
        };
        tables.add_stacks(threads);
        tables.add_functions();
        if tables.has_no_stack {
            tables.strings.add(NO_STACK);
        }
        tables
    }

    /// Every stack of a sample and those above it, parents first.
    fn add_stacks(&mut self, threads: &[ThreadSamples<'_>]) {
        let profile = self.profile;
        let mut is_used = vec![false; self.stack_rows.len()];
        for sample in threads.iter().flat_map(|thread| &thread.samples) {
            let mut next = sample.stack;
            while let Some(id) = next.filter(|id| !std::mem::replace(&mut is_used[id.index()], true)) {
                next = profile.stack(id).parent;
            }
        }
        let mut row_of_frame: HashMap<FrameRow, u32> = HashMap::default();
        let mut inlining: Vec<Inlining> = Vec::new();
        for id in profile.stack_ids().filter(|id| is_used[id.index()]) {
            let stack = profile.stack(id);
            let frame = profile.frame(stack.frame);
            // A parent stands before its children.
            let caller = stack.parent.map(|parent| {
                (profile.frame(profile.stack(parent).frame), inlining[self.stack_rows[parent.index()] as usize])
            });
            let inline = Inlining::of(frame, caller);
            let row = FrameRow { frame: stack.frame, inline_depth: inline.depth };
            let frames = &mut self.frames;
            let frame = *row_of_frame.entry(row).or_insert_with(|| {
                frames.push(row);
                frames.len() as u32 - 1
            });
            self.stack_rows[id.index()] = self.stacks.len() as u32;
            self.stacks.push(id);
            self.stack_frames.push(frame);
            inlining.push(inline);
        }
    }

    /// The functions of all frames, with their libraries and files.
    fn add_functions(&mut self) {
        let profile = self.profile;
        let mut row_of_library: HashMap<LibraryKey, u32> = HashMap::default();
        let mut row_of_source: HashMap<StringId, u32> = HashMap::default();
        for FrameRow { frame, .. } in &self.frames {
            let frame = profile.frame(*frame);
            let row = &mut self.function_rows[frame.function.index()];
            if *row == NONE {
                *row = self.functions.len() as u32;
                let library = profile.function(frame.function).binary.map(|id| {
                    let libraries = &mut self.libraries;
                    *row_of_library.entry(LibraryKey::of(profile.binary(id))).or_insert_with(|| {
                        libraries.push(id);
                        self.strings.add(profile.string(profile.binary(id).name));
                        libraries.len() as u32 - 1
                    })
                });
                let name = self.strings.add(profile.function_name(frame.function));
                self.functions.push(FunctionRow { name, library, source: None });
            }
            let function = &mut self.functions[*row as usize];
            if let (None, Some(line)) = (function.source, frame.source) {
                let sources = &mut self.sources;
                function.source = Some(*row_of_source.entry(line.path).or_insert_with(|| {
                    sources.push(line.path);
                    self.strings.add(profile.string(line.path));
                    sources.len() as u32 - 1
                }));
            }
        }
    }

    /// The row of a stack.
    pub(super) fn stack(&self, stack: Option<StackId>) -> u64 {
        stack.map_or(self.stacks.len() as u64, |id| u64::from(self.stack_rows[id.index()]))
    }

    /// Writes `"libs":[…],"shared":{…}`.
    pub(super) fn write(&self, page: &mut Page<'_>) -> io::Result<()> {
        self.write_libraries(page)?;
        page.put(b",\n\"shared\":{\"stackTable\":{");
        self.write_stacks(page)?;
        page.put(b",\n\"frameTable\":{");
        self.write_frames(page)?;
        page.put(b",\n\"funcTable\":{");
        self.write_functions(page)?;
        page.put(b",\n\"resourceTable\":{");
        self.write_resources(page)?;
        // Where functions start is not known.
        page.put(b",\n\"nativeSymbols\":{\"length\":0,\"address\":[],\"functionSize\":[],\"libIndex\":[],\"name\":[]}");
        page.put(b",\n\"sources\":{");
        length(self.sources.len(), page);
        column(page, "id", self.sources.iter(), |_, out| out.extend_from_slice(b"null"))?;
        let name = |&source: &StringId| self.strings.index(self.profile.string(source));
        column(page, "filename", self.sources.iter(), |source, out| push_number(name(source), out))?;
        page.put(b"}");
        column(page, "stringArray", self.strings.list.iter(), |text, out| push_text(Some(text), out))?;
        page.put(b"}");
        Ok(())
    }

    fn write_libraries(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.put(b"\"libs\":[");
        for (index, &id) in self.libraries.iter().enumerate() {
            let binary = self.profile.binary(id);
            let (name, path) = (self.profile.string(binary.name), self.profile.string(binary.path));
            page.put(if index == 0 { b"\n{" } else { b",\n{" });
            for (key, text) in [("name", name), ("path", path), ("debugName", name), ("debugPath", path)] {
                push_text(Some(key), &mut page.text);
                page.put(b":");
                push_text(Some(text), &mut page.text);
                page.put(b",");
            }
            page.put(b"\"breakpadId\":\"");
            push_breakpad_id(binary.uuid, &mut page.text);
            page.put(b"\",\"codeId\":null,\"arch\":");
            push_text(binary.arch.map(|arch| self.profile.string(arch)), &mut page.text);
            page.put(b"}");
            page.turn()?;
        }
        page.put(b"]");
        Ok(())
    }

    fn write_stacks(&self, page: &mut Page<'_>) -> io::Result<()> {
        let no_stack = self.has_no_stack.then_some(());
        length(self.stacks.len() + usize::from(self.has_no_stack), page);
        let frames = self.stack_frames.iter().map(|&frame| u64::from(frame));
        column(page, "frame", frames.chain(no_stack.map(|()| self.frames.len() as u64)), push_number)?;
        let prefixes = self.stacks.iter().map(|&id| self.profile.stack(id).parent);
        let prefixes = prefixes.map(|parent| parent.map(|id| self.stack_rows[id.index()]));
        column(page, "prefix", prefixes.chain(no_stack.map(|()| None)), push_index)?;
        page.put(b"}");
        Ok(())
    }

    fn write_frames(&self, page: &mut Page<'_>) -> io::Result<()> {
        let profile = self.profile;
        let rows = || {
            let rows = self.frames.iter().map(|row| Some((profile.frame(row.frame), row.inline_depth)));
            rows.chain(self.has_no_stack.then_some(None))
        };
        let functions = rows().map(|row| {
            row.map_or(self.functions.len() as u64, |(frame, _)| self.function_rows[frame.function.index()].into())
        });
        let of_binary = BinaryCategories::new(profile);
        let categories = rows().map(|row| of_binary.of(row.and_then(|(frame, _)| frame.binary)));
        length(rows().count(), page);
        column(page, "address", rows(), |row, out| {
            match row.and_then(|(frame, _)| relative_address(profile, frame)) {
                Some(address) => push_number(address.into(), out),
                None => out.extend_from_slice(b"-1"),
            }
        })?;
        column(page, "inlineDepth", rows().map(|row| row.map_or(0, |(_, depth)| depth.into())), push_number)?;
        column(page, "category", categories, push_number)?;
        column(page, "subcategory", rows().map(|_| 0), push_number)?;
        column(page, "func", functions, push_number)?;
        column(page, "nativeSymbol", rows().map(|_| None), push_index)?;
        column(page, "innerWindowID", rows().map(|_| 0), push_number)?;
        column(page, "line", rows().map(|row| row.and_then(|(frame, _)| self.line(frame))), push_index)?;
        column(page, "column", rows().map(|_| None), push_index)?;
        page.put(b"}");
        Ok(())
    }

    /// The line of a frame, where it is one of the file of its function.
    fn line(&self, frame: &Frame) -> Option<u32> {
        let source = frame.source?;
        let file = self.functions[self.function_rows[frame.function.index()] as usize].source?;
        (self.sources[file as usize] == source.path && source.line > 0).then_some(source.line)
    }

    fn write_functions(&self, page: &mut Page<'_>) -> io::Result<()> {
        let rows = || self.functions.iter().map(Some).chain(self.has_no_stack.then_some(None));
        let names = rows().map(|row| row.map_or_else(|| self.strings.index(NO_STACK), |row| row.name.into()));
        length(rows().count(), page);
        column(page, "name", names, push_number)?;
        column(page, "isJS", rows(), |_, out| out.extend_from_slice(b"false"))?;
        column(page, "relevantForJS", rows(), |_, out| out.extend_from_slice(b"false"))?;
        column(page, "resource", rows().map(|row| row.and_then(|row| row.library)), |library, out| match library {
            Some(library) => push_number(library.into(), out),
            None => out.extend_from_slice(b"-1"),
        })?;
        column(page, "source", rows().map(|row| row.and_then(|row| row.source)), push_index)?;
        column(page, "lineNumber", rows().map(|_| None), push_index)?;
        column(page, "columnNumber", rows().map(|_| None), push_index)?;
        page.put(b"}");
        Ok(())
    }

    /// A resource is where functions come from; here each is a library.
    fn write_resources(&self, page: &mut Page<'_>) -> io::Result<()> {
        let names =
            self.libraries.iter().map(|&id| self.strings.index(self.profile.string(self.profile.binary(id).name)));
        length(self.libraries.len(), page);
        column(page, "lib", 0..self.libraries.len() as u64, push_number)?;
        column(page, "name", names, push_number)?;
        column(page, "host", self.libraries.iter().map(|_| None), push_index)?;
        column(page, "type", self.libraries.iter().map(|_| 1), push_number)?;
        page.put(b"}");
        Ok(())
    }
}

/// What makes two binaries one library: the UUID, as everywhere, wherever each was loaded.
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

/// The address to look up, counted from the Mach-O header of its binary; `None` without a binary, or far from it.
fn relative_address(profile: &Profile, frame: &Frame) -> Option<u32> {
    let binary = profile.binary(frame.binary?);
    u32::try_from(frame.lookup_address.get().checked_sub(binary.load_address.get())?).ok()
}

/// Strings of the file, once each.
#[derive(Default)]
struct Strings<'p> {
    list: Vec<&'p str>,
    indices: HashMap<&'p str, u32>,
}

impl<'p> Strings<'p> {
    fn add(&mut self, text: &'p str) -> u32 {
        *self.indices.entry(text).or_insert_with(|| {
            self.list.push(text);
            self.list.len() as u32 - 1
        })
    }

    /// The place of a string that was added.
    fn index(&self, text: &str) -> u64 {
        self.indices.get(text).copied().unwrap_or_default().into()
    }
}

/// Breakpad's debug id: the UUID without hyphens, and an age, which is 0 on Apple's platforms.
fn push_breakpad_id(uuid: Option<Uuid>, out: &mut Vec<u8>) {
    let bytes = uuid.map_or([0; 16], |uuid| *uuid.as_bytes());
    for byte in bytes {
        out.extend([byte >> 4, byte & 15].map(|digit| b"0123456789ABCDEF"[usize::from(digit)]));
    }
    out.push(b'0');
}

/// Begins a table with its length, so that columns may follow.
fn length(rows: usize, page: &mut Page<'_>) {
    page.put(b"\"length\":");
    page.put_number(rows as u64);
}

/// Appends the row of another table, or null.
fn push_index(index: Option<u32>, out: &mut Vec<u8>) {
    match index {
        Some(index) => push_number(index.into(), out),
        None => out.extend_from_slice(b"null"),
    }
}
