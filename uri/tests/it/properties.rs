use calve_uri::{
    AccessDelegation, AwsCredentials, Destination, GlueDestination, Mode, PartitionField, RestDestination,
    RootDestination, TableRef, Transform, parse_partition,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Any text without control characters, rich in what grammars trip over.
fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[ -~]{1,4}",
        1 => "\\PC{1,3}",
        2 => select(vec![
            "%", "%2F", "%zz", "%25", "+", "&", "=", "?", "#", "/", "..", ".", "\"", "\"\"", "(", ")",
            ",", " ", "@", ":", "://", "[", "]", "<redacted>", "é", "名", "\u{a0}", "v1", "\\",
        ])
        .prop_map(str::to_owned),
    ];
    vec(piece, 1..6)
        .prop_map(|pieces| pieces.concat())
        .prop_filter("no controls", |text| !text.contains(char::is_control))
}

fn name() -> impl Strategy<Value = String> {
    nasty().prop_filter("no dot segment", |name| name != "." && name != "..")
}

fn glue_name() -> impl Strategy<Value = String> {
    name().prop_map(|name| name.to_lowercase()).prop_filter("lower case", |name| {
        !name.contains(char::is_uppercase) && !name.contains(char::is_control)
    })
}

/// The path of a location: segments that need no encoded slash, and do not look like parameters.
fn path(least: usize) -> impl Strategy<Value = String> {
    let segment = name()
        .prop_map(|name| name.replace('/', "_"))
        .prop_filter("no dots", |name| name != "." && name != "..");
    vec(segment, least..4)
        .prop_map(|segments| segments.into_iter().map(|segment| format!("/{segment}")).collect())
        .prop_filter("no parameters", |path: &String| !path.contains('=') && !path.contains("%3D"))
        .prop_filter("no space at the end", |path| !path.ends_with(char::is_whitespace))
}

fn secret() -> impl Strategy<Value = String> {
    nasty().prop_filter("not the placeholder", |secret| secret != "<redacted>")
}

fn credentials() -> impl Strategy<Value = AwsCredentials> {
    (secret(), secret(), option::of(secret())).prop_map(|(id, key, token)| {
        let credentials = AwsCredentials::new(id, key);
        match token {
            Some(token) => credentials.with_session_token(token),
            None => credentials,
        }
    })
}

fn transform() -> impl Strategy<Value = Transform> {
    prop_oneof![
        Just(Transform::Identity),
        (1..=i32::MAX as u32).prop_map(Transform::Bucket),
        (1..=i32::MAX as u32).prop_map(Transform::Truncate),
        select(vec![Transform::Year, Transform::Month, Transform::Day, Transform::Hour]),
    ]
}

fn fields() -> impl Strategy<Value = Vec<PartitionField>> {
    vec((transform(), nasty()), 0..12).prop_map(|fields| {
        let mut columns = std::collections::HashSet::new();
        fields
            .into_iter()
            .filter(|(_, column)| columns.insert(column.clone()))
            .map(|(transform, column)| PartitionField::new(transform, column))
            .collect()
    })
}

fn mode() -> impl Strategy<Value = Mode> {
    select(vec![Mode::Append, Mode::Overwrite])
}

fn region() -> impl Strategy<Value = String> {
    "[a-z]{2}-[a-z]{4}-[1-9]"
}

fn bucket() -> impl Strategy<Value = String> {
    "[a-z0-9]([a-z0-9-]|\\.[a-z0-9]){2,20}[a-z]"
}

prop_compose! {
    fn glue()(
        bucket in bucket(),
        path in path(0),
        database in glue_name(),
        table in glue_name(),
        region in option::of(region()),
        account in option::of("[0-9]{12}(:[a-z]{1,5}/[a-z][a-z._-]{1,5})?"),
        role in option::of("arn:aws:iam::[0-9]{12}:role/[a-zA-Z+=,.@_-]{1,9}"),
        credentials in option::of(credentials()),
        partition in fields(),
        mode in mode(),
    ) -> (GlueDestination, [String; 3]) {
        let warehouse = format!("s3://{bucket}{path}");
        let mut builder = GlueDestination::builder(&warehouse, &database, &table)
            .partition(partition.clone())
            .mode(mode);
        if let Some(region) = region { builder = builder.region(region); }
        if let Some(account) = account { builder = builder.account(account); }
        if let Some(role) = role { builder = builder.role_arn(role); }
        if let Some(credentials) = credentials { builder = builder.aws_credentials(credentials); }
        let built = builder.build().map_err(|error| error.render()).expect("valid parts");
        assert_eq!(built.partition(), partition);
        (built, [warehouse, database, table])
    }
}

prop_compose! {
    fn rest()(
        host in "https?://([a-z]{1,9}(\\.[a-z]{1,5})?|\\[::[1-9a-f]\\]|127\\.0\\.0\\.[1-9])(:[1-9][0-9]{0,3})?",
        path in "(/[a-z%&+~é ]{1,5}|/[a-z%=+~é ]{1,5}|/v1){0,3}".prop_map(|path| path.replace('%', "%2F")),
        namespace in vec(name(), 1..4),
        table in name(),
        warehouse in prop_oneof![
            nasty().prop_filter("no location", |w| !w.contains(':')),
            (bucket(), path(0)).prop_map(|(bucket, path)| format!("gs://{bucket}{path}")),
        ],
        credential in option::of((secret(), secret()).prop_map(|(id, secret)| {
            format!("{}x:{secret}", id.replace(':', "_"))
        })),
        token in option::of(secret()),
        scope in option::of("[!#-\\[\\]-~]{1,5}( [!#-\\[\\]-~]{1,5}){0,2}"),
        oauth2 in option::of("https://[a-z]{1,5}(/[!\"$%'-:<->A-~]{0,9})?"),
        delegation in select(vec![
            AccessDelegation::VendedCredentials, AccessDelegation::RemoteSigning,
            AccessDelegation::Both, AccessDelegation::None,
        ]),
        region in option::of(region()),
        credentials in option::of(credentials()),
    ) -> (RestDestination, Vec<String>, [String; 2]) {
        let endpoint = format!("{host}{path}");
        let mut builder = RestDestination::builder(&endpoint, &namespace, &table, &warehouse)
            .access_delegation(delegation);
        if let Some(credential) = credential { builder = builder.credential(credential); }
        if let Some(token) = token { builder = builder.token(token); }
        if let Some(scope) = scope { builder = builder.scope(scope); }
        if let Some(oauth2) = oauth2 { builder = builder.oauth2_server_uri(oauth2); }
        if let Some(region) = region { builder = builder.region(region); }
        if let Some(credentials) = credentials { builder = builder.aws_credentials(credentials); }
        let built = builder.build().map_err(|error| error.render()).expect("valid parts");
        (built, namespace, [table, warehouse])
    }
}

prop_compose! {
    fn root()(
        prefix in prop_oneof![
            bucket().prop_map(|b| format!("s3://{b}")),
            bucket().prop_map(|b| format!("s3a://{b}")),
            bucket().prop_map(|b| format!("gs://{b}")),
            "abfss?://[a-z]{3,9}(@[a-z]{1,9}\\.dfs\\.core\\.windows\\.net)?",
            "az://[a-z]{3,9}",
            Just("file://".to_owned()),
        ],
        path in path(1),
        partition in fields(),
        mode in mode(),
    ) -> (RootDestination, String) {
        let location = format!("{prefix}{path}");
        let built = RootDestination::builder(&location).partition(partition).mode(mode).build();
        (built.map_err(|error| error.render()).expect("valid parts"), location)
    }
}

/// Texts near enough to the grammar to get deep into it.
fn almost() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        1 => nasty(),
        1 => any::<String>(),
        6 => select(vec![
            "iceberg+glue+s3://", "iceberg+rest+https://", "iceberg+rest+http://", "iceberg+local:///",
            "iceberg+file+s3://", "iceberg+file+abfss://", "iceberg+file+file://", "s3://", "file:", "file://",
            "glue://", "lake", "/wh", "/db", "/t", "/", "//", "/v1", "?", "&", "#", "@", "h:80",
            "region=eu-west-1", "account=123456789012", "warehouse=wh", "warehouse=s3://lake/",
            "credential=a:b", "token=", "token=a", "mode=", "append", "overwrite", "partition=",
            "day(ts)", "bucket(16,id)", "aws_access_key_id=a", "aws_secret_access_key=b", ",", "(", ")", "\"",
            "%20", "%2F", "%", "123456789012", ".metadata.json", "metadata.json.gz", "a.b", "\"a.b\"", ".", "..",
        ])
        .prop_map(str::to_owned),
    ];
    vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn a_glue_destination_survives_its_uri((built, [warehouse, database, table]) in glue()) {
        prop_assert_eq!(built.warehouse(), warehouse);
        prop_assert_eq!(built.database(), database);
        prop_assert_eq!(built.table(), table);
        survives(&built.into())?;
    }

    #[test]
    fn a_rest_destination_survives_its_uri((built, namespace, [table, warehouse]) in rest()) {
        prop_assert_eq!(built.namespace(), namespace);
        prop_assert_eq!(built.table(), table);
        prop_assert_eq!(built.warehouse(), warehouse);
        survives(&built.into())?;
    }

    #[test]
    fn a_root_destination_survives_its_uri((built, location) in root()) {
        prop_assert_eq!(built.location(), location);
        survives(&built.into())?;
    }

    #[test]
    fn partition_fields_survive_their_text(fields in fields()) {
        let text = fields.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        if !fields.is_empty() {
            prop_assert_eq!(parse_partition(&text), Ok(fields.clone()));
        }
        for field in fields {
            prop_assert_eq!(field.to_string().parse(), Ok(field));
        }
    }

    #[test]
    fn table_names_survive_their_text(namespace in vec(nasty(), 1..4), table in nasty()) {
        let name = TableRef::Name { namespace, table };
        prop_assert_eq!(name.to_string().parse(), Ok(name));
    }

    #[test]
    fn glue_tables_survive_their_text(
        account in option::of("[0-9]{12}(:[a-z]{1,5}/[a-z]{1,5})?"),
        database in glue_name(),
        table in glue_name(),
    ) {
        let table = TableRef::Glue { account, database, table };
        prop_assert_eq!(table.to_string().parse(), Ok(table));
    }

    #[test]
    fn any_text_parses_stably_or_fails_within_itself(text in almost()) {
        match text.parse::<Destination>() {
            Ok(destination) => survives(&destination)?,
            Err(error) => {
                prop_assert!(error.offset() <= text.len());
                prop_assert!(text.is_char_boundary(error.offset()));
                prop_assert_eq!(error.render().lines().count(), 3);
            }
        }
        match text.parse::<TableRef>() {
            Ok(table) => {
                prop_assert_eq!(table.to_uri_with_secrets().expose().parse(), Ok(table));
            }
            Err(error) => prop_assert!(text.is_char_boundary(error.offset())),
        }
        match parse_partition(&text) {
            Ok(fields) => {
                let text = fields.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
                prop_assert_eq!(parse_partition(&text), Ok(fields));
            }
            Err(error) => prop_assert!(text.is_char_boundary(error.offset())),
        }
    }
}

/// With its secrets always, without them when there are none.
fn survives(destination: &Destination) -> Result<(), TestCaseError> {
    let uri = destination.to_uri_with_secrets();
    prop_assert!(uri.expose().is_ascii());
    let again = uri.expose().parse::<Destination>();
    prop_assert_eq!(again.as_ref(), Ok(destination));
    let displayed = destination.to_string();
    match displayed.contains("=<redacted>") {
        true => prop_assert!(displayed.parse::<Destination>().is_err()),
        false => prop_assert_eq!(&displayed, uri.expose()),
    }
    Ok(())
}
