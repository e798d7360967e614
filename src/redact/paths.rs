//! Splits paths into the part that is kept, since it describes code, and the folder before it, which identifies a person or a machine.
//!
//! ```text
//! /usr/lib/libobjc.A.dylib                                        all of it
//! /Users/jane/Library/Developer/Xcode/DerivedData/App-abc/…/App.app/Contents/MacOS/App
//!                                                                 App.app/Contents/MacOS/App for the app; otherwise the last part
//! /Users/jane/Library/Developer/Xcode/iOS DeviceSupport/17.0/Symbols/usr/lib/libz.dylib
//!                                                                 iOS DeviceSupport/17.0/Symbols/usr/lib/libz.dylib
//! C:\Users\jane\src\app.cpp                                       app.cpp
//! ```

/// A split path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Split<'p> {
    /// The part before the hidden one, with its slash: `/System/Volumes/Data/`, `file:///`, `/`, or nothing.
    pub(super) start: &'p str,
    /// The folder to hide, without a trailing slash; empty if the complete path is kept.
    pub(super) hidden: &'p str,
    /// The part to keep, without a leading slash.
    pub(super) kept: &'p str,
    /// The separator between them.
    pub(super) separator: char,
}

/// System folders, which are the same on every machine. They include the folders that identify system code (`profile::Category`).
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

/// System folders with files that are specific to a machine.
const OWN_FOLDERS: [&str; 2] = ["/System/Volumes/Data/", "/usr/local/"];

/// How a path in a copy of the system, or in Xcode, is recognised: a part of the path, and the root folder of the copy, if there is one.
const COPIES: [(&str, Option<&str>); 3] =
    [("DeviceSupport/", Some("/Symbols")), (".simruntime/", Some("/RuntimeRoot")), (".app/Contents/Developer/", None)];

/// Splits a path; `bundles` are folders of the app, whose contents are all kept.
pub(super) fn split<'p>(path: &'p str, bundles: &[String]) -> Split<'p> {
    if let Some(at) = is_file_url(path).then(|| path[7..].find('/')).flatten() {
        // If the folder is hidden, the host is hidden as well.
        let rest = split(&path[7 + at..], bundles);
        return match rest.hidden.is_empty() {
            true => Split { start: &path[..7], ..rest },
            false => Split { start: "file:///", ..rest },
        };
    }
    if is_windows(path) {
        let at = path.rfind(['\\', '/']).unwrap_or(0);
        return Split {
            start: "",
            hidden: &path[..at],
            kept: &path[at + 1..],
            separator: char::from(path.as_bytes()[at]),
        };
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

fn is_file_url(path: &str) -> bool {
    path.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("file://"))
}

/// True for `C:\…`, `\\server\…`, and any other path that has only backslashes.
fn is_windows(path: &str) -> bool {
    let is_drive = path.as_bytes().get(1..3).is_some_and(|rest| rest == b":\\" || rest == b":/");
    (is_drive && path.as_bytes()[0].is_ascii_alphabetic()) || (path.contains('\\') && !path.contains('/'))
}

pub(super) fn is_system(path: &str) -> bool {
    SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder)) && !OWN_FOLDERS.iter().any(|own| path.starts_with(own))
}

/// Splits a path in a copy of the system: keeps the part inside the copy, and hides its location.
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

fn at(path: &str, slash: usize) -> Split<'_> {
    let start = &path[..usize::from(path.starts_with('/'))];
    Split { start, hidden: &path[start.len().min(slash)..slash], kept: &path[slash + 1..], separator: '/' }
}

/// Root folders that contain people's files on some machines, in lower case.
const OWN_ROOTS: [&str; 12] = [
    "/users/",
    "/home/",
    "/volumes/",
    "/private/",
    "/var/",
    "/tmp/",
    "/opt/",
    "/applications/",
    "/library/",
    "/root/",
    "/system/volumes/data/",
    "/usr/local/",
];

/// True for a path below a folder with people's files.
pub(super) fn is_own_root(path: &str) -> bool {
    OWN_ROOTS.iter().any(|root| path.get(..root.len()).is_some_and(|start| start.eq_ignore_ascii_case(root)))
}

/// Splits a path with percent-encoded slashes into the part before the folder, the folder, and the rest.
pub(super) fn split_encoded(path: &str) -> Option<(&str, &str, &str)> {
    if path.contains(['/', '\\']) {
        return None;
    }
    let slashes: Vec<usize> = path.to_ascii_lowercase().match_indices("%2f").map(|(at, _)| at).collect();
    let first = slashes.first()?;
    let begins = slashes.iter().zip(0..).take_while(|&(&at, index)| at == first + 3 * index).last()?.0 + 3;
    let last = *slashes.last()?;
    let is_of_system = || {
        SYSTEM_FOLDERS.iter().any(|folder| {
            path[begins..].to_ascii_lowercase().replace("%2f", "/").starts_with(&folder[1..].to_ascii_lowercase())
        })
    };
    (last > begins && !is_of_system()).then(|| (&path[..begins], &path[begins..last], &path[last..]))
}

/// A user named in text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct User {
    pub(super) name: String,
    /// True if the name is certainly a complete folder name, including spaces.
    pub(super) is_folder: bool,
}

/// Returns the users whose home folders occur in text: `jane` in `/Users/jane/x`, `/home/jane/x`, `C:\Users\jane\x` and `~jane/x`.
pub(super) fn users(text: &str) -> impl Iterator<Item = User> {
    const HOMES: [&str; 7] =
        ["/users/", "/home/", "\\users\\", "\\home\\", "%2fusers%2f", "%2fhome%2f", "documents and settings\\"];
    let is_possible = text.contains(['/', '\\']) || text.contains("%2");
    let small = if is_possible { text.to_ascii_lowercase() } else { String::new() };
    let homes =
        HOMES.iter().flat_map(|home| small.match_indices(home).map(|(at, home)| at + home.len()).collect::<Vec<_>>());
    let tildes = small
        .match_indices('~')
        .filter(|&(at, _)| !small[..at].ends_with(|char: char| char.is_alphanumeric() || ":_~".contains(char)));
    let tildes: Vec<usize> = tildes.map(|(at, _)| at + 1).filter(|&at| is_account(&small[at..])).collect();
    let starts: Vec<usize> = homes.chain(tildes).collect();
    starts.into_iter().filter_map(|start| user(&text[start..], &small[start..])).collect::<Vec<_>>().into_iter()
}

/// True for `jane/x` after a tilde.
fn is_account(rest: &str) -> bool {
    let end = rest.find(|char: char| !(char.is_alphanumeric() || "._-".contains(char))).unwrap_or(rest.len());
    end > 0 && rest[end..].starts_with('/')
}

/// Returns the user whose home folder is at the start of the text.
fn user(rest: &str, small: &str) -> Option<User> {
    let leading = rest.len() - rest.trim_start_matches(['/', '\\']).len();
    let (rest, small) = (&rest[leading..], &small[leading..]);
    // In a sentence, it ends at a character that folder names do not contain.
    let end = rest.find(['/', '\\', '"', '\n', ':', ')', ',']).unwrap_or(rest.len());
    let end = small.find("%2f").map_or(end, |encoded| encoded.min(end));
    // Another path may start there.
    let is_open = rest[..end].ends_with([' ', '(', '[', '\'', '‘', '“', '=', '~']);
    let is_folder = rest[end..].starts_with(['/', '\\', '%']) && !is_open;
    let user = if is_folder { &rest[..end] } else { rest[..end].split([' ', '\'', '’', '>', ']', ';', '&']).next()? };
    let user = if is_folder { user } else { user.trim_end_matches('.') };
    let name = user.replace("%20", " ");
    let is_person = !name.is_empty() && !["shared", "guest", ".", ".."].contains(&name.to_ascii_lowercase().as_str());
    is_person.then_some(User { name, is_folder })
}

/// True for a part of a path that is a UUID, or looks like one of Apple's device numbers.
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
        let found = |text| users(text).map(|user| user.name).collect::<Vec<_>>();
        assert_eq!(found("/Users/jane/x"), ["jane"]);
        assert_eq!(found("C:\\Users\\Jane Doe\\x"), ["Jane Doe"]);
        assert_eq!(found("no file in /home/jane today"), ["jane"]);
        assert_eq!(found("/Users/Shared/x"), [""; 0]);
        assert_eq!(found("operator/"), [""; 0]);
        assert_eq!(found("c:\\users\\bobwin\\x ~carol/x Foo::~Foo() ~Foo"), ["bobwin", "carol"]);
        assert_eq!(found("url=file%3A%2F%2F%2FUsers%2Fmary%20smith%2Fsecret"), ["mary smith"]);
        assert_eq!(found("in '/Users/jane'. Then /Users/bob."), ["jane", "bob"]);
    }

    #[test]
    fn encoded_paths_are_split() {
        assert_eq!(
            split_encoded("file%3A%2F%2F%2FUsers%2Fj%20d%2fa%2Fx.c"),
            Some(("file%3A%2F%2F%2F", "Users%2Fj%20d%2fa", "%2Fx.c"))
        );
        for path in ["a%2Fx.c", "%2Fusr%2Flib%2Fx", "/a%2Fb%2Fc", "%2F%2Fx"] {
            assert_eq!(
                split_encoded(path).filter(|(start, ..)| start.starts_with('%') || path.contains('/')),
                None,
                "{path}"
            );
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
