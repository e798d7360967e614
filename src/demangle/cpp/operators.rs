//! The operators: their two letters, their spelling, and their precedence.

/// The precedence of an expression, from tightest to loosest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::demangle) enum Precedence {
    Primary,
    Postfix,
    Unary,
    Cast,
    PointerToMember,
    Multiplicative,
    Additive,
    Shift,
    ThreeWay,
    Relational,
    Equality,
    And,
    ExclusiveOr,
    Or,
    LogicalAnd,
    LogicalOr,
    Conditional,
    Assignment,
    Comma,
}

/// How an operator's operands are mangled and printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demangle) enum Form {
    Binary,
    Prefix,
    /// `++` and `--`; if `_` follows the letters, the operand is on the right.
    Postfix,
    Subscript,
    /// `.`, `->`, `.*`, `->*`. LLVM accepts only `->` as the name of a function.
    Member {
        is_name: bool,
    },
    New {
        is_array: bool,
    },
    Delete {
        is_array: bool,
    },
    Call,
    /// `cv`: a conversion operator as a name, a cast in an expression.
    Conversion,
    Conditional,
    /// `co_await`, which only occurs as the name of a function.
    NameOnly,
    /// `static_cast` and similar operators, which are not names.
    NamedCast,
    /// `sizeof` and similar operators for a type or an expression, which are not names.
    Query {
        of_type: bool,
    },
}

impl Form {
    /// True if a function can be named `operator…` with this operator.
    pub(in crate::demangle) fn is_name(self) -> bool {
        !matches!(self, Self::NamedCast | Self::Query { .. } | Self::Member { is_name: false } | Self::Conversion)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(in crate::demangle) struct Operator {
    letters: [u8; 2],
    pub(in crate::demangle) form: Form,
    pub(in crate::demangle) precedence: Precedence,
    /// The name of the function, such as `operator+`; otherwise the text before the operands.
    pub(in crate::demangle) name: &'static str,
}

impl Operator {
    /// Returns `+` for `operator+`.
    pub(in crate::demangle) fn symbol(&self) -> &'static str {
        self.name.strip_prefix("operator").map_or(self.name, str::trim_start)
    }

    pub(in crate::demangle) fn find(letters: [u8; 2]) -> Option<&'static Self> {
        OPERATORS.binary_search_by_key(&letters, |operator| operator.letters).ok().map(|index| &OPERATORS[index])
    }
}

const fn operator(letters: [u8; 2], form: Form, precedence: Precedence, name: &'static str) -> Operator {
    Operator { letters, form, precedence, name }
}

const UNNAMED: Form = Form::Member { is_name: false };

/// Sorted by letters.
static OPERATORS: [Operator; 62] = {
    use Form::{Binary, NamedCast, Prefix, Query};
    use Precedence as P;
    [
        operator(*b"aN", Binary, P::Assignment, "operator&="),
        operator(*b"aS", Binary, P::Assignment, "operator="),
        operator(*b"aa", Binary, P::LogicalAnd, "operator&&"),
        operator(*b"ad", Prefix, P::Unary, "operator&"),
        operator(*b"an", Binary, P::And, "operator&"),
        operator(*b"at", Query { of_type: true }, P::Unary, "alignof "),
        operator(*b"aw", Form::NameOnly, P::Primary, "operator co_await"),
        operator(*b"az", Query { of_type: false }, P::Unary, "alignof "),
        operator(*b"cc", NamedCast, P::Postfix, "const_cast"),
        operator(*b"cl", Form::Call, P::Postfix, "operator()"),
        operator(*b"cm", Binary, P::Comma, "operator,"),
        operator(*b"co", Prefix, P::Unary, "operator~"),
        operator(*b"cv", Form::Conversion, P::Cast, "operator"),
        operator(*b"dV", Binary, P::Assignment, "operator/="),
        operator(*b"da", Form::Delete { is_array: true }, P::Unary, "operator delete[]"),
        operator(*b"dc", NamedCast, P::Postfix, "dynamic_cast"),
        operator(*b"de", Prefix, P::Unary, "operator*"),
        operator(*b"dl", Form::Delete { is_array: false }, P::Unary, "operator delete"),
        operator(*b"ds", UNNAMED, P::PointerToMember, "operator.*"),
        operator(*b"dt", UNNAMED, P::Postfix, "operator."),
        operator(*b"dv", Binary, P::Multiplicative, "operator/"),
        operator(*b"eO", Binary, P::Assignment, "operator^="),
        operator(*b"eo", Binary, P::ExclusiveOr, "operator^"),
        operator(*b"eq", Binary, P::Equality, "operator=="),
        operator(*b"ge", Binary, P::Relational, "operator>="),
        operator(*b"gt", Binary, P::Relational, "operator>"),
        operator(*b"ix", Form::Subscript, P::Postfix, "operator[]"),
        operator(*b"lS", Binary, P::Assignment, "operator<<="),
        operator(*b"le", Binary, P::Relational, "operator<="),
        operator(*b"ls", Binary, P::Shift, "operator<<"),
        operator(*b"lt", Binary, P::Relational, "operator<"),
        operator(*b"mI", Binary, P::Assignment, "operator-="),
        operator(*b"mL", Binary, P::Assignment, "operator*="),
        operator(*b"mi", Binary, P::Additive, "operator-"),
        operator(*b"ml", Binary, P::Multiplicative, "operator*"),
        operator(*b"mm", Form::Postfix, P::Postfix, "operator--"),
        operator(*b"na", Form::New { is_array: true }, P::Unary, "operator new[]"),
        operator(*b"ne", Binary, P::Equality, "operator!="),
        operator(*b"ng", Prefix, P::Unary, "operator-"),
        operator(*b"nt", Prefix, P::Unary, "operator!"),
        operator(*b"nw", Form::New { is_array: false }, P::Unary, "operator new"),
        operator(*b"oR", Binary, P::Assignment, "operator|="),
        operator(*b"oo", Binary, P::LogicalOr, "operator||"),
        operator(*b"or", Binary, P::Or, "operator|"),
        operator(*b"pL", Binary, P::Assignment, "operator+="),
        operator(*b"pl", Binary, P::Additive, "operator+"),
        operator(*b"pm", UNNAMED, P::PointerToMember, "operator->*"),
        operator(*b"pp", Form::Postfix, P::Postfix, "operator++"),
        operator(*b"ps", Prefix, P::Unary, "operator+"),
        operator(*b"pt", Form::Member { is_name: true }, P::Postfix, "operator->"),
        operator(*b"qu", Form::Conditional, P::Conditional, "operator?"),
        operator(*b"rM", Binary, P::Assignment, "operator%="),
        operator(*b"rS", Binary, P::Assignment, "operator>>="),
        operator(*b"rc", NamedCast, P::Postfix, "reinterpret_cast"),
        operator(*b"rm", Binary, P::Multiplicative, "operator%"),
        operator(*b"rs", Binary, P::Shift, "operator>>"),
        operator(*b"sc", NamedCast, P::Postfix, "static_cast"),
        operator(*b"ss", Binary, P::ThreeWay, "operator<=>"),
        operator(*b"st", Query { of_type: true }, P::Unary, "sizeof "),
        operator(*b"sz", Query { of_type: false }, P::Unary, "sizeof "),
        operator(*b"te", Query { of_type: false }, P::Postfix, "typeid "),
        operator(*b"ti", Query { of_type: true }, P::Postfix, "typeid "),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_found_by_their_letters() {
        assert!(OPERATORS.is_sorted_by(|one, next| one.letters < next.letters));
        assert_eq!(Operator::find(*b"ss").map(Operator::symbol), Some("<=>"));
        assert_eq!(Operator::find(*b"na").map(Operator::symbol), Some("new[]"));
        assert_eq!(Operator::find(*b"zz"), None);
    }
}
