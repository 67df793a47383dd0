//! Tables to scan: never a panic, stable canonical forms, and nothing shown that depends on a secret.
#![no_main]

mod secrets;

use calve_uri::{Destination, TableRef};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = text.parse::<TableRef>();
    match &parsed {
        Ok(table) => {
            let canonical = table.to_uri_with_secrets();
            assert_eq!(canonical.expose().parse().as_ref(), Ok(table));
            match table {
                // Read for a scan or for a write, a destination is the same.
                TableRef::Destination(inner) => {
                    assert_eq!(text.parse::<Destination>().as_ref(), Ok(inner));
                }
                TableRef::Root { location } => {
                    assert!(location.contains("://") && !location.ends_with('/'), "{location}");
                }
                TableRef::Metadata { location } => assert!(location.contains(".metadata.json")),
                TableRef::Name { namespace, .. } => assert!(!namespace.is_empty()),
                TableRef::Glue { database, table, .. } => {
                    assert!(!database.is_empty() && !table.is_empty());
                }
            }
        }
        Err(error) => {
            assert!(text.is_char_boundary(error.offset()), "{error}");
            assert_eq!(error.render().lines().count(), 3);
        }
    }
    secrets::stay_hidden(text, &parsed);
});
