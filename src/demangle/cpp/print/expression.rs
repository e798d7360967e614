//! Expressions and literals.

use super::{Printer, Step};
use crate::demangle::cpp::node::{Id, List, Node};
use crate::demangle::cpp::operators::{Operator, Precedence};

impl Printer<'_> {
    /// Writes a node that is an expression with operators.
    pub(super) fn expression(&mut self, node: &Node) {
        match *node {
            Node::Binary { left, operator, right } => self.binary(left, operator, right),
            Node::Unary { operator, operand } => {
                self.write(operator.symbol());
                self.steps.push(Step::Operand(operand, operator.precedence));
            }
            Node::Postfix { operator, operand } => {
                self.then(&[Step::LastOperand(operand, operator.precedence), Step::Text(operator.symbol())]);
            }
            Node::Subscript { array, index } => self.then(&[
                Step::Operand(array, Precedence::Postfix),
                Step::Open("["),
                Step::Whole(index),
                Step::Close("]"),
            ]),
            Node::Member { object, operator, member } => self.then(&[
                Step::LastOperand(object, operator.precedence),
                Step::Text(operator.symbol()),
                Step::Operand(member, operator.precedence),
            ]),
            Node::Conditional { condition, yes, no } => self.then(&[
                Step::Operand(condition, Precedence::Conditional),
                Step::Text(" ? "),
                Step::Whole(yes),
                Step::Text(" : "),
                Step::LastOperand(no, Precedence::Assignment),
            ]),
            Node::Call { callee, arguments } => {
                self.then(&[Step::Whole(callee), Step::Open("("), Step::List(arguments), Step::Close(")")]);
            }
            Node::NamedCast { operator, ty, value } => self.named_cast(operator, ty, value),
            Node::Conversion { ty, values } => {
                self.then(&[Step::Open("("), Step::List(values), Step::Close(")")]);
                self.then(&[Step::Open("("), Step::Whole(ty), Step::Close(")")]);
            }
            Node::New { .. } | Node::Delete { .. } => self.allocation(node),
            Node::Fold { operator, pack, initial, is_left } => self.fold(operator, pack, initial, is_left),
            _ => self.value(node),
        }
    }

    fn allocation(&mut self, node: &Node) {
        match *node {
            Node::New { placement, ty, initializers, is_array, is_global } => {
                self.write(if is_global { "::new" } else { "new" });
                self.write(if is_array { "[]" } else { "" });
                self.then_list_unless_empty(initializers);
                self.then(&[Step::Text(" "), Step::Whole(ty)]);
                self.then_list_unless_empty(placement);
            }
            Node::Delete { operand, is_array, is_global } => {
                self.write(if is_global { "::delete" } else { "delete" });
                self.write(if is_array { "[] " } else { " " });
                self.steps.push(Step::Whole(operand));
            }
            _ => {}
        }
    }

    /// Writes a literal or another expression without operands, or the parts of one.
    fn value(&mut self, node: &Node) {
        match *node {
            Node::SizeofPack(pack) => {
                self.write("sizeof...");
                self.then(&[Step::Open("("), Step::Expand(pack), Step::Close(")")]);
            }
            Node::Subobject { ty, value, offset } => {
                let number = if offset.is_empty() { Step::Text("0") } else { Step::Number(offset) };
                let offset = [Step::Text(" at offset "), number, Step::Text(">")];
                self.then(&offset);
                self.then(&[Step::Whole(value), Step::Text(".<"), Step::Whole(ty)]);
            }
            Node::FunctionParameter(number) => {
                self.write("fp");
                self.write_slice(number);
            }
            Node::Integer { ty, value } => {
                // Suffixes are short.
                if ty.len() > 3 {
                    self.then(&[Step::Text("("), Step::Text(ty), Step::Text(")"), Step::Number(value)]);
                } else {
                    self.then(&[Step::Number(value), Step::Text(ty)]);
                }
            }
            Node::Enumerator { ty, value } => {
                self.then(&[Step::Text("("), Step::Whole(ty), Step::Text(")"), Step::Number(value)]);
            }
            Node::Float { kind, digits } => {
                let digits = self.name.get(digits.start as usize..digits.end as usize).unwrap_or("");
                self.write(&super::float::hexadecimal(kind, digits));
            }
            Node::StringLiteral(ty) => self.then(&[Step::Text("\"<"), Step::Whole(ty), Step::Text(">\"")]),
            Node::LambdaExpression(lambda) => self.lambda_expression(lambda),
            _ => self.braces(node),
        }
    }

    /// Writes a list in braces, or a member of one.
    fn braces(&mut self, node: &Node) {
        match *node {
            Node::Braces { ty, items } => {
                self.then(&[Step::Text("{"), Step::List(items), Step::Text("}")]);
                self.steps.extend(ty.map(Step::Whole));
            }
            Node::Designated { designator, value, is_index } => {
                self.then_designated_value(value);
                if is_index {
                    self.then(&[Step::Text("["), Step::Whole(designator), Step::Text("]")]);
                } else {
                    self.then(&[Step::Text("."), Step::Whole(designator)]);
                }
            }
            Node::DesignatedRange { first, last, value } => {
                self.then_designated_value(value);
                let range = [Step::Whole(first), Step::Text(" ... "), Step::Whole(last)];
                self.steps.push(Step::Text("]"));
                self.then(&range);
                self.steps.push(Step::Text("["));
            }
            _ => self.requirement(node),
        }
    }

    fn requirement(&mut self, node: &Node) {
        match *node {
            Node::Requires { parameters, requirements } => {
                self.write("requires");
                self.steps.push(Step::Close("}"));
                self.steps.push(Step::Text(" "));
                // Requirements bring their spaces and semicolons.
                let count = self.arena.count(requirements);
                let arena = self.arena;
                self.steps
                    .extend((0..count).rev().filter_map(|index| arena.item(requirements, index)).map(Step::Whole));
                self.then(&[Step::Text(" "), Step::Open("{")]);
                if parameters != List::EMPTY {
                    self.then(&[Step::Text(" "), Step::Open("("), Step::List(parameters), Step::Close(")")]);
                }
            }
            Node::ExpressionRequirement { expression, is_noexcept, constraint } => {
                self.steps.push(Step::Text(";"));
                if let Some(constraint) = constraint {
                    self.then(&[Step::Text(" -> "), Step::Whole(constraint)]);
                }
                if is_noexcept {
                    self.steps.push(Step::Text(" noexcept"));
                }
                if is_noexcept || constraint.is_some() {
                    self.then(&[Step::Open(" {"), Step::Whole(expression), Step::Close("}")]);
                } else {
                    self.then(&[Step::Text(" "), Step::Whole(expression)]);
                }
            }
            Node::Requirement { keyword, operand } => {
                self.then(&[Step::Text(keyword), Step::Whole(operand), Step::Text(";")]);
            }
            _ => {}
        }
    }

    fn binary(&mut self, left: Id, operator: &Operator, right: Id) {
        let symbol = operator.symbol();
        let space = if symbol == "," { "" } else { " " };
        let precedence = operator.precedence;
        let is_assignment = precedence == Precedence::Assignment;
        // In template arguments, `>` would end them.
        let needs_parentheses = self.open == 0 && matches!(symbol, ">" | ">>");
        if needs_parentheses {
            self.steps.push(Step::Close(")"));
        }
        // Assignments take from the right, all others from the left.
        let (left, right) = if is_assignment {
            (Step::Operand(left, Precedence::LogicalOr), Step::LastOperand(right, precedence))
        } else {
            (Step::LastOperand(left, precedence), Step::Operand(right, precedence))
        };
        self.then(&[left, Step::Text(space), Step::Text(symbol), Step::Text(" "), right]);
        if needs_parentheses {
            self.steps.push(Step::Open("("));
        }
    }

    fn named_cast(&mut self, operator: &Operator, ty: Id, value: Id) {
        self.write(operator.symbol());
        self.then(&[Step::Open("("), Step::Whole(value), Step::Close(")")]);
        self.then(&[Step::Angle("<", 0), Step::Left(ty), Step::Angle(">", self.open)]);
    }

    fn fold(&mut self, operator: &Operator, pack: Id, initial: Option<Id>, is_left: bool) {
        let operator = [Step::Text(" "), Step::Text(operator.symbol()), Step::Text(" ")];
        let pack = [Step::Open("("), Step::Expand(pack), Step::Close(")")];
        let initial = initial.map(|initial| Step::LastOperand(initial, Precedence::Cast));
        self.steps.push(Step::Close(")"));
        match (is_left, initial) {
            (true, _) => {
                self.then(&pack);
                self.then(&operator);
            }
            (false, Some(initial)) => {
                self.steps.push(initial);
                self.then(&operator);
            }
            (false, None) => {}
        }
        self.steps.push(Step::Text("..."));
        match (is_left, initial) {
            (false, _) => {
                self.then(&operator);
                self.then(&pack);
            }
            (true, Some(initial)) => {
                self.then(&operator);
                self.steps.push(initial);
            }
            (true, None) => {}
        }
        self.steps.push(Step::Open("("));
    }

    fn then_list_unless_empty(&mut self, list: List) {
        if list != List::EMPTY {
            self.then(&[Step::Open("("), Step::List(list), Step::Close(")")]);
        }
    }

    /// Designators of parts of parts follow each other.
    fn then_designated_value(&mut self, value: Id) {
        self.steps.push(Step::Whole(value));
        if !matches!(self.arena.node(value), Node::Designated { .. } | Node::DesignatedRange { .. }) {
            self.steps.push(Step::Text(" = "));
        }
    }
}
