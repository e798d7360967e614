//! `<expression>`

use super::{Item, Parser};
use crate::demangle::cpp::node::{Id, List, Node};
use crate::demangle::cpp::operators::{Form, Operator, Precedence};

impl Parser<'_> {
    /// `<expression>`
    pub(super) fn expression(&mut self) -> Option<Id> {
        self.nested(|parser| {
            let is_global = parser.eat_all(b"gs");
            match parser.operator_letters() {
                Some(operator) => parser.operation(operator, is_global),
                None => parser.primary(is_global),
            }
        })
    }

    /// Expressions until `E`
    fn expressions(&mut self) -> Option<List> {
        self.list_to_end(Self::expression)
    }

    /// Reads the operands, which follow the letters of an operator.
    fn operation(&mut self, operator: &'static Operator, is_global: bool) -> Option<Id> {
        let node = match operator.form {
            Form::Binary => {
                let left = self.expression()?;
                Node::Binary { left, operator, right: self.expression()? }
            }
            Form::Prefix => Node::Unary { operator, operand: self.expression()? },
            Form::Postfix => return self.increment(operator),
            Form::Subscript => {
                let array = self.expression()?;
                Node::Subscript { array, index: self.expression()? }
            }
            Form::Member { .. } => {
                let object = self.expression()?;
                Node::Member { object, operator, member: self.expression()? }
            }
            Form::New { is_array } => self.new_expression(is_array, is_global)?,
            Form::Delete { is_array } => Node::Delete { operand: self.expression()?, is_array, is_global },
            Form::Call => {
                let callee = self.expression()?;
                Node::Call { callee, arguments: self.expressions()? }
            }
            Form::Conversion => self.conversion()?,
            Form::Conditional => {
                let condition = self.expression()?;
                let yes = self.expression()?;
                Node::Conditional { condition, yes, no: self.expression()? }
            }
            Form::NamedCast => {
                let ty = self.ty()?;
                Node::NamedCast { operator, ty, value: self.expression()? }
            }
            Form::Query { of_type } => {
                let inner = if of_type { self.ty()? } else { self.expression()? };
                Node::Enclosed { prefix: operator.name, inner }
            }
            Form::NameOnly => return None,
        };
        Some(self.arena.add_expression(node, operator.precedence))
    }

    /// `pp <expression>`, `pp_ <expression>`
    fn increment(&mut self, operator: &'static Operator) -> Option<Id> {
        let is_prefix = self.eat(b'_');
        let operand = self.expression()?;
        let node = if is_prefix { Node::Unary { operator, operand } } else { Node::Postfix { operator, operand } };
        Some(self.arena.add_expression(node, operator.precedence))
    }

    /// `nw <expression>* _ <type> [pi <expression>*] E`
    fn new_expression(&mut self, is_array: bool, is_global: bool) -> Option<Node> {
        let placement =
            self.list(|parser| if parser.eat(b'_') { Some(Item::End) } else { parser.expression().map(Item::Is) })?;
        let ty = self.ty()?;
        let has_initializers = self.eat_all(b"pi");
        let initializers = self.list_to_end(|parser| if has_initializers { parser.expression() } else { None })?;
        Some(Node::New { placement, ty, initializers, is_array, is_global })
    }

    /// `cv <type> <expression>`, `cv <type> _ <expression>* E`
    fn conversion(&mut self) -> Option<Node> {
        let takes_arguments = std::mem::replace(&mut self.takes_arguments, false);
        let ty = self.ty();
        self.takes_arguments = takes_arguments;
        let ty = ty?;
        let values = if self.eat(b'_') {
            self.expressions()?
        } else {
            let value = self.expression()?;
            self.arena.add_list(&[value])
        };
        Some(Node::Conversion { ty, values })
    }

    /// Expressions that do not begin with the letters of an operator.
    fn primary(&mut self, is_global: bool) -> Option<Id> {
        match [self.peek(), self.peek_at(1)] {
            [b'L', _] => self.literal(),
            [b'T', _] => self.template_parameter(),
            [b'f', b'p'] => self.function_parameter(),
            [b'f', b'L'] if self.peek_at(2).is_ascii_digit() => self.function_parameter(),
            [b'f', _] => self.fold(),
            [b'u', _] => self.vendor_expression(),
            [b'r', b'q' | b'Q'] => self.requires_expression(),
            letters => {
                let start = self.at;
                self.at += 2;
                match self.lettered(letters) {
                    Lettered::Is(expression) => expression,
                    Lettered::Not => {
                        self.at = start;
                        self.unresolved_name(is_global)
                    }
                }
            }
        }
    }

    /// Expressions that begin with letters other than an operator's.
    fn lettered(&mut self, letters: [u8; 2]) -> Lettered {
        Lettered::Is(match &letters {
            b"il" => self.braces(false),
            b"tl" => self.braces(true),
            b"mc" => self.member_pointer_conversion(),
            b"nx" => self.expression().map(|inner| {
                let node = Node::Enclosed { prefix: "noexcept ", inner };
                self.arena.add_expression(node, Precedence::Unary)
            }),
            b"so" => self.subobject(),
            b"sp" => self.expression().map(|pattern| self.add(Node::Expansion(pattern))),
            b"sZ" => self.sizeof_pack(),
            b"sP" => self
                .list_to_end(Self::template_argument)
                .map(|items| self.add(Node::EnclosedList { prefix: "sizeof... ", items })),
            b"tr" => Some(self.fixed("throw")),
            b"tw" => self.expression().map(|operand| self.add(Node::Prefixed("throw ", operand))),
            _ => return Lettered::Not,
        })
    }

    /// `fpT`, `fp [<CV-qualifiers>] [<number>] _`, `fL <number> p [<CV-qualifiers>] [<number>] _`
    fn function_parameter(&mut self) -> Option<Id> {
        if self.eat_all(b"fpT") {
            return Some(self.fixed("this"));
        }
        if !self.eat_all(b"fp") {
            self.eat_all(b"fL").then_some(())?;
            self.number(false);
            self.expect(b'p')?;
        }
        self.qualifiers();
        let number = self.number(false);
        self.expect(b'_')?;
        Some(self.add(Node::FunctionParameter(number)))
    }

    /// `fl`, `fr <operator-name> <pack>`; `fL <operator-name> <initial> <pack>`, `fR <operator-name> <pack> <initial>`
    fn fold(&mut self) -> Option<Id> {
        let letter = self.peek_at(1);
        if !matches!(letter, b'l' | b'r' | b'L' | b'R') {
            return None;
        }
        self.at += 2;
        let operator = self.operator_letters()?;
        match operator.form {
            Form::Binary => {}
            Form::Member { .. } if operator.precedence == Precedence::PointerToMember => {}
            _ => return None,
        }
        let is_left = matches!(letter, b'l' | b'L');
        let mut pack = self.expression()?;
        let mut initial = None;
        if matches!(letter, b'L' | b'R') {
            let second = self.expression()?;
            if is_left {
                (pack, initial) = (second, Some(pack));
            } else {
                initial = Some(second);
            }
        }
        Some(self.add(Node::Fold { operator, pack, initial, is_left }))
    }

    /// `sZ <template-param>`, `sZ <function-param>`
    fn sizeof_pack(&mut self) -> Option<Id> {
        if self.peek() == b'T' {
            let pack = self.template_parameter()?;
            return Some(self.add(Node::SizeofPack(pack)));
        }
        let inner = self.function_parameter()?;
        Some(self.add(Node::Enclosed { prefix: "sizeof... ", inner }))
    }

    /// `mc <type> <expression> [<offset>] E`
    fn member_pointer_conversion(&mut self) -> Option<Id> {
        let ty = self.ty()?;
        let value = self.expression()?;
        self.number(true);
        self.expect(b'E')?;
        let values = self.arena.add_list(&[value]);
        Some(self.arena.add_expression(Node::Conversion { ty, values }, Precedence::Cast))
    }

    /// `so <type> <expression> [<offset>] (_ [<number>])* [p] E`; the numbers distinguish members of unions and are not shown
    fn subobject(&mut self) -> Option<Id> {
        let ty = self.ty()?;
        let value = self.expression()?;
        let offset = self.number(true);
        while self.eat(b'_') {
            self.number(false);
        }
        self.eat(b'p');
        self.expect(b'E')?;
        Some(self.add(Node::Subobject { ty, value, offset }))
    }

    /// `u <source-name> <template-arg>* E`, and Microsoft's `u8__uuidoft <type>`, `u8__uuidofz <expression>`
    fn vendor_expression(&mut self) -> Option<Id> {
        self.expect(b'u')?;
        let name = self.identifier()?;
        let callee = self.add(Node::Name(name));
        let arguments = if self.text(name) == "__uuidof" && matches!(self.peek(), b't' | b'z') {
            let is_type = self.eat(b't');
            let of = if is_type {
                self.ty()?
            } else {
                self.expect(b'z')?;
                self.expression()?
            };
            self.arena.add_list(&[of])
        } else {
            self.list_to_end(Self::template_argument)?
        };
        Some(self.arena.add_expression(Node::Call { callee, arguments }, Precedence::Postfix))
    }

    // Braces.

    /// `il <braced-expression>* E`, `tl <type> <braced-expression>* E`
    fn braces(&mut self, has_type: bool) -> Option<Id> {
        let ty = if has_type { Some(self.ty()?) } else { None };
        let items = self.list_to_end(Self::braced_expression)?;
        Some(self.add(Node::Braces { ty, items }))
    }

    /// `<expression>`, `di <field source-name> <braced-expression>`, `dx <index> …`, `dX <first> <last> …`
    fn braced_expression(&mut self) -> Option<Id> {
        self.nested(|parser| {
            let letters = [parser.peek(), parser.peek_at(1)];
            if !matches!(&letters, b"di" | b"dx" | b"dX") {
                return parser.expression();
            }
            parser.at += 2;
            let node = match letters[1] {
                b'i' => {
                    let designator = parser.source_name()?;
                    Node::Designated { designator, value: parser.braced_expression()?, is_index: false }
                }
                b'x' => {
                    let designator = parser.expression()?;
                    Node::Designated { designator, value: parser.braced_expression()?, is_index: true }
                }
                _ => {
                    let first = parser.expression()?;
                    let last = parser.expression()?;
                    Node::DesignatedRange { first, last, value: parser.braced_expression()? }
                }
            };
            Some(parser.add(node))
        })
    }

    // Requirements.

    /// `rq <requirement>+ E`, `rQ <parameter type>+ _ <requirement>+ E`
    fn requires_expression(&mut self) -> Option<Id> {
        let has_parameters = self.peek_at(1) == b'Q';
        self.at += 2;
        let parameters = if has_parameters { self.types_until(b'_')? } else { List::EMPTY };
        let requirements = self.list_to_end(Self::requirement)?;
        if requirements == List::EMPTY {
            return None;
        }
        Some(self.add(Node::Requires { parameters, requirements }))
    }

    /// `X <expression> [N] [R <type-constraint>]`, `T <type>`, `Q <constraint expression>`
    fn requirement(&mut self) -> Option<Id> {
        let letter = self.peek();
        self.at += 1;
        let node = match letter {
            b'X' => {
                let expression = self.expression()?;
                let is_noexcept = self.eat(b'N');
                let constraint = if self.eat(b'R') { Some(self.name(None)?) } else { None };
                Node::ExpressionRequirement { expression, is_noexcept, constraint }
            }
            b'T' => Node::Requirement { keyword: " typename ", operand: self.ty()? },
            b'Q' => Node::Requirement { keyword: " requires ", operand: self.constraint()? },
            _ => return None,
        };
        Some(self.add(node))
    }
}

/// The outcome of reading two letters: the expression that they begin, or `Not` if they begin none.
enum Lettered {
    Is(Option<Id>),
    Not,
}
