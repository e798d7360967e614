//! Pages, checked before they are decoded.
//!
//! The Parquet reader trusts pages: it makes room for as many dictionary entries as a header claims, and panics if a page refers to a
//! missing dictionary, or ends inside the length of a string. Files that this crate wrote have few shapes, so any other shape is refused
//! here.

use parquet::basic::{Encoding, Type as Physical};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

/// The pages of a column of a row group.
pub(super) struct CheckedPages {
    inner: Box<dyn PageReader>,
    physical: Physical,
    has_levels: bool,
    has_dictionary: bool,
    /// Rows of the group that no page held so far.
    rows_left: u64,
}

impl CheckedPages {
    pub(super) fn new(inner: Box<dyn PageReader>, physical: Physical, has_levels: bool, rows: u64) -> Self {
        Self { inner, physical, has_levels, has_dictionary: false, rows_left: rows }
    }

    /// True if `bytes` are long enough for so many values: numbers of 8 bytes, or strings with their length in front.
    fn holds(&self, mut bytes: &[u8], values: u32) -> bool {
        if self.physical != Physical::BYTE_ARRAY {
            return u64::from(values) * 8 <= bytes.len() as u64;
        }
        (0..values).all(|_| {
            let Some((length, rest)) = bytes.split_first_chunk::<4>() else { return false };
            bytes = rest.get(u32::from_le_bytes(*length) as usize..).unwrap_or_default();
            rest.len() >= u32::from_le_bytes(*length) as usize
        })
    }

    fn check(&mut self, page: &Page) -> Result<()> {
        match page {
            Page::DictionaryPage { buf, num_values, encoding, .. } => {
                let fits = self.holds(buf, *num_values);
                #[allow(deprecated)]
                let is_plain = matches!(encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY);
                if self.has_dictionary || !fits || !is_plain {
                    return Err(refused("a dictionary that cannot be"));
                }
                self.has_dictionary = true;
            }
            Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } => {
                let is_known = match encoding {
                    // Where there may be nulls, how many values there are is known later only.
                    Encoding::PLAIN => self.has_levels || self.holds(buf, *num_values),
                    Encoding::RLE_DICTIONARY => self.has_dictionary,
                    _ => false,
                };
                if !is_known || (self.has_levels && *def_level_encoding != Encoding::RLE) || buf.is_empty() {
                    return Err(refused("a page that cannot be"));
                }
                let rows = self.rows_left.checked_sub(u64::from(*num_values));
                self.rows_left = rows.ok_or_else(|| refused("more rows in a column than in the table"))?;
            }
            Page::DataPageV2 { .. } => return Err(refused("a page of a kind that is not written")),
        }
        Ok(())
    }
}

fn refused(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.inner.get_next_page()?;
        if let Some(page) = &page {
            self.check(page)?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.inner.skip_next_page()
    }
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}
