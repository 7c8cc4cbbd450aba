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
pub struct Tokens(Vec<Bearer>);

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
    #[error("the token of `{principal}` is {length} bytes, the least is {TOKEN_LEAST}")]
    Short {
        /// Whose it is.
        principal: Principal,
        /// How long it is.
        length: usize,
    },
    /// A token does not fit a header.
    #[error(
        "the token of `{principal}` is not {TOKEN_LEAST} to {TOKEN_MOST} letters, digits, `-`, `.`, `_`, `~`, `+`, `/`, `=`"
    )]
    Token {
        /// Whose it is.
        principal: Principal,
    },
    /// A hash is none.
    #[error("the `token_blake3` of `{principal}` is not 64 hex digits")]
    Hash {
        /// Whose it is.
        principal: Principal,
    },
    /// Two principals could not be told apart.
    #[error("`{first}` and `{second}` have the same token")]
    Twice {
        /// One of them.
        first: Principal,
        /// The other.
        second: Principal,
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
                "write `[principals.NAME]` with `token` or `token_blake3`, and, if need be, `requests_per_minute`, `concurrent`"
            }
            Self::Short { .. } | Self::Token { .. } => "make one: openssl rand -hex 32",
            Self::Hash { .. } => "make one: printf %s TOKEN | b3sum",
            Self::Twice { .. } => "give each principal a token of its own",
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
        let hash = hashed(token, &principal)?;
        Ok(Self::Tokens(Tokens(vec![Bearer { principal, hash, share: Share::default() }])))
    }

    /// Reads principals and their tokens from TOML: `[principals.NAME]` with `token`, or `token_blake3` (the hash of it, in
    /// hex), and, where they are to have a share of their own, `requests_per_minute` and `concurrent`.
    ///
    /// # Errors
    /// `bearers-invalid`, `principal-invalid`, `token-short`, `token-invalid`, `token-twice`
    pub fn read(text: &str) -> Result<Self, BearersError> {
        // The library's messages quote what they are about, which may be a token.
        let file: Table = text.parse().map_err(|error: toml::de::Error| syntax(text, error.span()))?;
        if let Some(key) = file.keys().find(|key| *key != "principals") {
            return Err(shape(key.escape_debug().to_string(), "known here: only `principals` is"));
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
                return Err(BearersError::Twice { first: other.principal.clone(), second: bearer.principal });
            }
            bearers.push(bearer);
        }
        Ok(Self::Tokens(Tokens(bearers)))
    }

    /// Who has a token, and their shares.
    pub fn principals(&self) -> impl Iterator<Item = (&Principal, Share)> {
        self.all().iter().map(|bearer| (&bearer.principal, bearer.share))
    }

    pub(super) fn all(&self) -> &[Bearer] {
        match self {
            Self::Nobody => &[],
            Self::Tokens(Tokens(bearers)) => bearers,
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
    let hash = match (table.get("token"), table.get("token_blake3")) {
        (Some(Value::String(token)), None) => hashed(token, &principal)?,
        (None, Some(Value::String(hex))) => {
            Hash::from_hex(hex).map_err(|_| BearersError::Hash { principal: principal.clone() })?
        }
        (Some(_), None) => return Err(shape(path("token"), "a text")),
        (None, Some(_)) => return Err(shape(path("token_blake3"), "a text")),
        _ => return Err(shape(format!("principals.{principal}"), "a table with one of `token` and `token_blake3`")),
    };
    let share = Share { requests_per_minute: number("requests_per_minute")?, concurrent: number("concurrent")? };
    Ok(Bearer { principal, hash, share })
}

fn hashed(token: &str, principal: &Principal) -> Result<Hash, BearersError> {
    let principal = || principal.clone();
    if token.len() < TOKEN_LEAST {
        return Err(BearersError::Short { principal: principal(), length: token.len() });
    }
    // What RFC 6750 calls a `b64token`.
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    if token.len() > TOKEN_MOST || !token.bytes().all(fits) {
        return Err(BearersError::Token { principal: principal() });
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
