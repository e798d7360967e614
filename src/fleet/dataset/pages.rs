//! Checks Parquet pages before they are decoded.
//!
//! The Parquet reader trusts pages: it allocates as many dictionary entries as a header claims, and panics if a page refers to a missing
//! dictionary or ends inside the length of a string. This crate writes few encodings, so all others are rejected in its files. Engines use more
//! encodings, and version 2 pages; an encoding is rejected if the reader would allocate memory for a claimed number.
//!
//! Pages of string columns are converted to pages of ids before they are decoded. Names recur from row to row and are in dictionaries, so each is
//! processed once per dictionary, and a row costs no more than a number.

use std::io::{BufReader, Error, ErrorKind, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::layout::{Place, Stored, Writer};
use crate::profile::{StringId, Strings};
use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// The pages of a column in a row group.
pub(super) struct CheckedPages {
    inner: Box<dyn PageReader>,
    writer: Writer,
    stored: Stored,
    has_levels: bool,
    has_dictionary: bool,
    /// The number of the group's rows that no page has contained yet.
    rows_left: u64,
    /// Interns the strings in pages, which then contain ids instead.
    texts: Option<Texts>,
}

impl CheckedPages {
    pub(super) fn new(
        inner: Box<dyn PageReader>,
        writer: Writer,
        place: &Place,
        rows: u64,
        texts: Option<Texts>,
    ) -> Self {
        let Place { stored, is_nullable: has_levels, .. } = *place;
        Self { inner, writer, stored, has_levels, has_dictionary: false, rows_left: rows, texts }
    }

    /// True if `bytes` are long enough for this many numbers or length-prefixed strings.
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
                    return Err(refused("an impossible dictionary"));
                }
                self.has_dictionary = true;
            }
            Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } => {
                if (self.has_levels && *def_level_encoding != Encoding::RLE) || buf.is_empty() {
                    return Err(refused("an impossible page"));
                }
                let levels = self.length_of_levels(buf).ok_or_else(|| refused("an impossible page"))?;
                let values = buf.get(levels..).unwrap_or_default();
                self.check_values(*encoding, values, *num_values, self.has_levels)?;
            }
            Page::DataPageV2 { .. } if self.writer == Writer::Traceparse => {
                return Err(refused("a page of an unsupported kind"));
            }
            Page::DataPageV2 {
                buf, num_values, encoding, num_nulls, def_levels_byte_len, rep_levels_byte_len, ..
            } => {
                let levels = (*def_levels_byte_len as usize).saturating_add(*rep_levels_byte_len as usize);
                let values = buf.get(levels..).ok_or_else(|| refused("an impossible page"))?;
                if num_nulls > num_values {
                    return Err(refused("an impossible page"));
                }
                self.check_values(*encoding, values, *num_values, *num_nulls > 0)?;
            }
        }
        Ok(())
    }

    /// In a nullable column, levels and their length precede the values. Returns the size of both in bytes.
    fn length_of_levels(&self, bytes: &[u8]) -> Option<usize> {
        if self.has_levels { Some(4 + u32::from_le_bytes(*bytes.first_chunk()?) as usize) } else { Some(0) }
    }

    /// Replaces the strings in a page with their ids.
    fn replace_texts(&self, page: &mut Page, texts: &Texts) -> Result<()> {
        match page {
            Page::DictionaryPage { buf, is_sorted, .. } => {
                (*buf, *is_sorted) = (texts.ids(buf, 0)?, false);
            }
            Page::DataPage { buf, encoding: Encoding::PLAIN, statistics, .. } => {
                let levels = self.length_of_levels(buf).unwrap_or(0);
                (*buf, *statistics) = (texts.ids(buf, levels)?, None);
            }
            Page::DataPageV2 {
                buf,
                encoding: Encoding::PLAIN,
                def_levels_byte_len,
                rep_levels_byte_len,
                statistics,
                ..
            } => {
                let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                (*buf, *statistics) = (texts.ids(buf, levels)?, None);
            }
            Page::DataPage { .. } | Page::DataPageV2 { .. } => {}
        }
        Ok(())
    }

    /// Checks the values in a page of this many rows. The number of values in a nullable column is only known later.
    fn check_values(&mut self, encoding: Encoding, values: &[u8], rows: u32, has_nulls: bool) -> Result<()> {
        let is_engine = self.writer == Writer::Engine;
        #[allow(deprecated)]
        let is_possible = match encoding {
            Encoding::PLAIN => has_nulls || self.holds(values, rows),
            Encoding::RLE_DICTIONARY => self.has_dictionary,
            Encoding::PLAIN_DICTIONARY => is_engine && self.has_dictionary,
            Encoding::DELTA_BINARY_PACKED => self.stored != Stored::Text && claims_at_most(values, rows),
            Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY => {
                is_engine && self.stored == Stored::Text && claims_at_most(values, rows)
            }
            Encoding::BYTE_STREAM_SPLIT => is_engine && self.stored != Stored::Text,
            _ => false,
        };
        if !is_possible {
            return Err(refused("an impossible page"));
        }
        let rows = self.rows_left.checked_sub(u64::from(rows));
        self.rows_left = rows.ok_or_else(|| refused("more rows in a column than in the table"))?;
        Ok(())
    }
}

/// True if the header of a delta encoding claims at most this many values, since the reader trusts it. The header has four varints with seven
/// bits per byte.
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
        let Some(mut page) = self.inner.get_next_page()? else { return Ok(None) };
        self.check(&page)?;
        if let Some(texts) = &self.texts {
            self.replace_texts(&mut page, texts)?;
        }
        Ok(Some(page))
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

/// The distinct strings in the part of the table that has been read.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts(Arc<Mutex<Strings>>);

impl Texts {
    fn strings(&self) -> MutexGuard<'_, Strings> {
        // Strings are complete even if a reader panicked after adding them.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the id of a string that has been read.
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        self.strings().find(text).map(|id| id.index() as u32)
    }

    /// Returns the string with an id that this table returned.
    pub(super) fn get(&self, id: u32) -> String {
        StringId::from_index(id as usize).map_or_else(String::new, |id| self.strings().get(id).to_owned())
    }

    /// Interns a string.
    pub(super) fn id(&self, text: &[u8]) -> Result<u32> {
        id(&mut self.strings(), text)
    }

    /// Replaces length-prefixed strings by their ids, after the first `kept` bytes, which do not change.
    fn ids(&self, bytes: &[u8], kept: usize) -> Result<Bytes> {
        let (kept, mut rest) = bytes.split_at_checked(kept).ok_or_else(|| refused("a page that is too short"))?;
        let mut ids = kept.to_vec();
        let mut strings = self.strings();
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let length = u32::from_le_bytes(*length) as usize;
            let (text, after) = after.split_at_checked(length).ok_or_else(|| refused("a string that is cut off"))?;
            ids.extend_from_slice(&id(&mut strings, text)?.to_le_bytes());
            rest = after;
        }
        Ok(ids.into())
    }
}

fn id(strings: &mut Strings, text: &[u8]) -> Result<u32> {
    let text = std::str::from_utf8(text).map_err(|_| refused("a string that is not UTF-8"))?;
    let id = strings.intern(text).ok_or_else(|| refused("too many texts"))?;
    u32::try_from(id.index()).map_err(|_| refused("too many texts"))
}

/// True if the pages of a column chunk with these encodings can be converted to ids.
pub(super) fn can_be_ids(mut encodings: impl Iterator<Item = Encoding>) -> bool {
    #[allow(deprecated)]
    let is_known = |encoding| {
        use Encoding::{BIT_PACKED, PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY};
        matches!(encoding, PLAIN | PLAIN_DICTIONARY | RLE | RLE_DICTIONARY | BIT_PACKED)
    };
    encodings.all(is_known)
}

/// The buffer size for page headers, which have about 20 bytes.
const HEADER_BYTES: usize = 256;

/// A file that several readers share.
pub(super) struct Source<R> {
    input: Arc<Mutex<R>>,
    length: u64,
}

impl<R: Read + Seek> Source<R> {
    pub(super) fn new(mut input: R) -> std::io::Result<Self> {
        let length = input.seek(SeekFrom::End(0))?;
        Ok(Self { input: Arc::new(Mutex::new(input)), length })
    }
}

impl<R> Length for Source<R> {
    fn len(&self) -> u64 {
        self.length
    }
}

impl<R: Read + Seek + Send> ChunkReader for Source<R> {
    type T = BufReader<ReadFrom<R>>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::with_capacity(HEADER_BYTES, ReadFrom { input: Arc::clone(&self.input), position: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Checked before any memory is allocated, since the range comes from the file itself.
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} of {}", self.length)));
        }
        let mut bytes = vec![0; length];
        let mut from = ReadFrom { input: Arc::clone(&self.input), position: start };
        from.read_exact(&mut bytes).map_err(|error| ParquetError::External(Box::new(error)))?;
        Ok(bytes.into())
    }
}

/// Reads from a position. Readers share one file, so each of them seeks first.
pub(super) struct ReadFrom<R> {
    input: Arc<Mutex<R>>,
    position: u64,
}

impl<R: Read + Seek> Read for ReadFrom<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        // A panic elsewhere is harmless, since every read seeks first.
        let mut input: MutexGuard<'_, R> = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let at = input.seek(SeekFrom::Start(self.position))?;
        if at != self.position {
            return Err(Error::new(ErrorKind::UnexpectedEof, "cannot seek there"));
        }
        let read = input.read(buffer)?;
        self.position += read as u64;
        Ok(read)
    }
}
