//! Parses the JSON of an `.ips` file: a header, usually in one line, and the report.

use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;

use struson::reader::ValueType;

use super::frame_line::is_placeholder;
use super::report::{Form, Frame, Image, Report, SEVERAL, Stack};
use crate::error::{Error, Position};
use crate::memory::OverBudget;
use crate::readers::images::hex;
use crate::readers::json::Json;
use crate::recording::{LAST_EXCEPTION, Options};
use crate::units::Uuid;

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

/// The maximum length of the path of a fact.
const LONGEST_KEY: usize = 128;

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
    let mut backtraces = Vec::new();
    loop {
        document(&mut json, &mut report, &mut backtraces)?;
        if !json.has_next()? {
            break;
        }
        if !report.threads.is_empty() {
            return Err(json.refused(SEVERAL));
        }
    }
    let faulting = || report.fact("faultingThread").or(report.fact("legacyInfo.threadHighlighted"))?.parse().ok();
    report.crashed = report.crashed.or_else(faulting).filter(|&index| index < report.threads.len());
    report.add_specific(backtraces).map_err(|over| Error::memory(over, Some(json.place())))?;
    let Report { images, threads, backtraces, .. } = &mut report;
    threads.iter_mut().chain(backtraces).for_each(|stack| find_images(images, stack));
    Ok(report)
}

/// Checks the images of frames.
fn find_images(images: &[Image], stack: &mut Stack) {
    for frame in &mut stack.frames {
        let Some(index) = frame.image else { continue };
        let Some(image) = images.get(index) else {
            // Without a list of images, names are all that a frame has.
            if images.is_empty() && frame.name.is_some() {
                frame.image = None;
                continue;
            }
            stack.unread.get_or_insert_with(|| stack.at.clone());
            frame.image = None;
            continue;
        };
        // Code outside of all images has the index of an image without a name, whose base is 0.
        frame.image = frame.image.filter(|_| image.uuid.is_some() || !image.name.is_empty());
        // PLCrashReporter writes the name of the image, and the offset in it.
        if frame.name.as_ref() == Some(&image.name) && frame.offset == Some(frame.address) {
            (frame.name, frame.offset) = (None, None);
        }
    }
}

/// Reads a document. `backtraces` are the texts of backtraces, whose images may follow.
fn document<R: Read>(
    json: &mut Json<'_, R>,
    report: &mut Report,
    backtraces: &mut Vec<(Position, String)>,
) -> Result<(), Error> {
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
                let (at, text) = (json.place(), json.scalar()?.unwrap_or_default());
                held(report.hold(size_of::<Stack>() + text.len()), json)?;
                backtraces.push((at, text));
                Ok(())
            })?,
            _ if KEPT.contains(&key.as_str()) => {
                json.leaves(&mut vec![key], |path, value, json| match path {
                    // The keys are the names of frameworks.
                    [key, ..] if key == "asi" => held(report.add_fact(key, &value), json),
                    _ if path.iter().map(String::len).sum::<usize>() > LONGEST_KEY => Ok(()),
                    _ => held(report.add_fact(&path.join("."), &value), json),
                })?
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
    if !is_object(json)? {
        return Ok((image, false));
    }
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
    if !is_object(json)? {
        report.threads.push(Stack { unread: Some(stack.at.clone()), ..stack });
        return held(report.hold(size_of::<Stack>()), json);
    }
    while json.has_next()? {
        match json.member()?.as_str() {
            "name" => name = json.scalar()?,
            "queue" => queue = json.scalar()?,
            "triggered" => {
                if is_true(json)? {
                    report.crashed = Some(report.threads.len());
                }
            }
            "frames" if json.is_next(ValueType::Array)? => frames(json, report, &mut stack)?,
            "frames" => {
                stack.unread = Some(json.place());
                json.skip()?;
            }
            "recursionInfoArray" if json.is_next(ValueType::Array)? => each(json, |json| {
                stack.add_elided(elided(json)?);
                Ok(())
            })?,
            _ => json.skip()?,
        }
    }
    json.end_object()?;
    let Stack { frames, unread, elided, at, .. } = stack;
    let stack = Stack::new(None, &name.unwrap_or_default(), &queue.unwrap_or_default(), at);
    held(report.hold(size_of::<Stack>() + stack.name.len()), json)?;
    report.threads.push(Stack { frames, unread, elided, ..stack });
    Ok(())
}

/// Reads the numbers of the first and last frame that were left out, and returns the number of frames; 0 if it is unknown.
fn elided<R: Read>(json: &mut Json<'_, R>) -> Result<u64, Error> {
    let (mut first, mut last) = (None, None);
    if !is_object(json)? {
        return Ok(0);
    }
    while json.has_next()? {
        match json.member()?.as_str() {
            "hottestElided" => first = whole(json)?,
            "coldestElided" => last = whole(json)?,
            _ => json.skip()?,
        }
    }
    json.end_object()?;
    Ok(first.zip(last).and_then(|(first, last)| last.checked_sub(first)?.checked_add(1)).unwrap_or(0))
}

/// Begins an object. False for any other value, which is skipped.
fn is_object<R: Read>(json: &mut Json<'_, R>) -> Result<bool, Error> {
    let is_object = json.is_next(ValueType::Object)?;
    if is_object {
        json.begin_object()?
    } else {
        json.skip()?
    };
    Ok(is_object)
}

fn is_true<R: Read>(json: &mut Json<'_, R>) -> Result<bool, Error> {
    Ok(json.scalar()?.is_some_and(|value| value == "true"))
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

/// Reads a frame; `None` if it has neither an address nor a name, or a number cannot be read.
fn frame<R: Read>(json: &mut Json<'_, R>) -> Result<Option<Frame>, Error> {
    let (mut frame, mut offset, mut file, mut line) = (Frame::default(), None, None, None);
    let mut is_readable = is_object(json)?;
    if !is_readable {
        return Ok(None);
    }
    frame.span.start = json.place().byte as usize - 1;
    while json.has_next()? {
        match json.member()?.as_str() {
            "imageIndex" => {
                frame.image = whole(json)?.and_then(|index| usize::try_from(index).ok());
                is_readable &= frame.image.is_some();
            }
            "imageOffset" => {
                offset = whole(json)?;
                is_readable &= offset.is_some();
            }
            // Some tools write an address in place of a name.
            "symbol" => frame.name = json.scalar()?.filter(|name| !is_placeholder(name) && hex(name).is_none()),
            "symbolLocation" => frame.offset = whole(json)?,
            "sourceFile" => file = json.scalar()?.filter(|file| !file.is_empty()),
            "sourceLine" => line = json.scalar()?.and_then(|line| line.parse().ok()),
            "inline" => frame.is_inlined = is_true(json)?,
            _ => json.skip()?,
        }
    }
    json.end_object()?;
    frame.span.end = json.place().byte as usize;
    frame.source = file.map(|file| (file, line.unwrap_or(0)));
    frame.address = offset.unwrap_or_default();
    frame.offset = frame.offset.filter(|_| frame.name.is_some());
    is_readable &= offset.is_some() || frame.name.is_some();
    Ok(is_readable.then_some(frame))
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
