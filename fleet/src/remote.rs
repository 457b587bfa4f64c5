//! Logs in object stores that speak the protocol of S3: `s3://BUCKET/KEY`.
//!
//! Where the store is, and who may read, comes from the environment of each process (`AWS_ENDPOINT`, `AWS_ACCESS_KEY_ID`, ...), so
//! that no list of logs and no order to a worker holds it.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use futures::TryStreamExt;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::{BackoffConfig, ObjectMeta, ObjectStore, ObjectStoreExt, RetryConfig};
use tokio::runtime::Runtime;

/// Times that a request is tried again, and for how long.
const RETRIES: (usize, Duration) = (4, Duration::from_secs(60));

/// An object.
pub struct Object {
    /// Its address.
    pub url: String,
    /// Its size in bytes.
    pub size: u64,
    /// Microseconds since 1970 of its last modification.
    pub modified: i64,
    /// The store's tag, which differs for other content; empty without one.
    pub tag: String,
}

/// Stores by bucket, and the thread of their requests.
struct Stores {
    runtime: Runtime,
    of: Mutex<HashMap<String, Arc<AmazonS3>>>,
}

static STORES: LazyLock<io::Result<Stores>> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    Ok(Stores { runtime, of: Mutex::default() })
});

impl Stores {
    fn open(bucket: &str) -> io::Result<(&'static Runtime, Arc<AmazonS3>)> {
        let all = STORES.as_ref().map_err(|e| io::Error::new(e.kind(), e.to_string()))?;
        let mut of = all.of.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = of.get(bucket) {
            return Ok((&all.runtime, Arc::clone(store)));
        }
        let retry = RetryConfig { max_retries: RETRIES.0, retry_timeout: RETRIES.1, backoff: BackoffConfig::default() };
        let made = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry).build();
        let store = Arc::new(made.map_err(|e| error(&e))?);
        of.insert(bucket.to_owned(), Arc::clone(&store));
        Ok((&all.runtime, store))
    }
}

fn error(e: &object_store::Error) -> io::Error {
    let kind = match e {
        object_store::Error::NotFound { .. } => io::ErrorKind::NotFound,
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
            io::ErrorKind::PermissionDenied
        }
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, e.to_string())
}

/// Bucket and key.
fn parts(url: &str) -> io::Result<(&str, object_store::path::Path)> {
    let wrong = |e: String| io::Error::new(io::ErrorKind::InvalidInput, e);
    let rest = url.strip_prefix("s3://").unwrap_or(url);
    let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
    if bucket.is_empty() {
        return Err(wrong(format!("{url} names no bucket")));
    }
    Ok((bucket, object_store::path::Path::parse(key).map_err(|e| wrong(e.to_string()))?))
}

/// Whether a path is the address of an object.
pub fn is_url(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().starts_with(b"s3://")
}

/// The object of an address, or else all objects below it.
///
/// # Errors
/// Those of the store.
pub fn list(url: &str) -> io::Result<Vec<Object>> {
    let (bucket, key) = parts(url)?;
    let (runtime, store) = Stores::open(bucket)?;
    let object = |meta: ObjectMeta| Object {
        url: format!("s3://{bucket}/{}", meta.location),
        size: meta.size,
        modified: meta.last_modified.timestamp_micros(),
        tag: meta.e_tag.unwrap_or_default(),
    };
    runtime.block_on(async {
        if !key.as_ref().is_empty() {
            match store.head(&key).await {
                Ok(meta) => return Ok(vec![object(meta)]),
                Err(object_store::Error::NotFound { .. }) => {}
                Err(e) => return Err(error(&e)),
            }
        }
        let found: Vec<ObjectMeta> = store.list(Some(&key)).try_collect().await.map_err(|e| error(&e))?;
        Ok(found.into_iter().map(object).collect())
    })
}

/// The bytes of an object that is not too large.
///
/// # Errors
/// Those of the store; `too_large` of its size.
pub fn fetch(url: &str, max_size: u64, too_large: impl Fn(u64) -> io::Error) -> io::Result<Vec<u8>> {
    let (bucket, key) = parts(url)?;
    let (runtime, store) = Stores::open(bucket)?;
    runtime.block_on(async {
        let answer = store.get(&key).await.map_err(|e| error(&e))?;
        if answer.meta.size > max_size {
            return Err(too_large(answer.meta.size));
        }
        answer.bytes().await.map(|b| b.to_vec()).map_err(|e| error(&e))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_bucket() {
        assert_eq!(parts("s3://logs/2026/a.darshan").unwrap(), ("logs", "2026/a.darshan".into()));
        assert_eq!(parts("s3://logs").unwrap(), ("logs", "".into()));
        assert!(parts("s3:///a").is_err());
        assert!(is_url(Path::new("s3://logs")) && !is_url(Path::new("/s3/logs")));
    }
}
