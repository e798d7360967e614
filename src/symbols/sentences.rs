//! Sentences for users, of which only the first ones are shown.

/// The number of sentences of one kind that users get; the rest is counted.
const MAX_SENTENCES: usize = 10;

/// Sentences for users: the first ones, and the `rest` with the number of the others.
pub(crate) fn first_sentences(mut sentences: Vec<String>, rest: impl Fn(usize) -> String) -> Vec<String> {
    let others = sentences.len().saturating_sub(MAX_SENTENCES);
    sentences.truncate(MAX_SENTENCES);
    sentences.extend((others > 0).then(|| rest(others)));
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_many_sentences_is_counted() {
        let sentences = |count: usize| (0..count).map(|number| number.to_string()).collect::<Vec<_>>();
        let first = first_sentences(sentences(32), |others| format!("{others} more"));
        assert_eq!((first.len(), first.last().map(String::as_str)), (MAX_SENTENCES + 1, Some("22 more")));
        assert_eq!(first_sentences(sentences(10), |_| unreachable!()).len(), 10);
    }
}
