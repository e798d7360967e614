//! The hashing of tables: fast, and with a new seed in every process, since names, addresses and ids come from input that may be made to
//! collide. No output depends on the order of a hash table.

/// The hasher of every table whose keys come from input.
pub(crate) type BuildHasher = foldhash::fast::RandomState;

/// A map whose keys may come from input, in the order in which they were added.
pub(crate) type IndexMap<K, V> = indexmap::IndexMap<K, V, BuildHasher>;

/// A set whose values may come from input, in the order in which they were added.
pub(crate) type IndexSet<T> = indexmap::IndexSet<T, BuildHasher>;

/// A map whose keys may come from input.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, BuildHasher>;
