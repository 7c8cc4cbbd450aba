//! People who decide on pages, and their tokens.
//!
//! Invariant: the token of an operator is not one of a principal. It opens pages only, and the token of a principal opens none: an agent
//! cannot approve for its user.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use super::failure_limiter::FailureLimiter;
use super::tokens::{OperatorToken, TokenStore};

/// The operators of a server, who sign in with their tokens.
///
/// # Examples
/// ```
/// use std::net::IpAddr;
///
/// use toolcell_mcp::http::{Operators, SignInError, TokenStore};
///
/// let text = "[principals.ci]\ntoken = 'b1946ac92492d2347c6235b4d2611184'\n\
///     [operators.maria]\ntoken = '591785b794601e212b260e25925636fd'\nprincipals = ['ci']\n";
/// let operators = Operators::new(&TokenStore::parse(text)?);
/// let here = IpAddr::from([127, 0, 0, 1]);
/// assert_eq!(operators.sign_in("591785b794601e212b260e25925636fd", here)?.name(), "maria");
/// // The token of an agent.
/// assert_eq!(operators.sign_in("b1946ac92492d2347c6235b4d2611184", here).unwrap_err(), SignInError::Unknown);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Operators {
    operators: Vec<OperatorToken>,
    failures: FailureLimiter,
}

/// Why a token opens no page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize)]
pub enum SignInError {
    /// It is not the token of an operator.
    #[error("this is not the token of an operator")]
    Unknown,
    /// The address sent too many wrong tokens.
    #[error("too many invalid tokens from this address")]
    TooManyAttempts {
        /// When the next one is looked at.
        wait: Duration,
    },
}

impl Operators {
    /// Returns the operators of a token file.
    #[must_use]
    pub fn new(tokens: &TokenStore) -> Self {
        Self { operators: tokens.operators().to_vec(), failures: FailureLimiter::new() }
    }

    /// Returns the operator of a token, which came from an address. A correct token is accepted from an address that sent many wrong
    /// ones, too: many people may share it.
    ///
    /// # Errors
    /// [`SignInError`]
    pub fn sign_in(&self, token: &str, address: IpAddr) -> Result<&OperatorToken, SignInError> {
        let hash = blake3::hash(token.as_bytes());
        // All tokens are compared, so that the time does not depend on which one matches.
        let mut found = None;
        for operator in &self.operators {
            found = if operator.has_hash(&hash) { Some(operator) } else { found };
        }
        found.ok_or_else(|| match self.failures.count(address) {
            Ok(()) => SignInError::Unknown,
            Err(wait) => SignInError::TooManyAttempts { wait },
        })
    }
}

impl fmt::Debug for Operators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operators").field("operators", &self.operators).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "591785b794601e212b260e25925636fd";

    #[test]
    fn guesses_of_an_address_are_limited_and_do_not_lock_an_operator_out() {
        let text = format!(
            "[principals.ci]\ntoken = 'b1946ac92492d2347c6235b4d2611184'\n[operators.maria]\ntoken = '{TOKEN}'\nprincipals = ['ci']\n"
        );
        let operators = Operators::new(&TokenStore::parse(&text).unwrap());
        let here = IpAddr::from([192, 0, 2, 1]);
        let refused: Vec<_> = (0..31).map(|_| operators.sign_in("wrong", here).unwrap_err()).collect();
        assert_eq!(refused.iter().filter(|error| **error == SignInError::Unknown).count(), 30);
        assert!(matches!(refused[30], SignInError::TooManyAttempts { .. }));
        assert_eq!(operators.sign_in(TOKEN, here).unwrap().principals()[0].as_str(), "ci");
    }
}
