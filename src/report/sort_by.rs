//! The columns by which tables can be sorted; `sort.rs` sorts them.

/// The column by which the rows of tables are sorted: numbers with the largest first, names in the order of their characters. Rows with
/// equal values keep their usual order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// Self weight.
    SelfWeight,
    /// All weight; of rows with one weight, that.
    AllWeight,
    /// The number of samples.
    Samples,
    /// The name, then what tells rows of one name apart, such as the binary of a function. Nothing stands before a missing name.
    Name,
}
