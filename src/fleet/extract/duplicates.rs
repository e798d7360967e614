//! Files with the same content: the first one is used, regardless of which was read first.
//!
//! Files with different lengths have different contents, so a file only waits for earlier files of the same length. The
//! length of a compressed file is unknown, so all files wait.

use std::collections::{HashMap, VecDeque};

use blake3::Hash;

/// Puts files that may be equal in their order.
pub(super) struct Duplicates<T> {
    /// By position: the group of files that are as long.
    group_of: Vec<usize>,
    groups: Vec<Group<T>>,
    /// By content: the first file that has it.
    firsts: HashMap<Hash, usize>,
}

struct Group<T> {
    /// Files that have not been passed on, in their order.
    open: VecDeque<usize>,
    /// The files that have arrived and wait.
    waiting: HashMap<usize, Waiting<T>>,
}

struct Waiting<T> {
    content: Option<Hash>,
    can_count: bool,
    value: T,
}

/// A file that is passed on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arrival<T> {
    pub(super) value: T,
    /// The file before it that has the same content.
    pub(super) first: Option<usize>,
}

impl<T> Duplicates<T> {
    /// Creates the state for files with these decompressed lengths. If one is `None`, because it is unknown, no length
    /// is used.
    pub(super) fn new(mut lengths: Vec<Option<u64>>) -> Self {
        if lengths.contains(&None) {
            lengths.fill(None);
        }
        let mut groups: Vec<Group<T>> = Vec::new();
        let mut by_length: HashMap<Option<u64>, usize> = HashMap::new();
        let group_of = lengths.into_iter().enumerate().map(|(index, length)| {
            let group = *by_length.entry(length).or_insert_with(|| {
                groups.push(Group { open: VecDeque::new(), waiting: HashMap::new() });
                groups.len() - 1
            });
            groups[group].open.push_back(index);
            group
        });
        Self { group_of: group_of.collect(), groups, firsts: HashMap::new() }
    }

    /// Adds a file that was read, and returns the files that no longer have to wait. `content` is `None` if the file
    /// must not be compared with others; a file without runs does not replace another one.
    pub(super) fn arrive(&mut self, index: usize, content: Option<Hash>, can_count: bool, value: T) -> Vec<Arrival<T>> {
        let group = &mut self.groups[self.group_of[index]];
        group.waiting.insert(index, Waiting { content, can_count, value });
        let mut arrivals = Vec::new();
        while let Some(&front) = group.open.front() {
            let Some(Waiting { content, can_count, value }) = group.waiting.remove(&front) else { break };
            group.open.pop_front();
            let first = content.and_then(|content| {
                let first = self.firsts.get(&content).copied();
                if first.is_none() && can_count {
                    self.firsts.insert(content, front);
                }
                first
            });
            arrivals.push(Arrival { value, first });
        }
        arrivals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files that arrive, of files with these lengths and contents, read in this order.
    fn arrivals(files: &[(u64, Option<&str>)], order: &[usize]) -> Vec<(usize, Option<usize>)> {
        let mut duplicates = Duplicates::new(files.iter().map(|(length, _)| Some(*length)).collect());
        let arrive = order.iter().flat_map(|&index| {
            let content = files[index].1.map(|text| blake3::hash(text.as_bytes()));
            duplicates.arrive(index, content, true, index)
        });
        arrive.map(|arrival| (arrival.value, arrival.first)).collect()
    }

    #[test]
    fn the_first_by_position_counts() {
        let files = [(7, Some("a")), (7, Some("b")), (9, Some("c")), (7, Some("a")), (7, Some("b"))];
        let expected = [(0, None), (1, None), (2, None), (3, Some(0)), (4, Some(1))];
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [3, 0, 4, 2, 1]] {
            let mut arrived = arrivals(&files, &order);
            assert_eq!(arrived.len(), files.len());
            arrived.sort_unstable();
            assert_eq!(arrived, expected, "{order:?}");
        }
    }

    #[test]
    fn only_files_of_one_length_wait() {
        let files = [(7, Some("a")), (8, Some("b")), (7, Some("a"))];
        assert_eq!(arrivals(&files, &[1]), [(1, None)]);
        assert_eq!(arrivals(&files, &[2]), []);
        assert_eq!(arrivals(&files, &[2, 0]), [(0, None), (2, Some(0))]);
    }

    #[test]
    fn files_without_content_stand_for_no_other() {
        assert_eq!(arrivals(&[(0, None), (0, None)], &[1, 0]), [(0, None), (1, None)]);
        assert_eq!(arrivals(&[(7, None), (7, Some("a"))], &[0, 1]), [(0, None), (1, None)]);
    }

    #[test]
    fn files_that_cannot_count_learn_which_one_does() {
        let content = Some(blake3::hash(b"a"));
        let mut duplicates = Duplicates::new(vec![Some(7); 4]);
        let firsts: Vec<Option<usize>> = [false, true, false, true]
            .iter()
            .enumerate()
            .flat_map(|(index, &can_count)| duplicates.arrive(index, content, can_count, index))
            .map(|arrival| arrival.first)
            .collect();
        assert_eq!(firsts, [None, None, Some(1), Some(1)]);
    }
}
