//! Signatures of bundles: ed25519 in the format of minisign.
//!
//! The signature of a bundle is a file beside it, so `minisign -V -m tools.bundle -p key.pub`
//! verifies it as well. See <https://jedisct1.github.io/minisign/>.
//!
//! Invariant: a [`Signer`] is obtained only by verifying a signature with a trusted key. It
//! identifies who signed and says nothing about what the tools do: they are analysed and verified
//! like any others.

use std::io::{Cursor, Read as _};
use std::path::Path;

use toolcell_i18n::{Localize as _, Message};

use crate::directory::{open_regular, private_options};
use crate::error::Fault;
use crate::objects::list_names;

use super::Bundles;

/// The maximum size of a key file, in bytes.
const KEY_LIMIT: u64 = 4096;
/// The untrusted comment of a signature, which the signature does not cover.
const COMMENT: &str = "signature of a toolcell bundle";

/// A key that verifies signatures.
#[derive(Debug, Clone, PartialEq)]
pub struct PublicKey(minisign::PublicKey);

/// A key that signs bundles.
pub struct SecretKey(minisign::SecretKey);

/// The text of a signature file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature(String);

/// The signer of a verified bundle: the identifier of the key, as minisign prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer(String);

/// A key or a signature that was rejected.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum SignatureError {
    /// The text is not a key.
    #[error("this is not a minisign key: {0}")]
    #[code(KeyInvalid)]
    #[hint("`minisign -G` generates a key pair")]
    Key(Message),
    /// The key is locked with a password, which is missing or wrong.
    #[error("the secret key is locked, and the password is missing or wrong")]
    #[code(KeyLocked)]
    #[hint("give the password, or use a key without one (`minisign -G -W`)")]
    Locked,
    /// The text is not a signature.
    #[error("this is not a minisign signature: {0}")]
    #[code(SignatureInvalid)]
    #[hint("the signature is the `.minisig` file beside the bundle")]
    Malformed(Message),
    /// The signing key is not trusted.
    #[error("the bundle is signed with the key {key}, which is not trusted")]
    #[code(SignatureUntrusted)]
    #[hint("if you trust it, give it with --key or put it into `keys/` of the store")]
    Untrusted {
        /// The identifier of the key.
        key: String,
    },
    /// The bundle does not match its signature.
    #[error("the bundle does not match its signature with the key {key}")]
    #[code(Integrity)]
    #[hint("get the bundle again from its signer")]
    Mismatch {
        /// The identifier of the key.
        key: String,
    },
    /// The disk failed.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
}

impl PublicKey {
    /// Parses the text of a `.pub` file, or its second line alone.
    ///
    /// # Errors
    /// `key-invalid`
    pub fn parse(text: &str) -> Result<Self, SignatureError> {
        let line = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let key = minisign::PublicKey::from_base64(line.trim());
        key.map(Self).map_err(|error| SignatureError::Key(Message::verbatim(error.to_string())))
    }

    /// The identifier of the key, as minisign prints it.
    #[must_use]
    pub fn id(&self) -> String {
        key_id(self.0.keynum())
    }
}

impl SecretKey {
    /// Parses the text of a secret key file, with its password if it has one.
    ///
    /// # Errors
    /// `key-invalid`, `key-locked`
    pub fn parse(text: &str, password: Option<String>) -> Result<Self, SignatureError> {
        let parsed = || minisign::SecretKeyBox::from_string(text);
        let wrong = match parsed().and_then(minisign::SecretKeyBox::into_unencrypted_secret_key) {
            Ok(key) => return Ok(Self(key)),
            Err(error) => error,
        };
        if let Some(key) = without_checksum(text) {
            return Ok(Self(key));
        }
        // Without a password an empty one is tried: its failure tells a locked key from text that
        // is not a key.
        let key = parsed().and_then(|parsed| parsed.into_secret_key(Some(password.unwrap_or_default())));
        key.map(Self).map_err(|error| match error.kind() {
            minisign::ErrorKind::Verify => SignatureError::Locked,
            _ => SignatureError::Key(Message::verbatim(wrong.to_string())),
        })
    }

    /// Signs a bundle.
    ///
    /// # Errors
    /// `key-invalid`
    pub fn sign(&self, bundle: &[u8]) -> Result<Signature, SignatureError> {
        let trusted = format!("blake3:{}", blake3::hash(bundle).to_hex());
        let public = minisign::PublicKey::from_secret_key(&self.0);
        let public = public.map_err(|error| SignatureError::Key(Message::verbatim(error.to_string())))?;
        // Given the public key, `sign` verifies the signature: not every secret key has a checksum.
        let signed = minisign::sign(Some(&public), &self.0, Cursor::new(bundle), Some(&trusted), Some(COMMENT));
        signed
            .map(|signed| Signature(signed.into_string()))
            .map_err(|error| SignatureError::Key(Message::verbatim(error.to_string())))
    }
}

impl Signature {
    /// Parses the text of a `.minisig` file.
    ///
    /// # Errors
    /// `signature-invalid`
    pub fn parse(text: &str) -> Result<Self, SignatureError> {
        parse_signature(text).map(|_| Self(text.to_owned()))
    }

    /// Verifies the signature of a bundle with the trusted keys and returns the signer.
    ///
    /// # Errors
    /// `signature-untrusted`, `integrity`
    pub fn verify(&self, bundle: &[u8], trusted: &[PublicKey]) -> Result<Signer, SignatureError> {
        let signature = parse_signature(&self.0)?;
        let key = key_id(signature.keynum());
        let Some(known) = trusted.iter().find(|known| known.id() == key) else {
            return Err(SignatureError::Untrusted { key });
        };
        match minisign::verify(&known.0, &signature, Cursor::new(bundle), true, false, false) {
            Ok(()) => Ok(Signer(key)),
            Err(_) => Err(SignatureError::Mismatch { key }),
        }
    }
}

impl std::fmt::Display for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Display for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Bundles<'_> {
    /// The trusted keys, from the folder `keys/` of the store: write access to it decides who is
    /// trusted.
    ///
    /// # Errors
    /// `key-invalid` with the name of the file, or another [`Fault`].
    pub fn trusted_keys(&self) -> Result<Vec<PublicKey>, SignatureError> {
        if self.db.directory.root().symlink_metadata("keys").is_err() {
            return Ok(Vec::new());
        }
        let folder = self.db.directory.open_folder("keys")?;
        let mut names = list_names(&folder).map_err(Fault::disk("keys"))?;
        names.retain(|name| Path::new(name).extension().is_some_and(|ending| ending == "pub"));
        names.sort();
        let mut keys = Vec::new();
        for name in names {
            let mut text = String::new();
            let name = name.to_string_lossy();
            let opened = open_regular(&folder, &name, private_options().read(true));
            let read = opened.and_then(|file| file.take(KEY_LIMIT).read_to_string(&mut text));
            read.map_err(Fault::disk(format!("keys/{name}")))?;
            let in_file = |error: SignatureError| {
                let file = Message::verbatim(format!("keys/{name}: "));
                SignatureError::Key(Message::sequence([file, error.localize()]))
            };
            keys.push(PublicKey::parse(&text).map_err(in_file)?);
        }
        Ok(keys)
    }
}

/// Parses a key without a password from the C implementation, which leaves the checksum (the last
/// 32 bytes) empty.
fn without_checksum(text: &str) -> Option<minisign::SecretKey> {
    let bytes = data_encoding::BASE64.decode(text.lines().nth(1)?.trim().as_bytes()).ok()?;
    let empty = bytes.last_chunk::<32>()? == &[0; 32];
    minisign::SecretKey::from_bytes(&bytes).ok().filter(|key| empty && !key.is_encrypted())
}

fn parse_signature(text: &str) -> Result<minisign::SignatureBox, SignatureError> {
    minisign::SignatureBox::from_string(text)
        .map_err(|error| SignatureError::Malformed(Message::verbatim(error.to_string())))
}

/// Formats eight bytes in little-endian order, as minisign prints them.
fn key_id(bytes: &[u8]) -> String {
    let number = bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    format!("{number:016X}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys as `minisign -G -W` makes them.
    fn keys() -> (PublicKey, SecretKey) {
        let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
        let public = PublicKey::parse(&pair.pk.to_box().unwrap().into_string()).unwrap();
        let secret = SecretKey::parse(&pair.sk.to_box(None).unwrap().into_string(), None).unwrap();
        (public, secret)
    }

    #[test]
    fn what_was_signed_is_known_and_nothing_else() {
        let ((public, secret), (other, _)) = (keys(), keys());
        let signature = Signature::parse(&secret.sign(b"bundle").unwrap().to_string()).unwrap();
        let signer = signature.verify(b"bundle", &[other.clone(), public.clone()]).unwrap();
        assert_eq!(signer.to_string(), public.id());
        assert_eq!(signature.verify(b"bundl3", &[public]).unwrap_err().code(), "integrity");
        assert_eq!(signature.verify(b"bundle", &[other]).unwrap_err().code(), "signature-untrusted");
        assert_eq!(signature.verify(b"bundle", &[]).unwrap_err().code(), "signature-untrusted");
    }

    #[test]
    fn what_is_no_key_or_signature_is_refused() {
        assert_eq!(PublicKey::parse("").unwrap_err().code(), "key-invalid");
        assert_eq!(PublicKey::parse("RWQ").unwrap_err().code(), "key-invalid");
        assert_eq!(SecretKey::parse("x\ny", None).err().unwrap().code(), "key-invalid");
        assert_eq!(Signature::parse("x").unwrap_err().code(), "signature-invalid");
    }

    #[test]
    fn a_key_that_the_c_program_made_has_no_checksum_and_signs() {
        let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
        let public = PublicKey::parse(&pair.pk.to_box().unwrap().into_string()).unwrap();
        let made = |change: &dyn Fn(&mut [u8])| {
            let mut bytes = pair.sk.to_bytes();
            let end = bytes.len() - 32;
            bytes[end..].fill(0);
            change(&mut bytes);
            SecretKey::parse(&format!("untrusted comment: key\n{}\n", data_encoding::BASE64.encode(&bytes)), None)
        };
        let signature = made(&|_| {}).unwrap().sign(b"bundle").unwrap();
        assert_eq!(signature.verify(b"bundle", std::slice::from_ref(&public)).unwrap().to_string(), public.id());
        // Without a checksum, signing detects the damage. A wrong checksum is detected when the key
        // is parsed.
        assert_eq!(made(&|bytes| bytes[70] ^= 1).unwrap().sign(b"bundle").unwrap_err().code(), "key-invalid");
        let corrupted = made(&|bytes| bytes[157] ^= 1).err().unwrap();
        assert_eq!(corrupted.to_string(), "this is not a minisign key: Corrupted key");
    }

    #[test]
    fn a_locked_key_needs_its_password() {
        let pair = minisign::KeyPair::generate_encrypted_keypair(Some("open".to_owned())).unwrap();
        let text = pair.sk.to_box(None).unwrap().into_string();
        assert!(SecretKey::parse(&text, Some("open".to_owned())).is_ok());
        assert_eq!(SecretKey::parse(&text, Some("shut".to_owned())).err().unwrap().code(), "key-locked");
        assert_eq!(SecretKey::parse(&text, None).err().unwrap().code(), "key-locked");
    }
}
