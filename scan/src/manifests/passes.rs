//! Decoding a manifest, in as many passes as its partition types need.

use std::collections::HashMap;

use iceberg::spec::{Literal, Manifest, ManifestEntryRef, Struct};
use serde_json::Value as Json;

use super::header::AvroFile;
use super::mend::{self, partition_fields};
use crate::{Error, Result};

/// The entries of a manifest with their partition values.
///
/// The library names Avro types by their size alone, so two partition fields of one such type (two
/// decimals of equal precision and scale) clash. Each is read in a pass of its own, in which the spec in
/// the header has no other.
pub(super) fn decode(file: &AvroFile<'_>, path: &str) -> Result<Vec<(ManifestEntryRef, Struct)>> {
    let passes = passes(file);
    let mut spec = file.json("partition-spec").unwrap_or_default();
    let fields = spec.as_array_mut().map(std::mem::take).unwrap_or_default();
    let mut entries = Vec::new();
    let mut partitions: Vec<Vec<Option<Literal>>> = Vec::new();
    for (pass, places) in passes.iter().enumerate() {
        let mut file = file.clone();
        if passes.len() > 1 {
            file.set("partition-spec", &places.iter().map(|place| fields[*place].clone()).collect());
        }
        let read = parse(&mut file, path)?;
        if passes.len() == 1 {
            return Ok(read.into_iter().map(|e| (e.clone(), e.data_file().partition().clone())).collect());
        }
        if pass == 0 {
            partitions = vec![vec![None; fields.len()]; read.len()];
        }
        for (partition, entry) in partitions.iter_mut().zip(&read) {
            for (place, value) in places.iter().zip(entry.data_file().partition().fields()) {
                partition[*place].clone_from(value);
            }
        }
        entries = read;
    }
    Ok(entries.into_iter().zip(partitions.into_iter().map(Struct::from_iter)).collect())
}

fn parse(file: &mut AvroFile<'_>, path: &str) -> Result<Vec<ManifestEntryRef>> {
    let decoded = Manifest::parse_avro(&file.encode()).or_else(|e| {
        // Perhaps it was only a bound, and without bounds every file just might match.
        mend::without_bounds(file);
        Manifest::parse_avro(&file.encode()).map_err(|_| {
            Error::damaged(format!("can't decode manifest {path}: {}", e.message())).with_source(e)
        })
    })?;
    Ok(decoded.into_parts().0)
}

/// The places in the partition spec that each pass reads; one pass of all when nothing clashes.
fn passes(file: &AvroFile<'_>) -> Vec<Vec<usize>> {
    let (Some(mut avro), Some(spec)) = (file.json("avro.schema"), file.json("partition-spec")) else {
        return vec![Vec::new()];
    };
    let mut named = HashMap::new();
    let types: HashMap<i64, Option<String>> = partition_fields(&mut avro)
        .into_iter()
        .flatten()
        .filter_map(|field| Some((field["field-id"].as_i64()?, type_name(&field["type"], &mut named))))
        .collect();
    let mut met: HashMap<&str, usize> = HashMap::new();
    let mut passes = vec![Vec::new()];
    for (place, field) in spec.as_array().into_iter().flatten().enumerate() {
        let name = field["field-id"].as_i64().and_then(|id| types.get(&id)?.as_deref());
        let pass = name.map_or(0, |name| {
            let count = met.entry(name).or_default();
            *count += 1;
            *count - 1
        });
        if pass == passes.len() {
            passes.push(Vec::new());
        }
        passes[pass].push(place);
    }
    passes
}

/// What the library would call an Avro type, or the branch of a union beside null, if it names it.
///
/// A named type is defined once and then only named; `named` holds those met.
fn type_name(kind: &Json, named: &mut HashMap<String, String>) -> Option<String> {
    match kind {
        Json::Array(union) => union.iter().find_map(|branch| type_name(branch, named)),
        Json::String(reference) => named.get(reference).cloned(),
        Json::Object(object) => {
            let decimal = object.get("logicalType").is_some_and(|t| t == "decimal");
            let name = match object.get("type")?.as_str()? {
                _ if decimal => format!("decimal {:?} {:?}", object.get("precision"), object.get("scale")),
                "fixed" => format!("fixed {:?}", object.get("size")),
                _ => return None,
            };
            if let Some(own) = object.get("name").and_then(Json::as_str) {
                named.insert(own.to_owned(), name.clone());
            }
            Some(name)
        }
        _ => None,
    }
}
