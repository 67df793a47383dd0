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
fn the_caret_counts_the_cells_of_wide_and_joined_characters() {
    for (name, cells) in [("データ", 6), ("e\u{301}te\u{301}", 3), ("😀", 2), ("a\u{200d}b\u{fe0f}", 4)]
    {
        let render = refused(&format!("iceberg+local:///{name}//t")).render();
        let caret = render.lines().last().expect("three lines").chars().count();
        // Two of indentation, what comes before the name, the name and a slash.
        assert_eq!(caret, 2 + "iceberg+local:///".len() + cells + "/".len() + 1, "{render}");
    }
}

#[test]
fn a_width_that_is_none_is_answered_with_its_range() {
    for text in [
        "bucket(1.5,a)",
        "bucket(a,b)",
        "truncate(0,a)",
        "bucket(-1,a)",
        "bucket(2147483648,a)",
        "bucket(0x1,a)",
    ] {
        let error = parse_partition(text).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::InvalidWidth, "{text}");
        assert!(error.expected().contains("from 1 to 2147483647"), "{text}: {error}");
    }
}

#[test]
fn what_belongs_to_another_form_is_found_under_a_misspelt_name_too() {
    for (text, name, owner) in [
        ("iceberg+local:///t?regoin=x", "region", "iceberg+glue+s3:// and iceberg+rest+https://"),
        ("iceberg+glue+s3://lake/db/t?tokn=x", "token", "iceberg+rest+https://"),
        ("iceberg+rest+https://h/ns/t?acount=x", "account", "iceberg+glue+s3://"),
    ] {
        let error = refused(text);
        assert_eq!((error.kind(), error.nearest()), (ErrorKind::UnknownParameter, Some(name)), "{text}");
        assert!(error.expected().ends_with(&format!("`{name}` belongs to {owner}")), "{error}");
    }
}

#[test]
fn a_debug_form_escapes_what_a_terminal_would_not_show() {
    for text in
        ["s3://lake/a\u{202e}b", "/a\u{ad}b", "a\u{202e}.b", "\"a\u{200b}.\".b", "s3://lake/\u{e0041}"]
    {
        let table: TableRef = text.parse().expect(text);
        assert_eq!(table.to_string().trim_start_matches("file://"), text);
        let debug = format!("{table:?}");
        assert!(debug.is_ascii() && debug.contains("\\u{"), "{debug}");
    }
    assert_eq!(format!("{:?}", "/été/数.метод".parse::<TableRef>()), "Ok(Root(file:///été/数.метод))");
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
