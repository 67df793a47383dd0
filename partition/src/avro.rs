//! Partition field names that Avro allows, for manifests.

use std::collections::HashSet;

/// The names of a spec's partition fields in manifests.
///
/// A manifest's partition tuple is an Avro record, whose field names are ASCII letters, digits and
/// `_`, while a partition field may be named after a nested column (`address.city`) or anything
/// else. Every other character is spelled as the Java library does: `address_x2Ecity`, `_2024`, and
/// by its UTF-16 units where it has two, `_xD83D_xDE00`. Letters beyond ASCII are spelled too, which
/// Java keeps but not every reader takes.
///
/// Names that become alike are told apart by a number; readers go by field id. The schema is not
/// asked, so that columns may have any name and sources may be dropped.
///
/// ```
/// let names = calve_partition::avro_names(["ts_day", "address.city", "address_x2Ecity"]);
/// assert_eq!(names, ["ts_day", "address_x2Ecity", "address_x2Ecity_2"]);
/// ```
pub fn avro_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken = HashSet::new();
    let unique = |name: &str| {
        let name = avro_name(name);
        let mut unique = name.clone();
        let mut number = 2;
        while !taken.insert(unique.clone()) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        unique
    };
    names.into_iter().map(unique).collect()
}

fn avro_name(name: &str) -> String {
    let mut spelled = String::with_capacity(name.len());
    for (at, unit) in name.encode_utf16().enumerate() {
        match u8::try_from(unit).map(char::from) {
            Ok(fits) if fits.is_ascii_alphabetic() || fits == '_' => spelled.push(fits),
            Ok(digit) if digit.is_ascii_digit() && at > 0 => spelled.push(digit),
            Ok(digit) if digit.is_ascii_digit() => spelled.extend(['_', digit]),
            _ => spelled.push_str(&format!("_x{unit:X}")),
        }
    }
    if spelled.is_empty() { "_".to_owned() } else { spelled }
}
