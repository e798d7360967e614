//! The payloads of a page, read without the code that wrote it.

use std::io::Read;

use flate2::read::GzDecoder;

/// Returns the inflated payload in the page's element with this id.
pub fn payload(id: &str, page: &str) -> Vec<u8> {
    let start = format!("<script id=\"{id}\" type=\"application/octet-stream\">");
    let (_, rest) = page.split_once(&start).expect("a payload");
    let mut bytes = Vec::new();
    GzDecoder::new(decoded(rest.split_once("</script>").unwrap().0).as_slice()).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Decodes base64.
pub fn decoded(text: &str) -> Vec<u8> {
    let letters = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect::<String>();
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for letter in text.trim_end_matches('=').chars() {
        bits = bits << 6 | letters.find(letter).unwrap_or_else(|| panic!("{letter:?} is no letter of base64")) as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

/// A page without its engine, which is the same in every page, and whose letters may spell anything.
pub fn without_engine(page: &str) -> String {
    match page.split_once("<script id=\"engine\"") {
        Some((before, rest)) => format!("{before}{}", rest.split_once("</script>").expect("an end").1),
        None => page.to_owned(),
    }
}
