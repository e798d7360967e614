//! Types of lowered functions, with the ownership of their values.
//!
//! ```text
//! XFo_oSSiSi_dSb_    @callee_owned (@owned String, @in Int) -> (@unowned Bool)
//! ```

use super::super::node::{Form, Id, Part};
use super::Reader;

impl Reader<'_> {
    /// Reads what follows `XF`.
    pub(super) fn implementation(&mut self) -> Option<Id> {
        let callee = match self.next()? {
            b't' => "@convention(thin) ",
            b'd' => "@callee_unowned ",
            b'g' => "@callee_guaranteed ",
            b'o' => "@callee_owned ",
            _ => return None,
        };
        let mut parts = vec![Part::Text(callee)];
        if self.skip("C") {
            parts.push(Part::Text(self.convention()?));
        }
        if self.skip("G") || self.skip("g") {
            parts.extend([Part::Node(self.signature()?), Part::Text(" ")]);
        }
        self.expect("_")?;
        parts.push(Part::Text("("));
        let parameters = self.list(Self::implementation_parameter)?;
        separated(&mut parts, &parameters);
        parts.push(Part::Text(") -> ("));
        let results = self.list(Self::implementation_result)?;
        separated(&mut parts, &results);
        parts.push(Part::Text(")"));
        self.phrase(Form::Open, parts)
    }

    fn convention(&mut self) -> Option<&'static str> {
        match self.next()? {
            b'b' => Some("@convention(block) "),
            b'c' => Some("@convention(c) "),
            b'm' => Some("@convention(method) "),
            b'O' => Some("@convention(objc_method) "),
            b'w' => Some("@convention(witness_method) "),
            _ => None,
        }
    }

    fn implementation_parameter(&mut self) -> Option<[Part; 3]> {
        let ownership = match self.next()? {
            b'd' => "@unowned ",
            b'g' => "@guaranteed ",
            b'e' => "@deallocating ",
            b'i' => "@in ",
            b'l' => "@inout ",
            b'o' => "@owned ",
            _ => return None,
        };
        Some([Part::Text(""), Part::Text(ownership), Part::Node(self.ty()?)])
    }

    fn implementation_result(&mut self) -> Option<[Part; 3]> {
        let error = if self.skip("z") { "@error " } else { "" };
        let ownership = match self.next()? {
            b'a' => "@autoreleased ",
            b'd' => "@unowned ",
            b'D' => "@unowned_inner_pointer ",
            b'i' => "@out ",
            b'o' => "@owned ",
            _ => return None,
        };
        Some([Part::Text(error), Part::Text(ownership), Part::Node(self.ty()?)])
    }
}

fn separated(parts: &mut Vec<Part>, items: &[[Part; 3]]) {
    for (index, item) in items.iter().enumerate() {
        parts.push(Part::Text(if index > 0 { ", " } else { "" }));
        parts.extend(item);
    }
}
