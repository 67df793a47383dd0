//! A requested partitioning against the one a table has.

use iceberg::spec::{PartitionSpec, Schema, Transform, UnboundPartitionField};

use crate::bind::{Wanted, name_of};
use crate::error::Result;

/// What a requested partitioning means for a table that has a spec already.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Reconciled {
    /// The table's spec does all that is asked: write with it.
    Keep,
    /// The table's spec lacks a field. The text names it and says why; nothing may be written.
    Incompatible(String),
    /// Fields to add to the table's spec, as a new default spec. Their ids are the table's to assign.
    Evolve(Vec<UnboundPartitionField>),
}

/// Compares a requested partitioning with a table's spec.
///
/// No request, the same fields, a subset or a reordering keep the spec. Fields are compared by
/// source column and transform, never by name or position; `void` fields of the spec count as
/// absent. A field the spec lacks is [`Reconciled::Incompatible`], or part of
/// [`Reconciled::Evolve`] when `evolve` asks for it and the spec can take it.
///
/// Added fields are named as the reference implementation names those added to a table:
/// `id_bucket_16`, `s_trunc_4`, `ts_day`, with a number from 2 where such a name is taken.
///
/// `schema` is the table's current one.
///
/// # Errors
/// [`ErrorKind::Request`](crate::ErrorKind::Request) when a field does not fit the schema, and
/// when two are redundant, as in [`bind`](crate::bind).
pub fn reconcile(
    request: &[calve_uri::PartitionField],
    spec: &PartitionSpec,
    schema: &Schema,
    evolve: bool,
) -> Result<Reconciled> {
    let mut added: Vec<UnboundPartitionField> = Vec::new();
    let request: Vec<_> =
        request.iter().map(|field| Wanted::resolve(field, schema)).collect::<Result<_>>()?;
    let has = |wanted: &Wanted<'_>| {
        let mut fields = spec.fields().iter();
        fields.any(|field| field.source_id == wanted.source_id && field.transform == wanted.transform)
    };
    for (at, wanted) in request.iter().enumerate() {
        let repeated = request[..at].iter().find(|earlier| {
            // A foreign table may have two time transforms of one column; then both may be asked for.
            let both = has(wanted) && has(earlier) && wanted.transform != earlier.transform;
            wanted.repeats(earlier.source_id, earlier.transform) && !both
        });
        if let Some(earlier) = repeated {
            return Err(wanted.redundant(earlier));
        }
    }
    for wanted in &request {
        if has(wanted) {
            continue;
        }
        if !evolve {
            return Ok(Reconciled::Incompatible(format!(
                "the table is not partitioned by {wanted}: it is partitioned by {}",
                describe(spec, schema)
            )));
        }
        let existing = spec.fields().iter().cloned().map(UnboundPartitionField::from);
        let existing: Vec<_> = existing.chain(added.iter().cloned()).collect();
        if let Some(other) = existing.iter().find(|field| wanted.repeats(field.source_id, field.transform)) {
            return Ok(Reconciled::Incompatible(format!(
                "{wanted} is redundant next to the table's field {:?}: a column takes one time \
                 transform",
                other.name
            )));
        }
        let name = wanted.name(schema, true, |name| existing.iter().any(|field| field.name == name))?;
        added.push(UnboundPartitionField {
            source_id: wanted.source_id,
            field_id: None,
            name,
            transform: wanted.transform,
        });
    }
    Ok(if added.is_empty() { Reconciled::Keep } else { Reconciled::Evolve(added) })
}

/// A spec in the words of the partition grammar.
fn describe(spec: &PartitionSpec, schema: &Schema) -> String {
    let fields = spec.fields().iter().filter(|field| field.transform != Transform::Void);
    let items: Vec<_> = fields
        .map(|field| {
            let column = schema.name_by_field_id(field.source_id);
            let column = column.unwrap_or("a dropped column");
            match field.transform {
                Transform::Bucket(n) | Transform::Truncate(n) => {
                    format!("{}({n}, {column})", name_of(field.transform))
                }
                other => format!("{}({column})", name_of(other)),
            }
        })
        .collect();
    match items.is_empty() {
        true => "nothing".to_owned(),
        false => items.join(", "),
    }
}
