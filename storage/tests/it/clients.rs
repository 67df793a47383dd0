use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use calve_storage::{ErrorKind, Location, Storage, StoreProperties};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Says that nothing is there, on connections that stay open; counts them.
async fn empty_store() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = connections.clone();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            counted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let (mut asked, mut part) = (Vec::new(), [0; 4096]);
                while let Ok(read @ 1..) = stream.read(&mut part).await {
                    asked.extend_from_slice(&part[..read]);
                    if asked.ends_with(b"\r\n\r\n") {
                        asked.clear();
                        let answer = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
                        stream.write_all(answer.as_bytes()).await.unwrap();
                    }
                }
            });
        }
    });
    (address, connections)
}

/// A new store of a bucket that an address holds, asked for a file it lacks.
async fn ask(address: SocketAddr, bucket: &str) {
    let properties: StoreProperties = [
        ("s3.endpoint", format!("http://{address}")),
        ("s3.region", "us-east-1".to_owned()),
        ("s3.access-key-id", bucket.to_owned()),
        ("s3.secret-access-key", "s".to_owned()),
    ]
    .into_iter()
    .collect();
    let root: Location = format!("s3://{bucket}/t").parse().unwrap();
    let storage = Storage::open_with(&root, &properties).unwrap();
    let error = storage.read(root.join("a").unwrap().as_str()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
}

#[tokio::test]
async fn tables_of_many_buckets_and_keys_share_their_connections() {
    let (address, connections) = empty_store().await;
    for n in 0..8 {
        ask(address, &format!("bucket-{n}")).await;
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[test]
fn a_connection_is_not_taken_from_a_runtime_that_stands_still() {
    let server = tokio::runtime::Runtime::new().unwrap();
    let (address, connections) = server.block_on(empty_store());
    let mut still = Vec::new();
    // More than are kept.
    for n in 1..=20 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(ask(address, "lake"));
        still.push(runtime);
        assert_eq!(connections.load(Ordering::SeqCst), n);
    }
}
