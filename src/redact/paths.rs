//! Paths: what of them is kept, since it tells about code, and the folder before it, which tells about a person or a machine.
//!
//! ```text
//! /usr/lib/libobjc.A.dylib                                        all of it
//! /Users/jane/Library/Developer/Xcode/DerivedData/App-abc/…/App.app/Contents/MacOS/App
//!                                                                 App.app/Contents/MacOS/App, of the app; of others the last part
//! /Users/jane/Library/Developer/Xcode/iOS DeviceSupport/17.0/Symbols/usr/lib/libz.dylib
//!                                                                 iOS DeviceSupport/17.0/Symbols/usr/lib/libz.dylib
//! C:\Users\jane\src\app.cpp                                       app.cpp
//! ```

/// A path in two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Split<'p> {
    /// The part before the hidden one, with its slash: `/System/Volumes/Data/`, `file:///`, `/`, or nothing.
    pub(super) start: &'p str,
    /// The folder to hide, without a slash at its end; empty where all is kept.
    pub(super) hidden: &'p str,
    /// The part to keep, without a slash at its start.
    pub(super) kept: &'p str,
    /// The separator between them.
    pub(super) separator: char,
}

/// Folders of the system, which are the same on each machine. They hold those by which code is of the system (`profile::Category`).
const SYSTEM_FOLDERS: [&str; 11] = [
    "/System/",
    "/usr/",
    "/bin/",
    "/sbin/",
    "/Library/Apple/",
    "/Library/Developer/",
    "/AppleInternal/",
    "/Developer/",
    "/private/preboot/",
    "/private/var/db/dyld/",
    "/mach_kernel",
];

/// Below these, a machine's own things stand in a folder of the system.
const OWN_FOLDERS: [&str; 2] = ["/System/Volumes/Data/", "/usr/local/"];

/// What a path is known by to be in a copy of the system, or in Xcode: a text in it, and the folder that the copy is in, if it is one.
const COPIES: [(&str, Option<&str>); 3] =
    [("DeviceSupport/", Some("/Symbols")), (".simruntime/", Some("/RuntimeRoot")), (".app/Contents/Developer/", None)];

/// Splits a path; `bundles` are folders of the app, all of whose contents are kept.
pub(super) fn split<'p>(path: &'p str, bundles: &[String]) -> Split<'p> {
    if let Some(at) = path.starts_with("file://").then(|| path[7..].find('/')).flatten() {
        // The host goes with the folder.
        let rest = split(&path[7 + at..], bundles);
        return match rest.hidden.is_empty() {
            true => Split { start: "file://", ..rest },
            false => Split { start: "file:///", ..rest },
        };
    }
    if is_windows(path) {
        let at = path.rfind(['\\', '/']).unwrap_or(0);
        return Split { start: "", hidden: &path[..at], kept: &path[at + 1..], separator: '\\' };
    }
    if let Some(folder) = OWN_FOLDERS.iter().find(|folder| path.starts_with(**folder)) {
        let rest = split(&path[folder.len() - 1..], bundles);
        return match rest.hidden.is_empty() {
            true => whole(path),
            false => Split { start: folder, ..rest },
        };
    }
    if is_system(path) {
        return whole(path);
    }
    let of_app = bundles.iter().find_map(|bundle| {
        let parent = bundle.rfind('/')?;
        let is_inside = path.strip_prefix(bundle.as_str())?.starts_with('/');
        is_inside.then(|| at(path, parent))
    });
    of_app.or_else(|| of_copy(path)).or_else(|| Some(at(path, path.rfind('/')?))).unwrap_or_else(|| whole(path))
}

/// True for `C:\…`, `\\server\…`, and anything else with that separator alone.
fn is_windows(path: &str) -> bool {
    let is_drive = path.as_bytes().get(1..3).is_some_and(|rest| rest == b":\\" || rest == b":/");
    (is_drive && path.as_bytes()[0].is_ascii_alphabetic()) || (path.contains('\\') && !path.contains('/'))
}

pub(super) fn is_system(path: &str) -> bool {
    SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder)) && !OWN_FOLDERS.iter().any(|own| path.starts_with(own))
}

/// The split of a path in a copy of the system: the copy is kept, and where it lies is not.
fn of_copy(path: &str) -> Option<Split<'_>> {
    COPIES.iter().find_map(|(mark, root)| {
        let found = path.find(mark)?;
        let is_kept = match root {
            None => true,
            Some(root) => {
                let inside = found + path[found..].find(root)? + root.len();
                is_system(&path[inside..])
            }
        };
        is_kept.then(|| at(path, path[..found].rfind('/').unwrap_or(0)))
    })
}

fn whole(path: &str) -> Split<'_> {
    Split { start: "", hidden: "", kept: path, separator: '/' }
}

/// The split at a slash.
fn at(path: &str, slash: usize) -> Split<'_> {
    let start = &path[..usize::from(path.starts_with('/'))];
    Split { start, hidden: &path[start.len().min(slash)..slash], kept: &path[slash + 1..], separator: '/' }
}

/// The user that a path is of: `jane` of `/Users/jane/x`, `/home/jane/x` and `C:\Users\jane\x`; each that stands in a text.
pub(super) fn users(text: &str) -> impl Iterator<Item = &str> {
    const HOMES: [&str; 6] =
        ["/Users/", "/home/", "\\Users\\", "%2FUsers%2F", "%2fUsers%2f", "Documents and Settings\\"];
    let is_possible = text.contains(['/', '\\']) || text.contains("%2");
    let homes = if is_possible { &HOMES[..] } else { &[] };
    homes.iter().flat_map(|home| text.match_indices(home)).filter_map(move |(at, home)| {
        let rest = &text[at + home.len()..];
        // In a sentence it ends with what no folder is named with.
        let end = rest.find(['/', '\\', '"', '\n', ':', ')', ',']).unwrap_or(rest.len());
        let end = if home.starts_with('%') { rest.find('%').unwrap_or(end) } else { end };
        let user = &rest[..end];
        let user = if end == rest.len() { user.split(' ').next().unwrap_or(user) } else { user };
        (!user.is_empty() && !["Shared", "Guest", ".", ".."].contains(&user)).then_some(user)
    })
}

/// The first path that begins in a sentence, with the byte where it begins, and where it ends. Nobody marks where it ends: it goes to the
/// next space or quotation mark that no slash follows soon.
pub(super) fn in_sentence(text: &str, from: usize) -> Option<(usize, usize)> {
    const ROOTS: [&str; 25] = [
        "/Users/",
        "/home/",
        "/Volumes/",
        "/private/",
        "/var/",
        "/tmp/",
        "/opt/",
        "/Applications/",
        "/Library/",
        "/Network/",
        "/net/",
        "/mnt/",
        "/media/",
        "/root/",
        "/srv/",
        "/nix/",
        "/data/",
        "/build/",
        "/builds/",
        "/workspace/",
        "/System/Volumes/Data/",
        "/usr/local/",
        "file://",
        "\\\\",
        "~/",
    ];
    let mut at = from;
    while let Some(found) = text[at..].find(['/', '\\', '~', 'f', ':']).map(|found| at + found) {
        let rest = &text[found..];
        at = found + 1;
        let before = text[..found].chars().next_back();
        let is_word = before.is_some_and(|before| before.is_alphanumeric() || "/\\~_".contains(before));
        let is_drive = rest.starts_with(":\\") && before.is_some_and(|before| before.is_ascii_alphabetic());
        if is_drive {
            return Some((found - 1, found + end_of_path(rest)));
        }
        if !is_word && ROOTS.iter().any(|root| rest.starts_with(root)) {
            return Some((found, found + end_of_path(rest)));
        }
    }
    None
}

/// The end of a path that a text begins with.
fn end_of_path(text: &str) -> usize {
    let stops = |char: char| {
        matches!(char, '"' | '\'' | '`' | '<' | '>' | '|' | '\n' | '\t' | ')' | ']' | '}' | ',' | ';' | '’' | '”')
    };
    let mut end = text.find(stops).unwrap_or(text.len());
    // `file.swift:12:5`, and `a/b: no such file`.
    let is_colon = |&(at, _): &(usize, &str)| {
        let next = text[at + 1..].chars().next();
        at > 6 && next.is_none_or(|next| next == ' ' || next.is_ascii_digit())
    };
    end = text[..end].match_indices(':').find(is_colon).map_or(end, |(at, _)| at);
    let mut at = 0;
    while let Some(space) = text[at..end].find(' ').map(|space| at + space) {
        // A folder with a space in its name; a file with one is cut, where no other space is.
        let next = text[space + 1..end].find(' ').map_or(end, |next| space + 1 + next);
        if !text[space + 1..next].contains(['/', '\\']) || text[space + 1..next].starts_with(['/', '\\']) {
            return space;
        }
        at = space + 1;
    }
    end
}

/// The parts of a path that are a UUID, or look like one of Apple's device numbers.
pub(super) fn is_identifier(part: &str) -> bool {
    let is_hex = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let lengths: Vec<usize> = part.split('-').map(str::len).collect();
    let is_uuid = lengths == [8, 4, 4, 4, 12] || lengths == [8, 16] || lengths == [40];
    is_uuid && part.split('-').all(is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_keep_what_is_of_code() {
        let bundles = ["/Users/jane/DerivedData/App-abc/App.app".to_owned()];
        for (path, start, hidden, kept) in [
            ("/usr/lib/libz.dylib", "", "", "/usr/lib/libz.dylib"),
            ("/Users/jane/a.swift", "/", "Users/jane", "a.swift"),
            ("/a", "/", "", "a"),
            ("src/jane/a.c", "", "src/jane", "a.c"),
            ("a.c", "", "", "a.c"),
            ("/Users/jane/DerivedData/App-abc/App.app/x/App", "/", "Users/jane/DerivedData/App-abc", "App.app/x/App"),
            ("/System/Volumes/Data/Users/jane/a", "/System/Volumes/Data/", "Users/jane", "a"),
            ("/usr/local/lib/liba.dylib", "/usr/local/", "lib", "liba.dylib"),
            ("file:///Users/jane%20d/a.c", "file:///", "Users/jane%20d", "a.c"),
            ("file://host/usr/lib/a", "file://", "", "/usr/lib/a"),
            ("C:\\Users\\jane\\a.cpp", "", "C:\\Users\\jane", "a.cpp"),
            ("\\\\server\\share\\a.cpp", "", "\\\\server\\share", "a.cpp"),
            (
                "/Users/jane/Library/Developer/Xcode/iOS DeviceSupport/17.0/Symbols/usr/lib/libz.dylib",
                "/",
                "Users/jane/Library/Developer/Xcode",
                "iOS DeviceSupport/17.0/Symbols/usr/lib/libz.dylib",
            ),
            ("/opt/Xcode.app/Contents/Developer/a", "/", "opt", "Xcode.app/Contents/Developer/a"),
        ] {
            let split = split(path, &bundles);
            assert_eq!((split.start, split.hidden, split.kept), (start, hidden, kept), "{path}");
        }
    }

    #[test]
    fn users_are_found_in_paths_and_sentences() {
        let found = |text| users(text).collect::<Vec<_>>();
        assert_eq!(found("/Users/jane/x"), ["jane"]);
        assert_eq!(found("C:\\Users\\Jane Doe\\x"), ["Jane Doe"]);
        assert_eq!(found("no file in /home/jane today"), ["jane"]);
        assert_eq!(found("/Users/Shared/x"), [""; 0]);
        assert_eq!(found("operator/"), [""; 0]);
    }

    #[test]
    fn paths_in_sentences_end() {
        let found = |text: &'static str| in_sentence(text, 0).map(|(start, end)| &text[start..end]);
        for (text, path) in [
            ("cannot read /Users/jane/a b/c.swift:12", Some("/Users/jane/a b/c.swift")),
            ("(lambda at /home/jane/x.cpp:3:4)", Some("/home/jane/x.cpp")),
            ("opened '/tmp/a', and more", Some("/tmp/a")),
            ("at /var/x is nothing", Some("/var/x")),
            ("C:\\Users\\jane\\x.txt: gone", Some("C:\\Users\\jane\\x.txt")),
            ("operator/(int, int)", None),
            ("https://example.org/Users/x", None),
            ("file:///Users/jane/x", Some("file:///Users/jane/x")),
        ] {
            assert_eq!(found(text), path, "{text}");
        }
    }

    #[test]
    fn identifiers_are_known() {
        for text in ["CF383450-E70D-57EA-9E23-76E6791524B1", "00008110-001A2C3E0E91801E"] {
            assert!(is_identifier(text), "{text}");
        }
        for text in ["Orchard", "17.0", "", "-", "abcdefgh-aaaa-aaaa-aaaa-aaaaaaaaaaaa"] {
            assert!(!is_identifier(text), "{text}");
        }
    }
}
