//! Partition summaries: what a manifest's entries have in common (spec: `field_summary`).

use iceberg::spec::{ByteBuf, FieldSummary, Literal, PrimitiveLiteral, Struct};

use super::value::single_value;

/// One summary for each of `fields` partition fields.
pub(super) fn summarize<'a>(
    fields: usize,
    partitions: impl Iterator<Item = &'a Struct>,
) -> Vec<FieldSummary> {
    let mut ranges: Vec<Range<'a>> = (0..fields).map(|_| Range::default()).collect();
    for partition in partitions {
        for (range, value) in ranges.iter_mut().zip(partition.fields()) {
            range.widen(value.as_ref());
        }
    }
    ranges.into_iter().map(Range::finish).collect()
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
