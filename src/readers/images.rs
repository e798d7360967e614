//! Parses the lists of binary images in text reports.

use crate::units::Uuid;

/// Parses a number such as `0x102ad6d2c`.
pub(super) fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}

/// An image: `0xLOW - 0xHIGH +NAME (VERSION) <UUID> /path`. Kernel images begin with `*`, and may be listed by segment: `*0xLOW - 0xHIGH kernel
/// (VERSION) <UUID>__TEXT /path`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Image {
    /// The first address of the range.
    pub(super) low: u64,
    /// The last address; `None` if unknown (`???`).
    pub(super) high: Option<u64>,
    pub(super) uuid: Option<Uuid>,
    /// The last component of the path. The line of a framework also contains the bundle's name, which is not used.
    pub(super) name: String,
    pub(super) path: String,
    /// The segment that the range covers; empty for a complete image.
    pub(super) segment: String,
}

impl Image {
    /// Parses a line; `None` if it has another form.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (low, rest) = line.trim_start().trim_start_matches('*').split_once(" - ")?;
        let low = hex(low)?;
        let (high, rest) = rest.trim_start().split_once(' ').unwrap_or((rest.trim_start(), ""));
        let high = match high {
            "???" => None,
            high => Some(hex(high)?),
        };
        let (before, uuid, path) = uuid_and_path(rest)?;
        let (segment, path) = match path.strip_prefix("__") {
            Some(_) => path.split_once(char::is_whitespace).unwrap_or((path, "")),
            None => ("", path),
        };
        let path = path.trim_start();
        let given = before.trim_start_matches(['+', ' ']).split(" (").next().unwrap_or_default().trim();
        // On iOS, the architecture follows the name.
        let is_arch = |(_, last): &(&str, &str)| ["arm", "x86_64", "i386"].iter().any(|arch| last.starts_with(arch));
        let given = given.rsplit_once(' ').filter(is_arch).map_or(given, |(name, _)| name.trim_end());
        // Without a path, Apple's tools write `???`.
        let path = if matches!(path, "" | "???") { given } else { path };
        let name = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(given);
        Some(Self { low, high, uuid, name: name.to_owned(), path: path.to_owned(), segment: segment.to_owned() })
    }
}

/// The maximum length of a UUID, with `>`.
const LONGEST_UUID: usize = 64;

/// Returns the text before `<UUID>`, the UUID if there is one, and the path after it.
fn uuid_and_path(text: &str) -> Option<(&str, Option<Uuid>, &str)> {
    // Names and paths may contain angle brackets as well.
    text.match_indices('<').find_map(|(at, _)| {
        let after = &text[at + 1..];
        let end = after.bytes().take(LONGEST_UUID).position(|byte| byte == b'>')?;
        let (inner, path) = (&after[..end], &after[end + 1..]);
        let uuid = Uuid::parse(inner);
        let is_missing = inner == "Unknown" || inner.bytes().all(|byte| byte == b'?');
        (uuid.is_some() || is_missing).then_some((&text[..at], uuid, path.trim()))
    })
}

/// The images of a report, by address.
#[derive(Debug, Default)]
pub(super) struct Images {
    sorted: Vec<Image>,
}

impl Images {
    pub(super) fn new(mut images: Vec<Image>) -> Self {
        images.sort_by_key(|image| image.low);
        Self { sorted: images }
    }

    /// Returns the index of the image that contains an address.
    pub(super) fn find(&self, address: u64) -> Option<usize> {
        let index = self.sorted.partition_point(|image| image.low <= address).checked_sub(1)?;
        self.sorted[index].high.is_none_or(|high| address <= high).then_some(index)
    }

    /// Returns the index of the first image that starts at an address.
    pub(super) fn starting_at(&self, low: u64) -> Option<usize> {
        let index = self.sorted.partition_point(|image| image.low < low);
        self.sorted.get(index).is_some_and(|image| image.low == low).then_some(index)
    }

    /// Returns the load address of an image, which is the address of its Mach-O header. `None` if only its other segments are listed.
    pub(super) fn load_address(&self, image: &Image) -> Option<u64> {
        const HEADER: &str = "__TEXT";
        if matches!(image.segment.as_str(), "" | HEADER) {
            return Some(image.low);
        }
        self.sorted.iter().find(|other| other.uuid == image.uuid && other.segment == HEADER).map(|other| other.low)
    }

    /// Returns the image at an index from [`find`](Self::find) or [`starting_at`](Self::starting_at).
    pub(super) fn get(&self, index: usize) -> Option<&Image> {
        self.sorted.get(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_of_every_form() {
        let uuid = Uuid::parse("5B424D44-FED2-3361-8D75-41795DA0FEF6");
        let image = |low, high, uuid, path: &str| {
            let name = path.rsplit('/').next().unwrap().to_owned();
            Some(Image { low, high, uuid, name, path: path.to_owned(), segment: String::new() })
        };
        for (line, expected) in [
            (
                "       0x102a50000 -        0x102dc719f +com.x.app (0.4 - 0.4.1) <5B424D44-FED2-3361-8D75-41795DA0FEF6> /A/app",
                image(0x1_02a5_0000, Some(0x1_02dc_719f), uuid, "/A/app"),
            ),
            (
                "0x10 - 0x20  libx.dylib (1) <5B424D44FED233618D7541795DA0FEF6> /usr/lib/libx.dylib",
                image(0x10, Some(0x20), uuid, "/usr/lib/libx.dylib"),
            ),
            ("0x10 - ??? +a b (??? - ???) <> /A <b>/a b", image(0x10, None, None, "/A <b>/a b")),
            (
                "0x10 - 0x20 +com.x.y (1) <5B424D44-FED2-3361-8D75-41795DA0FEF6>",
                image(0x10, Some(0x20), uuid, "com.x.y"),
            ),
            ("Sample analysis of process 1 written to file /tmp/x", None),
            ("0x10 - 0x20 +no uuid", None),
        ] {
            assert_eq!(Image::parse(line), expected, "{line}");
        }
    }

    #[test]
    fn segments_have_the_load_address_of_their_header() {
        let uuid = "<5B424D44-FED2-3361-8D75-41795DA0FEF6>";
        let line = |low: &str, segment: &str| format!("   *{low} - 0x90  kernel (1) {uuid}{segment}  /S/kernel");
        let images: Vec<Image> = [("0x10", "__HIB"), ("0x30", "__TEXT")]
            .iter()
            .map(|(low, segment)| Image::parse(&line(low, segment)).unwrap())
            .collect();
        assert_eq!((images[0].name.as_str(), images[0].segment.as_str()), ("kernel", "__HIB"));
        let both = Images::new(images.clone());
        assert_eq!(images.iter().map(|image| both.load_address(image)).collect::<Vec<_>>(), [Some(0x30); 2]);
        assert_eq!(Images::new(images[..1].to_vec()).load_address(&images[0]), None);
    }

    #[test]
    fn an_address_is_of_the_image_that_spans_it() {
        let image = |low, high| Image { low, high, ..Image::parse("0x0 - 0x0 a <> /a").unwrap() };
        let images = Images::new(vec![image(0x30, None), image(0x10, Some(0x20))]);
        assert_eq!([0x10, 0x20, 0x30, 0x31].map(|low| images.starting_at(low)), [Some(0), None, Some(1), None]);
        let found = [0xf, 0x10, 0x20, 0x21, 0x30, u64::MAX].map(|address| images.find(address));
        assert_eq!(found, [None, Some(0), Some(0), None, Some(1), Some(1)]);
    }
}
