//! Source files with weights on their lines.

use super::source_index::{SourceIndex, SourceText, Sources};
use super::{Report, SeriesReport};
use crate::calltree::{KeySums, SourceFileRow, source_files_of_stacks};
use crate::hash::HashMap;

/// The number of lines shown before and after a line with samples.
const CONTEXT: u32 = 3;

/// A source file with the weights of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct AnnotatedFile<'r> {
    /// The path on the machine that compiled the file.
    pub(crate) path: &'r str,
    /// The file that supplied the text, or why there is no text.
    pub(crate) file: Result<&'r str, &'r str>,
    /// The weights of the entire file. A sample counts once, even if several of its frames are in the file.
    pub(crate) sums: KeySums,
    /// The lines with samples, and three lines before and after each, in order. Without the text, only lines with samples.
    pub(crate) lines: Vec<AnnotatedLine<'r>>,
}

/// A line of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct AnnotatedLine<'r> {
    /// The line number, from 1.
    pub(crate) line: u32,
    /// The weights of the line; zero on a context line.
    pub(crate) sums: KeySums,
    /// The text; `None` if the file was not found, or is shorter than the compiled one.
    pub(crate) text: Option<&'r str>,
}

impl Report<'_> {
    /// Reads the text of source files in the stacks of selected samples, once per file, and in each series heaviest first. Writers show it in
    /// [`View::Lines`](super::View::Lines).
    ///
    /// `files` are the paths of files that may be sources, with `/` between components. The file that shares the most trailing components with a
    /// recorded path is used. `read` returns its text, or a brief reason why it is missing.
    pub fn read_sources(
        &mut self,
        files: impl IntoIterator<Item = String>,
        mut read: impl FnMut(&str) -> Result<String, String>,
    ) {
        let (mut index, mut sources) = (SourceIndex::default(), Sources::default());
        files.into_iter().for_each(|file| index.add(&file));
        for path in self.source_paths() {
            let found = index.find(path).and_then(|file| Ok(SourceText { file: file.to_owned(), text: read(file)? }));
            sources.answers.insert(path.to_owned(), found);
        }
        self.sources = Some(sources);
    }

    /// The recorded paths of source files in the stacks of selected samples, once per file, and in each series heaviest first.
    pub fn source_paths(&self) -> Vec<&str> {
        let profile = &self.recording.profile;
        let mut is_known: HashMap<&str, ()> = HashMap::default();
        let rows = self.series.iter().flat_map(|series| self.source_files(series));
        let paths = rows.map(|row| profile.string(row.path));
        paths.filter(|path| is_known.insert(path, ()).is_none()).collect()
    }

    /// The source files of a series with weights on their lines, heaviest first; `None` if no text was requested.
    pub(crate) fn annotated_files(&self, series: &SeriesReport) -> Option<Vec<AnnotatedFile<'_>>> {
        let sources = self.sources.as_ref()?;
        let annotate = |row: SourceFileRow| {
            let path = self.recording.profile.string(row.path);
            let (file, lines) = match sources.answers.get(path) {
                Some(Ok(found)) => (Ok(found.file.as_str()), with_context(&row, &found.text)),
                Some(Err(why)) => (Err(why.as_str()), without_text(&row)),
                None => (Err("not asked for"), without_text(&row)),
            };
            AnnotatedFile { path, file, sums: row.sums, lines }
        };
        Some(self.source_files(series).into_iter().map(annotate).collect())
    }

    /// The source files of a series with weights on their lines, sorted by self weight, then all weight, then path. Frames without a source are
    /// not included.
    pub fn source_files(&self, series: &SeriesReport) -> Vec<SourceFileRow> {
        source_files_of_stacks(&self.recording.profile, self.stacks(series))
    }
}

fn without_text(row: &SourceFileRow) -> Vec<AnnotatedLine<'static>> {
    row.lines.iter().map(|&(line, sums)| AnnotatedLine { line, sums, text: None }).collect()
}

fn with_context<'r>(row: &SourceFileRow, text: &'r str) -> Vec<AnnotatedLine<'r>> {
    let texts: Vec<&str> = text.lines().collect();
    let last = u32::try_from(texts.len()).unwrap_or(u32::MAX);
    let text_of = |line: u32| texts.get(line as usize - 1).copied();
    let mut lines: Vec<AnnotatedLine<'r>> = Vec::new();
    // The first line that has not been added.
    let mut next = 1;
    let add_context = |from: u32, to: u32, lines: &mut Vec<AnnotatedLine<'r>>| {
        let context = (from..=to.min(last)).map(|line| (line, KeySums::default()));
        lines.extend(context.map(|(line, sums)| AnnotatedLine { line, sums, text: text_of(line) }));
    };
    for (index, &(line, sums)) in row.lines.iter().enumerate() {
        add_context(next.max(line.saturating_sub(CONTEXT)), line - 1, &mut lines);
        lines.push(AnnotatedLine { line, sums, text: text_of(line) });
        let before_next = row.lines.get(index + 1).map_or(u32::MAX, |&(line, _)| line - 1);
        let end = line.saturating_add(CONTEXT).min(before_next);
        add_context(line.saturating_add(1), end, &mut lines);
        next = end.saturating_add(1);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::ProfileBuilder;

    /// Tries all subsets of a nine-line text, plus the line after its end.
    #[test]
    fn shows_three_lines_around_each_line() {
        let text: String = (1..=9).map(|line| format!("line {line}\n")).collect();
        let path = ProfileBuilder::new().string("a.c").unwrap();
        for set in 0_u32..1 << 10 {
            let heavy: Vec<u32> = (1..=10).filter(|line| set & (1 << (line - 1)) != 0).collect();
            let sums = KeySums { self_weight: 7, all_weight: 9, self_samples: 1, all_samples: 2 };
            let lines = heavy.iter().map(|&line| (line, sums)).collect();
            let row = SourceFileRow { path, sums, lines };
            let shown =
                |line: &u32| heavy.contains(line) || (*line < 10 && heavy.iter().any(|h| h.abs_diff(*line) <= 3));
            let expected: Vec<(u32, KeySums)> = (1..=10)
                .filter(shown)
                .map(|line| (line, if heavy.contains(&line) { sums } else { KeySums::default() }))
                .collect();
            let found = with_context(&row, &text);
            assert_eq!(found.iter().map(|line| (line.line, line.sums)).collect::<Vec<_>>(), expected);
            for line in found {
                assert_eq!(line.text, Some(format!("line {}", line.line)).filter(|_| line.line < 10).as_deref());
            }
        }
    }
}
