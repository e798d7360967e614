//! `<expr-primary>`: literals, and functions and variables as values.

use super::Parser;
use super::ty::builtin_type;
use crate::demangle::cpp::node::{FloatKind, Id, Node, Step};

impl Parser<'_> {
    /// `L … E`
    pub(super) fn literal(&mut self) -> Option<Id> {
        self.expect(b'L')?;
        let letter = self.peek();
        let literal = match letter {
            b'_' => {
                self.eat_all(b"_Z").then_some(())?;
                self.encoding()?
            }
            b'f' => self.float(FloatKind::Float, 8)?,
            b'd' => self.float(FloatKind::Double, 16)?,
            b'e' => self.float(FloatKind::LongDouble, 20)?,
            b'b' => self.boolean()?,
            b'A' => {
                // The characters are not mangled.
                let ty = self.ty()?;
                self.phrase(&[Step::Text("\"<"), Step::Whole(ty), Step::Text(">\"")])
            }
            b'D' if self.eat_all(b"Dn") => {
                self.eat(b'0');
                self.fixed("nullptr")
            }
            b'U' if self.peek_at(1) == b'l' => {
                let (_, signature) = self.closure_type()?;
                self.phrase(&[Step::Text("[]"), Step::Whole(signature), Step::Text("{...}")])
            }
            // In a correct name, a template parameter has been replaced by its argument.
            b'D' | b'U' | b'T' => return None,
            _ => self.number_of_type(letter)?,
        };
        self.expect(b'E')?;
        Some(literal)
    }

    fn number_of_type(&mut self, letter: u8) -> Option<Id> {
        let suffix = integer_suffix(letter);
        let ty = match suffix {
            Some(text) => {
                self.at += 1;
                Step::Text(text)
            }
            None => Step::Whole(self.ty()?),
        };
        let value = self.number(true);
        if value.is_empty() {
            return None;
        }
        // A short text is a suffix.
        Some(if suffix.is_some_and(|text| text.len() <= 3) {
            self.phrase(&[Step::Number(value), ty])
        } else {
            self.phrase(&[Step::Text("("), ty, Step::Text(")"), Step::Number(value)])
        })
    }

    fn boolean(&mut self) -> Option<Id> {
        self.expect(b'b')?;
        let text = match self.peek() {
            b'0' => "false",
            b'1' => "true",
            _ => return None,
        };
        self.at += 1;
        Some(self.fixed(text))
    }

    /// The bytes of a number in hexadecimal digits.
    fn float(&mut self, kind: FloatKind, digit_count: usize) -> Option<Id> {
        self.at += 1;
        let digits = self.bytes.get(self.at..self.at + digit_count)?;
        if !digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
            return None;
        }
        let start = self.at;
        self.at += digit_count;
        let digits = self.slice(start);
        Some(self.add(Node::Float { kind, digits }))
    }
}

/// Returns the text printed with an integer: a suffix, or the type in parentheses if C++ has no suffix for it.
fn integer_suffix(letter: u8) -> Option<&'static str> {
    match letter {
        b'i' => Some(""),
        b'j' => Some("u"),
        b'l' => Some("l"),
        b'm' => Some("ul"),
        b'x' => Some("ll"),
        b'y' => Some("ull"),
        b'w' | b'c' | b'a' | b'h' | b's' | b't' | b'n' | b'o' => builtin_type(letter),
        _ => None,
    }
}
