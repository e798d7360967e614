//! Invented names: ordinary ones, and ones that cause problems for readers.

/// Thread names, the most difficult first: they look like the text around them, need escaping, or are not ASCII.
pub const THREAD_NAMES: [&str; 14] = [
    "Press #2 (cider)  0xbeef (Mill, pid: 12)",
    "pulp & <seeds> \"raw\"",
    "Kühlhaus ← Süd",
    "collector thread#4 (Parallel)",
    "it's (0x1f) idle",
    "果樹園",
    "",
    "Main Thread",
    "worker (2)",
    "com.orchard.harvest.queue",
    "picker_main(basket*)",
    "orchard::Tree<Apple, 3>::shake() const",
    "render",
    "worker (1)",
];

pub const PROCESS_NAMES: [&str; 6] =
    ["Orchard", "cider-press (beta)", "Mühle & Söhne", "kernel_task", "a.out", "Orchard Helper"];

pub const STATES: [&str; 6] = ["Running", "Blocked", "Runnable", "Preempted", "Interrupted", "Idle"];

const PLAIN: [&str; 12] = [
    "start",
    "main",
    "shake_tree",
    "sort_by_size",
    "memmove_fast",
    "basket_push",
    "_worker_entry",
    "count_pips",
    "press",
    "peel",
    "weigh_",
    "___bucket_find",
];

const NOUNS: [&str; 10] = ["Apple", "Basket", "Branch", "Crate", "Grove", "Ladder", "Orchard", "Pip", "Press", "Scale"];

const VERBS: [&str; 10] = ["count", "find", "fold", "graft", "harvest", "insert", "merge", "prune", "sort", "weigh"];

/// The kinds of function names an export shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameStyle {
    C,
    Cpp,
    CppTemplate,
    ObjectiveC,
    Swift,
    Rust,
    Block,
    NotAscii,
}

impl NameStyle {
    pub const ALL: [NameStyle; 8] = [
        NameStyle::C,
        NameStyle::Cpp,
        NameStyle::CppTemplate,
        NameStyle::ObjectiveC,
        NameStyle::Swift,
        NameStyle::Rust,
        NameStyle::Block,
        NameStyle::NotAscii,
    ];
}

/// A function name of the given style. Different numbers give different names.
pub fn function_name(style: NameStyle, number: u64) -> String {
    let noun = NOUNS[(number % 10) as usize];
    let other = NOUNS[(number / 10 % 10) as usize];
    let verb = VERBS[(number / 3 % 10) as usize];
    match style {
        NameStyle::C => format!("{}{number}", PLAIN[(number % 12) as usize]),
        NameStyle::Cpp => {
            format!("orchard::{noun}{number}::{verb}({other} const&, unsigned long, bool&&) const")
        }
        NameStyle::CppTemplate => format!(
            "std::map<orchard::{noun}, std::vector<{other}*>, std::less<{number}>>::operator<<({noun}&, char const*)"
        ),
        NameStyle::ObjectiveC => format!("-[OR{noun}Controller{number} {verb}:with{other}:]"),
        NameStyle::Swift => format!("closure #{} in {noun}{number}.{verb}<A>(_:{other}:)", 1 + number % 4),
        NameStyle::Rust => format!(
            "_$LT$orchard..{noun}$u20$as$u20$core..iter..Iterator$GT$::{verb}::h{:016x}",
            number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ),
        NameStyle::Block => {
            format!(
                "invocation function for block in {noun}::{verb}{number}(void ({other} const*, bool&) block_pointer)"
            )
        }
        NameStyle::NotAscii => format!("größe_{number}(\"{verb}\" & 'μ' ← {noun}; ok)"),
    }
}

/// The displayed form of a name, in the simplest way: Rust names get their punctuation back and lose their hash.
pub fn shown(name: &str) -> String {
    match name.rsplit_once("::h") {
        Some((path, hash)) if hash.len() == 16 => {
            let path = path.strip_prefix("_$").map_or(path.to_owned(), |rest| format!("${rest}"));
            [("$LT$", "<"), ("$GT$", ">"), ("$u20$", " "), ("$u7b$", "{"), ("$u7d$", "}"), ("..", "::"), ("$RF$", "&")]
                .iter()
                .fold(path, |path, (escape, text)| path.replace(escape, text))
        }
        _ => name.to_owned(),
    }
}

/// The name and path of an image.
pub fn image_name(number: usize) -> (String, String) {
    match number % 5 {
        0 => (
            format!("Orchard{number}"),
            format!("/Users/dev/Orchard/Build/Orchard{number}.app/Contents/MacOS/Orchard{number}"),
        ),
        1 => (format!("liborchard{number}.dylib"), format!("/usr/local/lib/orchard/liborchard{number}.dylib")),
        2 => (
            format!("Grove & Co {number}"),
            format!("/Applications/Grove & Co {number}.app/Contents/MacOS/Grove & Co {number}"),
        ),
        3 => (
            format!("ObstKörbe{number}"),
            format!("/Users/dev/Körbe/ObstKörbe{number}.framework/Versions/A/ObstKörbe{number}"),
        ),
        _ => (format!("Press{number}.debug.dylib"), format!("/Users/dev/Library/Developer/Press{number}.debug.dylib")),
    }
}

/// A UUID formatted as in exports.
pub fn uuid(high: u64, low: u64) -> String {
    let digits = format!("{high:016X}{low:016X}");
    format!("{}-{}-{}-{}-{}", &digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..])
}

/// A name as an element of folded stacks. It escapes `;`, line breaks, and `%` if it looks like one of these escapes.
pub fn escaped(name: &str) -> String {
    let is_escape = |text: &str| ["3B", "0A", "0D", "25"].iter().any(|code| text.starts_with(code));
    let escape = |(at, c): (usize, char)| match c {
        ';' => "%3B".to_owned(),
        '\n' => "%0A".to_owned(),
        '\r' => "%0D".to_owned(),
        '%' if is_escape(&name[at + 1..]) => "%25".to_owned(),
        c => c.to_string(),
    };
    name.char_indices().map(escape).collect()
}
