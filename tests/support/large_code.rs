//! The invented program in large documents: its images and functions, and their calls.

use super::names::{NameStyle, function_name, image_name, uuid};
use super::random::Rng;
use super::recording::Image;
use super::xml::escape_attribute;

pub const FUNCTIONS: usize = 3_000;
pub const IMAGES: usize = 40;
pub const SITES: usize = 6;
pub const PATHS: usize = 60;

/// The document's data on one function.
pub struct Function {
    /// Escaped; `None` for functions without a symbol.
    pub name: Option<String>,
    /// The name without escapes.
    pub plain_name: Option<String>,
    pub start: u64,
    pub image: usize,
    /// Path number and line.
    pub source: Option<(usize, u64)>,
}

/// One step of a call path: a function, and which of its call sites is active.
pub type Step = (u32, u8);

/// Makes function `number`.
pub fn function(number: usize, rng: &mut Rng) -> Function {
    let image = number % IMAGES;
    let mut name = String::new();
    let style = NameStyle::ALL[rng.index(NameStyle::ALL.len() - 1)];
    let plain_name = function_name(style, number as u64);
    escape_attribute(&plain_name, &mut name);
    let is_named = !rng.one_in(12);
    Function {
        name: is_named.then_some(name),
        plain_name: is_named.then_some(plain_name),
        start: load_address(image) + 0x1000 + (number / IMAGES) as u64 * 0x400,
        image,
        source: rng.one_in(6).then(|| (rng.index(PATHS), 10 + rng.below(900))),
    }
}

/// The image with this index.
pub fn image(image: usize) -> Image {
    let (name, path) = image_name(image);
    let mut identity = Rng::new(900 + image as u64);
    let uuid = uuid(identity.next_u64(), identity.next_u64());
    Image { name, uuid, arch: "arm64e".to_owned(), load_address: load_address(image), path }
}

/// The path of a source file.
pub fn source_path(path: usize) -> String {
    format!("/Users/dev/Orchard/Sources/Module{}/File{path}.cpp", path / 8)
}

fn load_address(image: usize) -> u64 {
    0x1_8000_0000 + image as u64 * 0x10_0000
}

/// The attributes of a `binary` element after its id, escaped, with the end of the tag.
pub fn binary_attributes(index: usize) -> String {
    let Image { name, uuid, arch, load_address, path } = image(index);
    let mut escaped = String::from(" name=\"");
    escape_attribute(&name, &mut escaped);
    escaped.push_str(&format!("\" UUID=\"{uuid}\" arch=\"{arch}\" load-addr=\"{load_address:#x}\" path=\""));
    escape_attribute(&path, &mut escaped);
    escaped + "\"/>"
}

/// Each call site calls one function, always the same.
pub fn callee((function, site): Step) -> u32 {
    let mixed = Rng::new(u64::from(function) * 31 + u64::from(site)).next_u64();
    (mixed % FUNCTIONS as u64) as u32
}

/// A hash that distinguishes paths.
pub fn hash(path: &[Step]) -> u64 {
    path.iter().fold(0, |hash: u64, &(function, site)| {
        let step = u64::from(function) << 8 | u64::from(site);
        (hash.rotate_left(5) ^ step).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}
