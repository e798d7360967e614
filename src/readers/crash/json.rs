//! Parses the JSON of an `.ips` file: a header, usually in one line, and the report.

use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;

use struson::reader::ValueType;

use super::frame_line::FrameLine;
use super::report::{Form, Frame, Image, Report, SEVERAL, Stack, elided_recursion, is_placeholder};
use crate::error::{Error, Position};
use crate::memory::OverBudget;
use crate::readers::images::hex;
use crate::readers::json::Json;
use crate::recording::{LAST_EXCEPTION, Options, SPECIFIC_BACKTRACE};
use crate::units::{Uuid, several};

/// The members whose values are kept.
const KEPT: [&str; 23] = [
    "app_version",
    "asi",
    "build_version",
    "bundleInfo",
    "captureTime",
    "cpuType",
    "exception",
    "exceptionReason",
    "faultingThread",
    "isNonFatal",
    "isSimulated",
    "legacyInfo",
    "modelCode",
    "name",
    "osVersion",
    "os_version",
    "pid",
    "procName",
    "procPath",
    "termination",
    "timestamp",
    "vmRegionInfo",
    "vmregioninfo",
];

/// Replaces the escapes of half a character (`\\ud800`), which devices write if they cut a string, by ones of U+FFFD. Positions stay the same.
fn with_whole_characters(bytes: &[u8]) -> Cow<'_, [u8]> {
    let half = |at: usize| {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok().filter(|unit| (0xd800..=0xdfff).contains(unit))
    };
    let (mut whole, mut at) = (Cow::Borrowed(bytes), 0);
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        at += found;
        at += match (half(at), half(at + 6)) {
            (Some(..0xdc00), Some(0xdc00..)) => 12,
            (Some(_), _) => {
                whole.to_mut()[at..at + 6].copy_from_slice(b"\\ufffd");
                6
            }
            // An escaped backslash starts no other escape.
            _ => 2.min(bytes.len() - at),
        };
    }
    whole
}

/// Reads the documents of a file as one report.
///
/// # Errors
/// If the JSON is damaged, or a limit is exceeded.
pub(super) fn read(bytes: &[u8], name: &str, options: &Options) -> Result<Report, Error> {
    let bytes = with_whole_characters(bytes);
    let mut json = Json::new(&*bytes, name, options);
    let mut report = Report::new(Form::Ips, &options.memory);
    loop {
        document(&mut json, &mut report)?;
        if !json.has_next()? {
            break;
        }
        if !report.threads.is_empty() {
            return Err(json.refused(SEVERAL));
        }
    }
    let faulting = || report.fact("faultingThread").or(report.fact("legacyInfo.threadHighlighted"))?.parse().ok();
    report.crashed = report.crashed.or_else(faulting);
    report.place_absolute();
    // Code outside of all images has the index of an image without a name, whose base is 0.
    let is_known = |image: &Image| image.uuid.is_some() || !image.name.is_empty();
    let Report { images, threads, backtraces, .. } = &mut report;
    for frame in threads.iter_mut().chain(backtraces).flat_map(|stack| &mut stack.frames) {
        frame.image = frame.image.filter(|&index| images.get(index).is_some_and(is_known));
        let image = frame.image.map(|index| images[index].name.as_str());
        // PLCrashReporter writes the name of the image, and the offset in it.
        if frame.name.as_deref().is_some_and(|name| image == Some(name)) && frame.offset == Some(frame.address) {
            (frame.name, frame.offset) = (None, None);
        }
    }
    Ok(report)
}

fn document<R: Read>(json: &mut Json<'_, R>, report: &mut Report) -> Result<(), Error> {
    json.begin_object()?;
    while json.has_next()? {
        let key = json.member()?;
        match key.as_str() {
            "usedImages" if json.is_next(ValueType::Array)? => each(json, |json| {
                let at = json.place();
                let (image, is_whole) = image(json)?;
                if !is_whole {
                    held(report.hold(size_of::<Position>() + at.input.len()), json)?;
                    report.unread_images.push(at);
                }
                let texts = image.name.len() + image.path.len() + image.arch.len();
                held(report.hold(size_of::<Image>() + texts), json)?;
                report.images.push(image);
                Ok(())
            })?,
            "threads" if json.is_next(ValueType::Array)? => each(json, |json| thread(json, report))?,
            "lastExceptionBacktrace" if json.is_next(ValueType::Array)? => {
                let at = json.place();
                let mut stack = Stack { name: LAST_EXCEPTION.to_owned(), at, ..Stack::default() };
                frames(json, report, &mut stack)?;
                report.backtraces.extend(Some(stack).filter(|stack| !stack.is_empty()));
            }
            "asiBacktraces" if json.is_next(ValueType::Array)? => each(json, |json| {
                let at = json.place();
                let text = json.scalar()?.unwrap_or_default();
                let name = format!("{SPECIFIC_BACKTRACE} {}", report.backtraces.len() + 1);
                let stack = specific_backtrace(&text, Stack { name, at, ..Stack::default() });
                let bytes = stack.frames.iter().map(|frame| size_of::<Frame>() + frame.texts()).sum::<usize>();
                held(report.hold(size_of::<Stack>() + bytes), json)?;
                report.backtraces.extend(Some(stack).filter(|stack| !stack.is_empty()));
                Ok(())
            })?,
            _ if KEPT.contains(&key.as_str()) => {
                json.leaves(&mut vec![key], |path, value, json| held(report.add_fact(&path.join("."), &value), json))?
            }
            _ => json.skip()?,
        }
    }
    json.end_object()
}

/// Reads the elements of an array.
fn each<'n, R: Read>(
    json: &mut Json<'n, R>,
    mut read: impl FnMut(&mut Json<'n, R>) -> Result<(), Error>,
) -> Result<(), Error> {
    json.begin_array()?;
    while json.has_next()? {
        read(json)?;
    }
    json.end_array()
}

fn held<R: Read>(result: Result<(), OverBudget>, json: &Json<'_, R>) -> Result<(), Error> {
    result.map_err(|over| Error::memory(over, Some(json.place())))
}

/// Reads an image. False if its UUID or address cannot be read, and is left out.
fn image<R: Read>(json: &mut Json<'_, R>) -> Result<(Image, bool), Error> {
    let (mut image, mut uuid, mut base) = (Image::default(), None, None);
    json.begin_object()?;
    while json.has_next()? {
        match json.member()?.as_str() {
            "name" => image.name = json.scalar()?.unwrap_or_default(),
            "path" => image.path = json.scalar()?.unwrap_or_default(),
            "arch" => image.arch = json.scalar()?.unwrap_or_default(),
            "uuid" => uuid = json.scalar()?,
            "base" => base = json.scalar()?,
            "size" => image.size = whole(json)?.unwrap_or_default(),
            _ => json.skip()?,
        }
    }
    json.end_object()?;
    if image.name.is_empty() {
        image.name = image.path.rsplit('/').next().unwrap_or_default().to_owned();
    }
    let (of_text, number) = (uuid.as_deref().map(Uuid::parse), base.as_deref().map(str::parse));
    image.uuid = of_text.flatten().filter(|uuid| !uuid.is_nil());
    image.base = number.clone().and_then(Result::ok).unwrap_or_default();
    Ok((image, of_text != Some(None) && !matches!(number, Some(Err(_)))))
}

fn thread<R: Read>(json: &mut Json<'_, R>, report: &mut Report) -> Result<(), Error> {
    let (mut name, mut queue, mut stack) = (None, None, Stack { at: json.place(), ..Stack::default() });
    json.begin_object()?;
    while json.has_next()? {
        match json.member()?.as_str() {
            "name" => name = json.text()?,
            "queue" => queue = json.text()?,
            "triggered" => {
                if json.boolean()? == Some(true) {
                    report.crashed = Some(report.threads.len());
                }
            }
            "frames" if json.is_next(ValueType::Array)? => frames(json, report, &mut stack)?,
            "recursionInfoArray" if json.is_next(ValueType::Array)? => each(json, |json| {
                let elided = elided(json)?;
                stack.elided = stack.elided.take().or(elided);
                Ok(())
            })?,
            _ => json.skip()?,
        }
    }
    json.end_object()?;
    let Stack { frames, unread, elided, at, .. } = stack;
    let stack = Stack::new(None, &name.unwrap_or_default(), &queue.unwrap_or_default(), at);
    held(report.hold(size_of::<Stack>() + stack.name.len() + elided.as_ref().map_or(0, String::len)), json)?;
    report.threads.push(Stack { frames, unread, elided, ..stack });
    Ok(())
}

/// Reads the numbers of the first and last frame that were left out, and the function that called itself.
fn elided<R: Read>(json: &mut Json<'_, R>) -> Result<Option<String>, Error> {
    let (mut first, mut last, mut function) = (None, None, None);
    json.begin_object()?;
    while json.has_next()? {
        match json.member()?.as_str() {
            "hottestElided" => first = whole(json)?,
            "coldestElided" => last = whole(json)?,
            "keyFrame" if json.is_next(ValueType::Object)? => function = frame(json)?.and_then(|frame| frame.name),
            _ => json.skip()?,
        }
    }
    json.end_object()?;
    let count = first.zip(last).and_then(|(first, last)| last.checked_sub(first)?.checked_add(1));
    Ok(count.map(|count| elided_recursion(&several(count, "frame"), &function.unwrap_or_default())))
}

/// Reads a number; `None` for any other value.
fn whole<R: Read>(json: &mut Json<'_, R>) -> Result<Option<u64>, Error> {
    Ok(json.scalar()?.and_then(|text| text.parse().ok()))
}

fn frames<R: Read>(json: &mut Json<'_, R>, report: &mut Report, stack: &mut Stack) -> Result<(), Error> {
    each(json, |json| {
        let at = json.place();
        let Some(frame) = frame(json)? else {
            stack.unread.get_or_insert(at);
            return Ok(());
        };
        held(report.hold(size_of::<Frame>() + frame.texts()), json)?;
        stack.frames.push(frame);
        Ok(())
    })?;
    // A function must be inlined into another one.
    if let Some(last) = stack.frames.last_mut() {
        last.is_inlined = false;
    }
    Ok(())
}

/// Reads the lines of a backtrace that a framework recorded before it ended the process.
fn specific_backtrace(text: &str, mut stack: Stack) -> Stack {
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match FrameLine::parse(line) {
            Some(line) => stack.frames.push(Frame::of_line(&line, 0..0)),
            None => stack.unread = stack.unread.or(Some(stack.at.clone())),
        }
    }
    stack.mark_inlined();
    stack
}

/// Reads a frame; `None` if it has neither an address nor a name.
fn frame<R: Read>(json: &mut Json<'_, R>) -> Result<Option<Frame>, Error> {
    let (mut frame, mut offset, mut file, mut line) = (Frame::default(), None, None, None);
    json.begin_object()?;
    frame.span.start = json.place().byte as usize - 1;
    while json.has_next()? {
        match json.member()?.as_str() {
            "imageIndex" => frame.image = whole(json)?.map(|index| usize::try_from(index).unwrap_or(usize::MAX)),
            "imageOffset" => offset = whole(json)?,
            // Some tools write an address in place of a name.
            "symbol" => frame.name = json.scalar()?.filter(|name| !is_placeholder(name) && hex(name).is_none()),
            "symbolLocation" => frame.offset = whole(json)?,
            "sourceFile" => file = json.scalar()?.filter(|file| !file.is_empty()),
            "sourceLine" => line = json.scalar()?.and_then(|line| line.parse().ok()),
            "inline" => frame.is_inlined = json.scalar()?.is_some_and(|value| value == "true"),
            _ => json.skip()?,
        }
    }
    json.end_object()?;
    frame.span.end = json.place().byte as usize;
    frame.source = file.map(|file| (file, line.unwrap_or(0)));
    frame.address = offset.unwrap_or_default();
    frame.offset = frame.offset.filter(|_| frame.name.is_some());
    Ok((offset.is_some() || frame.name.is_some()).then_some(frame))
}

/// The members of a frame that change if it is named, in the order of [`FrameObject::values`].
pub(crate) const NAMED: [&str; 4] = ["symbol", "symbolLocation", "sourceLine", "sourceFile"];

/// The places in the text of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrameObject {
    /// The white space between `{` and the first member, which also precedes the others.
    pub(crate) indent: Range<usize>,
    /// The text between a name and its value: a colon, with white space.
    pub(crate) colon: Range<usize>,
    /// The values of [`NAMED`].
    pub(crate) values: [Option<Range<usize>>; NAMED.len()],
    /// The end of the last member.
    pub(crate) end: usize,
}

impl FrameObject {
    /// Finds the places in the text of a frame that was already parsed.
    ///
    /// # Errors
    /// If the text is not an object.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, Error> {
        let text = with_whole_characters(text);
        let mut json = Json::new(&*text, "", &Options::default());
        let place = |json: &Json<'_, &[u8]>| json.place().byte as usize;
        json.begin_object()?;
        let mut object = Self { indent: 1..1, ..Self::default() };
        while json.has_next()? {
            let start = place(&json);
            let key = json.member()?;
            let after = place(&json);
            json.is_next(ValueType::Null)?;
            let value = place(&json);
            json.skip()?;
            if object.end == 0 {
                (object.indent, object.colon) = (1..start, after..value);
            }
            object.end = place(&json);
            if let Some(index) = NAMED.iter().position(|known| *known == key) {
                object.values[index] = Some(value..object.end);
            }
        }
        Ok(object)
    }
}
