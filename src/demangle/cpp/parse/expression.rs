//! `<expression>`

use super::template::requires_steps;
use super::{Item, Parser, enclosed};
use crate::demangle::cpp::node::{Id, List, Node, Step};
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

    /// Parses the operands, which follow the letters of an operator. Each form has a separate function because forms can be nested, and the
    /// stack frame of an unoptimized function has space for the steps of all its forms.
    fn operation(&mut self, operator: &'static Operator, is_global: bool) -> Option<Id> {
        let steps = match operator.form {
            Form::Binary => {
                let left = self.expression()?;
                let right = self.expression()?;
                return Some(self.arena.add_expression(Node::Binary { left, operator, right }, operator.precedence));
            }
            Form::New { is_array } => self.new_expression(is_array, is_global)?,
            Form::Conversion => self.conversion()?,
            Form::Call => self.call()?,
            Form::Conditional => self.conditional()?,
            Form::Prefix | Form::Postfix | Form::Subscript | Form::Member { .. } => self.operands(operator)?,
            _ => self.spelled_operation(operator, is_global)?,
        };
        Some(self.operation_phrase(&steps, operator.precedence))
    }

    /// Operands with a symbol
    fn operands(&mut self, operator: &'static Operator) -> Option<Vec<Step>> {
        let (symbol, precedence) = (Step::Text(operator.symbol()), operator.precedence);
        let is_prefix = operator.form == Form::Postfix && self.eat(b'_') || operator.form == Form::Prefix;
        let first = self.expression()?;
        Some(match operator.form {
            _ if is_prefix => vec![symbol, Step::Operand(first, precedence)],
            Form::Postfix => vec![Step::LastOperand(first, precedence), symbol],
            Form::Subscript => {
                let array = Step::Operand(first, Precedence::Postfix);
                vec![array, Step::Open("["), Step::Whole(self.expression()?), Step::Close("]")]
            }
            _ => vec![Step::LastOperand(first, precedence), symbol, Step::Operand(self.expression()?, precedence)],
        })
    }

    fn call(&mut self) -> Option<Vec<Step>> {
        let callee = Step::Whole(self.expression()?);
        Some(vec![callee, Step::Open("("), Step::List(self.expressions()?), Step::Close(")")])
    }

    fn conditional(&mut self) -> Option<Vec<Step>> {
        let condition = Step::Operand(self.expression()?, Precedence::Conditional);
        let yes = Step::Whole(self.expression()?);
        let no = Step::LastOperand(self.expression()?, Precedence::Assignment);
        Some(vec![condition, Step::Text(" ? "), yes, Step::Text(" : "), no])
    }

    fn spelled_operation(&mut self, operator: &'static Operator, is_global: bool) -> Option<Vec<Step>> {
        Some(match operator.form {
            Form::Delete { is_array } => {
                let start = Step::Text(if is_global { "::delete" } else { "delete" });
                vec![start, Step::Text(if is_array { "[] " } else { " " }), Step::Whole(self.expression()?)]
            }
            Form::NamedCast => {
                let ty = Step::TypeArgument(self.ty()?);
                let value = Step::Whole(self.expression()?);
                vec![Step::Text(operator.symbol()), ty, Step::Open("("), value, Step::Close(")")]
            }
            Form::Query { of_type } => {
                let inner = if of_type { self.ty()? } else { self.expression()? };
                enclosed(operator.name, Step::Whole(inner)).to_vec()
            }
            _ => return None,
        })
    }

    /// `nw <expression>* _ <type> [pi <expression>*] E`
    fn new_expression(&mut self, is_array: bool, is_global: bool) -> Option<Vec<Step>> {
        let placement =
            self.list(|parser| if parser.eat(b'_') { Some(Item::End) } else { parser.expression().map(Item::Is) })?;
        let ty = self.ty()?;
        let has_initializers = self.eat_all(b"pi");
        let initializers = self.list_to_end(|parser| if has_initializers { parser.expression() } else { None })?;
        Some(new_steps([is_global, is_array], placement, ty, initializers))
    }

    /// `cv <type> <expression>`, `cv <type> _ <expression>* E`
    fn conversion(&mut self) -> Option<Vec<Step>> {
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
        Some([enclosed("", Step::Whole(ty)), enclosed("", Step::List(values))].concat())
    }

    /// Expressions that do not start with the letters of an operator.
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
                self.at += 2;
                self.lettered(letters, is_global)
            }
        }
    }

    /// Expressions that start with letters other than an operator's, or else a name.
    fn lettered(&mut self, letters: [u8; 2], is_global: bool) -> Option<Id> {
        match &letters {
            b"il" => self.braces(false),
            b"tl" => self.braces(true),
            b"mc" => self.member_pointer_conversion(),
            b"nx" => self
                .expression()
                .map(|inner| self.operation_phrase(&enclosed("noexcept ", Step::Whole(inner)), Precedence::Unary)),
            b"so" => self.subobject(),
            b"sp" => self.expression().map(|pattern| self.phrase(&[Step::Expand(pattern)])),
            b"sZ" => self.sizeof_pack(),
            b"sP" => self
                .list_to_end(Self::template_argument)
                .map(|items| self.phrase(&enclosed("sizeof... ", Step::List(items)))),
            b"tr" => Some(self.fixed("throw")),
            b"tw" => self.expression().map(|operand| self.prefixed("throw ", operand)),
            _ => {
                self.at -= 2;
                self.unresolved_name(is_global)
            }
        }
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
        Some(self.phrase(&[Step::Text("fp"), Step::Slice(number)]))
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
        let (mut first, mut second) = (Some(self.expression()?), None);
        if matches!(letter, b'L' | b'R') {
            second = Some(self.expression()?);
        } else if is_left {
            (first, second) = (None, first);
        }
        // In a left fold, the pack is on the right.
        let pack = |pack| enclosed("", Step::Expand(pack)).to_vec();
        let initial = |initial| vec![Step::LastOperand(initial, Precedence::Cast)];
        let (first, second) =
            if is_left { (first.map(initial), second.map(pack)) } else { (first.map(pack), second.map(initial)) };
        let symbol = [Step::Text(" "), Step::Text(operator.symbol()), Step::Text(" ")];
        let mut steps = vec![Step::Open("(")];
        first.into_iter().for_each(|first| steps.extend(first.into_iter().chain(symbol)));
        steps.push(Step::Text("..."));
        second.into_iter().for_each(|second| steps.extend(symbol.into_iter().chain(second)));
        steps.push(Step::Close(")"));
        Some(self.phrase(&steps))
    }

    /// `sZ <template-param>`, `sZ <function-param>`
    fn sizeof_pack(&mut self) -> Option<Id> {
        let steps = if self.peek() == b'T' {
            enclosed("sizeof...", Step::Expand(self.template_parameter()?))
        } else {
            enclosed("sizeof... ", Step::Whole(self.function_parameter()?))
        };
        Some(self.phrase(&steps))
    }

    /// `mc <type> <expression> [<offset>] E`
    fn member_pointer_conversion(&mut self) -> Option<Id> {
        let ty = self.ty()?;
        let value = self.expression()?;
        self.number(true);
        self.expect(b'E')?;
        let values = self.arena.add_list(&[value]);
        let steps = [enclosed("", Step::Whole(ty)), enclosed("", Step::List(values))].concat();
        Some(self.operation_phrase(&steps, Precedence::Cast))
    }

    /// `so <type> <expression> [<offset>] (_ [<number>])* [p] E`; the numbers distinguish union members and are not printed
    fn subobject(&mut self) -> Option<Id> {
        let ty = self.ty()?;
        let value = self.expression()?;
        let offset = self.number(true);
        while self.eat(b'_') {
            self.number(false);
        }
        self.eat(b'p');
        self.expect(b'E')?;
        let offset = if offset.is_empty() { Step::Text("0") } else { Step::Number(offset) };
        let value = [Step::Whole(value), Step::Text(".<"), Step::Whole(ty)];
        Some(self.phrase(&[&value[..], &[Step::Text(" at offset "), offset, Step::Text(">")]].concat()))
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
        let steps = [Step::Whole(callee), Step::Open("("), Step::List(arguments), Step::Close(")")];
        Some(self.operation_phrase(&steps, Precedence::Postfix))
    }

    // Braces.

    /// `il <braced-expression>* E`, `tl <type> <braced-expression>* E`
    fn braces(&mut self, has_type: bool) -> Option<Id> {
        let ty = if has_type { Some(self.ty()?) } else { None };
        let items = self.list_to_end(Self::braced_expression)?;
        let mut steps: Vec<Step> = ty.map(Step::Whole).into_iter().collect();
        steps.extend([Step::Text("{"), Step::List(items), Step::Text("}")]);
        Some(self.phrase(&steps))
    }

    /// `<expression>`, `di <field source-name> <braced-expression>`, `dx <index> …`, `dX <first> <last> …`
    fn braced_expression(&mut self) -> Option<Id> {
        self.nested(|parser| {
            let letters = [parser.peek(), parser.peek_at(1)];
            if !matches!(&letters, b"di" | b"dx" | b"dX") {
                return parser.expression();
            }
            parser.at += 2;
            let mut steps = match letters[1] {
                b'i' => vec![Step::Text("."), Step::Whole(parser.source_name()?)],
                b'x' => vec![Step::Text("["), Step::Whole(parser.expression()?), Step::Text("]")],
                _ => {
                    let first = Step::Whole(parser.expression()?);
                    let last = Step::Whole(parser.expression()?);
                    vec![Step::Text("["), first, Step::Text(" ... "), last, Step::Text("]")]
                }
            };
            let value = parser.braced_expression()?;
            // Nested designators follow each other without `=`.
            if !matches!(parser.arena.node(value), Node::Designated(_)) {
                steps.push(Step::Text(" = "));
            }
            steps.push(Step::Whole(value));
            let phrase = parser.arena.add_phrase(&steps);
            Some(parser.add(Node::Designated(phrase)))
        })
    }

    // Requirements.

    /// `rq <requirement>+ E`, `rQ <parameter type>+ _ <requirement>+ E`
    fn requires_expression(&mut self) -> Option<Id> {
        let has_parameters = self.peek_at(1) == b'Q';
        self.at += 2;
        let mut steps = vec![Step::Text("requires")];
        if has_parameters {
            let parameters = self.types_until(b'_')?;
            if parameters != List::EMPTY {
                steps.extend(enclosed(" ", Step::List(parameters)));
            }
        }
        let requirements = self.list_to_end(Self::requirement)?;
        if requirements == List::EMPTY {
            return None;
        }
        // Requirements contain their own spaces and semicolons.
        steps.push(Step::Open(" {"));
        steps.extend(self.arena.items(requirements).map(Step::Whole));
        steps.push(Step::Close(" }"));
        Some(self.phrase(&steps))
    }

    /// `X <expression> [N] [R <type-constraint>]`, `T <type>`, `Q <constraint expression>`
    fn requirement(&mut self) -> Option<Id> {
        let letter = self.peek();
        self.at += 1;
        let mut steps = match letter {
            b'X' => self.expression_requirement()?,
            b'T' => vec![Step::Text(" typename "), Step::Whole(self.ty()?)],
            b'Q' => requires_steps(self.constraint()?).to_vec(),
            _ => return None,
        };
        steps.push(Step::Text(";"));
        Some(self.phrase(&steps))
    }

    fn expression_requirement(&mut self) -> Option<Vec<Step>> {
        let expression = Step::Whole(self.expression()?);
        let is_noexcept = self.eat(b'N');
        let constraint = if self.eat(b'R') { Some(self.name(None)?) } else { None };
        Some(requirement_steps(expression, is_noexcept, constraint))
    }
}

fn requirement_steps(expression: Step, is_noexcept: bool, constraint: Option<Id>) -> Vec<Step> {
    if !is_noexcept && constraint.is_none() {
        return vec![Step::Text(" "), expression];
    }
    let mut steps = vec![Step::Open(" {"), expression, Step::Close("}")];
    steps.push(Step::Text(if is_noexcept { " noexcept" } else { "" }));
    if let Some(constraint) = constraint {
        steps.extend([Step::Text(" -> "), Step::Whole(constraint)]);
    }
    steps
}

fn new_steps([is_global, is_array]: [bool; 2], placement: List, ty: Id, initializers: List) -> Vec<Step> {
    let in_parentheses = |list| (list != List::EMPTY).then(|| enclosed("", Step::List(list)));
    let mut steps = vec![Step::Text(if is_global { "::new" } else { "new" })];
    steps.push(Step::Text(if is_array { "[]" } else { "" }));
    steps.extend(in_parentheses(placement).into_iter().flatten());
    steps.extend([Step::Text(" "), Step::Whole(ty)]);
    steps.extend(in_parentheses(initializers).into_iter().flatten());
    steps
}
