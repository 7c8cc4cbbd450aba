//! Encrypted connections.

use std::io::Write as _;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt as _;
use tokio_rustls::TlsAcceptor;
use toolcell_capabilities::{Effects, Net, NetConfig, Roots};

use crate::world::{
    Everywhere, Names, Raw, Server, answer, failure, get, granting, header, lead, net, post, start, text,
};

/// A certificate authority.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    file: NamedTempFile,
}

impl Authority {
    fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(params.self_signed(&key).unwrap().pem().as_bytes()).unwrap();
        Self { issuer: Issuer::new(params, key), file }
    }

    /// What a server of this name has, that speaks these protocols.
    fn sign(&self, name: &str, until: i32, protocols: &[&str]) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2019, 1, 1);
        params.not_after = date_time_ymd(until, 1, 1);
        let certificate = params.signed_by(&key, &self.issuer).unwrap().der().clone();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = builder.unwrap().with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }

    /// A client that trusts it, and resolves every name to this machine.
    fn trusted(&self) -> Net {
        let roots = Roots::File(self.file.path().to_owned());
        Net::new(NetConfig { roots, resolver: Arc::new(Everywhere) }).unwrap()
    }
}

fn by_https(host: &str, port: u16) -> Value {
    let methods = ["GET", "POST"];
    json!({"host": host, "ports": [port], "methods": methods, "addresses": ["127.0.0.0/8"]})
}

#[tokio::test]
async fn the_protocol_is_what_both_speak_best() {
    let authority = Authority::new("trusted");
    let net = authority.trusted();
    for (protocols, expect) in [
        (&["h2", "http/1.1"][..], hyper::Version::HTTP_2),
        (&["http/1.1"], hyper::Version::HTTP_11),
        (&[], hyper::Version::HTTP_11),
    ] {
        let server = Server::by_tls(authority.sign("a.test", 2099, protocols), |seen| answer(seen.body.clone())).await;
        let run = start(&net, &[by_https("a.test", server.port)], &[]);
        let (response, body) = text(&run, post(&format!("https://a.test:{}/", server.port), "sent")).await;
        assert_eq!(body, "sent");
        let words = if expect == hyper::Version::HTTP_2 { "" } else { "OK" };
        assert_eq!((response.status, response.status_text.as_str()), (200, words));
        assert_eq!(server.seen()[0].version, expect);
    }
}

#[tokio::test]
async fn requests_by_http_2_share_a_connection() {
    let authority = Authority::new("trusted");
    let server = Server::by_tls(authority.sign("a.test", 2099, &["h2"]), |seen| answer(seen.target.clone())).await;
    let run = Arc::new(start(&authority.trusted(), &[by_https("a.test", server.port)], &[]));
    text(&run, get(&format!("https://a.test:{}/", server.port))).await;
    let mut tasks = tokio::task::JoinSet::new();
    for id in 1..100 {
        let (run, url) = (run.clone(), format!("https://a.test:{}/{id}", server.port));
        tasks.spawn(async move { assert_eq!(text(&run, get(&url)).await.1, format!("/{id}")) });
    }
    tasks.join_all().await;
    assert_eq!((server.seen().len(), server.connections()), (100, 1));
}

#[tokio::test]
async fn a_certificate_that_is_wrong_ends_it_before_anything_is_sent() {
    let (authority, stranger) = (Authority::new("trusted"), Authority::new("stranger"));
    let net = authority.trusted();
    for (acceptor, expect) in [
        (authority.sign("b.test", 2099, &["h2"]), "not valid for name"),
        (authority.sign("a.test", 2020, &["h2"]), "expired"),
        (stranger.sign("a.test", 2099, &["h2"]), "UnknownIssuer"),
    ] {
        let server = Server::by_tls(acceptor, |_| answer("never")).await;
        let run = start(&net, &[by_https("a.test", server.port)], &[]);
        let failure = failure(&run, post(&format!("https://a.test:{}/", server.port), "body")).await;
        assert_eq!((&*failure.code, &*failure.name, failure.effects), ("net-tls", "TypeError", Effects::None));
        assert!(failure.message.contains(expect), "{failure}");
        assert!(server.seen().is_empty());
    }
}

#[tokio::test]
async fn a_system_does_not_trust_whom_nobody_knows() {
    let server = Server::by_tls(Authority::new("stranger").sign("a.test", 2099, &["h2"]), |_| answer("never")).await;
    let run = start(&net(Everywhere), &[by_https("a.test", server.port)], &[]);
    for _ in 0..2 {
        let failure = failure(&run, get(&format!("https://a.test:{}/", server.port))).await;
        assert_eq!((&*failure.code, failure.effects), ("net-tls", Effects::None));
    }
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_server_that_does_not_encrypt_gets_nothing() {
    let raw = Raw::start().await;
    let run = start(&Authority::new("trusted").trusted(), &[by_https("a.test", raw.port)], &[]);
    let url = format!("https://a.test:{}/", raw.port);
    tokio::spawn(async move {
        let mut stream = raw.accept().await;
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        drop(stream);
    });
    let failure = failure(&run, post(&url, "body")).await;
    assert!(matches!(&*failure.code, "net-tls" | "net-unreachable"), "{failure:?}");
    assert_eq!(failure.effects, Effects::None);
}

#[tokio::test]
async fn a_name_of_this_machine_is_refused_by_https_too() {
    let authority = Authority::new("trusted");
    let server = Server::by_tls(authority.sign("localhost", 2099, &[]), |_| answer("never")).await;
    let grant = json!({"host": "any", "ports": [server.port]});
    let run = start(&authority.trusted(), &[grant], &[]);
    let failure = failure(&run, get(&format!("https://localhost:{}/", server.port))).await;
    assert_eq!((&*failure.code, failure.effects, server.connections()), ("net-address", Effects::None, 0));
}

#[tokio::test]
async fn no_secret_goes_from_https_to_http() {
    let authority = Authority::new("trusted");
    let open = Server::start(|_| answer("open")).await;
    let port = open.port;
    let server =
        Server::by_tls(authority.sign("a.test", 2099, &["h2"]), move |_| lead(307, &format!("http://a.test:{port}/")));
    let server = server.await;
    let secret = (json!({"name": "TOKEN", "hosts": ["a.test"], "into": ["header", "body"]}), "the value of it");
    let grants = [by_https("a.test", server.port), granting("a.test", open.port)];
    let run = start(&authority.trusted(), &grants, &[secret]);
    let url = format!("https://a.test:{}/", server.port);
    text(&run, header("x-key", "{{secret:TOKEN}}", get(&url))).await;
    assert_eq!(server.seen()[0].header("x-key"), Some("the value of it"));
    let (response, _) = text(&run, post(&url, "{{secret:TOKEN}}")).await;
    assert_eq!((response.status, server.seen()[1].body.as_str()), (307, "the value of it"));
    assert_eq!(open.connections(), 0);
}

#[tokio::test]
async fn a_redirect_to_http_needs_its_own_grant() {
    let authority = Authority::new("trusted");
    let open = Server::start(|_| answer("never")).await;
    let port = open.port;
    let server =
        Server::by_tls(authority.sign("a.test", 2099, &[]), move |_| lead(302, &format!("http://a.test:{port}/")));
    let server = server.await;
    let grant = json!({"host": "a.test", "ports": [server.port, open.port], "addresses": ["127.0.0.1"]});
    let run = start(&authority.trusted(), &[grant], &[]);
    let failure = failure(&run, get(&format!("https://a.test:{}/", server.port))).await;
    assert_eq!((&*failure.code, failure.effects), ("net-not-granted", Effects::Committed));
    assert!(failure.message.contains("scheme = \"http\"") && open.connections() == 0, "{failure}");
}

#[test]
fn a_file_of_trusted_certificates_has_some() {
    let made = |roots: Roots| Net::new(NetConfig { roots, resolver: Arc::new(Names::default()) });
    let mut file = NamedTempFile::new().unwrap();
    let code =
        |file: &NamedTempFile| made(Roots::File(file.path().to_owned())).err().map(|error| error.code().as_str());
    assert_eq!(code(&file), Some("roots-invalid"));
    file.write_all(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    assert_eq!(code(&file), Some("roots-invalid"));
    assert_eq!(code(&Authority::new("trusted").file), None);
    let error = made(Roots::File("/nowhere/roots.pem".into())).err().unwrap();
    assert_eq!(
        (error.code().as_str(), error.hint()),
        ("roots-unreadable", Some("check that the file exists and is readable"))
    );
    // Without root certificates of the system, a request by https fails with the reason.
    assert!(made(Roots::System).is_ok());
}
