//! Public behaviour of calve-partition.

/// `bind` and `reconcile`: names, ids, types, redundancy, evolution.
mod binding;
/// Known mistakes of other implementations in pruning, one test each.
mod cases;
/// Arrow columns out of Iceberg literals, and back.
mod columns;
/// Folder names, judged by Iceberg Java.
mod paths;
/// Pruning is sound: random filters, rows and specs.
mod pruning;
/// `split` loses and repeats no row.
mod splitting;
/// Values of every transform, judged by PyIceberg, Iceberg Java and the specification.
mod values;
