//! From a requested partitioning to a partition spec.

use iceberg::spec::{Schema, Transform, Type, UnboundPartitionField, UnboundPartitionSpec};

use crate::error::{Error, Result};
use crate::source::SourceColumn;
use crate::transform::accepted;

/// The first partition field id of a table (specification, "Partition Specs").
const FIRST_FIELD_ID: i32 = 1000;

/// Binds requested partition fields to a schema.
///
/// Fields are named as the reference implementation names those of a new table:
/// `ts_year`, `ts_month`, `ts_day`, `ts_hour`, `id_bucket`, `s_trunc`, and the column's own
/// name for identity; a nested column's name has its dots. Where such a name is taken, by a
/// column or by an earlier field, the transform's parameter follows it (`id_bucket_16`, as
/// [`reconcile`](crate::reconcile) names fields added to a table), and where that is taken too, a
/// number from 2.
/// Ids count up from 1000. An empty request gives the unpartitioned spec.
///
/// # Errors
/// [`ErrorKind::Request`](crate::ErrorKind::Request) when a column is missing, lies in a list or map, or is of
/// a type the transform does not take; when a parameter is out of range; and when two fields
/// are redundant: the same transform of the same column, or two time transforms of one column.
///
/// ```
/// # use iceberg::spec::{NestedField, PrimitiveType, Schema, Type};
/// let schema = Schema::builder()
///     .with_fields([
///         NestedField::optional(1, "ts", Type::Primitive(PrimitiveType::Timestamptz)).into(),
///         NestedField::optional(2, "id", Type::Primitive(PrimitiveType::Long)).into(),
///     ])
///     .build()?;
/// let spec = calve_partition::bind(&[], &schema)?;
/// assert!(spec.fields().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn bind(request: &[calve_uri::PartitionField], schema: &Schema) -> Result<UnboundPartitionSpec> {
    let mut fields: Vec<UnboundPartitionField> = Vec::with_capacity(request.len());
    let request: Vec<_> =
        request.iter().map(|field| Wanted::resolve(field, schema)).collect::<Result<_>>()?;
    for (at, wanted) in request.iter().enumerate() {
        if let Some(earlier) =
            request[..at].iter().find(|earlier| wanted.repeats(earlier.source_id, earlier.transform))
        {
            return Err(wanted.redundant(earlier));
        }
        let name = wanted.name(schema, false, |name| fields.iter().any(|field| field.name == name))?;
        fields.push(UnboundPartitionField {
            source_id: wanted.source_id,
            field_id: Some(FIRST_FIELD_ID + fields.len() as i32),
            name,
            transform: wanted.transform,
        });
    }
    UnboundPartitionSpec::builder().add_partition_fields(fields).map(|builder| builder.build()).map_err(
        |error| Error::request(format!("the partition fields can't be combined: {error}")).with_source(error),
    )
}

/// One requested field, its column found and its transform checked.
pub(crate) struct Wanted<'a> {
    column: &'a str,
    pub(crate) source_id: i32,
    pub(crate) transform: Transform,
}

impl<'a> Wanted<'a> {
    pub(crate) fn resolve(field: &'a calve_uri::PartitionField, schema: &Schema) -> Result<Self> {
        let column = field.column();
        let wanted = |source_id| Self { column, source_id, transform: transform_of(field.transform()) };
        let Some(found) = schema.field_by_name(column) else {
            return Err(Error::request(format!(
                "{}: there is no such column; the columns are {}",
                wanted(0),
                column_names(schema)
            )));
        };
        let wanted = wanted(found.id);
        if let Transform::Bucket(n) | Transform::Truncate(n) = wanted.transform
            && !(1..=i32::MAX as u32).contains(&n)
        {
            return Err(Error::request(format!("{wanted}: the parameter must be from 1 to 2147483647")));
        }
        let refused = |why: &str| {
            Err(Error::request(format!(
                "{wanted}: the column is {}{why}; {} takes {}",
                found.field_type,
                name_of(wanted.transform),
                accepted(wanted.transform),
            )))
        };
        if !matches!(found.field_type.as_ref(), Type::Primitive(_)) {
            return refused("");
        }
        let Some(source) = SourceColumn::find(schema, found.id) else {
            return refused(" inside a list or map");
        };
        if wanted.transform.result_type(&Type::Primitive(source.primitive)).is_err() {
            return refused("");
        }
        Ok(wanted)
    }

    /// Whether the reference implementation would call this field redundant next to one of this
    /// source column and transform.
    pub(crate) fn repeats(&self, source_id: i32, transform: Transform) -> bool {
        self.source_id == source_id && self.transform.dedup_name() == transform.dedup_name()
    }

    /// The error of asking for both this field and `other`.
    pub(crate) fn redundant(&self, other: &Wanted<'_>) -> Error {
        Error::request(format!(
            "{self} is redundant next to {other}: one column takes one time transform, and any other \
             transform once"
        ))
    }

    /// The field's name: the reference implementation's, or the nearest free one. A field `added` to
    /// a table's spec has its transform's parameter in its name, one of a new table only where the
    /// name would be taken.
    pub(crate) fn name(&self, schema: &Schema, added: bool, taken: impl Fn(&str) -> bool) -> Result<String> {
        let column = self.column;
        let base = match self.transform {
            Transform::Identity => column.to_owned(),
            Transform::Bucket(_) => format!("{column}_bucket"),
            Transform::Truncate(_) => format!("{column}_trunc"),
            other => format!("{column}_{}", name_of(other)),
        };
        let full = match self.transform {
            Transform::Bucket(n) | Transform::Truncate(n) => format!("{base}_{n}"),
            _ => base.clone(),
        };
        let free = |name: &str| {
            let of_column = schema.field_by_name(name);
            let own = self.transform == Transform::Identity
                && of_column.is_some_and(|field| field.id == self.source_id);
            (own || of_column.is_none()) && !taken(name)
        };
        let numbered = (2..1000).map(|n| format!("{full}_{n}"));
        let mut candidates = (!added).then_some(base).into_iter().chain([full.clone()]).chain(numbered);
        candidates
            .find(|name| free(name))
            .ok_or_else(|| Error::request(format!("{self}: every name like {full:?} is taken already")))
    }
}

impl std::fmt::Display for Wanted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.transform {
            Transform::Bucket(n) | Transform::Truncate(n) => {
                write!(f, "{}({n}, {})", name_of(self.transform), self.column)
            }
            other => write!(f, "{}({})", name_of(other), self.column),
        }
    }
}

/// The transform's name in the partition grammar.
pub(crate) fn name_of(transform: Transform) -> &'static str {
    match transform {
        Transform::Identity => "identity",
        Transform::Bucket(_) => "bucket",
        Transform::Truncate(_) => "truncate",
        Transform::Year => "year",
        Transform::Month => "month",
        Transform::Day => "day",
        Transform::Hour => "hour",
        Transform::Void => "void",
        Transform::Unknown => "unknown",
    }
}

fn transform_of(requested: calve_uri::Transform) -> Transform {
    use calve_uri::Transform as Requested;
    match requested {
        Requested::Identity => Transform::Identity,
        Requested::Bucket(n) => Transform::Bucket(n),
        Requested::Truncate(w) => Transform::Truncate(w),
        Requested::Year => Transform::Year,
        Requested::Month => Transform::Month,
        Requested::Day => Transform::Day,
        Requested::Hour => Transform::Hour,
    }
}

/// The top-level columns, for messages: at most ten of them.
pub(crate) fn column_names(schema: &Schema) -> String {
    let fields = schema.as_struct().fields();
    let shown = fields.iter().take(10).map(|field| format!("{:?}", field.name));
    let mut names = shown.collect::<Vec<_>>().join(", ");
    if fields.len() > 10 {
        names.push_str(&format!(" and {} more", fields.len() - 10));
    }
    names
}
