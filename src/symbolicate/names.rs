//! Names for people: demangling, and whether two spellings mean one function.

use std::borrow::Cow;
use std::fmt::Write;

use symbolic_common::{Language, Name, NameMangling};
use symbolic_demangle::{Demangle, DemangleOptions};

use super::swift_names::is_harmless;

/// Longest name that is shown demangled. The demanglers of C++ and Swift have the same bound.
pub const MAX_DEMANGLED: usize = 4_096;

/// A function's name as it is shown: C++, Rust and Swift demangled, everything else as it is.
///
/// A name that would be longer than [`MAX_DEMANGLED`] bytes stays as it is.
///
/// The spelling is Instruments' where demanglers differ, so that a function has one name whoever named it: Rust without
/// its hash, Swift with labels but without types and modules, C++ with `>>`, `id<P>` and `1ull`.
pub fn display_name(name: &str) -> Cow<'_, str> {
    if !may_be_mangled(name) {
        return Cow::Borrowed(name);
    }
    if is_swift(name) {
        if !is_harmless(name) {
            return Cow::Borrowed(name);
        }
        let options = DemangleOptions::name_only().parameters(true);
        let demangled = Name::new(name, NameMangling::Mangled, Language::Swift).demangle(options);
        return demangled.map_or(Cow::Borrowed(name), |text| Cow::Owned(without_swift_types(&text)));
    }
    if let Ok(demangled) = rustc_demangle::try_demangle(name) {
        let mut text = Bounded(String::new());
        // A name that repeats itself may be a million times as long as it is mangled.
        let is_short = write!(text, "{demangled:#}").is_ok();
        return if is_short { named(name, &text.0) } else { Cow::Borrowed(name) };
    }
    // Objective-C methods, blocks and C names come back as they are.
    let text = Name::new(name, NameMangling::Mangled, Language::Unknown);
    let demangled = text.try_demangle(DemangleOptions::complete());
    let demangled = if is_constructor_template(name) { without_parameters(&demangled) } else { demangled };
    named(name, &demangled)
}

/// The name, demangled. `_ZNE` is well-formed, and the name of nothing: it says more as it is.
fn named<'n>(name: &'n str, demangled: &str) -> Cow<'n, str> {
    if demangled.trim().is_empty() { Cow::Borrowed(name) } else { Cow::Owned(respell_cpp(demangled)) }
}

/// A text that refuses to grow beyond the longest name.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if self.0.len() + text.len() > MAX_DEMANGLED {
            return Err(std::fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// Whether a mangled name is that of a constructor or destructor with template arguments of its own. The demangler takes
/// the first parameter of such a one for a result type, which constructors do not have, and leaves it out.
fn is_constructor_template(name: &str) -> bool {
    let is_template = |window: &[u8]| matches!(window, [b'C', b'1'..=b'3', b'I'] | [b'D', b'0'..=b'2', b'I']);
    name.trim_start_matches('_').starts_with("ZN") && name.as_bytes().windows(3).any(is_template)
}

/// `Foo<int>(…)`: that there are parameters which are not known is better than parameters that are wrong.
fn without_parameters(name: &str) -> Cow<'_, str> {
    let Some(inner) = name.strip_suffix(')') else { return Cow::Borrowed(name) };
    let mut depth = 1;
    for (index, byte) in inner.bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Cow::Owned(format!("{}(…)", &inner[..index]));
        }
    }
    Cow::Borrowed(name)
}

fn is_swift(name: &str) -> bool {
    let start = name.trim_start_matches('_');
    ["$s", "$S", "$e", "T0"].iter().any(|prefix| start.starts_with(prefix))
}

/// `draw(scale:_:)` of `draw(scale: Int, _: (A, B) -> C)`.
fn without_swift_types(name: &str) -> String {
    let Some(open) = parameter_list(name) else { return name.to_owned() };
    let (mut labels, mut depth, mut is_type) = (String::new(), 0_i32, false);
    let mut start = open + 1;
    let bytes = name.as_bytes();
    let mut index = open + 1;
    while index < bytes.len() {
        match bytes[index] {
            b'(' | b'<' | b'[' => depth += 1,
            b'>' if bytes[index - 1] == b'-' => {}
            b')' | b'>' | b']' if depth > 0 => depth -= 1,
            b':' if depth == 0 && !is_type => {
                labels.push_str(name[start..index].trim());
                labels.push(':');
                is_type = true;
            }
            separator @ (b',' | b')') if depth == 0 => {
                // A parameter without a label.
                if !is_type && !name[start..index].trim().is_empty() {
                    labels.push_str("_:");
                }
                (is_type, start) = (false, index + 1);
                if separator == b')' {
                    break;
                }
            }
            _ => {}
        }
        index += 1;
    }
    let rest = bytes.get(index + 1..).map_or("", |_| &name[index + 1..]);
    // What a closure or an accessor belongs to follows its own parameters.
    let rest = rest.split(" -> ").next().unwrap_or(rest);
    format!(
        "{}({labels}){}",
        &name[..open],
        if rest.starts_with(" in ") { without_swift_types(rest) } else { String::new() }
    )
}

/// Where the parameters of a Swift function start.
fn parameter_list(name: &str) -> Option<usize> {
    let mut depth = 0_i32;
    for (index, byte) in name.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' if index > 0 && name.as_bytes()[index - 1] != b'-' => depth -= 1,
            b'(' if depth == 0 && index > 0 && name.as_bytes()[index - 1] != b' ' => return Some(index),
            _ => {}
        }
    }
    None
}

/// The spelling of Apple's C++ demangler.
fn respell_cpp(name: &str) -> String {
    let mut name = name.to_owned();
    while name.contains("> >") {
        name = name.replace("> >", ">>");
    }
    for (cast, suffix) in [
        ("(unsigned long long)", "ull"),
        ("(unsigned long)", "ul"),
        ("(unsigned int)", "u"),
        ("(long long)", "ll"),
        ("(long)", "l"),
        ("(int)", ""),
    ] {
        name = replace_numbers(&name, cast, |digits| format!("{digits}{suffix}"));
    }
    name = replace_numbers(&name, "(bool)", |digits| (if digits == "0" { "false" } else { "true" }).to_owned());
    objc_protocols(&name)
}

/// Replaces `PREFIX` and the number behind it.
fn replace_numbers(name: &str, prefix: &str, text: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find(prefix) {
        let number = &rest[at + prefix.len()..];
        let sign = usize::from(number.starts_with('-'));
        let digits = number[sign..].bytes().take_while(u8::is_ascii_digit).count();
        let end = if digits == 0 { 0 } else { sign + digits };
        out.push_str(&rest[..at]);
        match end {
            0 => out.push_str(prefix),
            _ => out.push_str(&text(&number[..end])),
        }
        rest = &number[end..];
    }
    out.push_str(rest);
    out
}

/// `id<P>` for `objc_object objcproto1P*`: a protocol has its length before its name, as all mangled names do.
fn objc_protocols(name: &str) -> String {
    const PREFIX: &str = "objc_object objcproto";
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find(PREFIX) {
        let tail = &rest[at + PREFIX.len()..];
        let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
        let length = tail[..digits].parse::<usize>().unwrap_or(0);
        let protocol = tail.get(digits..digits.saturating_add(length)).filter(|protocol| !protocol.is_empty());
        out.push_str(&rest[..at]);
        match protocol.and_then(|protocol| Some((protocol, tail[digits + length..].strip_prefix('*')?))) {
            Some((protocol, after)) => {
                out.push_str(&format!("id<{protocol}>"));
                rest = after;
            }
            None => {
                out.push_str(PREFIX);
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Whether a name starts as mangled ones do; demanglers are slow to say no.
fn may_be_mangled(name: &str) -> bool {
    let start = name.trim_start_matches('_');
    ["Z", "R", "T", "$s", "$S", "$e", "?"].iter().any(|prefix| start.starts_with(prefix)) && start.len() > 2
}

/// Whether two names, from the recording and from a symbol file, mean one function.
///
/// Demanglers differ in spaces, in result types, in template arguments and in how much of a Swift module they spell out,
/// so what counts is the name with its qualifiers, as far as both have them: `Widget.draw` is `Demo.Widget.draw`, but
/// `A::init` is not `B::init`.
pub(super) fn is_same_function(one: &str, other: &str) -> bool {
    if without_spaces(one).eq(without_spaces(other)) {
        return true;
    }
    if has_particulars(one) || has_particulars(other) {
        return false;
    }
    let (one, other) = (qualified_name(one), qualified_name(other));
    !one.is_empty() && !other.is_empty() && (one.ends_with(&other) || other.ends_with(&one))
}

fn without_spaces(name: &str) -> impl Iterator<Item = char> + '_ {
    name.chars().filter(|c| !c.is_whitespace())
}

/// Whether a name says more than a path: which closure, of which function, for which trait. Two such names are the same
/// only if they are spelled the same.
fn has_particulars(name: &str) -> bool {
    const PARTICULARS: [&str; 17] = [
        "{",
        "#",
        "'",
        " in ",
        " as ",
        "(*",
        "_block_invoke",
        "invocation function",
        "operator()",
        "operator[]",
        "new[]",
        "delete[]",
        " infix",
        "outlined ",
        "vtable",
        " for ",
        "thunk",
    ];
    PARTICULARS.iter().any(|word| name.contains(word))
}

/// `ns`, `Foo`, `bar` of `void ns::Foo<int>::bar<char>(char const*) const`; the whole of an Objective-C method.
fn qualified_name(name: &str) -> Vec<String> {
    if name.starts_with("-[") || name.starts_with("+[") {
        return vec![name.to_owned()];
    }
    let name = name.split(" in ").next().unwrap_or(name);
    let mut flat = String::with_capacity(name.len());
    let mut depth = 0_usize;
    let bytes: Vec<char> = name.chars().collect();
    for (index, &c) in bytes.iter().enumerate() {
        // `operator<`, `operator<<`, `operator->`, `operator()`: brackets that are names.
        let is_operator = depth == 0
            && flat.rsplit("operator").next().is_some_and(|after| {
                flat.contains("operator") && after.chars().all(|c| "<>-=".contains(c)) && after.len() < 3
            });
        match c {
            '<' | '>' | '-' | '=' if is_operator => flat.push(c),
            '<' | '(' | '[' | '{' => depth += 1,
            // `->` closes nothing.
            '>' if depth > 0 && index > 0 && bytes[index - 1] == '-' => {}
            '>' | ')' | ']' | '}' if depth > 0 => depth -= 1,
            _ if depth == 0 => flat.push(c),
            _ => {}
        }
    }
    let flat = flat.trim().trim_end_matches(" const").trim();
    // A Swift result type stands behind an arrow, a C++ one before a space.
    let flat = flat.split(" -> ").next().unwrap_or(flat).trim();
    let flat = match flat.rfind("operator") {
        // `operator bool` and `operator new` hold a space that ends no result type.
        Some(operator) => flat[..operator].rfind(' ').map_or(flat, |space| &flat[space + 1..]),
        None => flat.rsplit(' ').next().unwrap_or(flat),
    };
    let parts = flat.split("::").flat_map(|part| part.split('.')).map(|part| part.trim_start_matches('_'));
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_demangled_once_they_are_mangled() {
        for (mangled, shown) in [
            ("_ZN3foo3barEi", "foo::bar(int)"),
            ("__ZN3foo3barEi", "foo::bar(int)"),
            ("_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place"),
            ("_RNvCs1234_7orchard3foo", "orchard::foo"),
            ("main", "main"),
            ("_$s4Demo6WidgetC4draw5scaleS2i_tF", "Widget.draw(scale:)"),
            ("_Z1fIXmlEEvv", "_Z1fIXmlEEvv"),
            ("__ZNE", "__ZNE"),
            ("_ZN17h0123456789abcdefE", "_ZN17h0123456789abcdefE"),
            ("_ZN1AILy1EE1fEv", "A<1ull>::f()"),
            ("_ZN1AI1BI1CEE1fEv", "A<B<C>>::f()"),
            ("_Z1fPU11objcproto1P11objc_object", "f(id<P>)"),
            ("_ZN3FooC2IiEET_", "Foo::Foo<int>(…)"),
            ("_ZN3FooC2Ei", "Foo::Foo(int)"),
            ("-[Widget draw:]", "-[Widget draw:]"),
            ("__28+[Widget shared]_block_invoke", "__28+[Widget shared]_block_invoke"),
        ] {
            assert_eq!(display_name(mangled), shown);
        }
    }

    #[test]
    fn spellings_of_one_function_are_the_same() {
        for (one, other) in [
            ("foo::bar(int)", "foo::bar(int)"),
            ("void ns::Foo<int>::bar<char>(char const*) const", "ns::Foo<int>::bar<char>(const char *) const"),
            ("boost::invoke<int>(int)", "void boost::invoke<int>(int)"),
            ("Widget.draw(scale:)", "Demo.Widget.draw(scale: Swift.Int) -> Swift.Int"),
            ("_main", "main"),
            ("tick", "paint::tick(int)"),
            ("(anonymous namespace)::run(int)", "app::(anonymous namespace)::run(int)"),
            ("A::operator bool() const", "A::operator bool()"),
        ] {
            assert!(
                is_same_function(one, other),
                "{one} / {other}: {:?} / {:?}",
                qualified_name(one),
                qualified_name(other)
            );
        }
        for (one, other) in [
            ("foo::bar()", "foo::baz()"),
            ("-[A b]", "-[A c]"),
            ("other::Widget::tick(long)", "paint::tick(int)"),
            ("A::init()", "B::init()"),
            ("closure #1 in X.a()", "closure #1 in Y.a()"),
            ("<A as Debug>::fmt", "<B as Debug>::fmt"),
            ("a::foo::{{closure}}", "a::foo"),
            ("operator()(int)", "operator[](int)"),
            ("invocation function for block in foo()", "invocation function for block in bar()"),
            ("__28+[Widget x]_block_invoke", "__28+[Gadget x]_block_invoke"),
            ("operator<(A, B)", "operator>(A, B)"),
        ] {
            assert!(!is_same_function(one, other), "{one} / {other}");
        }
    }
}
