//! Objects of shared libraries in a store that speaks S3.
//!
//! ```text
//! PREFIX/objects/af/af13…c9 → bytes     an object: the first two digits of its hash, and the hash in hexadecimal
//! ```
//!
//! The store has to promise two things. An object that it acknowledged (HTTP 200) is durable, and every read that begins afterwards
//! finds it: read-after-write for new keys, as S3 has had since December 2020. It need not compare and swap, list, or keep an order. Its
//! credentials need the rights to get and put objects, and to list the bucket: without the last, S3 answers 403 where an object is missing.
//!
//! The caller checks the bytes against their hash, so a store that alters an object makes it unusable, and nothing worse. It can also
//! withhold objects. This module checks sizes, and that it is a store that says "missing": the page of another server that says 404 is
//! a failure.
//!
//! A put asks first whether the object is there with its size, and sends the bytes only if it is not. It then overwrites (no
//! `If-None-Match`): all who write a key write the same bytes, so the order does not matter, while a contended conditional put takes
//! seconds at some stores, and would keep an object that is there with another size. An object that was altered but has its
//! size is not found out by a put: delete it, and put it again.
//!
//! Invariant: each method returns within a little more than twice the time that an answer may take, and the time that its bytes need over
//! a slow network, also if the store was stopped or the network drops all packets. While the store does not answer, callers get the
//! failure at once, so that they do not queue up for a store that is gone.

mod address;
mod bucket;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use blake3::Hash;
use toolcell::store::{Blobs, SharedError};
use toolcell_i18n::{Message, message};

use self::address::Address;
use self::bucket::{Bucket, BucketFailure};
use crate::client_threads::{ClientThreads, NoTurn, transfer_time};

/// The maximum size of an object, in bytes.
const MAX_OBJECT_BYTES: u64 = 256 << 20;
/// The number of threads: while one computes the digest of a large object, the other talks.
const THREADS: usize = 2;

/// An object store cannot be used.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum S3Error {
    /// The URL is malformed, or has what does not belong there.
    #[error("the URL of the object store is invalid: {reason}")]
    #[code(RequestInvalid)]
    #[hint("write it as s3://BUCKET/PREFIX?endpoint=https://HOST:PORT&region=REGION")]
    Url {
        /// What is wrong.
        reason: Message,
    },
    /// The threads that talk to the store cannot be started.
    #[error("the client of the object store cannot be started: {reason}")]
    #[code(SharedUnreachable)]
    #[hint("check the limits of this process, and the certificates of the system or of SSL_CERT_FILE")]
    Start {
        /// What is wrong.
        reason: Message,
    },
    /// The store cannot be used as it is.
    #[error("the object store cannot be used: {reason}")]
    #[code(SharedInvalid)]
    #[hint(
        "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the bucket, its endpoint and region, and the rights to get, put and list objects"
    )]
    Unusable {
        /// What the store says.
        reason: Message,
    },
    /// The store failed.
    #[error(transparent)]
    #[coded(transparent)]
    Shared(#[from] SharedError),
}

/// A bucket of an S3 store that holds the objects of shared libraries.
pub struct S3 {
    bucket: Arc<Bucket>,
    answer_limit: Duration,
    threads: ClientThreads,
}

impl S3 {
    /// Connects to a bucket: `s3://BUCKET[/PREFIX][?endpoint=https://HOST:PORT&region=REGION&style=path|virtual&allow_http=true]`.
    /// Each answer is waited for as long as `answer_limit`. If the store cannot be reached, that is no error yet: it is tried again until
    /// it can.
    ///
    /// `environment` returns the value of a variable. Credentials come from it alone, in this order: `AWS_ACCESS_KEY_ID` and
    /// `AWS_SECRET_ACCESS_KEY`, with `AWS_SESSION_TOKEN` if they are temporary; `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_ARN`; the service
    /// of a container (`AWS_CONTAINER_CREDENTIALS_RELATIVE_URI`, or `AWS_CONTAINER_CREDENTIALS_FULL_URI` and
    /// `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE`). `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, `AWS_REGION` and `AWS_DEFAULT_REGION` are for a URL
    /// without them. Without an endpoint, the store is that of AWS.
    ///
    /// A store on another machine is reached over HTTPS only, unless the URL has `allow_http=true`. Its certificate is checked against the
    /// system's roots, or those of the file that `SSL_CERT_FILE` names.
    ///
    /// # Errors
    /// `request-invalid` for the URL, and `shared-invalid` if there are no credentials, or the store refuses them or has no such bucket.
    pub fn connect(
        url: &str,
        environment: impl Fn(&str) -> Option<String>,
        answer_limit: Duration,
    ) -> Result<Self, S3Error> {
        let address = Address::parse(url, environment)?;
        let start = |reason: String| S3Error::Start { reason: Message::verbatim(reason) };
        let bucket = Arc::new(Bucket::new(address, answer_limit).map_err(start)?);
        let threads = ClientThreads::start("toolcell-s3", THREADS).map_err(|error| start(error.to_string()))?;
        let store = Self { bucket, answer_limit, threads };
        let bucket = Arc::clone(&store.bucket);
        let checked = store.ask(Duration::ZERO, async move { bucket.check().await })?;
        checked.map_err(|reason| S3Error::Unusable { reason })?;
        Ok(store)
    }

    /// The place of the objects, as all nodes have to name it: `s3://BUCKET/PREFIX`.
    #[must_use]
    pub fn place(&self) -> String {
        self.bucket.place()
    }

    /// Runs a future on the threads that talk to the store. It returns within twice the time of an answer, and `more`.
    fn ask<T: Send + 'static>(
        &self,
        more: Duration,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, SharedError> {
        self.threads.ask(2 * self.answer_limit + more, future).map_err(|NoTurn| SharedError::Unreachable {
            reason: message!("the client of the object store did not get its turn on this machine"),
        })
    }
}

impl Blobs for S3 {
    fn put(&self, hash: Hash, bytes: &[u8]) -> Result<(), SharedError> {
        let size = bytes.len() as u64;
        check_size(hash, size)?;
        let (bucket, key, bytes) = (Arc::clone(&self.bucket), key(hash), bytes.to_vec());
        let stored = self.ask(transfer_time(size), async move {
            match bucket.size(&key).await {
                Ok(found) if found == size => Ok(()),
                Ok(_) | Err(BucketFailure::Missing) => bucket.put(&key, bytes).await,
                Err(failure) => Err(failure),
            }
        })?;
        stored.map_err(|failure| failed(hash, failure))
    }

    fn get(&self, hash: Hash) -> Result<Option<Vec<u8>>, SharedError> {
        let (bucket, key) = (Arc::clone(&self.bucket), key(hash));
        let object = match self.ask(Duration::ZERO, async move { bucket.open(&key).await })? {
            Ok(object) => object,
            Err(BucketFailure::Missing) => return Ok(None),
            Err(failure) => return Err(failed(hash, failure)),
        };
        let size = object.meta.size;
        check_size(hash, size)?;
        let bucket = Arc::clone(&self.bucket);
        let bytes = self.ask(transfer_time(size), async move { bucket.read(object).await })?;
        bytes.map(Some).map_err(|failure| failed(hash, failure))
    }
}

/// The key of an object.
fn key(hash: Hash) -> String {
    let hash = hash.to_hex();
    format!("objects/{}/{hash}", &hash[..2])
}

fn check_size(hash: Hash, length: u64) -> Result<(), SharedError> {
    if length <= MAX_OBJECT_BYTES {
        return Ok(());
    }
    Err(SharedError::Invalid {
        reason: message!("the object {hash} takes {length} bytes, which no object does", hash = hash.to_hex(), length),
    })
}

/// What a caller is told. Storing again is always right, so it does not matter whether a put that was not answered was made.
fn failed(hash: Hash, failure: BucketFailure) -> SharedError {
    match failure {
        BucketFailure::NoAnswer(reason) | BucketFailure::Failed(reason) => SharedError::Unreachable { reason },
        BucketFailure::Refused(reason) => SharedError::Invalid { reason },
        // A put is not answered so.
        BucketFailure::Missing => {
            SharedError::Invalid { reason: message!("the object {hash} is lost", hash = hash.to_hex()) }
        }
    }
}
