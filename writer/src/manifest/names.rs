//! Field names that Avro allows.

use std::collections::HashSet;

/// `names` with every character that Avro forbids spelled as Iceberg spells it: `a.b` is `a_x2Eb`,
/// `1x` is `_1x`. Names that become alike are told apart by number; readers go by field id.
pub(super) fn avro_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken = HashSet::new();
    names
        .into_iter()
        .map(|name| {
            let name = avro_name(name);
            let mut unique = name.clone();
            let mut number = 2;
            while !taken.insert(unique.clone()) {
                unique = format!("{name}_{number}");
                number += 1;
            }
            unique
        })
        .collect()
}

fn avro_name(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (index, c) in name.chars().enumerate() {
        match c {
            'a'..='z' | 'A'..='Z' | '_' => out.push(c),
            '0'..='9' if index == 0 => {
                out.push('_');
                out.push(c);
            }
            '0'..='9' => out.push(c),
            other => out.push_str(&format!("_x{:X}", u32::from(other))),
        }
    }
    if out.is_empty() { "_".to_owned() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled_as_other_writers_spell_them() {
        assert_eq!(
            avro_names(["a.b+c", "1x", "日", "😀", "ok_1", ""]),
            ["a_x2Eb_x2Bc", "_1x", "_x65E5", "_x1F600", "ok_1", "_"]
        );
    }

    #[test]
    fn names_that_become_alike_are_told_apart() {
        assert_eq!(avro_names(["a.b", "a_x2Eb"]), ["a_x2Eb", "a_x2Eb_2"]);
    }
}
