//! Destinations: never a panic, stable canonical forms, and nothing shown that depends on a secret.
#![no_main]

mod secrets;

use calve_uri::Destination;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = text.parse::<Destination>();
    match &parsed {
        Ok(destination) => {
            let uri = destination.to_uri_with_secrets();
            let again = uri.expose().parse::<Destination>();
            assert_eq!(again.as_ref(), Ok(destination));
            assert_eq!(again.map(|d| d.to_uri_with_secrets()), Ok(uri));
        }
        Err(error) => {
            assert!(text.is_char_boundary(error.offset()), "{error}");
            assert_eq!(error.render().lines().count(), 3);
        }
    }
    secrets::stay_hidden(text, &parsed);
});
