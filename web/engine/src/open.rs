//! Opens what a page holds: one recording, or two that are compared.

use serde::Serialize;
use serde_json::Value;
use ts_rs::TS;

use crate::desk::Desk;
use crate::pair::{MatchedColumns, Pair, facts_of};
use crate::protocol::{Answer, Ask, Question};
use crate::search::{self, Reading};
use crate::wire::{F64s, I32s, Refused, U8s};

/// What answers questions.
enum Desks {
    One(Box<Desk>),
    Two(Box<Pair>),
}

pub(crate) struct Opened {
    desks: Desks,
    /// The last search: it is repeated with every selection, and for each step between matches.
    search: Option<(String, Result<Reading, Refused>)>,
}

/// The tables that the page itself reads: everything but samples, stacks and frames.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenedTables {
    pub(crate) tables: Tables,
    pub(crate) pair: Option<PairTables>,
}

#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PairTables {
    pub(crate) before: Tables,
    #[ts(type = "DiffFacts")]
    pub(crate) facts: Value,
    pub(crate) matching: MatchedColumns,
}

#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tables {
    /// The head of the payload.
    #[ts(type = "Head")]
    pub(crate) head: Value,
    pub(crate) functions: FunctionColumns,
    pub(crate) text_bytes: U8s,
    pub(crate) text_ends: F64s,
}

#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FunctionColumns {
    pub(crate) name: I32s,
    pub(crate) binary: I32s,
    pub(crate) flags: I32s,
}

impl Opened {
    /// Opens a recording, and the one before it if it is compared. Empty parts are missing.
    pub(crate) fn new(payload: &[u8], before: &[u8], facts: &[u8]) -> Result<(Self, OpenedTables), Refused> {
        let (desk, tables) = desk_of(payload)?;
        let (desks, pair) = match (before, facts) {
            ([], []) => (Desks::One(Box::new(desk)), None),
            ([], _) | (_, []) => return Err(Refused("a part of the comparison is missing".to_owned())),
            _ => {
                let (first, before) = desk_of(before)?;
                let pair = Pair::new(first, desk);
                let tables = PairTables { before, facts: facts_of(facts)?, matching: pair.matching() };
                (Desks::Two(Box::new(pair)), Some(tables))
            }
        };
        Ok((Self { desks, search: None }, OpenedTables { tables, pair }))
    }

    pub(crate) fn answer(&mut self, Question { place, ask }: &Question) -> Result<Answer, Refused> {
        if let Some(typed) = searched(ask)
            && self.search.as_ref().is_none_or(|(known, _)| known != typed)
        {
            let read = match &self.desks {
                Desks::One(desk) => search::read(&[desk.profile()], typed),
                Desks::Two(pair) => search::read(&pair.profiles(), typed),
            };
            self.search = Some((typed.to_owned(), read));
        }
        let reading = match (&self.search, searched(ask)) {
            (Some((_, Ok(reading))), Some(_)) => Some(reading),
            (Some((_, Err(refused))), Some(_)) => return Err(refused.clone()),
            _ => None,
        };
        match &mut self.desks {
            Desks::One(desk) => desk.answer(place, ask, reading.map(|reading| (reading, 0))),
            Desks::Two(pair) => pair.answer(place, ask, reading),
        }
    }
}

/// What a question searches for.
fn searched(ask: &Ask) -> Option<&str> {
    match ask {
        Ask::Search { text } => Some(text),
        Ask::Tree { rows, .. } | Ask::DiffTree { rows, .. } => rows.find.as_ref().map(|find| find.text.as_str()),
        _ => None,
    }
}

fn desk_of(_payload: &[u8]) -> Result<(Desk, Tables), Refused> {
    todo!()
}
