//! Writes headers and records. Separators, quotes and the protection of text are only implemented here.

use std::borrow::Cow;
use std::io::{self, Write};

use super::cells::Cells;
use crate::output::byte_writer::{ByteWriter, Put, push_address, push_number};

/// A field of a record. Numbers are the same for programs and spreadsheets.
pub(in crate::output) enum Field<'f> {
    Absent,
    /// Text in the form that [`Cells`] specifies.
    Text(Cow<'f, str>),
    Number(u64),
    Decimal(f64),
    Address(u64),
    /// Several fields that records share, formatted by [`fields`].
    Shared(&'f [u8]),
}

/// Converts values to fields.
macro_rules! fields_from {
    ($($type:ty, $value:ident => $field:expr;)*) => {
        $(impl<'f> From<$type> for Field<'f> {
            fn from($value: $type) -> Self {
                $field
            }
        })*
    };
}

fields_from! {
    &'f str, text => Self::Text(Cow::Borrowed(text));
    &'f String, text => Self::Text(Cow::Borrowed(text));
    String, text => Self::Text(Cow::Owned(text));
    Cow<'f, str>, text => Self::Text(text);
    u64, number => Self::Number(number);
    u32, number => Self::Number(number.into());
    f64, number => Self::Decimal(number);
    bool, flag => Self::Text(Cow::Borrowed(if flag { "true" } else { "false" }));
    &'f Vec<u8>, fields => Self::Shared(fields);
    &'f [u8], fields => Self::Shared(fields);
}

impl<'f, T: Into<Self>> From<Option<T>> for Field<'f> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}

impl Field<'_> {
    fn push(&self, cells: Cells, out: &mut Vec<u8>) {
        match self {
            Self::Absent => {}
            Self::Text(text) => push_text(&cells.text(text), out),
            Self::Number(number) => push_number(*number, out),
            // The shortest decimal that parses to the same number.
            Self::Decimal(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Self::Address(address) => push_address(*address, out),
            Self::Shared(fields) => out.extend_from_slice(fields),
        }
    }
}

/// Appends text, in quotes if it contains a separator, a quote or a line break.
fn push_text(text: &str, out: &mut Vec<u8>) {
    if memchr::memchr3(b',', b'"', b'\n', text.as_bytes()).is_none() && !text.contains('\r') {
        return out.extend_from_slice(text.as_bytes());
    }
    out.push(b'"');
    // Quotes within the text are doubled.
    out.put(text.replace('"', "\"\"").as_bytes()).push(b'"');
}

/// Formats fields for records that [share](Field::Shared) them.
pub(super) fn fields<'f>(fields: impl IntoIterator<Item = Field<'f>>, cells: Cells, out: &mut Vec<u8>) {
    for (index, field) in fields.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        field.push(cells, out);
    }
}

/// A table that is written record by record.
pub(in crate::output) struct Csv<'o> {
    cells: Cells,
    out: ByteWriter<'o>,
}

impl<'o> Csv<'o> {
    /// Writes a complete table.
    pub(in crate::output) fn write<'h, 'f>(
        header: impl IntoIterator<Item = impl Into<Field<'h>>>,
        records: impl IntoIterator<Item = impl IntoIterator<Item = Field<'f>>>,
        cells: Cells,
        out: &'o mut dyn Write,
    ) -> io::Result<()> {
        let mut csv = Self::new(header, cells, out)?;
        records.into_iter().try_for_each(|record| csv.record(record))?;
        csv.finish()
    }

    /// Begins a table with these column names.
    pub(in crate::output) fn new<'f>(
        header: impl IntoIterator<Item = impl Into<Field<'f>>>,
        cells: Cells,
        out: &'o mut dyn Write,
    ) -> io::Result<Self> {
        let mut csv = Self { cells, out: ByteWriter::new(out) };
        csv.record(header.into_iter().map(Into::into))?;
        Ok(csv)
    }

    pub(in crate::output) fn record<'f>(&mut self, record: impl IntoIterator<Item = Field<'f>>) -> io::Result<()> {
        fields(record, self.cells, &mut self.out.text);
        self.out.put(b"\n");
        self.out.flush_if_full()
    }

    pub(in crate::output) fn finish(&mut self) -> io::Result<()> {
        self.out.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_fields_as_the_crate_csv_does() {
        for field in ["", "a", " a ", "a,b", "\"", "a\"b\"", "a\nb", "a\rb", "é;\t|'", ",", "\"\""] {
            let mut csv = ::csv::Writer::from_writer(Vec::new());
            csv.write_record([field, "x"]).unwrap();
            let mut found = Vec::new();
            Csv::write([field, "x"], [[]; 0], Cells::AsTheyAre, &mut found).unwrap();
            assert_eq!(found, csv.into_inner().unwrap(), "{field:?}");
        }
    }
}
