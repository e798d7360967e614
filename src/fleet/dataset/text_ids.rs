//! The strings of a table as numbers: the pages of a text column become pages of ids before they are decoded.
//!
//! Names repeat from row to row, and are in dictionaries. So each is looked at once for each dictionary, and a row costs what a number
//! costs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

use crate::profile::{StringId, Strings};

/// The distinct strings of the table read so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts(Arc<Mutex<Strings>>);

impl Texts {
    fn strings(&self) -> MutexGuard<'_, Strings> {
        // Strings added by a reader that panicked are complete.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id of a string, if it was read before.
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        self.strings().find(text).map(|id| id.index() as u32)
    }

    /// The text of an id that came from here.
    pub(super) fn get(&self, id: u32) -> String {
        self.with(id, str::to_owned)
    }

    /// What is made of the text of an id that came from here.
    pub(super) fn with<T>(&self, id: u32, make: impl FnOnce(&str) -> T) -> T {
        match StringId::from_index(id as usize) {
            Some(id) => make(self.strings().get(id)),
            None => make(""),
        }
    }

    /// The id of a string, which is new if it was not read before.
    pub(super) fn id(&self, text: &[u8]) -> Result<u32> {
        id(&mut self.strings(), text)
    }
}

fn id(strings: &mut Strings, text: &[u8]) -> Result<u32> {
    let text = std::str::from_utf8(text).map_err(|_| refused("a text that is not UTF-8"))?;
    let id = strings.intern(text).ok_or_else(|| refused("too many texts"))?;
    u32::try_from(id.index()).map_err(|_| refused("too many texts"))
}

fn refused(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

/// True if the pages of a column chunk of these encodings can be made to ids here.
pub(super) fn can_be_ids(mut encodings: impl Iterator<Item = Encoding>) -> bool {
    #[allow(deprecated)]
    let is_known = |encoding| {
        use Encoding::{BIT_PACKED, PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY};
        matches!(encoding, PLAIN | PLAIN_DICTIONARY | RLE | RLE_DICTIONARY | BIT_PACKED)
    };
    encodings.all(is_known)
}

/// The pages of a text column, converted to pages of ids.
pub(super) struct IdPages {
    inner: Box<dyn PageReader>,
    texts: Texts,
    has_levels: bool,
}

impl IdPages {
    pub(super) fn new(inner: Box<dyn PageReader>, texts: Texts, has_levels: bool) -> Self {
        Self { inner, texts, has_levels }
    }

    /// The ids of strings with length prefixes, after some bytes that stay unchanged.
    fn ids(&self, bytes: &[u8], kept: usize) -> Result<Bytes> {
        let (kept, mut rest) = bytes.split_at_checked(kept).ok_or_else(|| refused("a page that is too short"))?;
        let mut ids = kept.to_vec();
        let mut strings = self.texts.strings();
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let length = u32::from_le_bytes(*length) as usize;
            let (text, after) = after.split_at_checked(length).ok_or_else(|| refused("a text that is cut off"))?;
            ids.extend_from_slice(&id(&mut strings, text)?.to_le_bytes());
            rest = after;
        }
        Ok(ids.into())
    }

    fn converted(&self, page: Page) -> Result<Page> {
        Ok(match page {
            Page::DictionaryPage { buf, num_values, is_sorted: _, encoding } => {
                Page::DictionaryPage { buf: self.ids(&buf, 0)?, num_values, encoding, is_sorted: false }
            }
            Page::DataPage {
                buf,
                num_values,
                encoding: Encoding::PLAIN,
                def_level_encoding,
                rep_level_encoding,
                ..
            } => {
                let levels = if self.has_levels { length_of_levels(&buf) } else { 0 };
                let buf = self.ids(&buf, levels)?;
                let (encoding, statistics) = (Encoding::PLAIN, None);
                Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, statistics }
            }
            Page::DataPageV2 {
                buf,
                num_values,
                encoding: Encoding::PLAIN,
                num_nulls,
                num_rows,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed,
                ..
            } => {
                let levels = def_levels_byte_len as usize + rep_levels_byte_len as usize;
                Page::DataPageV2 {
                    buf: self.ids(&buf, levels)?,
                    num_values,
                    encoding: Encoding::PLAIN,
                    num_nulls,
                    num_rows,
                    def_levels_byte_len,
                    rep_levels_byte_len,
                    is_compressed,
                    statistics: None,
                }
            }
            page => page,
        })
    }
}

/// The length of the levels at the start of a page, including their length in four bytes.
fn length_of_levels(bytes: &[u8]) -> usize {
    bytes.first_chunk::<4>().map_or(0, |length| (u32::from_le_bytes(*length) as usize).saturating_add(4))
}

impl PageReader for IdPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.inner.get_next_page()?.map(|page| self.converted(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.inner.skip_next_page()
    }
}

impl Iterator for IdPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}
