//! HTTP clients, shared by stores.

use std::sync::{Mutex, PoisonError};

use object_store::ClientOptions;
use object_store::client::{HttpClient, HttpConnector, ReqwestConnector};
use tokio::runtime::{Handle, Id};

/// Gives stores that are set up alike one client, so that tables share connections, name lookups and
/// certificates.
///
/// Connections belong to the runtime they were made in, and so does a client.
#[derive(Debug)]
pub(crate) struct SharedClients;

impl HttpConnector for SharedClients {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let connect = || ReqwestConnector::default().connect(options);
        let Ok(runtime) = Handle::try_current() else { return connect() };
        let wanted = Key { runtime: runtime.id(), options: format!("{options:?}") };
        let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|(key, _)| *key == wanted) {
            return Ok(client.clone());
        }
        let client = connect()?;
        if clients.len() == MOST {
            // Perhaps of a runtime that is gone; stores keep what they hold.
            clients.remove(0);
        }
        clients.push((wanted, client.clone()));
        Ok(client)
    }
}

#[derive(PartialEq, Eq)]
struct Key {
    runtime: Id,
    options: String,
}

static CLIENTS: Mutex<Vec<(Key, HttpClient)>> = Mutex::new(Vec::new());
const MOST: usize = 16;
