//! Signatures of bundles: they name the signer to the reader, and grant the tools nothing.

use std::fs;
use std::path::PathBuf;

use serde_json::json;
use tempfile::TempDir;
use toolcell::Status;

use crate::fixtures::cli::{CommandOutput, toolcell};
use crate::fixtures::store::{StoreFixture, returns};

/// A folder with a bundle, its signature, and the signing key.
struct SignedBundle {
    folder: TempDir,
}

impl SignedBundle {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let signed = Self { folder };
        for who in ["author", "stranger"] {
            let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
            fs::write(signed.path(&format!("{who}.key")), pair.sk.to_box(None).unwrap().to_string()).unwrap();
            fs::write(signed.path(&format!("{who}.pub")), pair.pk.to_box().unwrap().to_string()).unwrap();
        }
        let fixture = StoreFixture::new();
        fixture.tool("sum", &returns(1));
        let (bundle, key) = (signed.text("tools.bundle"), signed.text("author.key"));
        let done = toolcell(&["export", "--dir", fixture.dir(), "--output", &bundle, "--sign", &key]);
        assert_eq!((done.status, done.out), (0, format!("1 tool in {bundle}, signed\n")), "{}", done.err);
        signed
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn text(&self, file: &str) -> String {
        self.path(file).to_str().unwrap().to_owned()
    }

    /// Imports the bundle into an empty store.
    fn import(&self, words: &[&str]) -> (StoreFixture, CommandOutput) {
        let into = StoreFixture::new();
        let done = self.import_into(&into, words);
        (into, done)
    }

    fn import_into(&self, into: &StoreFixture, words: &[&str]) -> CommandOutput {
        toolcell(&[&["import", "--dir", into.dir(), &self.text("tools.bundle")], words].concat())
    }
}

#[track_caller]
fn refused((fixture, done): (StoreFixture, CommandOutput), status: u8, message: &str) {
    assert_eq!((done.status, done.out.as_str()), (status, ""));
    assert!(done.err.contains(message), "{}", done.err);
    assert_eq!(fixture.source("sum"), "tool-not-found");
}

#[test]
fn who_signed_a_bundle_is_told_and_the_tool_is_unverified() {
    let signed = SignedBundle::new();
    let (fixture, done) = signed.import(&["--signed", "--key", &signed.text("author.pub"), "--json"]);
    assert_eq!(done.status, 0, "{}", done.err);
    let signature = fs::read_to_string(signed.path("tools.bundle.minisig")).unwrap();
    let key = minisign::SignatureBox::from_string(&signature).unwrap();
    let number = format!("{:016X}", u64::from_le_bytes(key.keynum().try_into().unwrap()));
    assert_eq!(done.json()["signer"], json!(number));
    assert_eq!(fixture.find("sum").unwrap().status, Status::Unverified);
    let (_, done) = signed.import(&["--key", &signed.text("stranger.pub"), "--key", &signed.text("author.pub")]);
    let expected = format!("1 added, 0 replaced, 0 unchanged; signed with the key {number}\n");
    assert!(done.status == 0 && done.out.ends_with(&expected), "{}", done.out);
}

#[test]
fn a_bundle_that_is_not_what_was_signed_is_refused() {
    let signed = SignedBundle::new();
    let bundle = fs::read_to_string(signed.path("tools.bundle")).unwrap();
    fs::write(signed.path("tools.bundle"), bundle.replace("\"description\":\"\"", "\"description\":\"x\"")).unwrap();
    let key = signed.text("author.pub");
    refused(signed.import(&["--signed", "--key", &key]), 6, "the bundle does not match its signature with the key");
    refused(signed.import(&["--key", &key]), 6, "the bundle does not match its signature with the key");

    let signed = SignedBundle::new();
    let signature = fs::read_to_string(signed.path("tools.bundle.minisig")).unwrap();
    fs::write(signed.path("tools.bundle.minisig"), signature.replace("blake3:", "blake4:")).unwrap();
    refused(signed.import(&["--key", &signed.text("author.pub")]), 6, "the bundle does not match its signature");
    fs::write(signed.path("tools.bundle.minisig"), "signed, me").unwrap();
    refused(signed.import(&[]), 2, "this is not a minisign signature");
}

#[test]
fn a_signature_by_a_stranger_is_worth_as_much_as_none() {
    let signed = SignedBundle::new();
    refused(signed.import(&["--signed"]), 3, "which is not trusted");
    refused(signed.import(&["--signed", "--key", &signed.text("stranger.pub")]), 3, "which is not trusted");
    let (fixture, done) = signed.import(&[]);
    assert!(done.status == 0 && done.out.ends_with("; not signed by a trusted key\n"), "{}", done.out);
    assert!(done.err.starts_with("warning: the bundle is signed with the key "), "{}", done.err);
    assert_eq!(fixture.source("sum"), returns(1));

    fs::remove_file(signed.path("tools.bundle.minisig")).unwrap();
    refused(signed.import(&["--signed", "--key", &signed.text("author.pub")]), 3, "is not signed");
    assert_eq!(signed.import(&[]).1.status, 0);
}

#[test]
fn the_keys_of_the_store_are_trusted() {
    let signed = SignedBundle::new();
    let fixture = StoreFixture::new();
    let keys = fixture.path().join("keys");
    fs::create_dir(&keys).unwrap();
    fs::write(keys.join("README"), "no key").unwrap();
    fs::copy(signed.path("author.pub"), keys.join("author.pub")).unwrap();
    let done = signed.import_into(&fixture, &["--signed"]);
    assert_eq!((done.status, fixture.source("sum")), (0, returns(1)), "{}", done.err);

    fs::write(keys.join("bad.pub"), "garbage").unwrap();
    let done = signed.import_into(&fixture, &["--signed"]);
    assert!(done.status == 2 && done.err.contains("keys/bad.pub: "), "{}", done.err);
}

#[test]
fn what_is_no_key_signs_nothing() {
    let signed = SignedBundle::new();
    let fixture = StoreFixture::new();
    fixture.tool("sum", &returns(1));
    for (key, status) in [("author.pub", 2), ("tools.bundle", 2), ("nowhere", 4)] {
        let (out, key) = (signed.text("other.bundle"), signed.text(key));
        let done = toolcell(&["export", "--dir", fixture.dir(), "--output", &out, "--sign", &key]);
        assert_eq!((done.status, done.out.as_str()), (status, ""), "{key}: {}", done.err);
        assert!(!signed.path("other.bundle").exists());
    }
}
