//! The forest of inlined calls.
//!
//! A symbol or an inlined call contains the index of the first call inlined into it. Its siblings follow in the table, up to the first with the
//! flag `0x40000000`:
//!
//! | symbol `main` | first 0 |   |   |
//! |---|---|---|---|
//! | inlined call 0: `parse` | first 2 | |
//! | inlined call 1: `print` | first -1 | `0x40000000` |
//! | inlined call 2: `next`, in `parse` | first -1 | `0x40000000` |
//!
//! Each call is reached once and is inside its caller. (Symbols with the same address are the same code and may share calls.) The format does not
//! specify whether siblings are sorted and disjoint, so both cases are supported.

use super::apple_bytes::{Broken, Table, broken, u32_at};
use super::apple_record::{Entry, Record};

/// Marks the last sibling.
const IS_LAST: u32 = 0x4000_0000;

/// The maximum nesting depth. The deepest found in any DWARF is 33.
const MAX_DEPTH: u32 = 1_024;

/// If siblings overlap, at most this many are tried before an address.
const MAX_OVERLAP: usize = 64;

/// The checked inlined calls of a record.
#[derive(Clone, Debug)]
pub(super) struct InlinedCalls<'a> {
    pub(super) table: Table<'a, 36>,
    // For each reached call, the index after its last sibling. 0 for others.
    ends: Vec<u32>,
    // Calls, with siblings sorted by address; empty if the table itself is sorted and disjoint.
    order: Vec<u32>,
}

/// Siblings that still have to be visited.
struct Siblings {
    first: usize,
    parent: Entry,
    depth: u32,
}

impl<'a> InlinedCalls<'a> {
    /// Visits every inlined call of a record once.
    ///
    /// # Errors
    /// If a call is reached twice, is not inside its caller, or is not terminated by a last sibling.
    pub(super) fn read(record: &Record<'a>) -> Result<Self, Broken> {
        let table = record.inlined;
        let mut calls = Self { table, ends: vec![0; table.entries.len()], order: Vec::new() };
        let mut are_sorted = true;
        let mut walked = None;
        let mut open = Vec::new();
        for index in 0..record.symbols.entries.len() {
            let parent = Entry::of(&record.symbols, index);
            let Some(first) = parent.first_inlined() else { continue };
            if walked.replace((parent.address, first)) == Some((parent.address, first)) {
                continue;
            }
            open.push(Siblings { first, parent, depth: 1 });
            while let Some(siblings) = open.pop() {
                are_sorted &= calls.walk(&siblings, &mut open)?;
            }
        }
        if !are_sorted {
            calls.order = calls.sorted();
        }
        Ok(calls)
    }

    /// Checks siblings, and adds the calls inlined into them to `open`. Returns true if the siblings are sorted and disjoint.
    fn walk(&mut self, siblings: &Siblings, open: &mut Vec<Siblings>) -> Result<bool, Broken> {
        let end = self.end_of(siblings.first)?;
        let (mut above, mut are_sorted) = (0, true);
        for index in siblings.first..end {
            let call = Entry::of(&self.table, index);
            let fault = |rule: std::fmt::Arguments<'_>| broken(call.at, format_args!("inlined call {index}"), rule);
            if self.ends[index] != 0 {
                return Err(fault(format_args!("it is inlined into two callers")));
            }
            if call.address < siblings.parent.address || call.end > siblings.parent.end {
                return Err(fault(format_args!(
                    "{:#x} to {:#x} is outside of its caller, {:#x} to {:#x}",
                    call.address, call.end, siblings.parent.address, siblings.parent.end
                )));
            }
            if siblings.depth > MAX_DEPTH {
                return Err(fault(format_args!("inlined calls are more than {MAX_DEPTH} deep")));
            }
            self.ends[index] = u32::try_from(end).unwrap_or(u32::MAX);
            are_sorted &= call.address >= above;
            above = call.end;
            if let Some(first) = call.first_inlined() {
                open.push(Siblings { first, parent: call, depth: siblings.depth + 1 });
            }
        }
        Ok(are_sorted)
    }

    /// Returns the index after the last sibling of `first`.
    fn end_of(&self, first: usize) -> Result<usize, Broken> {
        let count = self.table.entries.len();
        let last = (first..count).find(|&index| {
            // A call reached before stops the search; it is reported as an error.
            self.ends[index] != 0 || Entry::of(&self.table, index).flags & IS_LAST != 0
        });
        last.map(|last| last + 1).ok_or_else(|| {
            let rule = format_args!(
                "neither it nor a following call, {} in all, is marked as the last (flag {IS_LAST:#x})",
                count - first
            );
            broken(self.table.offset(first), format_args!("inlined call {first}"), rule)
        })
    }

    /// Sorts siblings by address. Among calls with the same start, the smallest comes last.
    fn sorted(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..).take(self.ends.len()).collect();
        let mut first = 0;
        while first < order.len() {
            let end = (self.ends[first] as usize).max(first + 1);
            order[first..end].sort_unstable_by_key(|&index| {
                let call = Entry::of(&self.table, index as usize);
                (call.address, std::cmp::Reverse(call.end))
            });
            first = end;
        }
        order
    }

    /// Finds the call at an address among `first` and its siblings. If calls overlap, the last to start wins, then the smallest.
    pub(super) fn find(&self, first: usize, address: u64) -> Option<usize> {
        let end = *self.ends.get(first)? as usize;
        let call = |index: usize| Entry::of(&self.table, index);
        if self.order.is_empty() {
            let below = self.table.entries[first..end].partition_point(|call| u64::from(u32_at(call, 0)) <= address);
            let nearest = first + below.checked_sub(1)?;
            return call(nearest).contains(address).then_some(nearest);
        }
        let order = &self.order[first..end];
        let below = order.partition_point(|&index| call(index as usize).address <= address);
        let mut nearest = order[..below].iter().rev().take(MAX_OVERLAP).map(|&index| index as usize);
        nearest.find(|&index| call(index).contains(address))
    }
}
