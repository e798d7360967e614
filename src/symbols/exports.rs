//! The exports of an image: a trie (prefix tree) of names. Numbers are ULEB128, and offsets count from its start, where the root is.
//!
//! | part of a node | |
//! |---|---|
//! | number | size of the export whose name ends here; 0 without one |
//! | export | flags, then for exports of this image their offset from the Mach-O header |
//! | byte | count of the edges |
//! | edge | the next part of the name with a NUL, offset of the node |

use object::read::Bytes;

/// The longest name.
const MAX_NAME_LENGTH: usize = 1 << 20;

/// Flags: the kind of an export, whose values 0 (code and data), 1 (thread-local) and 2 (absolute) are known, and that it is from another image.
const KIND: u64 = 3;
const IS_REEXPORT: u64 = 8;

/// Takes the offset from the Mach-O header and the name of an export. An error ends the walk.
type Found<'a> = dyn FnMut(u64, &[u8]) -> Result<(), &'static str> + 'a;

/// A node whose edges are being followed.
struct Open<'trie> {
    edges: Bytes<'trie>,
    edge_count: u8,
    /// The length of the name up to this node.
    name_length: usize,
}

/// Calls `found` with the offset from the Mach-O header and the name of each exported function or variable. Names have a leading underscore.
///
/// # Errors
/// The first violation of the format, or error of `found`. Exports before the error are correct, since no node is visited twice.
pub(super) fn for_each(trie: &[u8], found: &mut Found<'_>) -> Result<(), &'static str> {
    let mut walk = Walk { trie, visited: vec![0; trie.len().div_ceil(64)], left: trie.len() };
    let (mut open, mut name) = (vec![walk.node(0, &[], found)?], Vec::new());
    while let Some(node) = open.last_mut() {
        name.truncate(node.name_length);
        if node.edge_count == 0 {
            open.pop();
            continue;
        }
        node.edge_count -= 1;
        let edge = node.edges.read_string().map_err(|()| "a name is truncated")?;
        let child = node.edges.read_uleb128().map_err(|()| "an edge is truncated")?;
        walk.spend(edge.len() + 2)?;
        name.extend(edge);
        if name.len() > MAX_NAME_LENGTH {
            return Err("a name is too long");
        }
        open.push(walk.node(child, &name, found)?);
    }
    Ok(())
}

/// Limits the cost of a trie, whose nodes may overlap or form loops.
struct Walk<'trie> {
    trie: &'trie [u8],
    /// A bit for each offset.
    visited: Vec<u64>,
    /// The bytes that were not read yet. The nodes of an intact trie do not overlap.
    left: usize,
}

impl<'trie> Walk<'trie> {
    /// Reads a node, and passes its export to `found`.
    fn node(&mut self, offset: u64, name: &[u8], found: &mut Found<'_>) -> Result<Open<'trie>, &'static str> {
        const OUTSIDE: &str = "a node is outside the trie";
        let offset = usize::try_from(offset).ok().filter(|&offset| offset < self.trie.len()).ok_or(OUTSIDE)?;
        let (word, bit) = (&mut self.visited[offset / 64], 1 << (offset % 64));
        if *word & bit != 0 {
            return Err("a node has two names");
        }
        *word |= bit;
        let mut edges = Bytes(&self.trie[offset..]);
        let size = edges.read_uleb128().ok().and_then(|size| usize::try_from(size).ok()).ok_or(OUTSIDE)?;
        let export = edges.read_bytes(size).map_err(|()| OUTSIDE)?;
        let edge_count = *edges.read::<u8>().map_err(|()| OUTSIDE)?;
        self.spend(size + 2)?;
        if let Some(offset) = own_offset(export) {
            found(offset, name)?;
        }
        Ok(Open { edges, edge_count, name_length: name.len() })
    }

    fn spend(&mut self, bytes: usize) -> Result<(), &'static str> {
        self.left = self.left.checked_sub(bytes).ok_or("its nodes overlap")?;
        Ok(())
    }
}

/// Returns the offset of an export that is code or data of this image.
fn own_offset(mut export: Bytes<'_>) -> Option<u64> {
    let flags = export.read_uleb128().ok()?;
    (flags & (KIND | IS_REEXPORT) == 0).then(|| export.read_uleb128().ok())?
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use support::dyld_cache_writer::exports_trie;

    use super::*;

    type Names = BTreeMap<Vec<u8>, u64>;

    fn read(trie: &[u8]) -> (Names, Result<(), &'static str>) {
        let mut found = Names::new();
        let result = for_each(trie, &mut |offset, name| {
            assert_eq!(found.insert(name.to_vec(), offset), None, "two exports have one name");
            Ok(())
        });
        (found, result)
    }

    #[test]
    fn finds_all_names() {
        let names = ["_a", "_ab", "_abc", "_b", "_objc_msgSend", "_objc_msgSendSuper", "-[Odd name]"];
        let names: Names = names.iter().zip(0..).map(|(name, index)| (name.as_bytes().to_vec(), index << 12)).collect();
        assert_eq!(read(&exports_trie(&names)), (names, Ok(())));
    }

    #[test]
    fn skips_exports_of_other_images_and_constants() {
        // The root has edges to four nodes, with flags 0 (code), 1 (thread-local), 2 (absolute) and 8 (of another image).
        let mut trie = vec![0, 4];
        for (index, letter) in (0..).zip("abcd".bytes()) {
            trie.extend([letter, 0, 14 + 4 * index]);
        }
        for flags in [0, 1, 2, 8] {
            trie.extend([2, flags, 0x10, 0]);
        }
        assert_eq!(read(&trie), (Names::from([(b"a".to_vec(), 0x10)]), Ok(())));
    }

    #[test]
    fn loops_and_overlaps_end_with_an_error() {
        assert_eq!(read(&[0, 1, b'a', 0, 0]).1, Err("a node has two names"));
        // Two edges lead to one node, as in a chain that has 2^n names.
        assert_eq!(read(&[0, 2, b'a', 0, 8, b'b', 0, 8, 0, 0]).1, Err("a node has two names"));
        // Each node is an edge of the one before.
        let overlapping = [[0, 1].repeat(60), vec![b'a', 0, 1, b'a', 0]].concat();
        assert!(read(&overlapping).1.is_err());
    }

    #[test]
    fn any_bytes_end_with_names_or_an_error() {
        let names: Names = (0..40).map(|index| (format!("_function_{}", index * index).into_bytes(), index)).collect();
        let trie = exports_trie(&names);
        for at in 0..trie.len() {
            let _ = read(&trie[..at]);
            for bit in 0..8 {
                let mut damaged = trie.clone();
                damaged[at] ^= 1 << bit;
                let mut count = 0;
                let _ = for_each(&damaged, &mut |_, _| {
                    count += 1;
                    Ok(())
                });
                assert!(count <= trie.len() / 2);
            }
        }
        let _ = read(&[]);
    }
}
