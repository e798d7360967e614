//! Reads and checks, slowly, the objects to which the rows of a run refer.

use plist::Value;

use super::keyed::Keyed;
use super::uniquer::NONE;
use super::unpacked::{Unpacked, u32_at, u64_at};

/// The strings and arrays of a run.
pub struct Registry {
    pub strings: Vec<String>,
    pub arrays: Vec<Vec<u64>>,
    pub typed_arrays: Vec<Vec<u64>>,
    /// The types of parts of typed arrays.
    pub types: Vec<String>,
}

impl Registry {
    pub fn read(bundle: &Unpacked, run: u32) -> Result<Registry, String> {
        let folder = format!("corespace/run{run}/core/uniquing");
        let toc = Keyed::read(bundle.file(&format!("{folder}/TOC"))?)?;
        let root = toc.top("root")?;
        for name in ["typedArrayUniquer", "arrayUniquer", "strings"] {
            if toc.text(toc.field(root, name)?)? != name {
                return Err(format!("{name} is somewhere else"));
            }
        }
        let types = toc.text(toc.field(root, "etypeMap")?)?;
        let types = Keyed::read(bundle.file(&format!("{folder}/{types}"))?)?;
        let types: Vec<String> = types
            .items(types.top("root")?)?
            .into_iter()
            .map(|kind| types.text(kind).map(str::to_owned))
            .collect::<Result<_, _>>()?;
        if let Some(other) = types.iter().find(|kind| !kind.starts_with("XR")) {
            return Err(format!("{other} is no type"));
        }
        let strings = Value::from_reader(std::io::Cursor::new(bundle.file(&format!("{folder}/strings"))?));
        let strings = strings.map_err(|error| error.to_string())?.into_array().ok_or("strings are an array")?;
        let text = |value: Value| value.into_string().ok_or_else(|| "a string that is none".to_owned());
        Ok(Registry {
            strings: strings.into_iter().map(text).collect::<Result<_, _>>()?,
            arrays: arrays(bundle, &format!("{folder}/arrayUniquer"))?,
            typed_arrays: arrays(bundle, &format!("{folder}/typedArrayUniquer"))?,
            types,
        })
    }

    pub fn string(&self, index: u64) -> Result<&str, String> {
        let text = usize::try_from(index).ok().and_then(|index| self.strings.get(index));
        text.map(String::as_str).ok_or_else(|| format!("there is no string {index:#x}"))
    }

    pub fn array(&self, reference: u64) -> Result<&[u64], String> {
        let array = usize::try_from(reference).ok().and_then(|reference| self.arrays.get(reference));
        array.map(Vec::as_slice).ok_or_else(|| format!("there is no array {reference:#x}"))
    }

    /// The parts of a typed array, each with its type and value.
    pub fn parts(&self, reference: u64) -> Result<Vec<(&str, u64)>, String> {
        let array = usize::try_from(reference).ok().and_then(|reference| self.typed_arrays.get(reference));
        let array = array.ok_or_else(|| format!("there is no typed array {reference:#x}"))?;
        if !array.len().is_multiple_of(2) {
            return Err(format!("typed array {reference:#x} has {} numbers", array.len()));
        }
        let kind = |place: u64| self.types.get(usize::try_from(place).ok()?).map(String::as_str);
        let part = |pair: &[u64]| Some((kind(pair[0])?, pair[1]));
        array.chunks(2).map(|pair| part(pair).ok_or_else(|| format!("{} is no type", pair[0]))).collect()
    }

    /// The pid of a process.
    pub fn process(&self, reference: u64) -> Result<u32, String> {
        match self.array(reference)? {
            [pid, device] | [pid, device, _, _, _] => {
                self.string(*device)?;
                u32::try_from(*pid).map_err(|_| format!("{pid} is no pid"))
            }
            other => Err(format!("a process is {other:?}")),
        }
    }

    /// The tid of a thread, and the pid of its process.
    pub fn thread(&self, reference: u64) -> Result<(u64, u32), String> {
        match self.array(reference)? {
            [tid, process] => Ok((*tid, self.process(*process)?)),
            other => Err(format!("a thread is {other:?}")),
        }
    }

    /// The addresses of a stack, leaf first. Every chunk refers to its process.
    pub fn stack(&self, reference: u64) -> Result<Vec<u64>, String> {
        let mut addresses = Vec::new();
        let chunks = self.array(reference)?;
        for (index, chunk) in chunks.iter().enumerate() {
            self.process(chunk >> 32)?;
            match chunk & 0xffff_ffff {
                end if end == u64::from(NONE) && index + 1 == chunks.len() => {}
                frames => addresses.extend(self.array(frames)?),
            }
        }
        Ok(addresses)
    }

    /// The addresses of a kernel stack, leaf first. If there are four numbers, the last may be the return address of the leaf; this
    /// function ignores it and uses only the frames.
    pub fn raw_stack(&self, reference: u64) -> Result<Vec<u64>, String> {
        let array = self.array(reference)?;
        let [frames, pc, process, rest @ ..] = array else { return Err(format!("a raw stack is {array:?}")) };
        if ![1, 2, 5].contains(&rest.len()) {
            return Err(format!("a raw stack is {array:?}"));
        }
        if *process != u64::from(NONE) {
            self.process(*process)?;
        }
        let frames = self.array(*frames)?;
        let mut addresses = vec![*pc];
        addresses.extend(frames.iter().skip(usize::from(frames.first() == Some(pc))).filter(|&&address| address != 0));
        Ok(addresses)
    }
}

/// Reads a uniquer. No array may cross a block or overlap another, and unused space must be zero.
fn arrays(bundle: &Unpacked, folder: &str) -> Result<Vec<Vec<u64>>, String> {
    let index = bundle.file(&format!("{folder}/integeruniquer.index"))?;
    let data = bundle.file(&format!("{folder}/integeruniquer.data"))?;
    let block_size = u32_at(index, 28)? as usize;
    let words = |bytes: &[u8]| (0..8).map(|word| u32_at(bytes, 4 * word)).collect::<Result<Vec<_>, _>>();
    let expected = [0x0123_4567, 0x000a_337e, 1, 0, 1, 0, 0x40_0000, block_size as u32];
    if words(index)? != expected || words(data)?[..6] != expected[..6] || words(data)?[6..] != [0, 0] {
        return Err(format!("{folder}: headers are {:x?} and {:x?}", words(index)?, words(data)?));
    }
    if block_size == 0
        || !data.len().is_multiple_of(block_size)
        || !index.len().is_multiple_of(8)
        || u64_at(index, 32)? != 0
    {
        return Err(format!("{folder}: {} and {} bytes in blocks of {block_size}", index.len(), data.len()));
    }
    let mut arrays = Vec::new();
    let mut used = 32;
    for entry in (40..index.len()).step_by(8) {
        let (offset, block) = (u32_at(index, entry)? as usize, u32_at(index, entry + 4)? as usize);
        let at = block * block_size + offset;
        let count = u32_at(data, at)? as usize;
        let end = at + 4 + 8 * count;
        if at < used || offset + 4 + 8 * count > block_size || data[used..at].iter().any(|&byte| byte != 0) {
            return Err(format!("{folder}: the array at {at:#x} with {count} numbers lies wrong"));
        }
        arrays.push((0..count).map(|number| u64_at(data, at + 4 + 8 * number)).collect::<Result<_, _>>()?);
        used = end;
    }
    match data[used.min(data.len())..].iter().all(|&byte| byte == 0) {
        true => Ok(arrays),
        false => Err(format!("{folder}: something lies behind the last array")),
    }
}
