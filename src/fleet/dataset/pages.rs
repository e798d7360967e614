//! Pages, checked before they are decoded.
//!
//! The Parquet reader trusts pages: it allocates as many dictionary entries as a header claims, and panics if a page
//! refers to a missing dictionary, or ends inside the length of a string. Files that this crate wrote have few shapes,
//! so any other shape is refused here. Engines use more encodings, and pages of version 2; an encoding is refused if
//! the reader would allocate memory for a claimed number.

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

use super::layout::{Place, Stored, Writer};

/// The pages of a column of a row group.
pub(super) struct CheckedPages {
    inner: Box<dyn PageReader>,
    writer: Writer,
    stored: Stored,
    has_levels: bool,
    has_dictionary: bool,
    /// Rows of the group that no page held so far.
    rows_left: u64,
}

impl CheckedPages {
    pub(super) fn new(inner: Box<dyn PageReader>, writer: Writer, place: &Place, rows: u64) -> Self {
        let Place { stored, is_nullable: has_levels, .. } = *place;
        Self { inner, writer, stored, has_levels, has_dictionary: false, rows_left: rows }
    }

    /// True if `bytes` are long enough for this many values: numbers, or strings with a length prefix.
    fn holds(&self, mut bytes: &[u8], values: u32) -> bool {
        match self.stored {
            Stored::Integer => return u64::from(values) * 8 <= bytes.len() as u64,
            Stored::ShortInteger => return u64::from(values) * 4 <= bytes.len() as u64,
            Stored::Text => {}
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
                if (self.has_levels && *def_level_encoding != Encoding::RLE) || buf.is_empty() {
                    return Err(refused("a page that cannot be"));
                }
                // In a nullable column, the levels precede the values, with their length.
                let levels = match (self.has_levels, buf.split_first_chunk::<4>()) {
                    (true, Some((length, _))) => 4 + u32::from_le_bytes(*length) as usize,
                    (true, None) => return Err(refused("a page that cannot be")),
                    (false, _) => 0,
                };
                let values = buf.get(levels..).unwrap_or_default();
                self.check_values(*encoding, values, *num_values, self.has_levels)?;
            }
            Page::DataPageV2 { .. } if self.writer == Writer::Traceparse => {
                return Err(refused("a page of a kind that is not written"));
            }
            Page::DataPageV2 {
                buf, num_values, encoding, num_nulls, def_levels_byte_len, rep_levels_byte_len, ..
            } => {
                let levels = (*def_levels_byte_len as usize).saturating_add(*rep_levels_byte_len as usize);
                let values = buf.get(levels..).ok_or_else(|| refused("a page that cannot be"))?;
                if num_nulls > num_values {
                    return Err(refused("a page that cannot be"));
                }
                self.check_values(*encoding, values, *num_values, *num_nulls > 0)?;
            }
        }
        Ok(())
    }

    /// Checks the values of a page with this many rows. The number of values of a nullable column is only known later.
    fn check_values(&mut self, encoding: Encoding, values: &[u8], rows: u32, has_nulls: bool) -> Result<()> {
        let is_engine = self.writer == Writer::Engine;
        #[allow(deprecated)]
        let is_possible = match encoding {
            Encoding::PLAIN => has_nulls || self.holds(values, rows),
            Encoding::RLE_DICTIONARY => self.has_dictionary,
            Encoding::PLAIN_DICTIONARY => is_engine && self.has_dictionary,
            Encoding::DELTA_BINARY_PACKED => is_engine && self.stored != Stored::Text && claims_at_most(values, rows),
            Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY => {
                is_engine && self.stored == Stored::Text && claims_at_most(values, rows)
            }
            Encoding::BYTE_STREAM_SPLIT => is_engine && self.stored != Stored::Text,
            _ => false,
        };
        if !is_possible {
            return Err(refused("a page that cannot be"));
        }
        let rows = self.rows_left.checked_sub(u64::from(rows));
        self.rows_left = rows.ok_or_else(|| refused("more rows in a column than in the table"))?;
        Ok(())
    }
}

/// True if the header of delta encoding, four numbers of 7 bits a byte, announces at most this many values, which the
/// reader trusts.
fn claims_at_most(mut bytes: &[u8], values: u32) -> bool {
    let mut number = || {
        let mut number = 0_u64;
        for shift in (0..63).step_by(7) {
            let (byte, rest) = bytes.split_first()?;
            bytes = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    };
    let [block, miniblocks, claimed] = [number(), number(), number()];
    let (Some(block), Some(miniblocks), Some(claimed)) = (block, miniblocks, claimed) else {
        // A page of nulls has no values.
        return bytes.is_empty();
    };
    claimed <= u64::from(values) && block <= 1 << 20 && miniblocks <= block
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
