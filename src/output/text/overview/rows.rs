//! The rows of the answer: the heaviest functions, with their callers and with what they spend their time on.

use unicode_width::UnicodeWidthStr;

use super::answer::{doing, phrase};
use super::{Page, VISIBLE};
use crate::output::text::style::{LEAST_NAME, NARROW, Tone, fit, pad};
use crate::output::text::table::{Cell, Column, FUNCTIONS, KEPT, Row, Table};
use crate::output::text::words::share;
use crate::profile::{FunctionId, ThreadId};
use crate::report::{Amount, Answer, AnswersIn, Origin, Subtree, ThreadReport};
use crate::units::Weight;

/// A callee or a kind of work is shown from this share of the heaviest function's weight on.
const MUCH: f64 = 0.2;
/// Weight outside of all subtrees is shown from this percentage on.
const LARGE_REST: f64 = 33.0;
/// The width of the column of totals.
const TOTAL: usize = 6;
/// The second function is shown if it has at least this part of the first one's weight.
const NEAR: f64 = 0.8;

/// A row of the answer.
pub(super) struct AnswerRow {
    /// The share that determines the order of functions; empty for other rows.
    own: String,
    /// The share of samples in the function and everything that it called.
    total: String,
    what: What,
    owner: Owner,
    /// True for rows about the function in the row above.
    is_detail: bool,
}

/// The origin of a row's samples, unless it is obvious: the binary, the thread and the trigger.
#[derive(Default)]
struct Owner([Option<String>; 3]);

impl Owner {
    /// The parts to show. The least important parts are left out first: the trigger, and the binary if the thread is known.
    fn text(&self, left_out: usize) -> String {
        let Self([binary, thread, origin]) = self;
        let binary = binary.as_ref().filter(|_| left_out < 1 || thread.is_none());
        let origin = origin.as_ref().filter(|_| left_out < 2);
        [binary, thread.as_ref(), origin].into_iter().flatten().cloned().collect::<Vec<_>>().join(", ")
    }
}

/// The subject of a row.
enum What {
    /// A function, preceded by a few words.
    Function(&'static str, FunctionId),
    Text(&'static str),
}

impl Page<'_, '_> {
    /// The rows, with this number of functions.
    pub(super) fn rows(&self, functions: usize) -> Vec<AnswerRow> {
        let is_hidden = |first: &Answer| share(first.amount.weight.value, self.series) < VISIBLE;
        // If nearly all samples wait, the fact about the running ones is enough.
        if self.overview.shares.has_others() && self.overview.answers.first().is_some_and(is_hidden) {
            return Vec::new();
        }
        let mut rows: Vec<AnswerRow> =
            self.overview.subtrees.iter().flat_map(|subtree| self.rows_of_subtree(subtree)).collect();
        rows.extend(self.rest());
        for (index, answer) in self.overview.answers.iter().take(functions).enumerate() {
            let is_explained = index == 0 && self.overview.stands_out() && !self.overview.shares.has_others();
            let origin = answer.origin.filter(|_| is_explained && self.overview.answers_in == AnswersIn::Own);
            rows.push(AnswerRow {
                own: self.percent(answer.amount),
                total: self.percent(self.overview.all(answer.function)),
                what: What::Function("", answer.function),
                owner: self.owner(answer.function, (answer.thread, answer.on_thread), answer.amount, origin),
                is_detail: false,
            });
            if is_explained {
                rows.extend(self.details(answer));
            }
        }
        rows.extend(self.equals(functions));
        rows.extend(self.heaviest_leaf().map(|leaf| AnswerRow {
            own: self.percent(leaf.amount),
            is_detail: false,
            ..self.detail(self.overview.all(leaf.function), What::Function("of all code: ", leaf.function))
        }));
        rows
    }

    /// The weight of the last function, if functions that are not shown weigh the same.
    fn equals(&self, functions: usize) -> Option<AnswerRow> {
        let [last, next] = [functions.checked_sub(1)?, functions].map(|at| self.overview.answers.get(at));
        let amount = Some(last?.amount).filter(|amount| next.is_some_and(|next| next.amount == *amount))?;
        let (own, total, owner) = (self.percent(amount), String::new(), Owner::default());
        Some(AnswerRow { own, total, what: What::Text("in at least one more function"), owner, is_detail: false })
    }

    /// A subtree, its caller and its heaviest callee.
    fn rows_of_subtree(&self, subtree: &Subtree) -> Vec<AnswerRow> {
        let all = self.overview.all(subtree.function);
        let origin = subtree.origin.filter(|_| subtree.caller.is_none());
        let owner = self.owner(subtree.function, (subtree.thread, subtree.on_thread), all, origin);
        let first = self.detail(all, What::Function("", subtree.function));
        let first = AnswerRow { owner, is_detail: false, ..first };
        let caller = subtree.caller.map(|id| self.detail(self.overview.all(id), What::Function("below ", id)));
        let callee = subtree.callee.map(|(id, amount)| self.detail(amount, What::Function("calls to ", id)));
        [Some(first), caller, callee].into_iter().flatten().collect()
    }

    /// The callers of the first function, and what it spends its time on.
    fn details(&self, answer: &Answer) -> Vec<AnswerRow> {
        let all = |id| self.overview.all(id);
        let Some(spent) = &self.overview.spent else { return Vec::new() };
        let least = MUCH * all(answer.function).weight.value as f64;
        let is_much = |amount: &Amount| amount.weight.value as f64 >= least;
        let callers = self.overview.callers.iter().filter(|(_, amount)| is_much(amount));
        let callers = callers.map(|&(id, amount)| self.detail(amount, What::Function("called by ", id)));
        let outer = self.overview.outer_caller.map(|(id, _)| self.detail(all(id), What::Function("below ", id)));
        let mut rows: Vec<AnswerRow> = callers.chain(outer).collect();
        // Without heavy callees, all of it is the function's own work.
        if spent.callees.iter().any(|(_, amount)| is_much(amount)) {
            let callees = spent.callees.iter().filter(|(_, amount)| is_much(amount));
            rows.extend(Some(spent.itself).filter(is_much).map(|own| self.detail(own, What::Text("itself"))));
            rows.extend(callees.map(|&(id, amount)| self.detail(amount, What::Function("calls to ", id))));
        }
        let work = spent.work.iter().filter(|(_, amount)| is_much(amount)).take(2);
        rows.extend(work.map(|&(kind, amount)| self.detail(amount, What::Text(doing(kind)))));
        rows
    }

    /// The weight outside of all subtrees. They may share a few samples, which the sum counts twice.
    fn rest(&self) -> Option<AnswerRow> {
        let subtrees = &self.overview.subtrees;
        let within = subtrees.iter().map(|subtree| self.overview.all(subtree.function));
        let within =
            within.fold((0_u64, 0), |(weight, samples), all| (weight + all.weight.value, samples + all.samples));
        let (counted, no_stack) = (self.series.counted, self.series.no_stack);
        let rest = Amount {
            weight: Weight::new(
                counted.weight.value.saturating_sub(within.0 + no_stack.weight.value),
                counted.weight.unit,
            ),
            samples: counted.samples.saturating_sub(within.1 + no_stack.samples),
        };
        if subtrees.is_empty() || share(rest.weight.value, self.series) < LARGE_REST {
            return None;
        }
        let is_other = |row: &&ThreadReport| subtrees.iter().all(|subtree| subtree.thread != row.thread);
        // Threads are sorted by weight.
        let thread = self.series.threads.iter().find(is_other).filter(|row| row.counted.weight.value > within.0 / 2);
        let thread =
            thread.map(|row| format!("{} has {} in all", self.thread_name(row.thread), self.percent(row.counted)));
        let what = if subtrees.len() > 1 { "or more in other code" } else { "in other code" };
        let (own, total, owner) = (String::new(), self.percent(rest), Owner([None, thread, None]));
        Some(AnswerRow { own, total, what: What::Text(what), owner, is_detail: false })
    }

    fn detail(&self, amount: Amount, what: What) -> AnswerRow {
        AnswerRow { own: String::new(), total: self.percent(amount), what, owner: Owner::default(), is_detail: true }
    }

    /// The binary of system code, the thread if there are several, and the trigger.
    fn owner(
        &self,
        function: FunctionId,
        (thread, on_thread): (ThreadId, Amount),
        of: Amount,
        origin: Option<Origin>,
    ) -> Owner {
        let has_threads = self.series.all_threads().nth(1).is_some();
        let is_own = self.overview.answers_in == AnswersIn::Own && has_threads;
        let binary = self.profile.binary_name(function).filter(|_| !is_own).map(str::to_owned);
        let thread = has_threads.then(|| match on_thread.weight.value as f64 / of.weight.value.max(1) as f64 {
            1.0 => self.thread_name(thread),
            part => format!("{:.0}% on {}", (100.0 * part).min(99.0), self.thread_name(thread)),
        });
        let origin = origin.filter(|origin| *origin != Origin::Thread).map(|origin| phrase(origin).to_owned());
        Owner([binary, thread, origin])
    }

    /// The rows as a table with a title, aligned.
    pub(super) fn table(&self, rows: &[AnswerRow]) -> Vec<String> {
        if rows.is_empty() {
            return Vec::new();
        }
        let (own, names) = match self.overview.answers_in {
            AnswersIn::Own if self.width < NARROW => ("own+sys", "your code"),
            AnswersIn::Own => ("own+sys", "your code, with the system code that it calls"),
            AnswersIn::All if self.are_nameless() => ("self", "addresses, in code without names"),
            AnswersIn::All => ("self", "functions"),
        };
        let names = match (self.overview.subtrees.is_empty(), self.overview.answers_in) {
            (true, _) => names,
            (false, AnswersIn::Own) => "no single function of yours dominates",
            (false, AnswersIn::All) => "no single function dominates",
        };
        let indent = |row: &AnswerRow| if row.is_detail { "  " } else { "" };
        let text = |row: &AnswerRow, room: usize| match row.what {
            What::Function(words, id) => {
                let words = format!("{}{words}", indent(row));
                let room = room.saturating_sub(words.width()).max(LEAST_NAME);
                words + &self.style.name_in_text(self.profile.function_name(id), room)
            }
            What::Text(text) => format!("{}{text}", indent(row)),
        };
        // Owners are aligned. If names and owners do not fit, owners leave most of the line to names.
        let used = own.len() + TOTAL + 6;
        let widest = |of: &dyn Fn(&AnswerRow) -> usize| rows.iter().map(of).max().unwrap_or(0);
        let with_owner =
            |room: usize| widest(&|row| if row.owner.text(0).is_empty() { 0 } else { text(row, room).width() });
        let owners = |left_out: usize| widest(&|row| row.owner.text(left_out).width());
        let is_whole = |left_out: &usize| used + with_owner(usize::MAX) + 2 + owners(*left_out) <= self.width;
        let third = (self.width / 3).max(LEAST_NAME);
        let (left_out, most) = match (0..=2).find(is_whole) {
            Some(left_out) => (left_out, usize::MAX),
            None => ((0..2).find(|&left_out| owners(left_out) <= third).unwrap_or(2), third),
        };
        let room = self.width.saturating_sub(used + 2 + owners(left_out).min(most)).max(LEAST_NAME);
        let owner = |row: &AnswerRow| fit(&row.owner.text(left_out), Some(most));
        let column = with_owner(room);
        let lines = rows.iter().map(|row| {
            let name = match owner(row).is_empty() {
                true => text(row, self.width.saturating_sub(used)),
                false => pad(&text(row, room), column),
            };
            let mut line = Row::new([Cell::from(row.own.as_str()), Cell::from(row.total.as_str())], "", &owner(row));
            line.name = name;
            line
        });
        let columns = [(own, own.len() + 2), ("total", TOTAL)];
        let columns = columns.map(|(title, width)| Column::new(title, KEPT).sized(width, 2).toned(Tone::Weight));
        let table = Table::new(columns.to_vec(), names, FUNCTIONS, lines.collect());
        let style = &self.style;
        std::iter::once(table.header(style)).chain(table.rows.iter().map(|row| table.line(row, style))).collect()
    }

    /// The rows as sentences, for readers that have a table of functions: the answer with its details, and the second function if it weighs nearly as
    /// much.
    pub(super) fn told(&self) -> Vec<String> {
        let is_near = |[first, second]: &[Answer; 2]| {
            second.amount.weight.value as f64 >= NEAR * first.amount.weight.value as f64
        };
        let functions = if self.overview.answers.first_chunk().is_some_and(is_near) { 2 } else { 1 };
        let has_subtrees = !self.overview.subtrees.is_empty();
        let is_function = |row: &AnswerRow| matches!(row.what, What::Function("", _)) && !has_subtrees;
        let is_told = |row: &AnswerRow| row.is_detail || row.own.is_empty() || is_function(row);
        self.rows(functions).iter().filter(|row| is_told(row)).map(|row| self.told_row(row)).collect()
    }

    fn told_row(&self, row: &AnswerRow) -> String {
        let name = match row.what {
            What::Function(words, id) => format!("{words}{}", self.function_of(id)),
            What::Text(text) => text.to_owned(),
        };
        let of = if self.overview.answers_in == AnswersIn::Own { "own+sys" } else { "self" };
        // The binary follows the function's name.
        let Owner([_, thread, origin]) = &row.owner;
        let owner = [thread, origin].into_iter().flatten().cloned().collect::<Vec<_>>().join(", ");
        let own = Some(&row.own).filter(|own| !own.is_empty() && **own != row.total);
        // The thread and trigger belong to the self weight.
        let parts = match (own, owner.is_empty()) {
            (None, true) => String::new(),
            (None, false) => format!(", {owner}"),
            (Some(own), true) => format!(", {own} {of}"),
            (Some(own), false) => format!(", {own} {of}: {owner}"),
        };
        format!("{} {name}{parts}", row.total)
    }
}
