//! Real servers for tests, each started by the test that needs it, on loopback and a port of its own,
//! and ended with it.
//!
//! `interop/install` puts them into a folder that `CALVE_SERVERS` names; `scripts/test` sets it.

use std::env;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use calve_storage::{Location, Storage, StoreProperties};
use uuid::Uuid;

/// A store, and how it treats conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreServer {
    /// Heeds `If-None-Match` and `If-Match`.
    SeaweedFs,
    /// The same, with an Iceberg REST catalog over its bucket `warehouse`.
    SeaweedFsCatalog,
    /// Heeds both; also Glue and STS.
    Ministack,
    /// The same, and lets nobody do what no policy allows.
    MinistackIam,
    /// Heeds both; also Glue and STS.
    Moto,
    /// Heeds `If-None-Match` and ignores `If-Match`.
    LocalBucket,
    /// Ignores both.
    S3rver,
    /// Speaks Azure's protocol, and heeds both.
    Azurite,
}

/// A running server; dropping it ends it.
#[derive(Debug)]
pub struct Server {
    child: Child,
    endpoint: String,
    catalog: Option<SocketAddr>,
    properties: StoreProperties,
    /// What roots lie in: scheme and bucket.
    bucket: &'static str,
    folder: PathBuf,
}

impl StoreServer {
    /// Starts it with a bucket `lake`.
    ///
    /// # Panics
    /// When it is not installed or does not answer within a minute.
    pub async fn start(self) -> Server {
        // Between looking for a free port and listening on it somebody else may take it.
        for _ in 0..3 {
            if let Some(server) = self.try_start().await {
                return server;
            }
        }
        panic!("{self:?} ends as soon as it starts; what it printed is above");
    }

    async fn try_start(self) -> Option<Server> {
        let folder = env::temp_dir().join(format!("calve-server-{}", Uuid::new_v4().simple()));
        std::fs::create_dir_all(&folder).expect("a folder for the server");
        let port = free_port();
        let catalog = (self == Self::SeaweedFsCatalog).then(|| (Ipv4Addr::LOCALHOST, free_port()).into());
        let (mut command, keys) = self.command(&folder, port, catalog);
        command.current_dir(&folder).stdin(Stdio::null());
        let log = folder.join("log");
        let output = || File::options().create(true).append(true).open(&log).expect("a log");
        let child = command.stdout(output()).stderr(output()).spawn();
        let child = child.unwrap_or_else(|e| panic!("{self:?} does not start: {e}; run interop/install"));
        let endpoint = format!("http://127.0.0.1:{port}");
        let (bucket, properties): (_, StoreProperties) = match self {
            Self::Azurite => {
                let endpoint = format!("{endpoint}/{}", keys.0);
                let pairs = [
                    ("adls.endpoint", endpoint.as_str()),
                    ("adls.account-name", keys.0),
                    ("adls.account-key", keys.1),
                ];
                ("az://lake", pairs.into_iter().collect())
            }
            _ => {
                let pairs = [
                    ("s3.endpoint", endpoint.as_str()),
                    ("s3.region", "us-east-1"),
                    ("s3.access-key-id", keys.0),
                    ("s3.secret-access-key", keys.1),
                ];
                ("s3://lake", pairs.into_iter().collect())
            }
        };
        let mut server = Server { child, endpoint, catalog, properties, bucket, folder };
        server.answers(self, port).await.then_some(server)
    }

    fn command(
        self,
        folder: &Path,
        port: u16,
        catalog: Option<SocketAddr>,
    ) -> (Command, (&'static str, &'static str)) {
        let data = folder.join("data");
        std::fs::create_dir_all(&data).expect("a data folder");
        let installed = env::var("CALVE_SERVERS").expect("CALVE_SERVERS, the folder interop/install prints");
        let program = |name: &str| Command::new(Path::new(&installed).join("bin").join(name));
        let port_text = port.to_string();
        let mut keys = ("test", "test");
        let command = match self {
            Self::SeaweedFs | Self::SeaweedFsCatalog => {
                keys = ("admin", "secretsecret");
                let mut weed = program("weed");
                weed.env("AWS_ACCESS_KEY_ID", keys.0).env("AWS_SECRET_ACCESS_KEY", keys.1);
                weed.args(["mini", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-admin.ui=false"]);
                weed.args(["-webdav=false", "-s3.port.lance=0", "-bucket=lake"]);
                weed.arg(format!("-s3.port.iceberg={}", catalog.map_or(0, |address| address.port())));
                if catalog.is_some() {
                    weed.arg("-tableBucket=warehouse");
                }
                weed.args(["-volume.max=20", "-master.volumeSizeLimitMB=64", "-master.telemetry=false"]);
                weed.arg(format!("-dir={}", data.display())).arg(format!("-s3.port={port}"));
                for part in ["master", "volume", "filer"] {
                    weed.arg(format!("-{part}.port={}", free_port()));
                    weed.arg(format!("-{part}.port.grpc={}", free_port()));
                }
                weed.arg(format!("-s3.port.grpc={}", free_port()));
                weed
            }
            Self::Ministack | Self::MinistackIam => {
                let mut ministack = program("ministack");
                ministack.env("AUTH", (self == Self::MinistackIam).to_string());
                ministack.env("BIND_HOST", "127.0.0.1").env("MINISTACK_HOST", "127.0.0.1");
                ministack.env("GATEWAY_PORT", &port_text).env("S3_DATA_DIR", &data);
                ministack.env("IOT_MTLS_ENABLED", "0").env("SFTP_ENABLED", "0");
                ministack
            }
            Self::Moto => {
                let mut moto = program("moto_server");
                moto.args(["-H", "127.0.0.1", "-p", &port_text]);
                moto
            }
            Self::LocalBucket => {
                let mut localbucket = program("localbucket");
                localbucket.args(["--host", "127.0.0.1", "--port", &port_text]).arg(&data);
                localbucket
            }
            Self::S3rver => {
                keys = ("S3RVER", "S3RVER");
                let mut s3rver = program("node");
                s3rver.arg(Path::new(&installed).join("npm/node_modules/s3rver/bin/s3rver.js"));
                s3rver.args(["-a", "127.0.0.1", "-p", &port_text, "--configure-bucket", "lake", "-d"]);
                s3rver.arg(&data);
                s3rver
            }
            Self::Azurite => {
                keys = AZURITE;
                let mut azurite = program("node");
                azurite.arg(Path::new(&installed).join("npm/node_modules/azurite/dist/src/blob/main.js"));
                azurite.args(["--blobHost", "127.0.0.1", "--blobPort", &port_text, "--silent"]);
                azurite.args(["--skipApiVersionCheck", "--disableTelemetry", "--location"]).arg(&data);
                azurite
            }
        };
        (command, keys)
    }
}

impl Server {
    /// The address it answers on.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The address of its Iceberg REST catalog. Only [`StoreServer::SeaweedFsCatalog`] has one.
    pub fn catalog(&self) -> String {
        format!("http://{}", self.catalog.expect("a server with a catalog"))
    }

    /// What a store needs to be reached through it.
    pub fn properties(&self) -> &StoreProperties {
        &self.properties
    }

    /// A root that is not there yet, in the bucket `lake`.
    pub fn root(&self) -> Location {
        format!("{}/{}/a b/täble 100%", self.bucket, Uuid::new_v4()).parse().expect("a location")
    }

    /// The store of `location` on this server.
    pub fn storage(&self, location: &Location) -> Storage {
        Storage::open_with(location, &self.properties).expect("a store")
    }

    /// Waits until it answers; whether it did before it ended.
    async fn answers(&mut self, of: StoreServer, port: u16) -> bool {
        let patience = Instant::now() + Duration::from_secs(60);
        let root: Location = format!("{}/x", self.bucket).parse().expect("a location");
        loop {
            if let Some(status) = self.child.try_wait().expect("its status") {
                println!("{of:?} ended with {status}: {}", self.log());
                return false;
            }
            let catalog = self.catalog.is_none_or(|address| TcpStream::connect(address).is_ok());
            // Where the bucket is there already, creating it again is refused or harmless.
            if catalog
                && make_bucket(of, port).is_some_and(|status| status < 500)
                && self.storage(&root).list(&root).await.is_ok()
            {
                return true;
            }
            assert!(Instant::now() < patience, "{of:?} does not answer: {}", self.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A port that nobody listens on, below those that the system gives to outgoing connections. Processes
/// start looking at different places.
fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 10_000 + (std::process::id().wrapping_mul(101).wrapping_add(next) % 20_000) as u16;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}

/// What Azurite takes for a key everywhere; it is no secret.
const AZURITE: (&str, &str) = (
    "devstoreaccount1",
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
);

/// Makes the bucket `lake`, and gives the answer's status; `None` while nobody answers.
fn make_bucket(of: StoreServer, port: u16) -> Option<u16> {
    if of != StoreServer::Azurite {
        return put(port, "/lake");
    }
    // A container is made by a signed request only, and no library here makes containers.
    let installed = env::var("CALVE_SERVERS").expect("CALVE_SERVERS, the folder interop/install prints");
    let mut python = Command::new(Path::new(&installed).join("bin/python"));
    let made = python.args(["-c", MAKE_CONTAINER, &port.to_string(), AZURITE.0, AZURITE.1]).output().ok()?;
    String::from_utf8(made.stdout).ok()?.trim().parse().ok()
}

const MAKE_CONTAINER: &str = r#"
import base64, email.utils, hashlib, hmac, sys, urllib.error, urllib.request
port, account, key = sys.argv[1:]
headers = {"x-ms-date": email.utils.formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
signed = "PUT" + 12 * "\n" + "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
signed += f"/{account}/{account}/lake\nrestype:container"
signature = base64.b64encode(hmac.new(base64.b64decode(key), signed.encode(), hashlib.sha256).digest()).decode()
headers |= {"Authorization": f"SharedKey {account}:{signature}", "Content-Length": "0"}
url = f"http://127.0.0.1:{port}/{account}/lake?restype=container"
try:
    print(urllib.request.urlopen(urllib.request.Request(url, method="PUT", headers=headers), timeout=5).status)
except urllib.error.HTTPError as e:
    print(e.code)
"#;

/// The status of an unsigned, empty `PUT`; `None` while nobody answers.
fn put(port: u16, path: &str) -> Option<u16> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    write!(
        stream,
        "PUT {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
    .ok()?;
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).ok()?;
    std::str::from_utf8(&answer[9..]).ok()?.parse().ok()
}
