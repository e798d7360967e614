//! Recordings made by hand.
//!
//! Each function is declared with a short key. A stack is one line of keys, root first:
//!
//! ```text
//! builder.function("main", app, Some("main"), Some(("/Users/dev/Orchard/main.cpp", 12)));
//! builder.stack("start main harvest:2 harvest:2 shake")
//! ```
//!
//! `key:n` is the n-th sampled instruction of the function; without `:n`, it is the first.

use super::recording::{Frame, Image, Invented, Process, Row, Thread};

/// The distance between two functions of an image.
const FUNCTION_SIZE: u64 = 0x400;

#[derive(Clone, Debug, Default)]
pub struct Builder {
    pub recording: Invented,
    functions: Vec<Function>,
}

#[derive(Clone, Debug)]
struct Function {
    key: String,
    name: Option<String>,
    image: Option<usize>,
    source: Option<(String, u32)>,
    start: u64,
    /// Frames by instruction number.
    frames: Vec<(u64, usize)>,
}

impl Builder {
    pub fn process(&mut self, name: &str, pid: u32, path: &str) -> usize {
        self.recording.processes.push(Process { pid, name: name.to_owned(), path: path.to_owned() });
        self.recording.processes.len() - 1
    }

    pub fn thread(&mut self, process: usize, tid: u64, names: &[&str]) -> usize {
        let names = names.iter().map(ToString::to_string).collect();
        self.recording.threads.push(Thread { tid, process, names });
        self.recording.threads.len() - 1
    }

    pub fn image(&mut self, path: &str, arch: &str, uuid: &str, load_address: u64) -> usize {
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        let (uuid, arch) = (uuid.to_owned(), arch.to_owned());
        self.recording.images.push(Image { name, uuid, arch, load_address, path: path.to_owned() });
        self.recording.images.len() - 1
    }

    /// Declares a function; without `name`, it has no symbol. The functions of an image are consecutive.
    pub fn function(&mut self, key: &str, image: usize, name: Option<&str>, source: Option<(&str, u32)>) {
        let before = self.functions.iter().filter(|function| function.image == Some(image)).count() as u64;
        let start = self.recording.images[image].load_address + 0x1000 + before * FUNCTION_SIZE;
        self.functions.push(Function {
            key: key.to_owned(),
            name: name.map(str::to_owned),
            image: Some(image),
            source: source.map(|(path, line)| (path.to_owned(), line)),
            start,
            frames: Vec::new(),
        });
    }

    /// Declares code outside every image, such as code generated at run time.
    pub fn code(&mut self, key: &str, start: u64) {
        let key = key.to_owned();
        self.functions.push(Function { key, name: None, image: None, source: None, start, frames: Vec::new() });
    }

    /// The frames of a line of keys.
    ///
    /// # Panics
    ///
    /// If a key was not declared.
    pub fn stack(&mut self, keys: &str) -> Vec<usize> {
        keys.split_whitespace().map(|key| self.frame(key)).collect()
    }

    /// The frame of one key.
    pub fn frame(&mut self, key: &str) -> usize {
        let (key, number) = match key.split_once(':') {
            Some((key, number)) => (key, number.parse().expect("an instruction number")),
            None => (key, 0),
        };
        let function = self.functions.iter_mut().find(|function| function.key == key);
        let function = function.unwrap_or_else(|| panic!("no function {key:?}"));
        if let Some(&(_, frame)) = function.frames.iter().find(|(known, _)| *known == number) {
            return frame;
        }
        let frame = Frame {
            function: function.name.clone(),
            function_start: function.image.map(|_| function.start),
            image: function.image,
            source: function.source.clone().map(|(path, line)| (path, line + number as u32)),
            pc: function.start + 0x2c + 8 * number,
            ..Frame::default()
        };
        self.recording.frames.push(frame);
        let index = self.recording.frames.len() - 1;
        function.frames.push((number, index));
        index
    }

    /// Adds a sample whose stack is a line of keys; if the line is empty, the sample has no stack.
    pub fn row(&mut self, time_ns: u64, thread: usize, keys: &str) -> &mut Row {
        let stack = (!keys.is_empty()).then(|| self.stack(keys));
        self.recording.rows.push(Row::sample(time_ns, thread, stack));
        self.recording.rows.last_mut().expect("the row just added")
    }
}
