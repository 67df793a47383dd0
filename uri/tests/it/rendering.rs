use calve_uri::{Destination, ErrorKind, ParseError, TableRef, parse_partition};

fn refused(text: &str) -> ParseError {
    text.parse::<Destination>().expect_err(text)
}

#[test]
fn the_caret_stands_under_the_place() {
    assert_eq!(
        refused("iceberg+glue+s3://lake/wh/db/t?regoin=eu-west-1").render(),
        "unknown parameter `regoin` at byte 31: expected one of region, account, role_arn, \
         aws_access_key_id, aws_secret_access_key, aws_session_token, partition, mode; \
         nearest is `region`\n  \
         iceberg+glue+s3://lake/wh/db/t?regoin=*********\n                                 ^"
    );
    assert_eq!(
        parse_partition("day(ts), bucket(id, 16)").expect_err("swapped").render(),
        "transform arguments in the wrong order at byte 16: expected bucket(N, column)\n  \
         day(ts), bucket(id, 16)\n                  ^"
    );
    assert_eq!(
        "data/t".parse::<TableRef>().expect_err("relative").render(),
        "relative path at byte 0: expected an absolute path, such as /data/table\n  data/t\n  ^"
    );
}

#[test]
fn the_caret_counts_characters_where_the_offset_counts_bytes() {
    let error = refused("iceberg+local:///données/été//t");
    assert_eq!((error.kind(), error.offset()), (ErrorKind::EmptySegment, 32));
    let render = error.render();
    let lines: Vec<&str> = render.lines().collect();
    let caret = lines[2].chars().count() - 1;
    assert_eq!(lines[1].chars().nth(caret - 1), Some('/'));
    assert_eq!(lines[1].chars().nth(caret), Some('/'));
}

#[test]
fn every_message_is_one_line_and_lower_case() {
    for text in [
        "",
        "x",
        "iceberg+glue+s3://lake/wh/db/t\n",
        "iceberg+glue+s3://lake/wh/db/t?warehouse=x",
        "iceberg+rest+https://h/ns/t",
        "iceberg+local:///t?partition=void(x)",
    ] {
        let message = refused(text).to_string();
        assert!(!message.contains('\n'), "{message}");
        assert!(message.starts_with(|c: char| c.is_lowercase()), "{message}");
    }
}

#[test]
fn a_parameter_of_another_form_is_answered_with_that_form() {
    for (text, owner) in [
        ("iceberg+glue+s3://lake/db/t?warehouse=x", "iceberg+rest+https://"),
        ("iceberg+rest+https://h/ns/t?account=1", "iceberg+glue+s3://"),
        ("iceberg+local:///t?token=1", "iceberg+rest+https://"),
        ("iceberg+local:///t?region=1", "iceberg+glue+s3:// and iceberg+rest+https://"),
    ] {
        let error = refused(text);
        assert_eq!(error.kind(), ErrorKind::ForeignParameter);
        assert!(error.expected().contains(&format!("belongs to {owner}")), "{error}");
    }
}

#[test]
fn control_and_direction_characters_are_not_sent_to_a_terminal() {
    let error = refused("iceberg+local:///a\u{1b}[31m/\u{202e}t?mode=x");
    let render = error.render();
    assert!(render.lines().all(|line| !line.contains(char::is_control)));
    assert!(!render.contains('\u{202e}'));
    assert_eq!(render.lines().count(), 3);
}

#[test]
fn a_long_text_is_shown_around_the_place() {
    let text = format!("iceberg+local:///{}//{}", "a".repeat(10_000), "b".repeat(10_000));
    let render = refused(&text).render();
    assert!(render.len() < 1_000, "{}", render.len());
    let lines: Vec<&str> = render.lines().collect();
    assert!(lines[1].trim().starts_with('\u{2026}') && lines[1].ends_with('\u{2026}'));
    let caret = lines[2].chars().count() - 1;
    assert_eq!(lines[1].chars().skip(caret - 1).take(2).collect::<String>(), "//");
}

#[test]
fn an_error_has_no_source_to_look_into() {
    let error = refused("iceberg+glue+s3://lake/wh/db/t?aws_session_token=%FF");
    assert!(std::error::Error::source(&error).is_none());
}

#[test]
fn an_error_is_one_pointer() {
    assert_eq!(size_of::<ParseError>(), size_of::<usize>());
}
