//! Decides which mangled Swift names are safe to demangle.
//!
//! Swift's demangler is written in C++, for names from a compiler. Names in a symbol file may be anything, and some end the process: `$sRv_`
//! is 5 bytes long and calls `abort`, 160 bytes of substitutions expand to 100 MB, and 20 KB of nested types overflow the stack. No caller can
//! recover from this, so names are checked here first, as far as possible without a demangler: the operators and their operands, and the size of
//! everything that they refer to. The fuzz target in `tests/fuzz/swift` searches for unsafe names that pass.

/// Longer names stay mangled. Each byte may add a level of nesting, which takes up to 256 bytes of stack.
const LONGEST: usize = 4 << 10;
/// Names that may expand to more than this stay mangled. Names above 4 KiB are not displayed anyway.
const LARGEST: u64 = 1 << 20;
/// More deeply nested names stay mangled. A level is up to four nodes of the demangler. If a function returns an opaque type, the demangler
/// fails an assertion at 1,024 nodes.
const DEEPEST: u32 = 200;
/// The maximum length of the unread rest of a name with opaque types: each byte of it may be a level.
const LONGEST_END: usize = 100;
/// The maximum number of repetitions of one operator; the demangler rejects more.
const MOST_REPEATED: u64 = 2_048;

/// True if demangling this name can neither end the process nor take long.
pub(super) fn is_harmless(name: &str) -> bool {
    let start = name.trim_start_matches('_');
    let mangled = ["$s", "$S", "$e", "T0"].iter().find_map(|prefix| start.strip_prefix(prefix));
    // Control bytes refer to memory of a running program; other scripts are encoded in ASCII.
    name.len() <= LONGEST && name.bytes().all(|byte| byte.is_ascii_graphic()) && mangled.is_some_and(check)
}

fn check(mangled: &str) -> bool {
    let mut reader = Reader { bytes: mangled.as_bytes(), ..Reader::default() };
    loop {
        match reader.operator() {
            Read::Operator if reader.total <= LARGEST && reader.deepest <= DEEPEST => {}
            Read::Operator | Read::Refused => return false,
            Read::End => return true,
            Read::Unknown => return reader.may_end_with(&mangled[reader.start..]),
        }
    }
}

/// The result of reading an operator.
enum Read {
    Operator,
    End,
    /// An operator that is not listed here, so the bytes after it may be anything.
    Unknown,
    /// The demangler would abort.
    Refused,
}

/// A node on the operator stack. Its size is an upper bound for its printed length.
#[derive(Clone, Copy, Default)]
struct Node {
    kind: Kind,
    size: u64,
    /// The nesting depth of this node and the nodes below it.
    depth: u32,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Kind {
    Identifier,
    /// `y`, an empty list.
    Empty,
    /// `_`, after the first element of a list.
    First,
    /// Function attributes: `throws`, `async`.
    Annotation,
    /// `Qr`, the opaque type that a function returns.
    Opaque,
    #[default]
    Other,
}

#[derive(Default)]
struct Reader<'n> {
    bytes: &'n [u8],
    at: usize,
    /// The start of the last operator.
    start: usize,
    nodes: Vec<Node>,
    /// Combines the nodes at the bottom of the stack, which can no longer be distinguished.
    below: Node,
    /// The words and types that `A` can refer to.
    known: Vec<Node>,
    /// The sizes of all pushed nodes.
    total: u64,
    longest: u64,
    deepest: u32,
    /// Whether there was a thunk, and whether there was an opaque type.
    has_thunk: bool,
    has_opaque: bool,
}

impl Reader<'_> {
    fn operator(&mut self) -> Read {
        self.start = self.at;
        let Some(operator) = self.next() else { return Read::End };
        let is_known = match operator {
            b'0'..=b'9' => {
                self.at = self.start;
                self.identifier()
            }
            b'A' => self.substitutions(),
            b'S' => self.standard_type(),
            b'C' | b'V' | b'O' | b'P' | b'a' => self.define(2),
            b'G' => self.bound_generic(),
            b'y' => self.push(Kind::Empty, 1),
            b'_' => self.push(Kind::First, 1),
            b'x' | b's' | b'd' => self.push(Kind::Other, 8),
            b'q' => self.parameter().and_then(|()| self.push(Kind::Other, 8)),
            b'K' => self.push(Kind::Annotation, 8),
            b'm' | b'n' | b'z' | b'h' => self.wrap(1),
            b'o' => self.next().and_then(|_| self.rename(1)),
            b't' | b'p' => self.list(),
            b'c' => self.function_type(),
            b'X' | b'Y' | b'B' | b'L' => self.part_of_type(operator),
            // The demangler remangles the function that returns an opaque type, and asserts that it is an ordinary function. This fails in a thunk,
            // and for an opaque type inside another.
            b'Q' if matches!(self.peek(), Some(b'r' | b'R')) && (self.has_thunk || self.has_opaque) => {
                return Read::Refused;
            }
            b'Q' => self.part_of_type(operator),
            b'R' if matches!(self.peek(), Some(b'v' | b'V')) => return Read::Refused,
            b'D' => return Read::Refused,
            // Macro expansions: the demangler uses their context without checking it.
            b'f' if self.peek() == Some(b'M') => return Read::Refused,
            b'R' | b'f' | b'H' | b'T' => self.part_of_entity(operator),
            b'E' | b'F' | b'Z' | b'l' | b'u' => self.merge(),
            b'r' => self.parameter_counts(),
            b'v' | b'i' => self.accessor(),
            b'g' => self.index().and_then(|()| self.merge()),
            b'I' => self.lowered_function(),
            // The demangler copies everything after it.
            b'.' => return Read::End,
            _ => None,
        };
        if is_known.is_some() { Read::Operator } else { Read::Unknown }
    }

    /// True if the rest of a name is harmless with any operators.
    fn may_end_with(&self, rest: &str) -> bool {
        let mut size = self.total.max(1);
        for (at, _) in rest.match_indices('A') {
            let digits = rest[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
            let letters = rest[at + 1 + digits..].bytes().take_while(u8::is_ascii_lowercase).count();
            let repeated = if digits > 0 { MOST_REPEATED } else { 1 };
            size = size.saturating_mul(1 + repeated).saturating_mul(1 << letters.min(32));
        }
        // A specialisation ends with a `_`; without one, the demangler loops forever.
        let is_ended = rest.rfind("Tf").is_none_or(|at| rest[at..].contains('_'));
        let is_shallow = rest.len() <= LONGEST_END || !self.bytes.contains(&b'Q');
        let is_whole = if self.has_opaque {
            !rest.contains(['F', 'v', 'i'])
        } else {
            !rest.contains("Qr") && !rest.contains("QR")
        };
        is_shallow
            && is_whole
            && is_ended
            && !["D", "Rv", "RV", "fM"].iter().any(|operator| rest.contains(operator))
            && size <= LARGEST
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn number(&mut self) -> Option<u64> {
        let digits = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(&self.bytes[self.at..self.at + digits]).ok()?.parse().ok()?;
        self.at += digits;
        Some(number)
    }

    /// `_`, or a number and `_`.
    fn index(&mut self) -> Option<()> {
        if !self.skip(b'_') {
            self.number()?;
            return self.skip(b'_').then_some(());
        }
        Some(())
    }

    /// Reads the index of a generic parameter.
    fn parameter(&mut self) -> Option<()> {
        if self.skip(b'd') {
            self.index()?;
            return self.index();
        }
        if self.skip(b'z') || self.skip(b's') { Some(()) } else { self.index() }
    }

    fn push(&mut self, kind: Kind, size: u64) -> Option<()> {
        self.push_node(Node { kind, size, depth: 0 })
    }

    fn push_node(&mut self, node: Node) -> Option<()> {
        self.total = self.total.saturating_add(node.size);
        self.nodes.push(node);
        Some(())
    }

    /// Creates a node that contains these nodes.
    fn around(&mut self, nodes: impl IntoIterator<Item = Node>) -> Node {
        let around = |node: Node, inner: Node| Node {
            size: node.size.saturating_add(inner.size),
            depth: node.depth.max(inner.depth + 1),
            ..node
        };
        let node = nodes.into_iter().fold(Node { kind: Kind::Other, size: 8, depth: 0 }, around);
        self.deepest = self.deepest.max(node.depth);
        node
    }

    fn top(&self) -> Option<Kind> {
        self.nodes.last().map(|node| node.kind)
    }

    /// Replaces nodes with one that contains them.
    fn wrap(&mut self, count: usize) -> Option<()> {
        let taken: Vec<Node> = (0..count).map(|_| self.nodes.pop().unwrap_or(self.below)).collect();
        if taken.iter().any(|node| node.kind == Kind::Opaque) {
            // This would be the opaque type of a function, and the demangler may be unable to remangle anything around it.
            self.total = u64::MAX;
        }
        let node = self.around(taken);
        self.nodes.push(node);
        Some(())
    }

    /// Like [`wrap`](Self::wrap), and the result can be referred to.
    fn define(&mut self, count: usize) -> Option<()> {
        self.wrap(count)?;
        self.known.extend(self.nodes.last());
        Some(())
    }

    fn rename(&mut self, count: usize) -> Option<()> {
        self.wrap(count)?;
        if let Some(node) = self.nodes.last_mut() {
            node.kind = Kind::Identifier;
        }
        Some(())
    }

    /// Handles an operator that takes all nodes of some kind: from now on, all nodes are treated as one.
    fn merge(&mut self) -> Option<()> {
        let mut nodes = std::mem::take(&mut self.nodes);
        nodes.push(self.below);
        self.below = self.around(nodes);
        Some(())
    }

    /// Like [`merge`](Self::merge), and the result can be referred to.
    fn merge_and_define(&mut self) -> Option<()> {
        self.merge()?;
        self.known.push(self.below);
        Some(())
    }

    fn identifier(&mut self) -> Option<()> {
        let mut size = 0_u64;
        let mut has_words = false;
        let mut is_punycode = false;
        if self.skip(b'0') {
            is_punycode = self.skip(b'0');
            has_words = !is_punycode;
        }
        loop {
            while let Some(word) = self.peek().filter(|byte| has_words && byte.is_ascii_alphabetic()) {
                self.at += 1;
                has_words = word.is_ascii_lowercase();
                size = size.saturating_add(self.longest);
            }
            if self.skip(b'0') {
                break;
            }
            let length = usize::try_from(self.number()?).ok().filter(|&length| length > 0)?;
            if is_punycode {
                self.skip(b'_');
            }
            self.at = self.at.checked_add(length).filter(|&end| end <= self.bytes.len())?;
            // One letter of Punycode may encode a character of up to four bytes.
            size = size.saturating_add(if is_punycode { 4 } else { 1 } * length as u64);
            self.longest = self.longest.max(length as u64);
            if !has_words {
                break;
            }
        }
        self.push(Kind::Identifier, size)?;
        self.known.extend(self.nodes.last());
        Some(())
    }

    /// `AbC`: the known nodes 1 and 2; `A3B`: 1, three times; `A_`, `A0_`: 26, 27.
    fn substitutions(&mut self) -> Option<()> {
        let mut number = None;
        loop {
            let byte = self.next()?;
            let (index, repeated, is_last) = match byte {
                b'a'..=b'z' => (u64::from(byte - b'a'), number.take().unwrap_or(1), false),
                b'A'..=b'Z' => (u64::from(byte - b'A'), number.take().unwrap_or(1), true),
                b'_' => (number.map_or(26, |number: u64| number.saturating_add(27)), 1, true),
                _ => {
                    self.at -= 1;
                    number = Some(self.number()?);
                    continue;
                }
            };
            // The demangler stops here if there is no such node.
            let node = *self.known.get(usize::try_from(index).ok()?)?;
            for _ in 0..repeated.clamp(1, MOST_REPEATED) {
                self.push_node(node)?;
            }
            if is_last {
                return Some(());
            }
        }
    }

    fn standard_type(&mut self) -> Option<()> {
        match self.next()? {
            b'o' | b'C' => self.push(Kind::Other, 16),
            b'g' => self.define(1),
            first => {
                self.at -= 1;
                let repeated = if first.is_ascii_digit() { self.number()? } else { 1 };
                self.skip(b'c');
                self.next()?;
                // The length of the longest standard library name with a one-letter abbreviation.
                (0..repeated.clamp(1, MOST_REPEATED)).try_for_each(|_| self.push(Kind::Other, 48))
            }
        }
    }

    /// Takes the arguments down to the empty list, and the type that they belong to.
    fn bound_generic(&mut self) -> Option<()> {
        let count = self.nodes.iter().rev().take_while(|node| node.kind != Kind::Empty).count();
        self.define((count + 2).min(self.nodes.len() + 1))
    }

    /// Takes the elements down to the mark after the first one, which may have a label or a context; or an empty list.
    fn list(&mut self) -> Option<()> {
        if self.top() == Some(Kind::Empty) {
            return self.wrap(1);
        }
        let count = self.nodes.iter().rev().take_while(|node| node.kind != Kind::First).count();
        let below = self.nodes.len().checked_sub(count + 2)?;
        let has_name = self.nodes[below].kind == Kind::Identifier;
        self.wrap(count + 2 + usize::from(has_name))
    }

    fn function_type(&mut self) -> Option<()> {
        let annotations = self.nodes.iter().rev().take_while(|node| node.kind == Kind::Annotation).count();
        self.wrap(annotations + 2)
    }

    /// Operators of two letters, after the first one: special types, annotations, local names, opaque and associated types.
    fn part_of_type(&mut self, first: u8) -> Option<()> {
        match (first, self.next()?) {
            (b'X', b'E' | b'A' | b'f' | b'K' | b'U' | b'L' | b'B' | b'C') => self.function_type(),
            (b'X', b'p' | b'w' | b'W' | b'u' | b'o') | (b'Y', b'i' | b'k' | b't' | b'g' | b'u') => self.wrap(1),
            (b'X', b'M' | b'm') => self.next().and_then(|_| self.wrap(1)),
            (b'Y', b'a' | b'A' | b'b' | b'T') => self.push(Kind::Annotation, 16),
            (b'Y', b'K' | b'c') => {
                self.wrap(1)?;
                self.nodes.last_mut()?.kind = Kind::Annotation;
                Some(())
            }
            (b'B', b'b' | b'B' | b'o' | b'O' | b'p' | b'w') => self.push(Kind::Other, 32),
            (b'L', b'L') => self.rename(2),
            (b'L', b'l') => None,
            (b'L', _) => {
                self.at -= 1;
                self.index()?;
                self.rename(1)
            }
            (b'Q', b'r') => {
                self.has_opaque = true;
                self.push(Kind::Opaque, 8)
            }
            (b'Q', b'O') => self.wrap(1),
            (b'Q', b'o') => self.index().and_then(|()| self.merge_and_define()),
            (b'Q', b'x' | b'X' | b'z' | b'Z') => self.merge_and_define(),
            (b'Q', b'y' | b'Y') => self.parameter().and_then(|()| self.merge_and_define()),
            _ => None,
        }
    }

    /// Operators of two letters, after the first one: requirements, conformances, compiler-generated functions, and thunks.
    fn part_of_entity(&mut self, first: u8) -> Option<()> {
        self.has_thunk |= first == b'T';
        match (first, self.next()?) {
            (b'R', b'b' | b's' | b'h') => self.parameter().and_then(|()| self.merge()),
            (b'R', b'c' | b'C' | b't' | b'T' | b'p' | b'P') => self.parameter().and_then(|()| self.merge_and_define()),
            (b'R', b'B' | b'S' | b'Q') | (b'H', b'P' | b'p' | b'C' | b'X') => self.merge(),
            (b'R', b'i') => {
                self.index()?;
                self.parameter().and_then(|()| self.merge())
            }
            (b'R', b'd' | b'z' | b'_' | b'0'..=b'9') => {
                self.at -= 1;
                self.parameter().and_then(|()| self.merge())
            }
            (b'H', b'A' | b'D' | b'I') | (b'f', b'U' | b'u' | b'A') => self.index().and_then(|()| self.merge()),
            (b'f', b'D' | b'd' | b'E' | b'e' | b'i' | b'C' | b'c' | b'P' | b'W' | b'F' | b'Z') => self.merge(),
            (b'T', b'Y' | b'Q' | b'z' | b'Z') => self.index().and_then(|()| self.merge()),
            (b'T', letter) if b"cjqoODdEFaAmXxIuVWSRry".contains(&letter) => self.merge(),
            // The specialised function, and the compiler pass.
            (b'T', b'g' | b'G' | b'B' | b's' | b'i') => {
                for flag in *b"mqar" {
                    self.skip(flag);
                }
                self.next().filter(u8::is_ascii_digit)?;
                self.merge()
            }
            _ => None,
        }
    }

    fn parameter_counts(&mut self) -> Option<()> {
        while !self.skip(b'l') {
            if !self.skip(b'z') {
                self.index()?;
            }
        }
        self.merge()
    }

    fn accessor(&mut self) -> Option<()> {
        if matches!(self.next()?, b'a' | b'l') {
            self.next()?;
        }
        self.merge()
    }

    /// Reads conventions of one letter each, up to a `_`. One of them is followed by a name.
    fn lowered_function(&mut self) -> Option<()> {
        while !self.skip(b'_') {
            self.next().filter(|byte| byte.is_ascii_alphabetic() && *byte != b'z')?;
        }
        self.merge()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function with one parameter, whose type is a pair of pairs of pairs …
    fn pairs(levels: usize) -> String {
        let known = |index: usize| match index {
            0..26 => format!("A{}", char::from(b'A' + index as u8)),
            26 => "A_".to_owned(),
            _ => format!("A{}_", index - 27),
        };
        let ends: String = (4..3 + levels).map(|index| known(index) + "G").collect();
        format!("$s4main1fyyAA1AVy{}S2iG{ends}_tF", "ADy".repeat(levels - 1))
    }

    #[test]
    fn ordinary_names_pass() {
        for name in [
            "$s4Demo6WidgetC4draw5scaleS2i_tF",
            "_$s4Demo6WidgetC4draw5scaleS2i_tF",
            "$s4Demo3runyySi4left_SS5righttF",
            "$s4Demo5OuterV5InnerO4caseyA2EmF",
            "$s4Demo3runyyxlFAA3BoxVySiG_SSSgTg5Tf4gd_n",
            "$s4Demo3readyS2SF_TB520$s4Demo6NSDataV1fyyFTf1cn_n",
            "$sSDySSypGSSIeggo_SDySSypGSSIegnr_TR",
            "$s4Demo3runyySDyAA1KVypGAA1KVSHAAHPyHCg_F",
            "$s7SwiftUI15ModifiedContentVyACyAA4TextVAA14_PaddingLayoutVGAA25_AppearanceActionModifierVG",
            "$s7SwiftUI4ViewPAAE10background_9alignmentQrqd___AA9AlignmentVtAaBRd__lF",
            "$s4Demo11ContentViewV4bodyQrvg7SwiftUI05TupleC0VyAE4TextV_AE5ImageVtGyXEfU_",
        ] {
            assert!(is_harmless(name), "{name}");
        }
    }

    #[test]
    fn names_that_end_the_process_do_not() {
        for name in [
            "$sRv_BD",
            "_T0$Rv_",
            "$sySHD1_",
            "$s4Demo6ARViewC4drawyyRv_",
            "$sSpXpSnySpDSX",
            "$eTf4np",
            "$s4Demol1LLlfMf_lllll",
            "$s3Dem1yTyyTg5yyyllyTOyd3runQrSgF",
            "$s4Demo3runyySDySSSiGF4Demo3runyySFySSQrGF",
            "$s4Demo11ConVte6ti$sSyyS22eGvg1SV4bo$yQrvg1wV4bo$yQrvg7SVQO4rAfUW",
            "_$sSsxxxTf4p",
            "$s4D\u{1}abcd",
            "$s4Dem\u{e9}",
        ] {
            assert!(!is_harmless(name), "{name}");
        }
        let deep = |levels: usize| format!("$s4Demo3runyQrSi{}F", "m".repeat(levels));
        assert!(is_harmless(&deep(100)) && !is_harmless(&deep(600)), "opaque types are mangled again");
        assert!(is_harmless("$s4Demo6ARViewC4drawyyF"), "names of types are no operators");
    }

    #[test]
    fn names_that_expand_without_end_do_not() {
        assert!(is_harmless(&pairs(6)));
        assert!(!is_harmless(&pairs(24)) && !is_harmless(&pairs(300)));
        assert!(!is_harmless("$s4main1fyy4main1AVyS2048iGA2048AtA2048AtA2048AtA2048At_tF"));
        assert!(!is_harmless(&format!("$s4main1fyySi{}_tF", "m".repeat(20_000))), "the stack would overflow");
    }
}
