//! The hashing of tables: fast, and with a new seed in every process, because names, addresses and ids come from input that may be crafted to
//! collide. No output depends on the order of a hash table.

/// The hasher for every table whose keys come from input.
pub(crate) type BuildHasher = foldhash::fast::RandomState;

/// A map whose keys may come from input, in insertion order.
pub(crate) type IndexMap<K, V> = indexmap::IndexMap<K, V, BuildHasher>;

/// A set whose values may come from input, in insertion order.
pub(crate) type IndexSet<T> = indexmap::IndexSet<T, BuildHasher>;

/// A map whose keys may come from input.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, BuildHasher>;
