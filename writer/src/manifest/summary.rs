//! Partition summaries: what a manifest's entries have in common (spec: `field_summary`).

use iceberg::spec::{ByteBuf, FieldSummary, Literal, PrimitiveLiteral, PrimitiveType, Struct};

use super::value::single_value;
use crate::metrics::crosses_sign;

/// One summary for each partition field, or none at all where the Java library would misread one: it
/// orders uuids by signed halves, and takes a missing bound for a sign of nulls only.
pub(super) fn summarize<'a>(
    kinds: &[PrimitiveType],
    partitions: impl Iterator<Item = &'a Struct>,
) -> Option<Vec<FieldSummary>> {
    let mut ranges: Vec<Range<'a>> = kinds.iter().map(|_| Range::default()).collect();
    for partition in partitions {
        for (range, value) in ranges.iter_mut().zip(partition.fields()) {
            range.widen(value.as_ref());
        }
    }
    let summaries: Vec<FieldSummary> = ranges.into_iter().map(Range::finish).collect();
    let misread = kinds.iter().zip(&summaries).any(|(kind, summary)| {
        let ends = summary.lower_bound.as_ref().zip(summary.upper_bound.as_ref());
        *kind == PrimitiveType::Uuid && ends.is_some_and(|(low, high)| crosses_sign(low, high))
    });
    (!misread).then_some(summaries)
}

#[derive(Default)]
struct Range<'a> {
    null: bool,
    nan: bool,
    ends: Option<(&'a PrimitiveLiteral, &'a PrimitiveLiteral)>,
}

impl<'a> Range<'a> {
    fn widen(&mut self, value: Option<&'a Literal>) {
        let Some(Literal::Primitive(value)) = value else {
            self.null = true;
            return;
        };
        if value.is_nan() {
            self.nan = true;
            return;
        }
        self.ends = Some(match self.ends {
            None => (value, value),
            Some((low, high)) => {
                (if value < low { value } else { low }, if value > high { value } else { high })
            }
        });
    }

    fn finish(self) -> FieldSummary {
        let bytes = |value: &PrimitiveLiteral| single_value(value).map(ByteBuf::from);
        FieldSummary {
            contains_null: self.null,
            contains_nan: Some(self.nan),
            lower_bound: self.ends.and_then(|(low, _)| bytes(low)),
            upper_bound: self.ends.and_then(|(_, high)| bytes(high)),
        }
    }
}
