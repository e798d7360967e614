//! `<special-name>`: objects and functions that the compiler generates for a type, a function or a variable.

use super::Parser;
use crate::demangle::cpp::node::{Id, Step};

impl Parser<'_> {
    /// `T…` and `G…`
    pub(super) fn special_name(&mut self) -> Option<Id> {
        let letters = [self.peek(), self.peek_at(1)];
        self.at += 2;
        let prefix = match &letters {
            b"TV" => "vtable for ",
            b"TT" => "VTT for ",
            b"TI" => "typeinfo for ",
            b"TS" => "typeinfo name for ",
            b"TA" => "template parameter object for ",
            b"TW" => "thread-local wrapper routine for ",
            b"TH" => "thread-local initialization routine for ",
            b"GV" => "guard variable for ",
            b"GR" => "reference temporary for ",
            b"GI" => "initializer for module ",
            b"TC" => return self.construction_vtable(),
            b"Tc" => return self.covariant_thunk(),
            [b'T', _] => return self.thunk(),
            _ => return None,
        };
        let of = match letters[1] {
            b'V' | b'T' | b'I' | b'S' if letters[0] == b'T' => self.ty()?,
            b'A' => self.template_argument()?,
            b'I' => self.module_name(None)??,
            b'R' => self.reference_temporary()?,
            _ => self.name(None)?,
        };
        Some(self.prefixed(prefix, of))
    }

    /// `GR <object name> [<seq-id>] _`; without a number, the underscore may be missing as well.
    fn reference_temporary(&mut self) -> Option<Id> {
        let name = self.name(None)?;
        let has_number = self.sequence_number().is_some();
        let is_ended = self.eat(b'_');
        (is_ended || !has_number).then_some(name)
    }

    /// `TC <derived type> <offset> _ <base type>`
    fn construction_vtable(&mut self) -> Option<Id> {
        let derived = self.ty()?;
        self.offset()?;
        self.expect(b'_')?;
        let base = self.ty()?;
        Some(self.phrase(&[
            Step::Text("construction vtable for "),
            Step::Whole(base),
            Step::Text("-in-"),
            Step::Whole(derived),
        ]))
    }

    /// `Tc <call-offset> <call-offset> <encoding>`
    fn covariant_thunk(&mut self) -> Option<Id> {
        self.call_offset()?;
        self.call_offset()?;
        let encoding = self.encoding()?;
        Some(self.prefixed("covariant return thunk to ", encoding))
    }

    /// `T <call-offset> <encoding>`
    fn thunk(&mut self) -> Option<Id> {
        self.at -= 1;
        let prefix = if self.peek() == b'v' { "virtual thunk to " } else { "non-virtual thunk to " };
        self.call_offset()?;
        let encoding = self.encoding()?;
        Some(self.prefixed(prefix, encoding))
    }

    /// `h <offset> _` or `v <offset> _ <offset> _`
    fn call_offset(&mut self) -> Option<()> {
        let is_virtual = self.eat(b'v');
        if !is_virtual {
            self.expect(b'h')?;
        }
        self.offset()?;
        self.expect(b'_')?;
        if is_virtual {
            self.offset()?;
            self.expect(b'_')?;
        }
        Some(())
    }

    /// A number, which may be negative and is not printed.
    fn offset(&mut self) -> Option<()> {
        let number = self.number(true);
        (!number.is_empty()).then_some(())
    }
}
