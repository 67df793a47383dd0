//! Counts the bytes that scans look at, so that tests can show the work to be linear without a
//! clock. Costs nothing outside tests.

#[cfg(not(test))]
#[inline(always)]
pub(crate) fn add(_bytes: usize) {}

#[cfg(test)]
pub(crate) use counted::{add, taken};

#[cfg(test)]
mod counted {
    extern crate std;

    std::thread_local! {
        static STEPS: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
    }

    pub(crate) fn add(bytes: usize) {
        STEPS.with(|steps| steps.set(steps.get() + bytes));
    }

    /// The steps that `work` takes on this thread.
    pub(crate) fn taken(work: impl FnOnce()) -> usize {
        let before = STEPS.with(core::cell::Cell::get);
        work();
        STEPS.with(core::cell::Cell::get) - before
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use super::taken;
    use crate::{Destination, TableRef, parse_partition};

    /// Texts that grow with `n` by repeating what a careless parser would go over again and again.
    fn growing(n: usize) -> [(&'static str, String); 36] {
        let glue = "iceberg+glue+s3://lake/wh/db/t?";
        let partition = |text: String| format!("{glue}partition={text}");
        [
            ("unknown parameters", format!("{glue}{}", "a=b&".repeat(n))),
            ("repeated parameter", format!("{glue}region=x&{}", "region=x&".repeat(n))),
            ("empty parameters", format!("{glue}{}", "&".repeat(n))),
            ("one long name", format!("{glue}{}", "a".repeat(n))),
            ("one long secret", format!("{glue}aws_session_token={}", "%41".repeat(n))),
            ("a broken secret", format!("{glue}aws_session_token={}%", "%41".repeat(n))),
            ("encoded names", format!("{glue}{}", "%61=b&".repeat(n))),
            ("open parentheses", partition("day(".repeat(n))),
            ("closed parentheses", partition(format!("{}{}", "(".repeat(n), ")".repeat(n)))),
            ("swapped arguments", partition("bucket(a,1),".repeat(n))),
            ("quotes", partition("%22".repeat(n))),
            ("dots", partition("a.".repeat(n))),
            ("columns", partition((0..n).map(|i| format!("c{i:06},")).collect())),
            ("slashes", format!("iceberg+glue+s3://lake{}", "/a".repeat(n))),
            ("encoded slashes", format!("iceberg+local:///{}/t", "a%2F".repeat(n))),
            ("parameters in a path", format!("iceberg+glue+s3://lake/{}/t", "&toxxx=".repeat(n))),
            ("parameters in a value", format!("{glue}region={}", ";toxxx=".repeat(n))),
            ("at signs in parameters", format!("{glue}{}", "tokn=@&".repeat(n))),
            ("at signs after a port", format!("iceberg+rest+https://h:1/a/b?{}", "tokn=@&".repeat(n))),
            ("parameters of a location", format!("s3://lake/t?{}", "toxxx&".repeat(n))),
            ("at signs", format!("iceberg+rest+https://{}/a/b", "u:p@".repeat(n))),
            ("encoded parameters of a location", format!("s3://lake/{}", "%3Ftoxxx%3D".repeat(n))),
            ("marks in a name", format!("a.b{}", "?&;".repeat(n))),
            ("quoted levels", "\"a?b\".".repeat(n)),
            ("quotes in a level", format!("a.\"{}\"", "\"\"".repeat(n))),
            ("colons in a warehouse", format!("iceberg+rest+https://h/a/b?warehouse={}", ":".repeat(n))),
            ("marks after a port", format!("iceberg+rest+https://h:1/a/b{}", ";tokn=@".repeat(n))),
            ("hashes after a port", format!("iceberg+rest+https://h:1/a/b{}", "#x@".repeat(n))),
            ("controls in parameters", format!("{glue}{}", "a=\u{1}&".repeat(n))),
            ("controls in secrets", format!("{glue}{}", "token=\u{85}&".repeat(n))),
            ("controls between parameters", format!("{glue}{}", "\u{1}&".repeat(n))),
            ("controls in added parameters", format!("{glue}{}", "region=;x=\u{1}&".repeat(n))),
            ("controls in warehouses", format!("{glue}{}", "warehouse=\u{1}@&".repeat(n))),
            ("controls in one secret", format!("{glue}token={}", "\u{1}".repeat(n))),
            ("controls in a partition list", partition(format!("a;b={} ", "\u{1}".repeat(n)))),
            ("levels", format!("iceberg+rest+https://h/{}a/t?warehouse=x", "a.".repeat(n))),
        ]
    }

    fn all(text: &str) {
        let _ = text.parse::<Destination>().map_err(|error| error.render());
        let _ = text.parse::<TableRef>().map_err(|error| error.render());
        let _ = parse_partition(text.split("partition=").last().unwrap_or_default());
    }

    #[test]
    fn a_text_twice_as_long_takes_at_most_twice_the_steps() {
        for ((name, short), (_, long)) in growing(1_000).into_iter().zip(growing(2_000)) {
            let (short_steps, long_steps) = (taken(|| all(&short)), taken(|| all(&long)));
            let slack = 1_000;
            assert!(long_steps <= 2 * short_steps + slack, "{name}: {short_steps}, {long_steps}");
        }
    }

    #[test]
    fn no_text_takes_more_than_a_few_steps_per_byte() {
        for (name, text) in growing(100_000) {
            let steps = taken(|| all(&text));
            assert!(steps <= 40 * text.len(), "{name}: {steps} steps, {} bytes", text.len());
        }
    }
}
