//! What is taken out of all that a server says: the secrets that it got, and the tokens that were obtained for it.
//!
//! Invariant: a token is taken out before it is sent for the first time, and for as long as the server may still repeat it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use toolcell_capabilities::{Redactor, RedactorError, Secret};

/// How many obtained tokens are taken out: an access token and a refresh token of each of the last sign-ins and refreshes.
const KEPT_TOKENS: usize = 64;
/// What stands for an obtained token.
const TOKEN_NAME: &str = "access-token";

/// The redactor of a server, which learns tokens.
pub(crate) struct Redaction {
    secrets: Vec<(String, Secret)>,
    tokens: Mutex<VecDeque<(String, Secret)>>,
    current: RwLock<Arc<Redactor>>,
}

impl Redaction {
    pub(crate) fn new(secrets: Vec<(String, Secret)>) -> Result<Self, RedactorError> {
        let current = Redactor::for_secrets(secrets.iter().map(|(name, secret)| (name.as_str(), secret)))?;
        Ok(Self { secrets, tokens: Mutex::default(), current: RwLock::new(Arc::new(current)) })
    }

    pub(crate) fn redactor(&self) -> Arc<Redactor> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes a token out from now on. Fails with what is wrong with it.
    pub(crate) fn add(&self, token: &str) -> Result<(), String> {
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        if tokens.iter().any(|(known, _)| known == token) {
            return Ok(());
        }
        let secret = Secret::parse(token.to_owned()).map_err(|_| {
            let bytes = token.len();
            format!("the authorization server issued a token of {bytes} bytes, or with control characters; 8 to 8192 visible bytes can be kept secret")
        })?;
        if tokens.len() == KEPT_TOKENS {
            tokens.pop_front();
        }
        tokens.push_back((token.to_owned(), secret));
        let secrets = self.secrets.iter().map(|(name, secret)| (name.as_str(), secret));
        let all = secrets.chain(tokens.iter().map(|(_, token)| (TOKEN_NAME, token)));
        let redactor = Redactor::for_secrets(all).map_err(|error| error.to_string())?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(redactor);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_taken_out_beside_secrets() {
        let redaction =
            Redaction::new(vec![("KEY".to_owned(), Secret::parse("correct horse".to_owned()).unwrap())]).unwrap();
        let before = redaction.redactor();
        redaction.add("token-number-0").unwrap();
        redaction.add("token-number-0").unwrap();
        assert_eq!(before.redact_text("token-number-0"), "token-number-0");
        let said = "correct horse, token-number-0, dG9rZW4tbnVtYmVyLTA";
        let redacted = redaction.redactor().redact_text(said);
        assert_eq!(redacted, "{{secret:KEY}}, {{secret:access-token}}, {{secret:access-token}}");
    }

    #[test]
    fn the_last_tokens_are_taken_out() {
        let redaction = Redaction::new(Vec::new()).unwrap();
        for at in 0..=KEPT_TOKENS {
            redaction.add(&format!("token-number-{at:02}")).unwrap();
        }
        let redactor = redaction.redactor();
        assert!(!redactor.finds_any(b"token-number-00"));
        assert!((1..=KEPT_TOKENS).all(|at| redactor.finds_any(format!("token-number-{at:02}").as_bytes())));
    }

    #[test]
    fn a_token_that_cannot_be_recognized_is_refused() {
        let error = Redaction::new(Vec::new()).unwrap().add("short").unwrap_err();
        assert!(error.contains("a token of 5 bytes") && !error.contains("short"), "{error}");
    }
}
