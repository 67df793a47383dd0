//! Partition lists: never a panic, and stable canonical forms.
#![no_main]

use calve_uri::{PartitionField, parse_partition};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match parse_partition(text) {
        Ok(fields) => {
            let canonical = joined(&fields);
            assert_eq!(parse_partition(&canonical).as_ref(), Ok(&fields));
            for field in fields {
                assert_eq!(field.to_string().parse(), Ok(field));
            }
        }
        Err(error) => {
            assert!(text.is_char_boundary(error.offset()), "{error}");
            assert_eq!(error.render().lines().count(), 3);
        }
    }
});

fn joined(fields: &[PartitionField]) -> String {
    fields.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
