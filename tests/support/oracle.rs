//! The answers that a correct reader must find, computed in the slow, obvious way from the recording alone.
//!
//! The address rules, for an instruction `pc` whose call returns to `ret = pc + 4`:
//!
//! | shape | leaf recorded | caller recorded | leaf looked up | caller looked up |
//! |---|---|---|---|---|
//! | Xcode 12 | `pc` | `ret - 2` | as is | as is |
//! | Xcode 14.0 ... 26.5 | `pc + 1` | `ret` | minus 1 | minus 1 |
//! | Xcode 27 | `pc + 1` | `ret - 1` | minus 1 | as is |
//! | `time-sample` (raw) | `pc` | `ret` | as is | minus 1 |
//!
//! Every looked-up address is inside the instruction at `pc`, which symbolication needs.

use std::collections::BTreeMap;

use super::recording::{Frame, Invented, Row};
use super::shape::Shape;

impl Shape {
    /// The address written for `frame` as the leaf of a stack.
    pub fn leaf_address(self, frame: &Frame) -> u64 {
        match self {
            Shape::Xcode12 | Shape::TimeSample => frame.pc,
            _ => frame.pc + 1,
        }
    }

    /// The address written for `frame` as a caller, without pointer-authentication bits.
    pub fn caller_address(self, frame: &Frame) -> u64 {
        match self {
            Shape::Xcode12 => frame.return_address() - 2,
            Shape::Xcode27 => frame.return_address() - 1,
            _ => frame.return_address(),
        }
    }

    /// The address to look up in symbols, given a recorded leaf address without noise bits.
    pub fn leaf_lookup(self, recorded: u64) -> u64 {
        match self {
            Shape::Xcode12 | Shape::TimeSample => recorded,
            _ => recorded - 1,
        }
    }

    /// The address to look up in symbols, given a recorded caller address without noise bits.
    pub fn caller_lookup(self, recorded: u64) -> u64 {
        match self {
            Shape::Xcode12 | Shape::Xcode27 => recorded,
            _ => recorded - 1,
        }
    }
}

impl Invented {
    /// The frames a document of `shape` shows for a row, root first. Only Xcode 27 shows marked inlined frames.
    pub fn visible_stack(&self, row: &Row, shape: Shape) -> Option<Vec<usize>> {
        let stack = row.stack.as_ref()?;
        let shown = |&frame: &usize| shape.marks_inlined() || !self.frames[frame].inlined;
        Some(stack.iter().copied().filter(shown).collect())
    }

    /// The recorded addresses of [`Invented::visible_stack`], root first, without pointer-authentication bits.
    pub fn recorded_addresses(&self, row: &Row, shape: Shape) -> Option<Vec<u64>> {
        self.addresses(
            row,
            shape,
            |frame, leaf| {
                if leaf { shape.leaf_address(frame) } else { shape.caller_address(frame) }
            },
        )
    }

    /// Like [`Invented::recorded_addresses`], with the noise bits that a document with pointer authentication contains.
    pub fn signed_addresses(&self, row: &Row, shape: Shape) -> Option<Vec<u64>> {
        self.addresses(row, shape, |frame, leaf| {
            if leaf { shape.leaf_address(frame) } else { shape.caller_address(frame) | frame.signature }
        })
    }

    /// The addresses a reader should look up in symbols, root first.
    pub fn lookup_addresses(&self, row: &Row, shape: Shape) -> Option<Vec<u64>> {
        self.addresses(row, shape, |frame, leaf| {
            if leaf {
                shape.leaf_lookup(shape.leaf_address(frame))
            } else {
                shape.caller_lookup(shape.caller_address(frame))
            }
        })
    }

    /// An inlined frame has the address of the frame on its leaf side; every other frame has a separate one.
    fn addresses(&self, row: &Row, shape: Shape, address: impl Fn(&Frame, bool) -> u64) -> Option<Vec<u64>> {
        let stack = self.visible_stack(row, shape)?;
        let mut addresses: Vec<u64> = Vec::with_capacity(stack.len());
        for (distance, &index) in stack.iter().rev().enumerate() {
            let frame = &self.frames[index];
            let shared = addresses.last().copied().filter(|_| frame.inlined);
            addresses.push(shared.unwrap_or_else(|| address(frame, distance == 0)));
        }
        addresses.reverse();
        Some(addresses)
    }

    /// The names of [`Invented::visible_stack`] in the document's spelling, root first.
    pub fn displayed_names(&self, row: &Row, shape: Shape) -> Option<Vec<String>> {
        let stack = self.visible_stack(row, shape)?;
        let addresses = self.recorded_addresses(row, shape)?;
        let last = stack.len().saturating_sub(1);
        let name = |(position, &frame): (usize, &usize)| {
            shape.frame_name(&self.frames[frame], addresses[position], position == last)
        };
        Some(stack.iter().enumerate().map(name).collect())
    }

    /// The sum of the weights of all rows.
    pub fn total_weight(&self) -> u64 {
        self.rows.iter().map(|row| row.weight).sum()
    }

    /// The sum of the weights per (pid, tid).
    pub fn weight_by_thread(&self) -> BTreeMap<(u32, u64), u64> {
        let mut weights = BTreeMap::new();
        for row in &self.rows {
            *weights.entry((self.process_of(row).pid, self.thread_of(row).tid)).or_default() += row.weight;
        }
        weights
    }

    /// Folded stacks: displayed names joined with `;`, root first, and the weight. Rows without a stack are omitted.
    pub fn folded(&self, shape: Shape) -> BTreeMap<String, u64> {
        let mut folded = BTreeMap::new();
        for row in &self.rows {
            if let Some(names) = self.displayed_names(row, shape) {
                *folded.entry(names.join(";")).or_default() += row.weight;
            }
        }
        folded
    }
}
