//! Parsing and printing URIs, beside what the `url` crate takes for the same text.
//!
//! `url` only splits; here names are decoded and checked, parameters looked up and partition
//! fields built as well. The aim is to take no longer all the same.

use std::hint::black_box;

use calve_benches::compare;
use calve_uri::{Destination, TableRef, parse_partition};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use url::Url;

/// Typical destinations, by form.
const DESTINATIONS: [(&str, &str); 3] = [
    (
        "glue",
        "iceberg+glue+s3://acme-lake/warehouse/banking/transactions?region=us-east-1\
         &account=123456789012&role_arn=arn:aws:iam::123456789012:role/writer\
         &partition=day(ts),bucket(16,id)&mode=overwrite",
    ),
    (
        "rest",
        "iceberg+rest+https://catalog.example.com/api/catalog/sales.eu/orders?warehouse=lake\
         &credential=svc:s3cr3t&scope=PRINCIPAL_ROLE:ALL&access_delegation=vended-credentials\
         &region=eu-west-1",
    ),
    ("root", "iceberg+file+s3://acme-lake/exports/2024/events?partition=day(ts)&mode=append"),
];

fn parse(c: &mut Criterion) {
    let mut group = c.benchmark_group("uri/parse");
    for (form, text) in DESTINATIONS {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::new("calve", form), text, |b, text| {
            b.iter(|| black_box(text).parse::<Destination>());
        });
        group.bench_with_input(BenchmarkId::new("url", form), text, |b, text| {
            b.iter(|| Url::parse(black_box(text)));
        });
    }
    group.finish();
    for (form, text) in DESTINATIONS {
        let name = format!("uri/parse/{form}, calve beside url");
        compare(&name, || black_box(text).parse::<Destination>(), || Url::parse(black_box(text)));
    }
}

fn print(c: &mut Criterion) {
    let mut group = c.benchmark_group("uri/print");
    for (form, text) in DESTINATIONS {
        let Ok(destination) = text.parse::<Destination>() else { panic!("{form} parses") };
        group.bench_function(form, |b| b.iter(|| black_box(&destination).to_string()));
    }
    group.finish();
}

fn table(c: &mut Criterion) {
    let mut group = c.benchmark_group("uri/table");
    for text in ["banking.transactions", "s3://acme-lake/exports/2024/events"] {
        group.bench_function(text, |b| b.iter(|| black_box(text).parse::<TableRef>()));
    }
    group.finish();
}

/// Texts that only a linear parser refuses quickly; time per byte should not grow with length.
fn refuse(c: &mut Criterion) {
    let mut group = c.benchmark_group("uri/refuse");
    for size in [10_000, 100_000] {
        let glue = "iceberg+glue+s3://lake/wh/db/t?";
        let texts = [
            ("parameters", format!("{glue}{}", "region=x&y=z&".repeat(size))),
            ("parentheses", format!("{glue}partition={}", "day(".repeat(size))),
        ];
        for (name, text) in texts {
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_with_input(BenchmarkId::new(name, size), &*text, |b, text| {
                b.iter(|| black_box(text).parse::<Destination>());
            });
        }
        let columns = (0..size).map(|i| format!("c{i}")).collect::<Vec<_>>().join(",");
        group.throughput(Throughput::Bytes(columns.len() as u64));
        group.bench_with_input(BenchmarkId::new("columns", size), &*columns, |b, text| {
            b.iter(|| parse_partition(black_box(text)));
        });
    }
    group.finish();
}

criterion_group!(benches, parse, print, table, refuse);
criterion_main!(benches);
