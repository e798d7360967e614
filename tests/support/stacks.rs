//! Writes stack cells in their five forms. Exports list the **leaf first**, so every function here reverses stacks.

use super::cells::Document;
use super::recording::{Frame, Row, SampleKind};
use super::shape::{Shape, StackCell};

/// A frame to write.
struct WrittenFrame {
    index: usize,
    name: String,
    address: u64,
    inlined: bool,
    /// The identity of a frame element. Frames of different processes are never equal.
    content: String,
}

/// A stack to write, leaf first.
struct WrittenStack {
    process: usize,
    pid: u32,
    frames: Vec<WrittenFrame>,
    content: String,
}

impl WrittenStack {
    /// `LEAF ← (N other frames)`
    fn label(&self, entries: usize) -> String {
        format!("{} ← ({} other frames)", self.frames[0].name, entries - 1)
    }
}

/// The key of a written stack: column, process, frames, truncation.
pub type StackKey = (&'static str, usize, Vec<usize>, bool);

impl Document<'_> {
    /// Writes the `stack` column of a table with samples.
    pub fn stack(&mut self, row: &Row) {
        let truncated = row.truncated && self.shape == Shape::Xcode27;
        match self.shape.stack_cell() {
            StackCell::Kperf => self.kperf_stack(row),
            StackCell::Fragments => self.remembered("backtrace", row, false, Self::fragments_stack),
            StackCell::Frames => self.remembered("backtrace", row, false, Self::backtrace),
            StackCell::TaggedAroundFrames => {
                self.remembered("tagged-backtrace", row, false, Self::tagged_around_frames)
            }
            StackCell::TaggedFrames if truncated => {
                self.remembered("tagged-backtrace", row, true, Self::truncated_frames)
            }
            StackCell::TaggedFrames => self.remembered("tagged-backtrace", row, false, Self::tagged_frames),
        }
    }

    /// Writes the `backtrace` column of any other table, which is never tagged, not even in the newest versions.
    pub fn plain_stack(&mut self, row: &Row) {
        match self.shape.stack_cell() {
            StackCell::Fragments => self.remembered("backtrace", row, false, Self::fragments_stack),
            _ => self.remembered("backtrace", row, false, Self::backtrace),
        }
    }

    /// Writes a stack, or a `ref` to an equal earlier one without preparing it: repeated stacks are most of a document.
    fn remembered(
        &mut self,
        tag: &'static str,
        row: &Row,
        truncated: bool,
        write: impl FnOnce(&mut Self, &WrittenStack) -> String,
    ) {
        let Some(stack) = &row.stack else {
            return self.sentinel();
        };
        let key = (tag, self.recording.thread_of(row).process, stack.clone(), truncated);
        if let Some(id) = self.stacks.get(&key) {
            return self.xml.empty(tag, &[("ref", id)]);
        }
        let written = self.written_stack(row);
        let id = write(self, &written);
        self.stacks.insert(key, id);
    }

    /// `<tagged-backtrace fmt="..."><backtrace>frames</backtrace><uint64>0</uint64></tagged-backtrace>`
    fn tagged_around_frames(&mut self, stack: &WrittenStack) -> String {
        let label = stack.label(stack.frames.len());
        self.element("tagged-backtrace", &stack.content, &[("fmt", &label)], |document| {
            document.backtrace(stack);
            document.value("uint64", "0", "0");
        })
    }

    fn tagged_frames(&mut self, stack: &WrittenStack) -> String {
        self.element("tagged-backtrace", &stack.content, &[], |document| document.frames(stack))
    }

    fn truncated_frames(&mut self, stack: &WrittenStack) -> String {
        let content = format!("truncated {}", stack.content);
        self.element("tagged-backtrace", &content, &[("truncated", "YES")], |document| document.frames(stack))
    }

    fn backtrace(&mut self, stack: &WrittenStack) -> String {
        self.element("backtrace", &stack.content, &[], |document| document.frames(stack))
    }

    fn frames(&mut self, stack: &WrittenStack) {
        stack.frames.iter().for_each(|frame| self.frame(frame, stack.pid));
    }

    fn frame(&mut self, frame: &WrittenFrame, pid: u32) {
        let recorded = &self.recording.frames[frame.index];
        let address = format!("{:#x}", frame.address);
        let plain = [("name", frame.name.as_str()), ("addr", address.as_str())];
        let inlined = [("inlined", "true"), plain[0], plain[1]];
        let attributes: &[(&str, &str)] = if frame.inlined { &inlined } else { &plain };
        if recorded.image.is_none() && recorded.source.is_none() {
            return self.attributes_only("frame", &frame.content, attributes);
        }
        self.element("frame", &frame.content, attributes, |document| {
            if let Some(image) = recorded.image {
                document.binary(image, pid);
            }
            if let Some((path, line)) = &recorded.source {
                document.xml.start("source", &[("line", &line.to_string())]);
                document.plain_value("path", path);
                document.xml.end("source");
            }
        });
    }

    fn binary(&mut self, index: usize, process: u32) {
        let image = &self.recording.images[index];
        let load_address = format!("{:#x}", image.load_address);
        let attributes = [
            ("name", image.name.as_str()),
            ("UUID", &image.uuid),
            ("arch", &image.arch),
            ("load-addr", &load_address),
            ("path", &image.path),
        ];
        let content = format!("{process}|{}|{load_address}|{}", image.uuid, image.path);
        self.attributes_only("binary", &content, &attributes);
    }

    /// Before 14.3: the leaf in a separate fragment, the rest in a second fragment that other stacks may share. Xcode 12 ends the rest with
    /// a 0. Only the leaf has a name, in the display string.
    fn fragments_stack(&mut self, stack: &WrittenStack) -> String {
        let addresses: Vec<u64> = stack.frames.iter().map(|frame| frame.address).collect();
        let mut rest = addresses[1..].to_vec();
        if self.shape == Shape::Xcode12 {
            rest.push(0);
        }
        let process = stack.process;
        let label = stack.label(rest.len() + 1);
        let content = format!("{process}|{label}|{addresses:x?}");
        self.element("backtrace", &content, &[("fmt", &label)], |document| {
            document.process(process);
            document.text_addresses(process, &addresses[..1]);
            if !rest.is_empty() {
                document.process(process);
                document.text_addresses(process, &rest);
            }
        })
    }

    fn text_addresses(&mut self, process: usize, addresses: &[u64]) {
        let decimals: Vec<String> = addresses.iter().map(u64::to_string).collect();
        let text = decimals.join(" ");
        let content = format!("{process}|{text}");
        if !self.knows("text-addresses", &content) {
            self.fragments += 2;
        }
        let label = format!("frag {}", self.fragments);
        self.text_with_content("text-addresses", &content, &label, &text);
    }

    /// A raw stack: callers, program counter, process, a flag, and the link register if the sample interrupted running code. The snapshot
    /// at the start repeats the program counter as the first entry and has no final 0.
    pub fn kperf_stack(&mut self, row: &Row) {
        if row.stack.is_none() {
            return self.sentinel();
        }
        let snapshot = row.kind == SampleKind::Stackshot;
        let addresses = self.written_addresses(row, Shape::TimeSample);
        let mut entries = if snapshot { addresses.clone() } else { addresses[1..].to_vec() };
        if !snapshot {
            entries.push(0);
        }
        let register = (!snapshot).then(|| addresses.get(1).copied().unwrap_or(0x101));
        let pc = addresses[0];
        let pid = self.recording.process_of(row).pid;
        let label = format!("PC:{pc:#x}, {} frames, {} regs, pid: {pid}", entries.len(), register.iter().len());
        let process = self.recording.thread_of(row).process;
        let content = format!("{label}|{entries:x?}");
        self.element("kperf-bt", &content, &[("fmt", &label)], |document| {
            document.text_addresses(process, &entries);
            document.value("text-address", &format!("{pc:#x}"), &pc.to_string());
            document.process(process);
            document.value("boolean", "No", "0");
            if let Some(register) = register {
                document.value("register-content", &format!("{register:#x}"), &register.to_string());
            }
        });
    }

    fn written_stack(&self, row: &Row) -> WrittenStack {
        let pid = self.recording.process_of(row).pid;
        let indices = self.recording.visible_stack(row, self.shape).expect("a row with a stack");
        let names = self.recording.displayed_names(row, self.shape).expect("a row with a stack");
        let addresses = self.written_addresses(row, self.shape);
        let leaf_first = indices.into_iter().zip(names).rev().zip(addresses);
        let frames: Vec<WrittenFrame> = leaf_first
            .map(|((index, name), address)| {
                let Frame { image, source, inlined, .. } = &self.recording.frames[index];
                let inlined = *inlined && self.shape.marks_inlined();
                let content = format!("{pid}|{name}|{address:x}|{image:?}|{source:?}|{inlined}");
                WrittenFrame { index, name, address, inlined, content }
            })
            .collect();
        let content = frames.iter().map(|frame| frame.content.as_str()).collect::<Vec<_>>().join(";");
        WrittenStack { process: self.recording.thread_of(row).process, pid, frames, content }
    }

    /// The addresses of a row, leaf first, with noise bits if requested.
    fn written_addresses(&self, row: &Row, shape: Shape) -> Vec<u64> {
        let addresses = if self.pointer_authentication {
            self.recording.signed_addresses(row, shape)
        } else {
            self.recording.recorded_addresses(row, shape)
        };
        let mut addresses = addresses.expect("a row with a stack");
        addresses.reverse();
        addresses
    }
}
