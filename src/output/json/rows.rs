//! The layout of rows in the output: the writers of rows are the same for both forms.

/// The layout of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// They are the elements of an array, a field of the document.
    Document,
    /// Each is a line of its own.
    Lines,
}

/// Rows that are being written.
pub(super) struct Rows {
    layout: Layout,
    is_first: bool,
}

impl Rows {
    /// Begins rows that are the array `name` in a document.
    pub(super) fn begin(layout: Layout, name: &str, out: &mut Vec<u8>) -> Self {
        if layout == Layout::Document {
            out.extend_from_slice(format!(",\n\"{name}\":[").as_bytes());
        }
        Self { layout, is_first: true }
    }

    /// Appends what stands before the next row.
    pub(super) fn next(&mut self, out: &mut Vec<u8>) {
        let separator: &[u8] = match (self.layout, std::mem::replace(&mut self.is_first, false)) {
            (Layout::Document, true) | (Layout::Lines, false) => b"\n",
            (Layout::Document, false) => b",\n",
            (Layout::Lines, true) => b"",
        };
        out.extend_from_slice(separator);
    }

    /// Appends what stands behind the last row.
    pub(super) fn end(self, out: &mut Vec<u8>) {
        match self.layout {
            Layout::Document => out.push(b']'),
            Layout::Lines if self.is_first => {}
            Layout::Lines => out.push(b'\n'),
        }
    }
}
