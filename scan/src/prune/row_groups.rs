use arrow::datatypes::{DataType, TimeUnit};
use iceberg::spec::PrimitiveType;
use parquet::basic::ColumnOrder;
use parquet::data_type::ByteArray;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::statistics::Statistics;

use super::Facts;
use super::facts::Count;
use crate::value::Value;

/// What Parquet's statistics say of one leaf column, row group by row group, in the table's type.
///
/// The Iceberg manifest counts NaN; Parquet does not, so a column that can hold NaN may.
pub(crate) struct LeafStatistics<'a> {
    pub(crate) leaf: usize,
    /// The column's type as Arrow reads it.
    pub(crate) held: &'a DataType,
    pub(crate) table: &'a PrimitiveType,
}

impl LeafStatistics<'_> {
    /// The facts of one row group; a statistic that is missing or can't be trusted is not known.
    pub(crate) fn facts(&self, file: &ParquetMetaData, group: &RowGroupMetaData) -> Facts {
        let Some(column) = group.columns().get(self.leaf) else { return Facts::default() };
        let Some(statistics) = column.statistics() else { return Facts::default() };
        let nulls = match (u64::try_from(group.num_rows()), column.num_values() == group.num_rows()) {
            (Ok(rows), true) => Count::of(statistics.null_count_opt(), rows),
            _ => Count::Unknown,
        };
        let nans = match self.table {
            PrimitiveType::Float | PrimitiveType::Double => Count::Unknown,
            _ => Count::None,
        };
        let (lower, upper) = match self.ordered(file, statistics) {
            true => self.bounds(statistics),
            false => (None, None),
        };
        Facts::new(lower, upper, nulls, nans)
    }

    /// Whether minimum and maximum are in the order filters compare by.
    ///
    /// Writers before the format fixed an order compared bytes as signed.
    fn ordered(&self, file: &ParquetMetaData, statistics: &Statistics) -> bool {
        match statistics {
            Statistics::ByteArray(_) | Statistics::FixedLenByteArray(_) => {
                !statistics.is_min_max_deprecated()
                    && matches!(
                        file.file_metadata().column_orders().and_then(|orders| orders.get(self.leaf)),
                        Some(ColumnOrder::TYPE_DEFINED_ORDER(_))
                    )
            }
            Statistics::Int96(_) => false,
            _ => true,
        }
    }

    fn bounds(&self, statistics: &Statistics) -> (Option<Value>, Option<Value>) {
        macro_rules! both {
            ($typed:expr, $value:expr) => {
                ($typed.min_opt().and_then($value), $typed.max_opt().and_then($value))
            };
        }
        match statistics {
            Statistics::Boolean(s) => both!(s, |v| self.boolean(*v)),
            Statistics::Int32(s) => both!(s, |v| self.integer(i64::from(*v))),
            Statistics::Int64(s) => both!(s, |v| self.integer(*v)),
            Statistics::Float(s) => both!(s, |v| self.float(*v)),
            Statistics::Double(s) => both!(s, |v| self.double(*v)),
            Statistics::ByteArray(s) => both!(s, |v: &ByteArray| self.bytes(v.data())),
            Statistics::FixedLenByteArray(s) => both!(s, |v| self.bytes(ByteArray::from(v.clone()).data())),
            Statistics::Int96(_) => (None, None),
        }
    }

    fn boolean(&self, v: bool) -> Option<Value> {
        (*self.table == PrimitiveType::Boolean).then_some(Value::Boolean(v))
    }

    fn integer(&self, v: i64) -> Option<Value> {
        use DataType as D;
        use PrimitiveType as P;
        match (self.table, self.held) {
            (P::Int, D::Int8 | D::Int16 | D::Int32) | (P::Date, D::Date32) => {
                i32::try_from(v).ok().map(Value::Int)
            }
            (P::Long, D::Int8 | D::Int16 | D::Int32 | D::Int64) => Some(Value::Long(v)),
            (P::Decimal { scale, .. }, D::Decimal128(_, held))
                if u32::try_from(*held).ok() == Some(*scale) =>
            {
                Some(Value::Decimal(i128::from(v)))
            }
            (P::Time, D::Time64(TimeUnit::Microsecond)) => Some(Value::Long(v)),
            (P::Timestamp | P::Timestamptz, D::Timestamp(TimeUnit::Microsecond, _))
            | (P::TimestampNs | P::TimestamptzNs, D::Timestamp(TimeUnit::Nanosecond, _)) => {
                Some(Value::Long(v))
            }
            (P::Timestamp | P::Timestamptz, D::Timestamp(TimeUnit::Millisecond, _)) => {
                v.checked_mul(1000).map(Value::Long)
            }
            // Values are rounded down into the table's unit, and so may bounds be.
            (P::Timestamp | P::Timestamptz, D::Timestamp(TimeUnit::Nanosecond, _)) => {
                Some(Value::Long(v.div_euclid(1000)))
            }
            (P::TimestampNs | P::TimestamptzNs, D::Timestamp(TimeUnit::Microsecond, _)) => {
                v.checked_mul(1000).map(Value::Long)
            }
            _ => None,
        }
    }

    fn float(&self, v: f32) -> Option<Value> {
        match self.table {
            PrimitiveType::Float => Some(Value::Float(v)),
            PrimitiveType::Double => Some(Value::Double(f64::from(v))),
            _ => None,
        }
    }

    fn double(&self, v: f64) -> Option<Value> {
        (*self.table == PrimitiveType::Double).then_some(Value::Double(v))
    }

    fn bytes(&self, bytes: &[u8]) -> Option<Value> {
        use DataType as D;
        use PrimitiveType as P;
        match (self.table, self.held) {
            (P::String, D::Utf8 | D::Binary) => {
                std::str::from_utf8(bytes).ok().map(|v| Value::Text(v.to_owned()))
            }
            (P::Binary, D::Binary) | (P::Uuid | P::Fixed(_), D::FixedSizeBinary(_)) => {
                Some(Value::Bytes(bytes.to_vec()))
            }
            (P::Decimal { scale, .. }, D::Decimal128(_, held))
                if u32::try_from(*held).ok() == Some(*scale) =>
            {
                big_endian(bytes).map(Value::Decimal)
            }
            _ => None,
        }
    }
}

/// A two's complement number of up to sixteen bytes, the highest first.
fn big_endian(bytes: &[u8]) -> Option<i128> {
    if bytes.is_empty() || bytes.len() > 16 {
        return None;
    }
    let start = if bytes[0] >= 0x80 { -1_i128 } else { 0 };
    Some(bytes.iter().fold(start, |number, byte| (number << 8) | i128::from(*byte)))
}
