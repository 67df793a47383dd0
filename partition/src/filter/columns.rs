//! Partition values that lie in columns, as a manifest decoded to Arrow has them.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::buffer::BooleanBuffer;
use arrow::compute::{max, min};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use iceberg::spec::PrimitiveType;

use super::key::Key;
use super::projection::Projection;
use super::span::Span;
use super::{Leaf, Node, PartitionFilter};

impl PartitionFilter {
    /// [`may_match`](Self::may_match) of many partitions at once: one value a row, none null.
    ///
    /// `columns` holds the partition values, one array per field of the spec in its order, all of
    /// `rows` rows. Days may be `Int32` or `Date32`, times and timestamps of any unit; an array of a
    /// type that its field can't have, or one that is missing, proves nothing.
    pub fn may_match_rows(&self, columns: &[ArrayRef], rows: usize) -> BooleanArray {
        BooleanArray::new(self.node.judge_rows(columns, rows, true), None)
    }

    /// [`must_match`](Self::must_match) of many partitions at once, as [`may_match_rows`](Self::may_match_rows).
    pub fn must_match_rows(&self, columns: &[ArrayRef], rows: usize) -> BooleanArray {
        BooleanArray::new(self.node.judge_rows(columns, rows, false), None)
    }
}

impl Node {
    /// Judges every row: whether it may match, or whether it must.
    fn judge_rows(&self, columns: &[ArrayRef], rows: usize, may: bool) -> BooleanBuffer {
        let all = |value: bool| match value {
            true => BooleanBuffer::new_set(rows),
            false => BooleanBuffer::new_unset(rows),
        };
        match self {
            Node::Constant(value) => all(*value),
            Node::And(nodes) => nodes
                .iter()
                .map(|node| node.judge_rows(columns, rows, may))
                .fold(all(true), |sum, next| &sum & &next),
            Node::Or(nodes) => nodes
                .iter()
                .map(|node| node.judge_rows(columns, rows, may))
                .fold(all(false), |sum, next| &sum | &next),
            Node::Leaf(leaf) => leaf
                .projections
                .iter()
                .filter_map(|projection| leaf.judge_column(projection, columns, rows, may))
                .fold(all(may), |sum, next| if may { &sum & &next } else { &sum | &next }),
        }
    }
}

impl Leaf {
    /// What one partition field says of every row; `None` when its column can't be read.
    fn judge_column(
        &self,
        projection: &Projection,
        columns: &[ArrayRef],
        rows: usize,
        may: bool,
    ) -> Option<BooleanBuffer> {
        let column = columns.get(projection.position).filter(|column| column.len() == rows)?;
        let judge = |span: Span<'_>| match may {
            true => self.condition.may(&span, projection),
            false => self.condition.must(&span, projection),
        };
        let nulls = column.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        let null = judge(Span::Null);
        let valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        if let Some((least, verdicts)) = verdicts(column, |value| judge(projection.preimage(value))) {
            let values = ints(column)?;
            return Some(BooleanBuffer::collect_bool(rows, |row| match valid(row) {
                true => verdicts[values[row].abs_diff(least) as usize],
                false => null,
            }));
        }
        Some(BooleanBuffer::collect_bool(rows, |row| match valid(row) {
            true => judge(projection.span_at(column, row)),
            false => null,
        }))
    }
}

/// The verdict on every int from a column's least value to its greatest, with the least; `None`
/// when that takes more judging than the rows do. Days, buckets and their like rarely do.
fn verdicts(column: &ArrayRef, judge: impl Fn(Key<'_>) -> bool) -> Option<(i32, Vec<bool>)> {
    let (least, greatest) = match column.data_type() {
        DataType::Int32 => {
            let values = column.as_primitive::<Int32Type>();
            (min(values)?, max(values)?)
        }
        DataType::Date32 => {
            let values = column.as_primitive::<Date32Type>();
            (min(values)?, max(values)?)
        }
        _ => return None,
    };
    if greatest.abs_diff(least) as usize >= column.len() {
        return None;
    }
    let verdicts = (least..=greatest).map(|value| judge(Key::Int(i128::from(value))));
    Some((least, verdicts.collect()))
}

fn ints(column: &ArrayRef) -> Option<&[i32]> {
    match column.data_type() {
        DataType::Int32 => Some(column.as_primitive::<Int32Type>().values()),
        DataType::Date32 => Some(column.as_primitive::<Date32Type>().values()),
        _ => None,
    }
}

impl Projection {
    /// The source values of a row whose partition value is not null.
    fn span_at<'a>(&self, column: &'a ArrayRef, row: usize) -> Span<'a> {
        key_at(column, row, self.result()).map_or(Span::Unknown, |key| self.preimage(key))
    }
}

/// The value of a row in the unit of its Iceberg type, or `None` for a type it can't have.
fn key_at<'a>(column: &'a ArrayRef, row: usize, of: &PrimitiveType) -> Option<Key<'a>> {
    use PrimitiveType as P;
    let int = |value: i64| Some(Key::Int(i128::from(value)));
    // Ticks of the array's unit in a second, against those of the type's.
    let instant = |value: i64, per_second: i128| {
        let wanted = match of {
            P::TimestampNs | P::TimestamptzNs => 1_000_000_000,
            P::Time | P::Timestamp | P::Timestamptz => 1_000_000,
            _ => return None,
        };
        let scaled = i128::from(value) * wanted;
        (scaled % per_second == 0).then_some(Key::Int(scaled / per_second))
    };
    match column.data_type() {
        DataType::Boolean => Some(Key::Bool(column.as_boolean().value(row))),
        DataType::Int32 => int(i64::from(column.as_primitive::<Int32Type>().value(row))),
        DataType::Date32 => int(i64::from(column.as_primitive::<Date32Type>().value(row))),
        DataType::Int64 => int(column.as_primitive::<Int64Type>().value(row)),
        DataType::Time32(TimeUnit::Second) => {
            instant(i64::from(column.as_primitive::<Time32SecondType>().value(row)), 1)
        }
        DataType::Time32(TimeUnit::Millisecond) => {
            instant(i64::from(column.as_primitive::<Time32MillisecondType>().value(row)), 1_000)
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            instant(column.as_primitive::<Time64MicrosecondType>().value(row), 1_000_000)
        }
        DataType::Time64(TimeUnit::Nanosecond) => {
            instant(column.as_primitive::<Time64NanosecondType>().value(row), 1_000_000_000)
        }
        DataType::Timestamp(TimeUnit::Second, _) => {
            instant(column.as_primitive::<TimestampSecondType>().value(row), 1)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            instant(column.as_primitive::<TimestampMillisecondType>().value(row), 1_000)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            instant(column.as_primitive::<TimestampMicrosecondType>().value(row), 1_000_000)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            instant(column.as_primitive::<TimestampNanosecondType>().value(row), 1_000_000_000)
        }
        DataType::Float32 => Some(Key::Float(f64::from(column.as_primitive::<Float32Type>().value(row)))),
        DataType::Float64 => Some(Key::Float(column.as_primitive::<Float64Type>().value(row))),
        DataType::Decimal128(_, scale) => match of {
            P::Decimal { scale: wanted, .. } if i64::from(*scale) == i64::from(*wanted) => {
                Some(Key::Int(column.as_primitive::<Decimal128Type>().value(row)))
            }
            _ => None,
        },
        DataType::Utf8 => Some(Key::bytes(column.as_string::<i32>().value(row).as_bytes())),
        DataType::LargeUtf8 => Some(Key::bytes(column.as_string::<i64>().value(row).as_bytes())),
        DataType::Utf8View => Some(Key::bytes(column.as_string_view().value(row).as_bytes())),
        DataType::Binary => Some(Key::bytes(column.as_binary::<i32>().value(row))),
        DataType::LargeBinary => Some(Key::bytes(column.as_binary::<i64>().value(row))),
        DataType::BinaryView => Some(Key::bytes(column.as_binary_view().value(row))),
        DataType::FixedSizeBinary(_) => {
            let bytes = column.as_fixed_size_binary().value(row);
            match of {
                P::Uuid => Key::decode(bytes, of),
                P::Decimal { .. } => Key::decode(bytes, of),
                _ => Some(Key::bytes(bytes)),
            }
        }
        _ => None,
    }
}
