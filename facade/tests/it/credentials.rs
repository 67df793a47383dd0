//! Credentials from wherever the AWS tools find them, told apart by a server that checks them.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

use calve_catalog::testing::servers::{Server, StoreServer};

use crate::workspace;

const DESTINATION: &str = "iceberg+file+s3://lake/air/flights";

/// A server, a home folder without anything of the machine's, and a command that sees no more.
struct Machine {
    server: Server,
    home: tempfile::TempDir,
}

impl Machine {
    async fn of(server: StoreServer) -> Self {
        Self { server: server.start().await, home: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    fn calve(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_calve"));
        command.current_dir(workspace()).args(arguments);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("AWS_")) {
            command.env_remove(name);
        }
        command.env("HOME", self.home.path()).env("AWS_ENDPOINT_URL", self.server.endpoint());
        command.envs(variables.iter().copied()).output().unwrap()
    }

    fn writes(&self, variables: &[(&str, &str)]) {
        let output = self.calve(variables, &["write", DESTINATION, "data/flights.parquet"]);
        assert!(output.status.success(), "{variables:?}: {}", told(&output));
    }

    fn is_refused(&self, variables: &[(&str, &str)], arguments: &[&str], why: &str) {
        let output = self.calve(variables, arguments);
        let text = told(&output);
        assert!(!output.status.success() && text.contains(why), "{variables:?}: {text}");
        assert!(text.contains("s3://lake/air/flights") && text.lines().count() == 1, "{text}");
    }

    /// A user who may do nothing but take the role `lake-writer`, if they know the external id; and
    /// credentials of that role.
    fn people(&self) -> People {
        let servers = std::env::var("CALVE_SERVERS").unwrap();
        let mut python = Command::new(Path::new(&servers).join("bin/python"));
        let output = python.args(["-c", PEOPLE, self.server.endpoint()]).output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        let people: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = |key: &str| people[key].as_str().unwrap().to_owned();
        People {
            id: text("id"),
            secret: text("secret"),
            arn: text("arn"),
            session: people["session"].clone(),
        }
    }
}

struct People {
    id: String,
    secret: String,
    arn: String,
    session: serde_json::Value,
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const PEOPLE: &str = r#"
import boto3, json, sys
def client(service, id='test', secret='test'):
    return boto3.client(service, endpoint_url=sys.argv[1], region_name='us-east-1',
        aws_access_key_id=id, aws_secret_access_key=secret)
def policy(action):
    return json.dumps({'Version': '2012-10-17', 'Statement': [{'Effect': 'Allow', 'Action': action, 'Resource': '*'}]})
iam = client('iam')
user = iam.create_user(UserName='pipeline')['User']
key = iam.create_access_key(UserName='pipeline')['AccessKey']
id, secret = key['AccessKeyId'], key['SecretAccessKey']
iam.put_user_policy(UserName='pipeline', PolicyName='roles', PolicyDocument=policy('sts:AssumeRole'))
trust = {'Version': '2012-10-17', 'Statement': [{'Effect': 'Allow', 'Principal': {'AWS': user['Arn']},
    'Action': 'sts:AssumeRole', 'Condition': {'StringEquals': {'sts:ExternalId': 'glacier'}}}]}
role = iam.create_role(RoleName='lake-writer', AssumeRolePolicyDocument=json.dumps(trust))['Role']
iam.put_role_policy(RoleName='lake-writer', PolicyName='files', PolicyDocument=policy('s3:*'))
session = client('sts', id, secret).assume_role(RoleArn=role['Arn'], RoleSessionName='sso',
    ExternalId='glacier')['Credentials']
print(json.dumps({'id': id, 'secret': secret, 'arn': role['Arn'], 'session': session}, default=str))
"#;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn profiles_give_keys_roles_and_processes_and_a_wrong_one_is_named() {
    let machine = Machine::of(StoreServer::MinistackIam).await;
    let People { id, secret, arn, .. } = machine.people();
    let keys = machine.file("keys.json", r#"{"Version":1,"AccessKeyId":"test","SecretAccessKey":"test"}"#);
    let mut config = format!("[default]\naws_access_key_id={id}\naws_secret_access_key={secret}\n");
    let role = |name: &str, external_id: &str| {
        format!("[profile {name}]\nrole_arn={arn}\nsource_profile=default\nexternal_id={external_id}\n")
    };
    config += &role("writer", "glacier");
    config += &role("stranger", "iceberg");
    writeln!(config, "[profile owner]\naws_access_key_id=test\naws_secret_access_key=test").unwrap();
    writeln!(config, "[profile process]\ncredential_process=cat {keys}").unwrap();
    machine.file(".aws/config", &config);

    for profile in ["owner", "process", "writer"] {
        machine.writes(&[("AWS_PROFILE", profile)]);
    }
    // Keys of the environment win over a profile, as they do in the AWS tools.
    let owner = ("AWS_ACCESS_KEY_ID", "test");
    machine.writes(&[("AWS_PROFILE", "stranger"), owner, ("AWS_SECRET_ACCESS_KEY", "test")]);

    let scan = ["scan", "s3://lake/air/flights", "--limit", "1"];
    machine.is_refused(&[], &scan, "permission denied (AccessDenied)");
    machine.is_refused(&[("AWS_PROFILE", "stranger")], &scan, "is not authorized to perform: sts:AssumeRole");
    machine.is_refused(&[("AWS_PROFILE", "nobody")], &scan, "the AWS profile nobody gives no credentials");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn a_role_is_assumed_by_options_with_whatever_credentials_there_are() {
    let machine = Machine::of(StoreServer::MinistackIam).await;
    let People { id, secret, arn, .. } = machine.people();
    machine.writes(&[("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test")]);

    let role = format!("client.assume-role.arn={arn}");
    let option = |key: &str, value: &str| format!("{key}={value}");
    let (given_id, given_secret) =
        (option("aws_access_key_id", &id), option("aws_secret_access_key", &secret));
    let external = |id: &str| option("client.assume-role.external-id", id);
    let scan = |options: &[&str]| {
        let mut arguments = vec!["scan", "s3://lake/air/flights", "--limit", "1", "--json"];
        options.iter().for_each(|option| arguments.extend(["-o", option]));
        arguments.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let ambient = [("AWS_ACCESS_KEY_ID", &*id), ("AWS_SECRET_ACCESS_KEY", &*secret)];
    let glacier = external("glacier");
    for (variables, options) in [
        (&[][..], vec![&*role, &*glacier, &*given_id, &*given_secret, "client.assume-role.session-name=it"]),
        (&ambient[..], vec![&*role, &*glacier]),
    ] {
        let arguments = scan(&options);
        let output = machine.calve(variables, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(output.status.success(), "{}", told(&output));
        assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 1);
    }
    for (options, why) in [
        (vec![&*given_id, &*given_secret], "AccessDenied".to_owned()),
        (vec![&*role, &*given_id, &*given_secret], format!("the role {arn} can't be assumed")),
        (
            vec![&*role, &*given_id, "aws_secret_access_key=hunter2", &*glacier],
            format!("the role {arn} can't be assumed"),
        ),
    ] {
        let arguments = scan(&options);
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        machine.is_refused(&[], &arguments, &why);
        assert!(!told(&machine.calve(&[], &arguments)).contains("hunter2"));
    }
}

/// No server at hand has the portal of single sign-on, so its one answer is given here; the session it
/// gives is a real one, and checked.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn single_sign_on_gives_a_session_for_the_token_of_its_cache() {
    let machine = Machine::of(StoreServer::MinistackIam).await;
    let session = machine.people().session;
    machine.writes(&[("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test")]);
    let credentials = serde_json::json!({ "roleCredentials": {
        "accessKeyId": session["AccessKeyId"], "secretAccessKey": session["SecretAccessKey"],
        "sessionToken": session["SessionToken"], "expiration": 4_102_444_800_000_u64,
    }});
    let portal = answer_once("application/json", credentials.to_string());
    machine.file(
        ".aws/config",
        "[default]\nsso_start_url=https://glacier.example.com/start\nsso_region=us-east-1\n\
         sso_account_id=000000000000\nsso_role_name=lake-writer\n",
    );
    // The name is the SHA-1 of the start URL.
    machine.file(
        ".aws/sso/cache/6c43693b1896ab9850fb20e92e4eda8a98ff9ebb.json",
        r#"{"accessToken":"granted","expiresAt":"2099-01-01T00:00:00Z","startUrl":"https://glacier.example.com/start","region":"us-east-1"}"#,
    );
    let output = machine.calve(
        &[("AWS_ENDPOINT_URL_SSO", &portal.endpoint)],
        &["scan", "s3://lake/air/flights", "--limit", "1", "--json"],
    );
    assert!(output.status.success(), "{}", told(&output));
    let asked = portal.asked.join().unwrap();
    assert!(asked.contains("/federation/credentials?") && asked.contains("role_name=lake-writer"), "{asked}");
    assert!(asked.contains("x-amz-sso_bearer_token: granted"), "{asked}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn web_identity_containers_and_instances_give_credentials() {
    let machine = Machine::of(StoreServer::Ministack).await;
    let endpoint = machine.server.endpoint();
    let token = machine.file("token", "granted");
    let container = format!("{endpoint}/v2/credentials/0c9b1a55-7f0c-4d9f-9e5c-4f2b3d6f6a11");
    machine.writes(&[
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &container),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", &token),
    ]);
    machine.writes(&[("AWS_METADATA_ENDPOINT", endpoint)]);
    // Without TLS only the SDK asks for an identity; it does where there are profiles.
    let empty = machine.file("config", "");
    machine.writes(&[
        ("AWS_CONFIG_FILE", &empty),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", &token),
        ("AWS_ROLE_ARN", "arn:aws:iam::000000000000:role/lake-writer"),
    ]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn requests_are_signed_for_the_region_of_the_profile_unless_another_is_named() {
    let machine = Machine::of(StoreServer::Ministack).await;
    let config = "[default]\nregion=eu-central-9\naws_access_key_id=test\naws_secret_access_key=test\n";
    machine.file(".aws/config", config);
    for (variable, region) in [(("CALVE", "x"), "eu-central-9"), (("AWS_REGION", "eu-west-9"), "eu-west-9")] {
        let store = answer_once("text/plain", String::new());
        let output = machine.calve(
            &[("AWS_ENDPOINT_URL_S3", &store.endpoint), variable],
            &["scan", "s3://lake/air/flights/metadata/v0.metadata.json"],
        );
        assert!(!output.status.success(), "an empty file is no metadata");
        let asked = store.asked.join().unwrap();
        assert!(asked.contains(&format!("/{region}/s3/aws4_request")), "{asked}");
    }
}

struct Answering {
    endpoint: String,
    /// The head of the request, in lower case.
    asked: std::thread::JoinHandle<String>,
}

/// Answers one request.
fn answer_once(kind: &'static str, body: String) -> Answering {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
            head.push(byte[0]);
        }
        let length = body.len();
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nETag: \"x\"\r\nLast-Modified: Sat, 05 Dec 2026 12:00:00 GMT\r\nConnection: close\r\n\r\n{body}").unwrap();
        String::from_utf8(head).unwrap().to_ascii_lowercase()
    });
    Answering { endpoint, asked }
}
