//! Decides whether two names denote the same function.

/// True if two names, one recorded and one from a symbol file, denote the same function.
///
/// Demanglers differ in spaces, result types, template arguments, and how much of a Swift module they write. Only qualifiers that both names have
/// are therefore compared: `Widget.draw` equals `Demo.Widget.draw`, but `A::init` does not equal `B::init`.
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

/// True if a name has parts besides its path, such as a closure in a function, or a trait. Such names match only if they are equal.
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

/// Splits a name into its path: `ns`, `Foo`, `bar` for `void ns::Foo<int>::bar<char>(char const*) const`. The name of an Objective-C method is
/// one part.
fn qualified_name(name: &str) -> Vec<String> {
    if name.starts_with("-[") || name.starts_with("+[") {
        return vec![name.to_owned()];
    }
    let name = name.split(" in ").next().unwrap_or(name);
    let mut flat = String::with_capacity(name.len());
    let mut depth = 0_usize;
    let bytes: Vec<char> = name.chars().collect();
    for (index, &c) in bytes.iter().enumerate() {
        // The brackets of `operator<`, `operator<<`, `operator->` and `operator()` belong to the name.
        let is_operator = depth == 0
            && flat.rsplit("operator").next().is_some_and(|after| {
                flat.contains("operator") && after.chars().all(|c| "<>-=".contains(c)) && after.len() < 3
            });
        match c {
            '<' | '>' | '-' | '=' if is_operator => flat.push(c),
            '<' | '(' | '[' | '{' => depth += 1,
            // The `>` of `->` is not a closing bracket.
            '>' if depth > 0 && index > 0 && bytes[index - 1] == '-' => {}
            '>' | ')' | ']' | '}' if depth > 0 => depth -= 1,
            _ if depth == 0 => flat.push(c),
            _ => {}
        }
    }
    let flat = flat.trim().trim_end_matches(" const").trim();
    // A Swift result type follows an arrow; a C++ result type precedes a space.
    let flat = flat.split(" -> ").next().unwrap_or(flat).trim();
    let flat = match flat.rfind("operator") {
        // The space in `operator bool` and `operator new` does not end a result type.
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
