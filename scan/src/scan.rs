use std::fmt;

use arrow::datatypes::SchemaRef;
use calve_catalog::LoadedTable;
use iceberg::expr::Predicate;

use crate::Result;
use crate::plan::{self, Plan};

/// What to read of a table. Nothing is read until [`plan`](Self::plan).
///
/// Columns are named as in the table's schema, nested ones with dots (`address.city`); after
/// [`rename`](Self::rename) the new names work too.
#[derive(Clone)]
pub struct Scan {
    pub(crate) table: LoadedTable,
    pub(crate) snapshot_id: Option<i64>,
    pub(crate) filters: Vec<Filter>,
    pub(crate) select: Option<Vec<String>>,
    pub(crate) renames: Vec<(String, String)>,
    pub(crate) limit: Option<u64>,
    pub(crate) expected: Option<SchemaRef>,
    pub(crate) batch_size: usize,
}

/// A filter as it was given.
#[derive(Clone)]
pub(crate) enum Filter {
    Predicate(Predicate),
    Sql(String),
}

/// Rows in a batch unless asked otherwise.
const BATCH_SIZE: usize = 8192;

impl Scan {
    /// All rows and columns of the table's current snapshot.
    pub fn new(table: LoadedTable) -> Self {
        Self {
            table,
            snapshot_id: None,
            filters: Vec::new(),
            select: None,
            renames: Vec::new(),
            limit: None,
            expected: None,
            batch_size: BATCH_SIZE,
        }
    }

    /// Pins the scan to a snapshot, and to the schema it was written with. Without a pin the current
    /// snapshot is read with the table's current schema.
    #[must_use]
    pub fn snapshot_id(mut self, id: i64) -> Self {
        self.snapshot_id = Some(id);
        self
    }

    /// Keeps the rows for which `predicate` is true; several filters must all be.
    ///
    /// Comparisons follow SQL: with null they are unknown and the row goes. NaN equals itself and is
    /// above all numbers, −0.0 equals 0.0. A literal is taken in its column's type, exactly: `x > 1.5`
    /// on an integer column means `x >= 2`.
    #[must_use]
    pub fn filter(mut self, predicate: Predicate) -> Self {
        self.filters.push(Filter::Predicate(predicate));
        self
    }

    /// As [`filter`](Self::filter), from SQL text such as `amount > 100 and ts >= '2024-06-01'`.
    ///
    /// Known are comparisons (the column on either side), `BETWEEN`, `IN`, `IS NULL`, `IS NAN` or
    /// `isnan(x)`, `LIKE 'abc%'`, `AND`, `OR`, `NOT`, parentheses, nested and quoted names (`a.b`,
    /// `"a b"`), and literals: numbers, strings, booleans, `DATE '…'`, `TIMESTAMP '…'`, `x'…'`.
    #[must_use]
    pub fn filter_sql(mut self, text: impl Into<String>) -> Self {
        self.filters.push(Filter::Sql(text.into()));
        self
    }

    /// Reads just these columns, and gives them in this order. No columns at all still counts rows.
    #[must_use]
    pub fn select<I, S>(mut self, columns: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.select = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Gives columns other names in the output: pairs of the name in the table and the new one.
    #[must_use]
    pub fn rename<I, F, T>(mut self, pairs: I) -> Self
    where
        I: IntoIterator<Item = (F, T)>,
        F: Into<String>,
        T: Into<String>,
    {
        self.renames.extend(pairs.into_iter().map(|(from, to)| (from.into(), to.into())));
        self
    }

    /// Stops after this many rows.
    #[must_use]
    pub fn limit(mut self, rows: u64) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Declares the columns and types the caller expects.
    ///
    /// Columns are matched by name and given in the declared order and type. A type may be wider than
    /// the table's where Iceberg promotes (int to long, float to double, a decimal's precision) or
    /// another Arrow spelling of the same one; anything else is an error at planning.
    #[must_use]
    pub fn expect_schema(mut self, schema: SchemaRef) -> Self {
        self.expected = Some(schema);
        self
    }

    /// Rows in a batch at most; 8192 unless set.
    #[must_use]
    pub fn batch_size(mut self, rows: usize) -> Self {
        self.batch_size = rows.max(1);
        self
    }

    /// Resolves columns and filters, reads manifests, and settles which files are read.
    ///
    /// # Errors
    /// [`Input`](crate::ErrorKind::Input) for an unknown column or a filter that does not fit the
    /// schema, [`NotFound`](crate::ErrorKind::NotFound) for an unknown snapshot,
    /// [`Unsupported`](crate::ErrorKind::Unsupported) when the snapshot holds row-level deletes or data
    /// files that are not Parquet, [`Damaged`](crate::ErrorKind::Damaged) when its metadata is missing,
    /// can't be decoded or is not whole.
    pub async fn plan(&self) -> Result<Plan> {
        plan::plan(self).await
    }
}

impl fmt::Debug for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan")
            .field("table", &self.table.ident)
            .field("snapshot_id", &self.snapshot_id)
            .field("select", &self.select)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
