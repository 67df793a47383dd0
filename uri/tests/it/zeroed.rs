//! The memory of this process is searched for a secret after everything that held it is gone. Only
//! Linux shows a process its own memory as a file.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::BufRead;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use calve_uri::{AwsCredentials, Destination, RestDestination, Secret, TableRef};
use zeroize::{Zeroize, Zeroizing};

/// Held by each test here: a search copies the memory it looks through, and with it what another
/// test hides there.
static SEARCH: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    SEARCH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A secret that stands nowhere else: what is searched for is this with each bit turned round.
struct Marker(Zeroizing<Vec<u8>>);

impl Marker {
    /// `seed` keeps apart what two tests hide at the same time.
    fn new(seed: u8) -> Self {
        Self::of_length(seed, LEN)
    }

    fn of_length(seed: u8, len: u8) -> Self {
        // An allocator writes over the start of what is freed: the rest is what is looked for.
        let letters = (0..len).map(|i| b'a' + (seed.wrapping_mul(31) ^ i.wrapping_mul(i + 7)) % 26);
        Self(Zeroizing::new(letters.map(|letter| !letter).collect()))
    }

    /// Puts `before`, the secret and `after` together without leaving a copy.
    fn between(&self, before: &str, after: &str) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(before.len() + self.0.len() + after.len()));
        text.push_str(before);
        text.extend(self.0.iter().map(|inverted| char::from(!inverted)));
        text.push_str(after);
        text
    }

    /// Whether the end of the secret stands anywhere in this process's heap or stacks.
    fn is_in_memory(&self) -> bool {
        let sought = &self.0[self.0.len() / 2..];
        let maps = fs::read_to_string("/proc/self/maps").expect("the list of this process's memory");
        let memory = File::open("/proc/self/mem").expect("this process's memory");
        let mut bytes = Vec::new();
        let found = maps.lines().any(|line| {
            let mut words = line.split_whitespace();
            let (Some((from, to)), Some(rights)) =
                (words.next().and_then(|range| range.split_once('-')), words.next())
            else {
                return false;
            };
            if !rights.starts_with("rw") || line.ends_with("[vvar]") {
                return false;
            }
            let address = |text| u64::from_str_radix(text, 16).expect("a hexadecimal address");
            let (from, to) = (address(from), address(to));
            bytes.resize(usize::try_from(to - from).expect("a size"), 0);
            // Other threads may give memory back meanwhile.
            let read = memory.read_at(&mut bytes, from).unwrap_or(0);
            holds(&bytes[..read], sought)
        });
        bytes.zeroize();
        found
    }
}

const LEN: u8 = 96;

/// Whether `sought`, with each bit turned round, stands in `bytes`.
fn holds(mut bytes: &[u8], sought: &[u8]) -> bool {
    while !bytes.is_empty() {
        // A quick search even where nothing is optimised.
        bytes.skip_until(!sought[0]).expect("a slice can be read");
        if bytes.len() >= sought.len() && bytes.iter().zip(&sought[1..]).all(|(a, b)| *a == !b) {
            return true;
        }
    }
    false
}

/// What becomes of a destination before it is dropped.
fn use_fully(destination: &Destination) {
    let _ = black_box((destination.to_string(), format!("{destination:?}")));
    let copy = destination.clone();
    assert!(copy == *destination);
    let uri = copy.to_uri_with_secrets();
    assert_eq!(uri.expose().parse::<Destination>().as_ref(), Ok(destination));
    #[cfg(feature = "serde")]
    assert!(serde_json::to_string(&copy).is_ok());
}

#[test]
fn a_search_of_the_memory_finds_what_is_there_and_what_was_freed_with_no_care() {
    let _alone = alone();
    let marker = Marker::new(1);
    assert!(!marker.is_in_memory());
    let text = marker.between("", "");
    assert!(marker.is_in_memory());
    let careless = String::clone(&text);
    drop(text);
    assert!(marker.is_in_memory());
    drop(black_box(careless));
    assert!(marker.is_in_memory());
}

#[test]
fn nothing_is_left_of_a_secret_once_what_was_parsed_is_dropped() {
    let _alone = alone();
    let aws = "iceberg+glue+s3://lake/wh/db/t?aws_access_key_id=";
    let rest = "iceberg+rest+https://h/a/t?warehouse=w";
    let cases = [
        (aws.to_owned(), "&aws_secret_access_key=x"),
        (format!("{aws}x&aws_secret_access_key="), ""),
        (format!("{aws}x&aws_secret_access_key="), "%2F%C3%A9"),
        (format!("{aws}x&aws_secret_access_key=y&aws_session_token="), "&mode=overwrite"),
        (format!("{rest}&token="), ""),
        (format!("{rest}&credential="), ""),
        (format!("{rest}&credential=id:"), "%25&partition=day(ts)"),
        (format!("{rest}&credential="), ":secret"),
    ];
    for (seed, (before, after)) in (10..).zip(cases) {
        let marker = Marker::new(seed);
        let uri = marker.between(&before, after);
        use_fully(&uri.parse::<Destination>().expect("the grammar takes it"));
        let as_table = uri.split('&').filter(|pair| !pair.starts_with("mode") && !pair.starts_with("part"));
        let table = Zeroizing::new(as_table.fold(String::with_capacity(uri.len() + 1), |mut text, pair| {
            text.push_str(if text.is_empty() { "" } else { "&" });
            text.push_str(pair);
            text
        }));
        assert!(table.parse::<TableRef>().is_ok());
        drop((uri, table));
        assert!(!marker.is_in_memory(), "{before}…{after}");
    }
}

#[test]
fn nothing_is_left_of_a_secret_once_it_is_refused() {
    let _alone = alone();
    let glue = "iceberg+glue+s3://lake/wh/db/t?aws_access_key_id=";
    let rest = "iceberg+rest+https://h/a/t?warehouse=w";
    let cases = [
        // In the secret itself.
        (format!("{rest}&token="), "%"),
        (format!("{rest}&token="), "%2x"),
        (format!("{rest}&token="), "%FF"),
        (format!("{rest}&token="), "%0A"),
        (format!("{rest}&credential="), ":"),
        (format!("{rest}&credential=:"), ""),
        // Around it, before and after it has been decoded.
        (format!("{rest}&token="), "%41&token=b"),
        (format!("{rest}&token="), "%41&mode=apend"),
        (format!("{rest}&credential="), "%41&mode=apend"),
        (format!("{rest}&credential="), "%41&partition=days(ts)"),
        (glue.to_owned(), "%41"),
        (format!("{glue}x&aws_secret_access_key="), "%41&aws_session_token=%0A"),
        // Where it should not be.
        (format!("{rest}&tokn="), "%41"),
        (format!("{rest}&"), "%41"),
        ("iceberg+rest+https://user:".to_owned(), "%41@h/a/t?warehouse=w"),
        (format!("{rest}#token="), "%41"),
        (format!("{rest};token="), "%41"),
        ("iceberg+rest+https://h/a;token=".to_owned(), "%41/t?warehouse=w"),
        ("s3://lake/t?X-Amz-Signature=".to_owned(), "%41"),
        // In what is held before it is known to be wrong: names, levels, locations and columns.
        ("token=".to_owned(), ""),
        ("\"to\"\"ken=".to_owned(), "\""),
        ("client.".to_owned(), ":x"),
        ("a.\"client\"\".".to_owned(), "\":x"),
        ("sales.orders?token=".to_owned(), ":"),
        ("sales.orders&token=".to_owned(), ""),
        ("iceberg+rest+https://h/a.b&password=".to_owned(), "/t?warehouse=w"),
        ("iceberg+rest+https://h:1/a.b.".to_owned(), "/t?bogus=w"),
        ("iceberg+rest+https://h/a.b.".to_owned(), "%41.@./t?warehouse=w"),
        ("iceberg+rest+https://h/a/".to_owned(), "%41@?warehouse=w&partition=day("),
        ("iceberg+rest+https://h/".to_owned(), "%20@/a/t?warehouse=w&token=%"),
        ("iceberg+glue+s3://lake/".to_owned(), "%41@/db/t?mode=x"),
        ("iceberg+glue+s3://lake/db/".to_owned(), "@?aws_access_key_id=x&aws_secret_access_key=%FF"),
        ("iceberg+file+s3://lake/".to_owned(), "@/t?partition=day("),
        ("s3://lake/".to_owned(), "@//"),
        ("glue:///".to_owned(), "%41@/T"),
        ("iceberg+local:///t?partition=id;token%3D".to_owned(), ",bad("),
        ("iceberg+local:///t?partition=day(a%3D".to_owned(), ".\"a"),
        ("iceberg+local:///t?partition=a,\"b%3D\".".to_owned(), ".\"c\".d,"),
        ("iceberg+local:///t?partition=day(a%3D".to_owned(), ",ts)"),
        ("iceberg+local:///t?partition=bucket(2,a%3D".to_owned(), "\"x\")"),
        ("iceberg+local:///t?partition=bucket(a%3D".to_owned(), ",2)"),
        ("iceberg+local:///t?partition=a%3D".to_owned(), ",b,b"),
    ];
    // What comes before a colon is looked at as a scheme, if it is short enough for one.
    let long = cases.map(|(before, after)| (LEN, before, after));
    let cases = long.into_iter().chain([(36, String::new(), ":x"), (30, "s3".to_owned(), "://lake/t")]);
    for (seed, (len, before, after)) in (50..).zip(cases) {
        let marker = Marker::of_length(seed, len);
        let uri = marker.between(&before, after);
        let error = uri.parse::<Destination>().expect_err("the grammar does not take it");
        let _ = black_box((error.to_string(), error.render(), format!("{error:?}")));
        let _ = black_box(uri.parse::<TableRef>().map_err(|error| error.render()));
        drop(uri);
        assert!(!marker.is_in_memory(), "{before}…{after}");
    }
}

#[cfg(feature = "serde")]
#[test]
fn nothing_is_left_of_a_secret_that_was_read_from_an_owned_text() {
    let _alone = alone();
    for (seed, after) in [(180, ""), (181, "&bogus=1")] {
        let marker = Marker::new(seed);
        let text =
            std::mem::take(&mut *marker.between("iceberg+rest+https://h/a/t?warehouse=w&token=", after));
        let read = serde_json::from_value::<calve_uri::WithSecrets<Destination>>(text.into());
        assert_eq!(read.is_ok(), after.is_empty());
        drop(read);
        assert!(!marker.is_in_memory());
    }
}

#[test]
fn nothing_is_left_of_a_secret_that_was_built_in() {
    let _alone = alone();
    let marker = Marker::new(200);
    // A `String` is moved into a `Secret`, not copied.
    let secret = || Secret::new(std::mem::take(&mut *marker.between("", "")));
    for build in [
        || RestDestination::builder("https://h", ["a"], "t", "w"),
        || RestDestination::builder("https://h", ["a"], "", "w"),
    ] {
        let builder = build()
            .credential(secret())
            .token(secret())
            .aws_credentials(AwsCredentials::new(secret(), secret()).with_session_token(secret()));
        let _ = black_box(format!("{builder:?}"));
        let built = builder.build().map(Destination::from);
        let _ = built.as_ref().map(use_fully);
        drop(built);
        assert!(!marker.is_in_memory());
    }
}
