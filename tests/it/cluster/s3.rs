//! A store that speaks S3 as an engine of objects: also while it is stopped and killed, and over HTTPS.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use toolcell::store::{Blobs as _, SharedError};
use toolcell_cluster::{ANSWER_LIMIT, S3, S3Error};
use toolcell_error::ErrorCode;

use super::engine::objects_are_found_by_their_hash;
use super::nats_server::{NatsKind, NatsServer};
use super::node::{AUTO, Node, returns, wait_until};
use super::note;
use super::s3_server::{S3Server, StoreKind};

/// How long an answer is waited for, where a test is not about that time.
const STORE_PATIENT: Duration = Duration::from_secs(10);
/// A request that was not answered ends within this time, which is a little more than two answers may take.
const ENDS_WITHIN: Duration = Duration::from_secs(3);

fn connect_to(url: &str, environment: &[(&str, &str)], limit: Duration) -> Result<S3, S3Error> {
    let find = |name: &str| environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    S3::connect(url, find, limit)
}

fn connect(server: &S3Server, limit: Duration) -> S3 {
    connect_to(&server.url(), &S3Server::environment(), limit).unwrap()
}

fn timed<T>(act: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    let value = act();
    (value, began.elapsed())
}

#[test]
fn a_store_is_an_engine_of_objects_also_for_those_who_put_one_at_once() {
    let (server, time) = timed(|| S3Server::start(StoreKind::Http));
    let Some(server) = server else { return };
    note(&format!("the store started in {time:?}"));
    let clients = [(), (), ()].map(|()| connect(&server, STORE_PATIENT));
    objects_are_found_by_their_hash(&clients);
    let bytes = vec![7; 100_000];
    let hash = blake3::hash(&bytes);
    let times: Vec<Duration> = thread::scope(|scope| {
        let putting: Vec<_> = clients
            .iter()
            .cycle()
            .take(8)
            .map(|client| {
                let bytes = &bytes;
                scope.spawn(move || {
                    let (put, time) = timed(|| client.put(hash, bytes));
                    put.unwrap();
                    assert!(client.get(hash).unwrap().is_some_and(|found| found == *bytes));
                    time
                })
            })
            .collect();
        putting.into_iter().map(|put| put.join().unwrap()).collect()
    });
    note(&format!("one object was put 8 times at once in {times:?}; the store takes {} KiB", server.resident_kib()));
}

#[test]
fn an_object_that_was_lost_or_has_another_size_is_stored_again() {
    let Some(server) = S3Server::start(StoreKind::Http) else { return };
    let [one, two] = [(), ()].map(|()| connect(&server, STORE_PATIENT));
    let bytes = b"an object".to_vec();
    let hash = blake3::hash(&bytes);
    let store = || {
        one.put(hash, &bytes).unwrap();
        assert_eq!(two.get(hash).unwrap().as_ref(), Some(&bytes));
    };
    store();
    server.delete(hash);
    assert_eq!(two.get(hash).unwrap(), None);
    store();
    for other in [&b"other"[..], b""] {
        server.alter(hash, other);
        // The caller checks the bytes against their hash.
        assert_eq!(two.get(hash).unwrap().as_deref(), Some(other));
        store();
    }
}

#[test]
fn a_wrong_key_and_a_missing_bucket_are_told_at_start_without_a_secret() {
    let Some(server) = S3Server::start(StoreKind::Http) else { return };
    let [key, secret] = S3Server::environment();
    for (url, environment) in [
        (server.url(), [("AWS_ACCESS_KEY_ID", "another"), secret]),
        (server.url(), [key, ("AWS_SECRET_ACCESS_KEY", "another-secret-value")]),
        (server.url_of("missing"), [key, secret]),
    ] {
        let error = connect_to(&url, &environment, STORE_PATIENT).map(drop).unwrap_err();
        assert!(matches!(error, S3Error::Unusable { .. }) && error.code() == ErrorCode::SharedInvalid, "{error:?}");
        for hidden in ["another-secret-value", key.1, secret.1] {
            assert!(!format!("{error} {error:?}").contains(hidden), "{error:?}");
        }
    }
}

/// The time of a request that the store does not answer.
fn time_of_failure<T: std::fmt::Debug>(ask: impl FnOnce() -> Result<T, SharedError>) -> Duration {
    let (answer, time) = timed(ask);
    let error = answer.unwrap_err();
    assert!(matches!(error, SharedError::Unreachable { .. }), "{error:?}");
    time
}

#[test]
fn a_store_that_does_not_answer_is_waited_for_once_and_used_again() {
    let Some(server) = S3Server::start(StoreKind::Http) else { return };
    let client = connect(&server, ANSWER_LIMIT);
    let (kept, new) = (b"kept".to_vec(), b"new".to_vec());
    let [kept_hash, new_hash] = [&kept, &new].map(|bytes| blake3::hash(bytes));
    let get = || client.get(kept_hash);
    let put = || client.put(new_hash, &new);
    client.put(kept_hash, &kept).unwrap();
    let wait_for_store = |what: &str| {
        let time = wait_until("the store is used again", || get().is_ok());
        note(&format!("{what}: used again after {time:?}"));
        assert_eq!(get().unwrap().as_ref(), Some(&kept));
    };
    for is_read in [true, false] {
        server.stop();
        let time = if is_read { time_of_failure(get) } else { time_of_failure(put) };
        // Those who come later do not wait.
        let later: Vec<Duration> = (0..10).map(|_| time_of_failure(put)).collect();
        server.go_on();
        note(&format!("a stopped store failed after {time:?}, and then after {:?} at most", later.iter().max()));
        assert!(time < ENDS_WITHIN && later.iter().all(|time| *time < ANSWER_LIMIT), "{time:?} {later:?}");
        wait_for_store("stopped");
    }
    put().unwrap();

    server.kill();
    let times = [time_of_failure(get), time_of_failure(put)];
    note(&format!("a store that was killed failed after {times:?}"));
    assert!(times[0] < ENDS_WITHIN && times[1] < ANSWER_LIMIT, "{times:?}");
    // A client that starts meanwhile is no failure.
    let late = connect(&server, ANSWER_LIMIT);
    time_of_failure(|| late.get(kept_hash));
    server.start_again();
    wait_for_store("killed");
    wait_until("the store is used by a client that started without it", || late.get(kept_hash).is_ok());
    assert_eq!(late.get(new_hash).unwrap(), Some(new.clone()));
}

#[test]
fn a_store_is_reached_over_https_if_its_certificate_is_trusted() {
    let Some(store) = S3Server::start(StoreKind::Https) else { return };
    let error = connect_to(&store.url(), &S3Server::environment(), STORE_PATIENT).map(drop).unwrap_err();
    assert!(matches!(error, S3Error::Unusable { .. }) && error.code() == ErrorCode::SharedInvalid, "{error:?}");
    assert!(error.to_string().contains("certificate"), "{error}");

    // One node stores an object, and another one reads it.
    let Some(nats) = NatsServer::start(NatsKind::Fast) else { return };
    let (folder, certificate) = (tempfile::tempdir().unwrap(), store.certificate());
    let start = |name: &str| {
        let node = Node::new(&folder.path().join(name), AUTO, &format!("{}?replicas=1", nats.url()), &[])
            .with_variable("SSL_CERT_FILE", certificate.to_str().unwrap())
            .with_variable("TOOLCELL_SHARED_BLOBS", &store.url());
        let node = S3Server::environment().iter().fold(node, |node, (name, value)| node.with_variable(name, value));
        node.start();
        node
    };
    let [writer, reader] = ["writer", "reader"].map(start);
    assert_eq!(writer.client("alice").create("one", &returns(1)), Ok(1));
    wait_until("the tool is read from the store", || reader.client("alice").run("one", &json!({})) == Ok(json!(1)));
}
