//! The known name that a misspelt one was meant to be.

/// The candidate at the smallest edit distance from `name`, if it is small for its length: what
/// somebody meant who wrote a name that is not known.
///
/// Letter case costs nothing. Names longer than 64 bytes are not compared, so the work is bounded
/// whatever `name` is.
///
/// ```
/// assert_eq!(calve_uri::nearest("orign", ["origin", "dest"]), Some("origin"));
/// assert_eq!(calve_uri::nearest("amount", ["origin", "dest"]), None);
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.is_empty() || name.len() > LONGEST {
        return None;
    }
    candidates
        .into_iter()
        .filter(|known| known.len() <= LONGEST)
        .filter_map(|known| {
            let most = 1 + known.len() / 8;
            if name.len().abs_diff(known.len()) > most {
                return None;
            }
            let distance = usize::from(distance(name.as_bytes(), known.as_bytes()));
            (distance <= most && distance < known.len().min(name.len())).then_some((distance, known))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// Levenshtein's distance, a swap of neighbours counting one. It fits a byte, as both lengths do.
fn distance(a: &[u8], b: &[u8]) -> u8 {
    let mut before = [0; LONGEST + 1];
    let mut last: [u8; LONGEST + 1] = core::array::from_fn(|j| j as u8);
    let mut this = [0; LONGEST + 1];
    for i in 0..a.len() {
        this[0] = i as u8 + 1;
        for j in 0..b.len() {
            let differ = u8::from(!a[i].eq_ignore_ascii_case(&b[j]));
            let mut best = (last[j] + differ).min(last[j + 1] + 1).min(this[j] + 1);
            if i > 0 && j > 0 && a[i].eq_ignore_ascii_case(&b[j - 1]) && a[i - 1].eq_ignore_ascii_case(&b[j])
            {
                best = best.min(before[j - 1] + 1);
            }
            this[j + 1] = best;
        }
        before = last;
        last = this;
    }
    last[b.len()]
}

const LONGEST: usize = 64;

#[cfg(test)]
mod tests {
    use super::nearest;

    const KNOWN: [&str; 4] = ["region", "role_arn", "token", "aws_secret_access_key"];

    #[test]
    fn a_slip_of_the_finger_finds_the_name_that_was_meant() {
        for (typed, meant) in [
            ("regoin", "region"),
            ("REGION", "region"),
            ("tokn", "token"),
            ("aws_secret_acess_key", "aws_secret_access_key"),
            ("aws-secret-access-key", "aws_secret_access_key"),
        ] {
            assert_eq!(nearest(typed, KNOWN), Some(meant), "{typed}");
        }
    }

    #[test]
    fn a_name_unlike_any_has_no_nearest() {
        for typed in ["", "x", "compression", "tok", &"region".repeat(20)] {
            assert_eq!(nearest(typed, KNOWN), None, "{typed}");
        }
    }
}
