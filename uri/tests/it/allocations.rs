use allocation_counter::measure;
use calve_uri::{Destination, TableRef, parse_partition};

/// How many blocks of memory `work` asks for, and how many of them are no part of what it makes.
fn blocks<T>(work: impl FnOnce() -> T) -> (u64, u64) {
    let mut made = None;
    let count = measure(|| made = Some(work()));
    let kept = u64::try_from(count.count_current).expect("no more is returned than asked for");
    (count.count_total, count.count_total - kept)
}

#[test]
fn what_is_asked_for_and_returned_is_counted() {
    assert_eq!(blocks(|| ()), (0, 0));
    assert_eq!(blocks(|| String::from("kept")), (1, 0));
    assert_eq!(blocks(|| drop(String::from("not kept"))), (1, 1));
    assert_eq!(
        blocks(|| {
            let mut grown = String::from("a");
            grown.reserve_exact(100);
            grown
        }),
        (2, 1)
    );
}

#[test]
fn parsing_a_destination_allocates_what_it_keeps_and_no_more() {
    for (text, kept) in [
        // One block for all texts.
        ("iceberg+glue+s3://lake/wh/db/t", 1),
        ("iceberg+glue+s3://lake/wh/db/t?region=eu-west-1&account=123456789012&mode=overwrite", 1),
        // The list of fields, and each field's column.
        (
            "iceberg+glue+s3://lake/wh/db/t?region=eu-west-1&partition=day(ts),bucket(16,id),truncate(4,\"a b\")",
            5,
        ),
        ("iceberg+glue+s3://lake/wh/db/t?partition=a,b,c,d,e,f,g,h", 10),
        // Each secret, and the box they are in.
        ("iceberg+glue+s3://lake/wh/db/t?aws_access_key_id=a&aws_secret_access_key=b&aws_session_token=c", 5),
        // The list of levels, and each level.
        ("iceberg+rest+https://h/api/a.b.c/t?warehouse=s3://lake/wh&scope=x y&region=eu-west-1", 5),
        ("iceberg+rest+https://h/a/t?warehouse=w&credential=id:secret&token=t", 6),
        ("iceberg+file+s3://lake/a/b/t?mode=overwrite", 1),
        ("iceberg+local:///data/t?partition=day(ts)", 3),
    ] {
        assert_eq!(blocks(|| text.parse::<Destination>()), (kept, 0), "{text}");
    }
}

/// What is not as it is written is put together before it goes where all texts are.
#[test]
fn what_has_to_be_decoded_or_completed_allocates_a_block_for_as_long() {
    let rest = "iceberg+rest+https://h/a/t?warehouse=";
    for (values, more) in [("w", 0), ("w%20h", 1), ("w%20h&scope=x%20y", 2), ("s3://lake/wh/", 1)] {
        let text = format!("{rest}{values}");
        assert_eq!(blocks(|| text.parse::<Destination>()), (3 + more, more), "{values}");
    }
    assert_eq!(blocks(|| "iceberg+file+s3://lake/a%20b/t".parse::<Destination>()), (2, 1));
    // A secret is decoded where it is kept.
    let secret = "iceberg+rest+https://h/a/t?warehouse=w&token=a%20b";
    assert_eq!(blocks(|| secret.parse::<Destination>()), (4, 0));
}

/// More are kept apart in linear time by a set, for as long as that takes.
#[test]
fn parsing_more_than_eight_fields_allocates_a_set_besides() {
    assert_eq!(blocks(|| parse_partition("a,b,c,d,e,f,g,h,i")), (11, 1));
}

#[test]
fn parsing_a_table_or_a_partition_list_allocates_what_it_keeps_and_no_more() {
    for (text, kept) in [
        ("sales.orders", 3),
        ("a.b.c.d.e.f.orders", 8),
        ("glue://123456789012/sales/orders", 3),
        ("glue:///sales/orders", 2),
        ("s3://lake/sales/orders/", 1),
        ("/data/sales/orders", 1),
        ("file:/data/orders/metadata/v1.metadata.json", 1),
        ("iceberg+glue+s3://lake/wh/db/t?region=eu-west-1", 1),
    ] {
        assert_eq!(blocks(|| text.parse::<TableRef>()), (kept, 0), "{text}");
    }
    for (text, kept) in [("ts", 2), ("day(ts), bucket(16, id), a.b", 4), ("a,b,c,d,e,f,g,h", 9)] {
        assert_eq!(blocks(|| parse_partition(text)), (kept, 0), "{text}");
    }
}
