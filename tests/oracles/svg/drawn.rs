//! A picture, read back with an XML reader.

use libtest_mimic::Failed;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// The contents of a picture.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    pub(crate) frames: Vec<Frame>,
    /// The title and the lines below it.
    pub(crate) texts: Vec<String>,
    /// The lines below the title before they were broken.
    pub(crate) sentences: Vec<String>,
    pub(crate) legend: Vec<String>,
    /// The classes of the legend's colours.
    pub(crate) legend_classes: Vec<String>,
    /// The place of the frames' own group: the vertical one of the root is that many pixels more than its own.
    pub(crate) top: f64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    pub(crate) depth: usize,
    pub(crate) start: u64,
    pub(crate) all: u64,
    pub(crate) own: u64,
    pub(crate) before: Option<(u64, u64)>,
    pub(crate) name: String,
    pub(crate) binary: String,
    /// The lines of the tooltip below name and binary.
    pub(crate) numbers: Vec<String>,
    pub(crate) class: String,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) text: String,
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, Failed> {
    let found = element.try_get_attribute(name)?;
    Ok(found.map(|found| found.value.into_owned()))
}

fn number<T: std::str::FromStr>(element: &BytesStart<'_>, name: &str) -> Result<Option<T>, Failed> {
    let text = attribute(element, name)?;
    text.map(|text| text.parse().map_err(|_| format!("{name}: {text}").into())).transpose()
}

fn needed<T: std::str::FromStr>(element: &BytesStart<'_>, name: &str) -> Result<T, Failed> {
    number(element, name)?.ok_or_else(|| format!("no {name}").into())
}

impl Drawn {
    /// Reads a picture; every element must be closed, and every reference be known.
    pub(crate) fn read(text: &str) -> Result<Self, Failed> {
        let mut reader = Reader::from_str(text);
        let mut drawn = Self::default();
        let mut open: Vec<String> = Vec::new();
        let mut content = String::new();
        let mut id = String::new();
        let mut title = String::new();
        loop {
            match reader.read_event()? {
                Event::Start(element) => {
                    let name = element.name().as_ref().to_owned();
                    if name == "g" {
                        id = attribute(&element, "id")?.unwrap_or(id);
                        if id == "frames" && open.len() == 1 {
                            let place: String = needed(&element, "transform")?;
                            let place = place.strip_prefix("translate(0 ").and_then(|place| place.strip_suffix(')'));
                            drawn.top = place.ok_or("no place")?.parse()?;
                        }
                        if let Some(depth) = number(&element, "data-depth")? {
                            drawn.frames.push(Self::frame(&element, depth)?);
                        }
                    }
                    open.push(name);
                    content.clear();
                }
                Event::Empty(element) if element.name().as_ref() == "rect" => {
                    if id == "legend" {
                        drawn.legend_classes.push(needed(&element, "class")?);
                    }
                    if let Some(frame) = drawn.frames.last_mut().filter(|_| open.len() == 3) {
                        let class: String = needed(&element, "class")?;
                        frame.class = class.trim_end_matches(" thin").to_owned();
                        frame.x = needed(&element, "x")?;
                        frame.y = needed(&element, "y")?;
                        frame.width = needed(&element, "width")?;
                    }
                }
                Event::Text(part) => content.push_str(&part),
                Event::GeneralRef(entity) => match entity.resolve_char_ref()? {
                    Some(letter) => content.push(letter),
                    None => content.push_str(match &*entity {
                        "amp" => "&",
                        "lt" => "<",
                        "gt" => ">",
                        "quot" => "\"",
                        "apos" => "'",
                        other => return Err(format!("&{other};").into()),
                    }),
                },
                Event::End(_) => {
                    let name = open.pop().ok_or("nothing is open")?;
                    match (name.as_str(), open.len(), drawn.frames.last_mut()) {
                        ("desc", 1, _) => drawn.sentences = content.lines().map(str::to_owned).collect(),
                        ("title", 1, _) => title = std::mem::take(&mut content),
                        ("title", 3, Some(frame)) => {
                            let mut lines = content.lines().map(str::to_owned);
                            frame.name = lines.next().unwrap_or_default();
                            frame.binary = lines.next().unwrap_or_default();
                            frame.numbers = lines.collect();
                        }
                        ("text", 3, Some(frame)) => frame.text = std::mem::take(&mut content),
                        ("text", 3, None) if id == "legend" => drawn.legend.push(std::mem::take(&mut content)),
                        ("text", 2, None) if id == "lines" => drawn.texts.push(std::mem::take(&mut content)),
                        ("text", 1, None) => drawn.texts.push(std::mem::take(&mut content)),
                        _ => {}
                    }
                }
                Event::Eof => break,
                _ => {}
            }
        }
        ensure!(open.is_empty(), "{open:?} stay open");
        ensure!(!title.is_empty(), "no title");
        Ok(drawn)
    }

    fn frame(element: &BytesStart<'_>, depth: usize) -> Result<Frame, Failed> {
        let before_all = number(element, "data-before-all")?;
        let before_self = number(element, "data-before-self")?;
        Ok(Frame {
            depth,
            start: needed(element, "data-start")?,
            all: needed(element, "data-all")?,
            own: needed(element, "data-self")?,
            before: before_all.zip(before_self),
            ..Frame::default()
        })
    }

    /// Each frame with the names and binaries from the root to it.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (Vec<(String, String)>, &Frame)> {
        let mut path: Vec<(String, String)> = Vec::new();
        self.frames.iter().map(move |frame| {
            path.truncate(frame.depth);
            path.push((frame.name.clone(), frame.binary.clone()));
            (path.clone(), frame)
        })
    }
}
