//! Who may come in: principals, and the tokens they show (RFC 6750).
//!
//! Invariant: a token is known by its hash alone. It is never kept, printed or part of an error, and it is compared in
//! constant time.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::Range;

use blake3::Hash;
use toml::{Table, Value};

use crate::principal::{NameError, Principal};

/// The shortest token, in bytes.
const TOKEN_LEAST: usize = 16;
/// The longest token, in bytes: it must fit a header.
const TOKEN_MOST: usize = 512;
/// What a principal may have in its table.
const KEYS: [&str; 4] = ["token", "token_blake3", "requests_per_minute", "concurrent"];
/// What there is beside principals.
const METRICS: &str = "metrics";

/// Who may come in.
///
/// # Examples
/// ```
/// use toolcell_mcp::http::Bearers;
///
/// let bearers = Bearers::read("[principals.ci]\ntoken = 'b1946ac92492d2347c6235b4d2611184'\nconcurrent = 4\n")?;
/// assert_eq!(bearers.principals().count(), 1);
/// assert_eq!(Bearers::single("hunter2").unwrap_err().code(), "token-short");
/// # Ok::<(), toolcell_mcp::http::BearersError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Bearers {
    /// Everybody, without a token, as [`Principal::local`]. For loopback only.
    Nobody,
    /// Whoever has one of these tokens.
    Tokens(Tokens),
}

/// Tokens that were checked: each is long enough, and no two are the same.
#[derive(Debug, Clone)]
pub struct Tokens {
    bearers: Vec<Bearer>,
    metrics: Option<MetricsToken>,
}

/// The token of whoever collects metrics. They are of the whole server, so that no principal sees them with its own.
///
/// # Examples
/// ```
/// use toolcell_mcp::http::MetricsToken;
///
/// assert!(MetricsToken::parse("b1946ac92492d2347c6235b4d2611184").is_ok());
/// assert_eq!(MetricsToken::parse("hunter2").unwrap_err().code(), "token-short");
/// ```
#[derive(Clone)]
pub struct MetricsToken(Hash);

/// A principal that has a token, and its share.
#[derive(Clone)]
pub struct Bearer {
    principal: Principal,
    hash: Hash,
    share: Share,
}

/// What one principal may use of the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// Requests a minute; [`HttpConfig::rate`](super::HttpConfig::rate) where it is not said.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Runs at once.
    pub concurrent: Option<NonZeroU32>,
}

/// Why tokens are not taken. None of these shows a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BearersError {
    /// The text is no TOML.
    #[error("line {line} is no TOML")]
    Syntax {
        /// The line, from 1.
        line: usize,
    },
    /// There is something that means nothing, or that is of another kind.
    #[error("`{path}` is not {expected}")]
    Shape {
        /// Where it is.
        path: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A principal has a name that is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// There is nobody.
    #[error("there is no principal, so nobody could come in")]
    Empty,
    /// A token could be guessed.
    #[error("the token of `{owner}` is {length} bytes, the least is {TOKEN_LEAST}")]
    Short {
        /// Whose it is: the name of a principal, or `metrics`.
        owner: String,
        /// How long it is.
        length: usize,
    },
    /// A token does not fit a header.
    #[error(
        "the token of `{owner}` is not {TOKEN_LEAST} to {TOKEN_MOST} letters, digits, `-`, `.`, `_`, `~`, `+`, `/`, `=`"
    )]
    Token {
        /// Whose it is: the name of a principal, or `metrics`.
        owner: String,
    },
    /// A hash is none.
    #[error("the `token_blake3` of `{owner}` is not 64 hex digits")]
    Hash {
        /// Whose it is: the name of a principal, or `metrics`.
        owner: String,
    },
    /// Two could not be told apart.
    #[error("`{first}` and `{second}` have the same token")]
    Twice {
        /// One of them.
        first: String,
        /// The other.
        second: String,
    },
}

impl BearersError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Syntax { .. } | Self::Shape { .. } | Self::Empty => "bearers-invalid",
            Self::Name(error) => error.code(),
            Self::Short { .. } => "token-short",
            Self::Token { .. } | Self::Hash { .. } => "token-invalid",
            Self::Twice { .. } => "token-twice",
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Syntax { .. } | Self::Shape { .. } | Self::Empty | Self::Name(_) => {
                "write `[principals.NAME]` with `token` or `token_blake3`, and, if need be, `requests_per_minute`, `concurrent`; \
                 and `[metrics]` with `token` or `token_blake3` for whoever collects metrics"
            }
            Self::Short { .. } | Self::Token { .. } => "make one: openssl rand -hex 32",
            Self::Hash { .. } => "make one: printf %s TOKEN | b3sum",
            Self::Twice { .. } => "give each principal, and metrics, a token of its own",
        }
    }
}

impl Bearers {
    /// One token, for [`Principal::local`].
    ///
    /// # Errors
    /// `token-short`, `token-invalid`
    pub fn single(token: &str) -> Result<Self, BearersError> {
        let principal = Principal::local();
        let hash = hashed(token, principal.as_str())?;
        let bearers = vec![Bearer { principal, hash, share: Share::default() }];
        Ok(Self::Tokens(Tokens { bearers, metrics: None }))
    }

    /// Reads principals and their tokens from TOML: `[principals.NAME]` with `token`, or `token_blake3` (the hash of it, in
    /// hex), and, where they are to have a share of their own, `requests_per_minute` and `concurrent`; and `[metrics]` with the
    /// token of whoever collects metrics.
    ///
    /// # Errors
    /// `bearers-invalid`, `principal-invalid`, `token-short`, `token-invalid`, `token-twice`
    pub fn read(text: &str) -> Result<Self, BearersError> {
        // The library's messages quote what they are about, which may be a token.
        let file: Table = text.parse().map_err(|error: toml::de::Error| syntax(text, error.span()))?;
        if let Some(key) = file.keys().find(|key| !["principals", METRICS].contains(&key.as_str())) {
            return Err(shape(key.escape_debug().to_string(), "known here: `principals` and `metrics` are"));
        }
        let tables = match file.get("principals") {
            Some(Value::Table(tables)) if !tables.is_empty() => tables,
            Some(Value::Table(_)) | None => return Err(BearersError::Empty),
            Some(_) => return Err(shape("principals".to_owned(), "a table")),
        };
        let mut bearers: Vec<Bearer> = Vec::with_capacity(tables.len());
        for (name, table) in tables {
            let bearer = bearer(Principal::parse(name)?, table)?;
            if let Some(other) = bearers.iter().find(|other| other.hash == bearer.hash) {
                let (first, second) = (other.principal.to_string(), bearer.principal.to_string());
                return Err(BearersError::Twice { first, second });
            }
            bearers.push(bearer);
        }
        let metrics = file.get(METRICS).map(metrics).transpose()?;
        let tokens = Self::Tokens(Tokens { bearers, metrics });
        if let Some(metrics) = tokens.metrics() {
            tokens.differ_from(metrics)?;
        }
        Ok(tokens)
    }

    /// Nothing, if the token of metrics is none of a principal: who collects metrics would be that principal.
    ///
    /// # Errors
    /// `token-twice`
    pub fn differ_from(&self, metrics: &MetricsToken) -> Result<(), BearersError> {
        match self.all().iter().find(|bearer| metrics.has(&bearer.hash)) {
            Some(bearer) => {
                Err(BearersError::Twice { first: bearer.principal.to_string(), second: METRICS.to_owned() })
            }
            None => Ok(()),
        }
    }

    /// The token of whoever collects metrics, where the text had one.
    #[must_use]
    pub const fn metrics(&self) -> Option<&MetricsToken> {
        match self {
            Self::Nobody => None,
            Self::Tokens(Tokens { metrics, .. }) => metrics.as_ref(),
        }
    }

    /// Who has a token, and their shares.
    pub fn principals(&self) -> impl Iterator<Item = (&Principal, Share)> {
        self.all().iter().map(|bearer| (&bearer.principal, bearer.share))
    }

    pub(super) fn all(&self) -> &[Bearer] {
        match self {
            Self::Nobody => &[],
            Self::Tokens(Tokens { bearers, .. }) => bearers,
        }
    }
}

impl Bearer {
    pub(super) const fn principal(&self) -> &Principal {
        &self.principal
    }

    pub(super) const fn share(&self) -> Share {
        self.share
    }

    /// Whether this is the hash of its token. Takes the same time whatever the hash.
    pub(super) fn has(&self, hash: &Hash) -> bool {
        self.hash == *hash
    }
}

impl MetricsToken {
    /// Reads a token.
    ///
    /// # Errors
    /// `token-short`, `token-invalid`
    pub fn parse(token: &str) -> Result<Self, BearersError> {
        hashed(token, METRICS).map(Self)
    }

    /// Whether this is its hash. Takes the same time whatever the hash.
    pub(super) fn has(&self, hash: &Hash) -> bool {
        self.0 == *hash
    }
}

impl fmt::Debug for MetricsToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricsToken").finish_non_exhaustive()
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whoever has a hash can try tokens against it.
        f.debug_struct("Bearer").field("principal", &self.principal).field("share", &self.share).finish_non_exhaustive()
    }
}

fn bearer(principal: Principal, table: &Value) -> Result<Bearer, BearersError> {
    let path = |key: &str| format!("principals.{principal}.{}", key.escape_debug());
    let Value::Table(table) = table else {
        return Err(shape(format!("principals.{principal}"), "a table with `token` or `token_blake3`"));
    };
    if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(shape(
            path(key),
            "known here: `token`, `token_blake3`, `requests_per_minute` and `concurrent` are",
        ));
    }
    let number = |key: &str| match table.get(key) {
        None => Ok(None),
        Some(Value::Integer(number)) => {
            let number = u32::try_from(*number).ok().and_then(NonZeroU32::new);
            number.map(Some).ok_or_else(|| shape(path(key), "a number from 1 to 4294967295"))
        }
        Some(_) => Err(shape(path(key), "a number")),
    };
    let hash = secret(table, principal.as_str(), &format!("principals.{principal}"))?;
    let share = Share { requests_per_minute: number("requests_per_minute")?, concurrent: number("concurrent")? };
    Ok(Bearer { principal, hash, share })
}

fn metrics(table: &Value) -> Result<MetricsToken, BearersError> {
    let wants = "a table with one of `token` and `token_blake3`";
    let Value::Table(table) = table else { return Err(shape(METRICS.to_owned(), wants)) };
    if let Some(key) = table.keys().find(|key| !["token", "token_blake3"].contains(&key.as_str())) {
        return Err(shape(format!("{METRICS}.{}", key.escape_debug()), "known here: `token` and `token_blake3` are"));
    }
    secret(table, METRICS, METRICS).map(MetricsToken)
}

/// The hash of the token that a table has.
fn secret(table: &Table, owner: &str, path: &str) -> Result<Hash, BearersError> {
    match (table.get("token"), table.get("token_blake3")) {
        (Some(Value::String(token)), None) => hashed(token, owner),
        (None, Some(Value::String(hex))) => {
            Hash::from_hex(hex).map_err(|_| BearersError::Hash { owner: owner.to_owned() })
        }
        (Some(_), None) => Err(shape(format!("{path}.token"), "a text")),
        (None, Some(_)) => Err(shape(format!("{path}.token_blake3"), "a text")),
        _ => Err(shape(path.to_owned(), "a table with one of `token` and `token_blake3`")),
    }
}

fn hashed(token: &str, owner: &str) -> Result<Hash, BearersError> {
    let owner = || owner.to_owned();
    if token.len() < TOKEN_LEAST {
        return Err(BearersError::Short { owner: owner(), length: token.len() });
    }
    // What RFC 6750 calls a `b64token`.
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    if token.len() > TOKEN_MOST || !token.bytes().all(fits) {
        return Err(BearersError::Token { owner: owner() });
    }
    Ok(blake3::hash(token.as_bytes()))
}

fn syntax(text: &str, span: Option<Range<usize>>) -> BearersError {
    let start = span.map_or(0, |span| span.start).min(text.len());
    let before = text.as_bytes().get(..start).unwrap_or_default();
    BearersError::Syntax { line: before.split(|byte| *byte == b'\n').count() }
}

const fn shape(path: String, expected: &'static str) -> BearersError {
    BearersError::Shape { path, expected }
}
