//! Collects the values of a column for a row group.

use std::io;
use std::sync::Arc;

use indexmap::IndexSet;
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::SerializedColumnWriter;
use parquet::schema::types::{Type, TypePtr};

use super::values::{signed, text_of};
use crate::tables::{ColumnKind, FieldKind, FieldValue, OutputColumn, StackNames};

/// The number of strings that are created per batch.
const TEXTS_AT_ONCE: usize = 4096;

/// The distinct strings of a row group.
#[derive(Default)]
pub(super) struct Texts {
    known: IndexSet<Box<str>>,
    pub(super) bytes: usize,
}

impl Texts {
    fn id(&mut self, text: &str) -> u32 {
        if let Some(id) = self.known.get_index_of(text) {
            return id as u32;
        }
        self.bytes += text.len();
        self.known.insert_full(text.into()).0 as u32
    }

    /// Removes the strings and returns them in the order of their ids.
    pub(super) fn take(&mut self) -> Vec<ByteArray> {
        self.bytes = 0;
        self.known.drain(..).map(|text| ByteArray::from(text.as_bytes().to_vec())).collect()
    }
}

/// The values of a column in the current row group.
#[derive(Default)]
pub(super) struct Column {
    integers: Vec<i64>,
    booleans: Vec<bool>,
    /// The ids of strings.
    texts: Vec<u32>,
    /// For a list: 0 no list, 1 an empty list, 2 an element. For other columns: 0 no value, 1 a value.
    definitions: Vec<i16>,
    /// 0 for the first element of a list, 1 for the others.
    repetitions: Vec<i16>,
    is_list: bool,
    is_required: bool,
    physical: Option<Physical>,
}

impl Column {
    pub(super) fn new(column: &OutputColumn) -> Self {
        let is_list = is_list(column.kind);
        Self { is_list, is_required: column.is_required, physical: Some(physical(column.kind)), ..Self::default() }
    }

    /// The number of values and levels.
    pub(super) fn len(&self) -> usize {
        self.definitions.len()
    }

    /// The Parquet type of the column.
    pub(super) fn parquet_type(column: &OutputColumn) -> Result<TypePtr> {
        let repetition = if column.is_required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
        if !is_list(column.kind) {
            return value_type(&column.name, column.kind, repetition);
        }
        let element = value_type("element", column.kind, Repetition::REQUIRED)?;
        let list = Type::group_type_builder("list").with_repetition(Repetition::REPEATED).with_fields(vec![element]);
        let list = Arc::new(list.build()?);
        let group = Type::group_type_builder(&column.name)
            .with_repetition(repetition)
            .with_logical_type(Some(LogicalType::List))
            .with_converted_type(ConvertedType::LIST)
            .with_fields(vec![list]);
        group.build().map(Arc::new)
    }

    /// Adds the value of a row.
    pub(super) fn add(
        &mut self,
        value: &FieldValue<'_>,
        column: &OutputColumn,
        texts: &mut Texts,
        stacks: &StackNames,
    ) -> io::Result<()> {
        match value {
            FieldValue::None => self.level(0, 0),
            FieldValue::Numbers(numbers) if self.is_list => {
                self.list(numbers.iter(), |column, number| column.integers.push(*number as i64));
            }
            FieldValue::Stack(stack) if self.is_list => {
                self.list(stacks.functions(*stack), |column, function| column.texts.push(texts.id(function)));
            }
            FieldValue::Number(number) => {
                let is_signed = column.kind.unit().is_some();
                // UINT_64 is stored with the bits of an INT64.
                self.integers.push(if is_signed { signed(*number, column)? } else { *number as i64 });
                self.level(1, 0);
            }
            FieldValue::Boolean(is_true) => {
                self.booleans.push(*is_true);
                self.level(1, 0);
            }
            value => {
                self.texts.push(texts.id(&text_of(value, stacks).unwrap_or_default()));
                self.level(1, 0);
            }
        }
        Ok(())
    }

    fn level(&mut self, definition: i16, repetition: i16) {
        self.definitions.push(definition);
        if self.is_list {
            self.repetitions.push(repetition);
        }
    }

    fn list<T>(&mut self, values: impl Iterator<Item = T>, mut add: impl FnMut(&mut Self, T)) {
        let before = self.definitions.len();
        for value in values {
            add(self, value);
            self.level(2, i16::from(self.definitions.len() > before));
        }
        if self.definitions.len() == before {
            self.level(1, 0);
        }
    }

    /// Writes and removes the values.
    pub(super) fn write(&mut self, texts: &[ByteArray], writer: &mut SerializedColumnWriter<'_>) -> Result<()> {
        let definitions = (!self.is_required).then_some(self.definitions.as_slice());
        let repetitions = self.is_list.then_some(self.repetitions.as_slice());
        match self.physical {
            Some(Physical::INT64) => {
                writer.typed::<Int64Type>().write_batch(&self.integers, definitions, repetitions)?;
            }
            Some(Physical::BOOLEAN) => {
                writer.typed::<BoolType>().write_batch(&self.booleans, definitions, repetitions)?;
            }
            _ => self.write_texts(texts, writer)?,
        }
        let Self { is_list, is_required, physical, .. } = *self;
        *self = Self { is_list, is_required, physical, ..Self::default() };
        Ok(())
    }

    /// Creates strings in batches of complete rows, since all strings of a group would be many times larger than their ids.
    fn write_texts(&self, texts: &[ByteArray], writer: &mut SerializedColumnWriter<'_>) -> Result<()> {
        let writer = writer.typed::<ByteArrayType>();
        let value_level = if self.is_list { 2 } else { 1 };
        let (mut ids, mut start) = (self.texts.as_slice(), 0);
        while start < self.definitions.len() {
            let mut end = self.definitions.len().min(start + TEXTS_AT_ONCE);
            while self.repetitions.get(end).is_some_and(|&repetition| repetition > 0) {
                end += 1;
            }
            let levels = &self.definitions[start..end];
            let count = levels.iter().filter(|level| **level == value_level).count();
            let (batch, rest) = ids.split_at(count);
            let batch: Vec<ByteArray> = batch.iter().map(|&id| texts[id as usize].clone()).collect();
            let definitions = (!self.is_required).then_some(levels);
            writer.write_batch(&batch, definitions, self.is_list.then(|| &self.repetitions[start..end]))?;
            (ids, start) = (rest, end);
        }
        Ok(())
    }
}

fn is_list(kind: FieldKind) -> bool {
    matches!(kind, FieldKind::Numbers | FieldKind::Stack)
}

fn physical(kind: FieldKind) -> Physical {
    match kind {
        FieldKind::Number(_) | FieldKind::Numbers => Physical::INT64,
        FieldKind::Boolean => Physical::BOOLEAN,
        FieldKind::Text | FieldKind::Stack => Physical::BYTE_ARRAY,
    }
}

/// The type of a value, or of an element of a list.
fn value_type(name: &str, kind: FieldKind, repetition: Repetition) -> Result<TypePtr> {
    let builder = Type::primitive_type_builder(name, physical(kind)).with_repetition(repetition);
    let builder = match kind {
        FieldKind::Text | FieldKind::Stack => {
            builder.with_logical_type(Some(LogicalType::String)).with_converted_type(ConvertedType::UTF8)
        }
        FieldKind::Number(ColumnKind::Number | ColumnKind::Stack | ColumnKind::Named) | FieldKind::Numbers => {
            builder.with_logical_type(Some(LogicalType::integer(64, false))).with_converted_type(ConvertedType::UINT_64)
        }
        FieldKind::Number(_) | FieldKind::Boolean => builder,
    };
    builder.build().map(Arc::new)
}
