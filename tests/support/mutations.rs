//! Documents of every shape, and mutations of them.

use super::random::{Rng, Size};
use super::recording::Invented;
use super::shape::{Shape, Table};
use super::writer::{RenderOptions, render};

/// Documents of every shape that are small enough to be read thousands of times, including real ones if the corpus is available.
pub fn documents() -> Vec<String> {
    let mut documents: Vec<String> = super::cases::fixtures().into_iter().map(|(_, input)| input).collect();
    documents.retain(|document| document.len() < 60_000);
    let recording = Invented::random(1, &Size { rows: 12, ..Size::small() });
    documents
        .extend(Shape::ALL.map(|shape| render(&recording, &RenderOptions::new(shape, Table::TimeProfile, &recording))));
    documents.push(render(&recording, &RenderOptions::new(Shape::TimeSample, Table::TimeSample, &recording)));
    if let Some(corpus) = std::env::var_os("TRACEPARSE_CORPUS") {
        for (file, _) in glob_xml(std::path::Path::new(&corpus)) {
            documents.push(String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned());
        }
    }
    documents
}

/// The exports in the corpus that are small enough to be read thousands of times.
fn glob_xml(corpus: &std::path::Path) -> Vec<(std::path::PathBuf, u64)> {
    let mut files = Vec::new();
    for version in std::fs::read_dir(corpus.join("xctrace")).unwrap().flatten() {
        for file in std::fs::read_dir(version.path()).into_iter().flatten().flatten() {
            let (path, length) = (file.path(), file.metadata().unwrap().len());
            if path.extension().is_some_and(|extension| extension == "xml") && length < 60_000 {
                files.push((path, length));
            }
        }
    }
    files.sort();
    files
}

/// Drops, duplicates or renames one of these words, or drops or duplicates its line, as reports of another system may have it.
pub fn change_known(rng: &mut Rng, lines: &mut Vec<String>, words: &[&str]) {
    let known: Vec<&str> = words.iter().copied().filter(|&word| lines.iter().any(|line| line.contains(word))).collect();
    if known.is_empty() {
        return;
    }
    let word = *rng.pick(&known);
    let places: Vec<usize> = (0..lines.len()).filter(|&at| lines[at].contains(word)).collect();
    let at = *rng.pick(&places);
    let other = match rng.below(8) {
        0 => return drop(lines.remove(at)),
        1 => return lines.insert(at, lines[at].clone()),
        2 => String::new(),
        3 => format!("{word}{word}"),
        4 => format!("{word} {word}"),
        _ => (*rng.pick(&["<multiple>", "Unknown", "novel", "???", "<Unknown>"])).to_owned(),
    };
    lines[at] = lines[at].replacen(word, &other, 1);
}

/// The same for the lines of a text. Input that is not text is not changed.
pub fn change_known_of(rng: &mut Rng, text: &mut Vec<u8>, words: &[&str]) {
    let Ok(changed) = std::str::from_utf8(text) else { return };
    let mut lines: Vec<String> = changed.split('\n').map(str::to_owned).collect();
    change_known(rng, &mut lines, words);
    *text = lines.join("\n").into_bytes();
}

/// Changes some bytes, like a broken disk, a careless editor or an attacker.
pub fn mutate(bytes: &mut Vec<u8>, rng: &mut Rng) {
    const PIECES: [&str; 18] = [
        "<",
        ">",
        "\"",
        "&",
        "ref=\"",
        "id=\"",
        "</row>",
        "<row>",
        "<sentinel/>",
        "]]>",
        "<!--",
        "<![CDATA[",
        "&amp;",
        "\0",
        "9999999999999999999999",
        "-1",
        "</node>",
        "<frame ref=\"1\"/>",
    ];
    if bytes.is_empty() {
        return;
    }
    let at = rng.index(bytes.len());
    let end = (at + rng.index(40)).min(bytes.len());
    match rng.below(6) {
        0 => bytes[at] = rng.next_u64() as u8,
        1 => drop(bytes.drain(at..end)),
        2 => drop(bytes.splice(at..at, rng.pick(&PIECES).bytes())),
        3 => bytes.truncate(at),
        4 => {
            let piece = bytes[at..end].to_vec();
            let to = rng.index(bytes.len());
            drop(bytes.splice(to..to, piece));
        }
        _ => drop(bytes.splice(at..end, rng.pick(&PIECES).bytes())),
    }
}

/// Changes one thing that XML permits, or that no known export has.
pub fn respell(text: &mut String, rng: &mut Rng) {
    const PAIRS: [(&str, &str); 28] = [
        ("/>", " />"),
        ("<row>", "<row >"),
        ("<row>", "<row a=\"1\">"),
        ("<row>", "<!-- \n --><row>"),
        ("<row>", "\n \t<row>"),
        ("</row>", "</row>text"),
        ("</row>", "</row\n>"),
        (" ref=\"", " ref='"),
        (" ref=\"", "  ref=\""),
        (" ref=\"", " a=\"b\" ref=\""),
        (" ref=\"", " ref=\"0"),
        (" ref=\"", " ref=\"0\" a=\""),
        ("<weight ref=\"", "<weight ref=\"0\"/><weight ref=\""),
        (" ref=\"", " ref=\"1"),
        (" id=\"", " id=\"0"),
        (" id=\"", " id=\"1"),
        (" fmt=\"", " fmt=\"\u{2190} &lt;&amp; "),
        (" fmt=\"", " fmt=\"&#x41;"),
        (" fmt=\"", " fmt=\"a\nb"),
        (" name=\"", " name=\"<"),
        (" name=\"", " name=\"&quot;&apos;"),
        (" addr=\"0x", " inlined=\"true\" addr=\"0x"),
        ("<frame ", "<uint64 ref=\"1\"/><frame "),
        ("<frame ", "<wrap><frame "),
        ("</frame>", "</frame><frame/>"),
        ("</sample-time>", " </sample-time>"),
        ("<sentinel/>", "<sentinel></sentinel>"),
        ("<weight ", "<new-in-28/><weight "),
    ];
    let (usual, other) = *rng.pick(&PAIRS);
    let places: Vec<usize> = text.match_indices(usual).map(|(at, _)| at).collect();
    if !places.is_empty() {
        let at = *rng.pick(&places);
        text.replace_range(at..at + usual.len(), other);
    }
}
