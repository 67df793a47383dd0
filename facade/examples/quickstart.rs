//! The README's ten lines: write rows, scan some of them back.

use std::sync::Arc;

use arrow::array::{Float64Array, RecordBatch, StringArray};
use calve::{Destination, OutcomeExt, blocking, scan_iceberg};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = std::env::args().nth(1).unwrap_or("/tmp/calve-demo/air/delays".into());
    let origin = StringArray::from(vec!["JFK", "LGA", "EWR"]);
    let delay = Float64Array::from(vec![Some(150.0), None, Some(7.0)]);
    let rows =
        RecordBatch::try_from_iter([("origin", Arc::new(origin) as _), ("delay", Arc::new(delay) as _)])?;

    let delays: Destination = format!("iceberg+local://{root}?partition=origin").parse()?;
    blocking::write(&delays, [rows])?.snapshot_id()?;
    let late = scan_iceberg(&root)?.filter_sql("delay > 120").select(["delay", "origin"]);
    for batch in blocking::stream(&late)? {
        println!("{:?}", batch?.columns());
    }
    Ok(())
}
