//! Finds paths inside other text: names of functions, threads and signposts, and messages.
//!
//! ```text
//! (lambda at /Users/jane/Acme (Secret), Inc/src/x.cpp:3:4)     /Users/jane/Acme (Secret), Inc/src/x.cpp
//! cannot read ../../Clients/Acme/y.c, or ~jane/z.c             ../../Clients/Acme/y.c and ~jane/z.c
//! url=file%3A%2F%2F%2FUsers%2Fjane%2Fa                         all of the URL
//! ```
//!
//! Text does not mark where a path ends. It is better to lose a word than to reveal a folder.

use super::paths::{is_own_root, is_system};

/// The maximum length of a part of a path.
const LONGEST_PART: usize = 255;

const SEPARATORS: [char; 2] = ['/', '\\'];

/// Returns the range of the first path after an offset. System paths are skipped.
pub(super) fn in_sentence(text: &str, from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    while let Some(found) = text[at..].find(['/', '\\', '~', '.', '…', 'f', 'F', ':', '%']).map(|found| at + found) {
        if let Some(path) = begins_at(text, found) {
            return Some(path);
        }
        at = found + text[found..].chars().next().map_or(1, char::len_utf8);
    }
    None
}

/// Returns the path that starts at this character, if any.
fn begins_at(text: &str, found: usize) -> Option<(usize, usize)> {
    let (rest, before) = (&text[found..], text[..found].chars().next_back());
    let is_word = before.is_some_and(|before| before.is_alphanumeric() || "/\\~_%".contains(before));
    if rest.starts_with('%') {
        return encoded(text, found);
    }
    if let Some(behind) = rest.strip_prefix(':') {
        let letter = before.filter(char::is_ascii_alphabetic)?;
        let is_alone = !text[..found - letter.len_utf8()].chars().next_back().is_some_and(char::is_alphanumeric);
        let is_drive = is_alone && behind.starts_with(SEPARATORS) && !behind.starts_with("//");
        return (is_drive || behind.starts_with('\\')).then(|| (found - 1, found + end_of_path(rest, None)));
    }
    if is_word {
        return (rest.starts_with('/') && is_of_place(text, found)).then(|| {
            let start = start_of_token(text, found);
            (start, start + end_of_path(&text[start..], None))
        });
    }
    let is_path = match rest.as_bytes()[0] {
        b'/' => is_absolute(rest, before),
        b'\\' => rest.starts_with("\\\\") && rest[2..].contains('\\') && rest[2..].starts_with(char::is_alphanumeric),
        b'~' => is_of_home(rest),
        b'f' | b'F' => rest.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("file://")),
        _ => is_relative(rest),
    };
    is_path.then(|| (found, found + end_of_path(rest, before)))
}

/// True for `/a/b` with any root that does not belong to the system. After a bracket it may be a division, unless the root is a folder with
/// people's files.
fn is_absolute(rest: &str, before: Option<char>) -> bool {
    let path = rest.trim_start_matches('/');
    let slashes = rest.len() - path.len();
    if (slashes > 1 && before == Some(':')) || is_system(&rest[slashes - 1..]) {
        return false;
    }
    let mut parts = path.split('/');
    let is_named = |part: Option<&str>| {
        part.is_some_and(|part| part.starts_with(|char: char| !char.is_whitespace() && !")>],;".contains(char)))
    };
    let has_two = is_named(parts.next()) && is_named(parts.next());
    let is_behind_bracket = before.is_some_and(|before| ")]}>".contains(before));
    has_two && (!is_behind_bracket || is_own_root(&rest[slashes - 1..]))
}

/// True for `~/a` and `~jane/a`, but not for a destructor.
fn is_of_home(rest: &str) -> bool {
    let name = rest[1..].split('/').next().unwrap_or_default();
    name.len() + 1 < rest.len() && name.chars().all(|char| char.is_alphanumeric() || "._-".contains(char))
}

/// True for `../a/b` and `./a/b`. A single part after the dots does not reveal a folder.
fn is_relative(rest: &str) -> bool {
    let mut path = rest;
    while let Some(inner) = ["../", "./", ".../", "…/"].iter().find_map(|dots| path.strip_prefix(dots)) {
        path = inner;
    }
    let part = path.split('/').next().unwrap_or_default();
    path.len() < rest.len() && part.len() < path.len() && part.starts_with(|char: char| !char.is_whitespace())
}

/// True for a slash in the name that a compiler gives to an unnamed function, such as `(lambda at src/acme/x.cpp:3:4)`.
fn is_of_place(text: &str, slash: usize) -> bool {
    let start = start_of_token(text, slash);
    text[..start].ends_with(" at ") && {
        let end = start + end_of_path(&text[start..], None);
        text[end..].strip_prefix(':').is_some_and(|line| line.starts_with(|char: char| char.is_ascii_digit()))
    }
}

fn start_of_token(text: &str, at: usize) -> usize {
    text[..at].rfind(char::is_whitespace).map_or(0, |space| space + 1)
}

/// Finds a path or URL with percent-encoded slashes and at least two parts.
fn encoded(text: &str, found: usize) -> Option<(usize, usize)> {
    let is_slash = |at: usize| text.get(at..at + 3).is_some_and(|code| code.eq_ignore_ascii_case("%2f"));
    if !is_slash(found) {
        return None;
    }
    let scheme = ["file:", "file%3a"].into_iter().find(|scheme| {
        let start = found.checked_sub(scheme.len());
        start.and_then(|start| text.get(start..found)).is_some_and(|before| before.eq_ignore_ascii_case(scheme))
    });
    let is_part = |char: char| char.is_alphanumeric() || "%._~-+@!$".contains(char);
    let end = text[found..].find(|char| !is_part(char)).map_or(text.len(), |end| found + end);
    let slashes = (found..end).filter(|&at| is_slash(at)).count();
    let is_behind_word = scheme.is_none() && text[..found].chars().next_back().is_some_and(char::is_alphanumeric);
    (slashes > 1 && !is_behind_word).then(|| (found - scheme.map_or(0, str::len), end))
}

/// Returns the end of the path at the start of the text. If the character before the path is a bracket or quote, the closing one ends the path.
fn end_of_path(text: &str, before: Option<char>) -> usize {
    let mut at = text.find(|char| !SEPARATORS.contains(&char)).unwrap_or(text.len());
    loop {
        let stop = first_stop(text, at, before);
        if is_end(text, stop, before) {
            return stop;
        }
        let Some(slash) = next_slash(text, stop) else { return stop };
        at = slash + 1;
    }
}

/// Returns the first offset at which the path may end.
fn first_stop(text: &str, from: usize, before: Option<char>) -> usize {
    let is_stop = |&(at, char): &(usize, char)| match char {
        ' ' | '"' | '\'' | '`' | '<' | '>' | '|' | '\n' | '\t' | ')' | ']' | '}' | ',' | ';' | '’' | '”' => {
            !(char == ')' && before != Some('(') && is_open(&text[..from + at]))
        }
        ':' => from + at > 1 && is_colon_end(&text[from + at + 1..]),
        _ => false,
    };
    text[from..].char_indices().find(is_stop).map_or(text.len(), |(at, _)| from + at)
}

/// True if the last part of a path has an unclosed bracket.
fn is_open(path: &str) -> bool {
    let part = path.rsplit(SEPARATORS).next().unwrap_or(path);
    part.matches('(').count() > part.matches(')').count()
}

/// True after the colon in `file.swift:12:5` and in `a/b: no such file`.
fn is_colon_end(rest: &str) -> bool {
    let behind = rest.trim_start_matches(|char: char| char.is_ascii_digit());
    let is_line =
        behind.len() < rest.len() && !behind.starts_with(|char: char| char.is_alphanumeric() || "/\\_".contains(char));
    rest.is_empty() || rest.starts_with(char::is_whitespace) || is_line
}

/// True if the path ends at this stop, regardless of the text after it.
fn is_end(text: &str, stop: usize, before: Option<char>) -> bool {
    let mut rest = text[stop..].chars();
    let (char, next) = (rest.next(), rest.next());
    let closes = match before {
        Some('(') => Some(')'),
        Some('[') => Some(']'),
        Some('{') => Some('}'),
        Some('<') => Some('>'),
        Some('‘') => Some('’'),
        Some('“') => Some('”'),
        Some(quote @ ('"' | '\'' | '`')) => Some(quote),
        _ => None,
    };
    let is_apostrophe = matches!(char, Some('\'' | '’')) && next.is_some_and(char::is_alphanumeric);
    matches!(char, None | Some('\n' | ':')) || (char == closes && !is_apostrophe && closes.is_some())
}

/// Returns the next slash if the path continues after a stop, such as a space in a folder name. `None` if another path starts before it.
fn next_slash(text: &str, stop: usize) -> Option<usize> {
    let slash = stop + text[stop..].find(SEPARATORS)?;
    let between = &text[stop..slash];
    let token = between.rsplit([' ', '\t', '"', '\'', '`', '(', '[', '{', '<', ',', ';', '=', '|', '’', '”']).next()?;
    let is_dots = !token.is_empty() && token.chars().all(|char| char == '.');
    let is_other = token.is_empty() || token.starts_with('~') || token.ends_with(':') || is_dots;
    let ends_before = between.contains('\n') || between.contains(": ") || between.len() > LONGEST_PART;
    (!is_other && !ends_before).then_some(slash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cases: &[(&'static str, &[&str])]) {
        for (text, expected) in cases {
            let (mut found, mut from) = (Vec::new(), 0);
            while let Some((start, end)) = in_sentence(text, from) {
                found.push(&text[start..end]);
                from = end;
            }
            assert_eq!(found, *expected, "{text}");
        }
    }

    #[test]
    fn paths_in_sentences_end() {
        check(&[
            ("cannot read /Users/jane/a b/c.swift:12", &["/Users/jane/a b/c.swift"]),
            ("(lambda at /home/jane/x.cpp:3:4)", &["/home/jane/x.cpp"]),
            ("opened '/tmp/a', and more", &["/tmp/a"]),
            ("at /var/x is nothing", &["/var/x"]),
            ("C:\\Users\\jane\\x.txt: gone", &["C:\\Users\\jane\\x.txt"]),
            ("/Users/jane/a.c and /Users/bob/b.c", &["/Users/jane/a.c", "/Users/bob/b.c"]),
            ("f(/Users/jane/a.c, ../b/c.c)", &["/Users/jane/a.c", "../b/c.c"]),
            ("in /Users/jane/a.c: 3 of n/a", &["/Users/jane/a.c"]),
            ("/Users/jane/a.c see https://example.org/x", &["/Users/jane/a.c"]),
        ]);
    }

    #[test]
    fn folders_have_any_marks_in_their_names() {
        check(&[
            (
                "(lambda at /Users/jane/My Secret Client Project/x.cpp:3:4)",
                &["/Users/jane/My Secret Client Project/x.cpp"],
            ),
            ("load(/Users/jane/Acme (Secret), Inc/s/x.c)", &["/Users/jane/Acme (Secret), Inc/s/x.c"]),
            ("load(/Users/jane/Jane's Project/s/x.c)", &["/Users/jane/Jane's Project/s/x.c"]),
            ("'/Users/jane/Jane's Project/x.c' is there", &["/Users/jane/Jane's Project/x.c"]),
            ("/Volumes/Top Secret Disk/s/a.c", &["/Volumes/Top Secret Disk/s/a.c"]),
            ("at /Users/jane/v:2/s/a.c:7", &["/Users/jane/v:2/s/a.c"]),
        ]);
    }

    #[test]
    fn paths_have_any_root() {
        check(&[
            ("(lambda at /__w/acme/src/y.cpp:3:4)", &["/__w/acme/src/y.cpp"]),
            ("(lambda at /codebuild/acme/y.cpp:3:4)", &["/codebuild/acme/y.cpp"]),
            ("(lambda at ../../Clients/Acme/y.cpp:3:4)", &["../../Clients/Acme/y.cpp"]),
            ("(lambda at src/acme/y.cpp:3:4)", &["src/acme/y.cpp"]),
            ("~carol/secret/x.c", &["~carol/secret/x.c"]),
            ("/users/jane/x", &["/users/jane/x"]),
            ("-I=/a/b", &["/a/b"]),
            ("c:/users/bob/y.cpp", &["c:/users/bob/y.cpp"]),
            ("FILE:///Users/jane/x", &["FILE:///Users/jane/x"]),
            ("url=file%3A%2F%2F%2FUsers%2Fmary%20smith%2Fa&b", &["file%3A%2F%2F%2FUsers%2Fmary%20smith%2Fa"]),
        ]);
    }

    #[test]
    fn what_is_no_path_stays() {
        for text in [
            "operator/(int, int)",
            "https://example.org/Users/x",
            "/usr/lib/libz.dylib and /System/Library/x",
            "Foo::~Foo()",
            "3/4 of a / b / c",
            "f(x)/g(y)/2",
            "bytes/s",
            "</div>",
            "../x.c",
            "a.b...c",
            "100%2Fa",
        ] {
            check(&[(text, &[])]);
        }
    }
}
