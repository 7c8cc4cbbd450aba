//! Bearer tokens of principals (RFC 6750).
//!
//! Invariant: only the hash of a token is stored. A token is never printed and never part of an
//! error, and it is compared in constant time.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::Range;

use blake3::Hash;
use toml::{Table, Value};
use toolcell_i18n::{Message, msgid};

use crate::principal::{Principal, PrincipalNameError};

/// The shortest token, in bytes.
const MIN_TOKEN_BYTES: usize = 16;
/// The longest token, in bytes: it must fit a header.
const MAX_TOKEN_BYTES: usize = 512;
/// The keys of a principal's table.
const PRINCIPAL_KEYS: [&str; 6] =
    ["token", "token_blake3", "host_token", "host_token_blake3", "requests_per_minute", "concurrent"];
/// The keys of a token, and of its hash.
const TOKEN: [&str; 2] = ["token", "token_blake3"];
/// The keys of a token for the host's methods, and of its hash.
const HOST_TOKEN: [&str; 2] = ["host_token", "host_token_blake3"];
/// The table of the metrics token.
const METRICS_TABLE: &str = "metrics";
/// The table of the operators, and the keys of one of them.
const OPERATORS_TABLE: &str = "operators";
const OPERATOR_KEYS: [&str; 3] = ["token", "token_blake3", "principals"];

/// The tokens that grant access.
///
/// # Examples
/// ```
/// use toolcell_mcp::http::TokenStore;
///
/// let bearers = TokenStore::parse("[principals.ci]\ntoken = 'b1946ac92492d2347c6235b4d2611184'\nconcurrent = 4\n")?;
/// assert_eq!(bearers.principals().count(), 1);
/// assert_eq!(TokenStore::single("hunter2").unwrap_err().code(), "token-short");
/// # Ok::<(), toolcell_mcp::http::TokenStoreError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TokenStore {
    /// No token is required: every caller is [`Principal::local`]. For loopback addresses only.
    Unauthenticated,
    /// One of these tokens is required.
    Tokens(TokenSet),
}

/// Validated tokens: each is long enough, and no two are equal.
#[derive(Debug, Clone)]
pub struct TokenSet {
    principals: Vec<PrincipalToken>,
    metrics: Option<MetricsToken>,
    operators: Vec<OperatorToken>,
}

/// The token for `/metrics`. Metrics cover the whole server, so the token of a principal does not
/// grant access to them.
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

/// A principal with its token and limits.
#[derive(Clone)]
pub struct PrincipalToken {
    principal: Principal,
    hash: Hash,
    /// The hash of the token that allows the methods of the host as well.
    host_hash: Option<Hash>,
    limits: PrincipalLimits,
}

/// A person who decides on pages for some principals, with the token.
#[derive(Clone)]
pub struct OperatorToken {
    name: String,
    hash: Hash,
    principals: Vec<Principal>,
}

/// What a token allows beyond the operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenScope {
    /// Nothing.
    Client,
    /// The methods of the extension `toolcell/host`, which decide and approve.
    Host,
}

/// The limits of one principal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PrincipalLimits {
    /// Requests per minute; `None` means
    /// [`HttpConfig::requests_per_minute`](super::HttpConfig::requests_per_minute).
    pub requests_per_minute: Option<NonZeroU32>,
    /// Concurrent runs.
    pub concurrent_runs: Option<NonZeroU32>,
}

/// An error in a file of tokens or in a single token. None of them contains a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum TokenStoreError {
    /// The text is not valid TOML.
    #[error("line {line} is not valid TOML")]
    #[code(BearersInvalid)]
    Syntax {
        /// The line, from 1.
        line: usize,
    },
    /// A key is unknown, or a value has the wrong type.
    #[error("`{path}` is not {expected}")]
    #[code(BearersInvalid)]
    Shape {
        /// The path of the key.
        path: String,
        /// What is expected there.
        expected: Message,
    },
    /// The name of a principal is invalid.
    #[error(transparent)]
    #[coded(transparent)]
    Name(#[from] PrincipalNameError),
    /// There is no principal.
    #[error("no principal is configured, so no client could connect")]
    #[code(BearersInvalid)]
    Empty,
    /// A token is short enough to be guessed.
    #[error("the token of `{owner}` is {length} bytes, the minimum is {MIN_TOKEN_BYTES}")]
    #[code(TokenShort)]
    TooShort {
        /// The owner of the token: a principal, or `metrics`.
        owner: String,
        /// The length of the token, in bytes.
        length: usize,
    },
    /// A token is too long, or has a character that does not fit a header.
    #[error(
        "the token of `{owner}` is not {MIN_TOKEN_BYTES} to {MAX_TOKEN_BYTES} letters, digits, `-`, `.`, `_`, `~`, `+`, `/`, `=`"
    )]
    #[code(TokenInvalid)]
    Malformed {
        /// The owner of the token: a principal, or `metrics`.
        owner: String,
    },
    /// The hash of a token is invalid.
    #[error("the `token_blake3` of `{owner}` is not 64 hex digits")]
    #[code(TokenInvalid)]
    MalformedHash {
        /// The owner of the token: a principal, or `metrics`.
        owner: String,
    },
    /// The host token of a principal is its other token, too.
    #[error("`token` and `host_token` of `{owner}` are the same")]
    #[code(TokenTwice)]
    HostTokenEqual {
        /// The principal.
        owner: String,
    },
    /// Two owners have the same token.
    #[error("`{first}` and `{second}` have the same token")]
    #[code(TokenTwice)]
    Duplicate {
        /// One owner.
        first: String,
        /// The other owner.
        second: String,
    },
}

impl TokenStoreError {
    /// What the operator can do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Syntax { .. } | Self::Shape { .. } | Self::Empty | Self::Name(_) => {
                msgid!(
                    "write `[principals.NAME]` with `token` or `token_blake3`, and optionally `host_token` or `host_token_blake3`, `requests_per_minute`, `concurrent`; write `[metrics]` with `token` or `token_blake3` for access to /metrics, and `[operators.NAME]` with `token` or `token_blake3` and `principals` for people who decide on pages"
                )
            }
            Self::TooShort { .. } | Self::Malformed { .. } | Self::HostTokenEqual { .. } => {
                msgid!("generate one: openssl rand -hex 32")
            }
            Self::MalformedHash { .. } => msgid!("compute it: printf %s TOKEN | b3sum"),
            Self::Duplicate { .. } => msgid!("give each principal and `metrics` its own token"),
        }
    }
}

impl TokenStore {
    /// Creates a store with a single token, for [`Principal::local`].
    ///
    /// # Errors
    /// `token-short`, `token-invalid`
    pub fn single(token: &str) -> Result<Self, TokenStoreError> {
        let principal = Principal::local();
        let hash = hash_token(token, principal.as_str())?;
        let bearers = vec![PrincipalToken { principal, hash, host_hash: None, limits: PrincipalLimits::default() }];
        Ok(Self::Tokens(TokenSet { principals: bearers, metrics: None, operators: Vec::new() }))
    }

    /// Parses tokens from TOML. `[principals.NAME]` has `token`, or `token_blake3` (its hash in
    /// hex), and optionally `requests_per_minute` and `concurrent`. A second token, `host_token` or
    /// `host_token_blake3`, also allows the methods of the extension `toolcell/host`, which decide
    /// and approve. `[metrics]` has the token for `/metrics`, in either form. `[operators.NAME]` has the
    /// token of a person who decides on pages, and the names of the `principals` that the person decides for.
    ///
    /// # Errors
    /// `bearers-invalid`, `principal-invalid`, `token-short`, `token-invalid`, `token-twice`
    pub fn parse(text: &str) -> Result<Self, TokenStoreError> {
        // The library's messages quote the text, which may be a token.
        let file: Table = text.parse().map_err(|error: toml::de::Error| syntax_error(text, error.span()))?;
        if let Some(key) =
            file.keys().find(|key| !["principals", METRICS_TABLE, OPERATORS_TABLE].contains(&key.as_str()))
        {
            return Err(shape_error(
                key.escape_debug().to_string(),
                msgid!("a known key; the keys are `principals`, `operators` and `metrics`"),
            ));
        }
        let tables = match file.get("principals") {
            Some(Value::Table(tables)) if !tables.is_empty() => tables,
            Some(Value::Table(_)) | None => return Err(TokenStoreError::Empty),
            Some(_) => return Err(shape_error("principals".to_owned(), msgid!("a table"))),
        };
        let mut bearers: Vec<PrincipalToken> = Vec::with_capacity(tables.len());
        for (name, table) in tables {
            bearers.push(parse_principal(Principal::parse(name)?, table)?);
            check_distinct(&bearers)?;
        }
        let metrics = file.get(METRICS_TABLE).map(parse_metrics).transpose()?;
        let operators = parse_operators(file.get(OPERATORS_TABLE), &bearers)?;
        let tokens = Self::Tokens(TokenSet { principals: bearers, metrics, operators });
        if let Some(metrics) = tokens.metrics() {
            tokens.check_distinct_from(metrics)?;
        }
        Ok(tokens)
    }

    /// Checks that the metrics token differs from the tokens of all principals and operators: otherwise the
    /// metrics collector could act as one of them.
    ///
    /// # Errors
    /// `token-twice`
    pub fn check_distinct_from(&self, metrics: &MetricsToken) -> Result<(), TokenStoreError> {
        let principal = self.principal_tokens().iter();
        let principal = principal.filter(|bearer| bearer.hashes().any(|(hash, _)| metrics.matches(hash)));
        let operator = self.operators().iter().filter(|operator| metrics.matches(&operator.hash));
        let owner = principal.map(|bearer| bearer.principal.to_string()).chain(operator.map(operator_path)).next();
        match owner {
            Some(first) => Err(TokenStoreError::Duplicate { first, second: METRICS_TABLE.to_owned() }),
            None => Ok(()),
        }
    }

    /// The metrics token, if the file has one.
    #[must_use]
    pub const fn metrics(&self) -> Option<&MetricsToken> {
        match self {
            Self::Unauthenticated => None,
            Self::Tokens(TokenSet { metrics, .. }) => metrics.as_ref(),
        }
    }

    /// The principals and their limits.
    pub fn principals(&self) -> impl Iterator<Item = (&Principal, PrincipalLimits)> {
        self.principal_tokens().iter().map(|bearer| (&bearer.principal, bearer.limits))
    }

    /// The people who decide on pages.
    #[must_use]
    pub fn operators(&self) -> &[OperatorToken] {
        match self {
            Self::Unauthenticated => &[],
            Self::Tokens(TokenSet { operators, .. }) => operators,
        }
    }

    pub(super) fn principal_tokens(&self) -> &[PrincipalToken] {
        match self {
            Self::Unauthenticated => &[],
            Self::Tokens(TokenSet { principals: bearers, .. }) => bearers,
        }
    }
}

impl PrincipalToken {
    pub(super) const fn principal(&self) -> &Principal {
        &self.principal
    }

    pub(super) const fn limits(&self) -> PrincipalLimits {
        self.limits
    }

    /// What the token with this hash allows; `None` if the principal has no such token. Takes constant
    /// time.
    pub(super) fn scope_of(&self, hash: &Hash) -> Option<TokenScope> {
        self.hashes().filter(|(own, _)| *own == hash).map(|(_, scope)| scope).last()
    }

    /// The hashes of the tokens, and what each allows.
    fn hashes(&self) -> impl Iterator<Item = (&Hash, TokenScope)> {
        let host = self.host_hash.iter().map(|hash| (hash, TokenScope::Host));
        std::iter::once((&self.hash, TokenScope::Client)).chain(host)
    }
}

impl OperatorToken {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether this is the hash of the token. Takes constant time.
    pub(super) fn has_hash(&self, hash: &Hash) -> bool {
        self.hash == *hash
    }

    /// The principals, at least one.
    #[must_use]
    pub fn principals(&self) -> &[Principal] {
        &self.principals
    }
}

impl MetricsToken {
    /// Parses and hashes a token.
    ///
    /// # Errors
    /// `token-short`, `token-invalid`
    pub fn parse(token: &str) -> Result<Self, TokenStoreError> {
        hash_token(token, METRICS_TABLE).map(Self)
    }

    /// Whether this is the hash of the token. Takes constant time.
    pub(super) fn matches(&self, hash: &Hash) -> bool {
        self.0 == *hash
    }
}

impl fmt::Debug for MetricsToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricsToken").finish_non_exhaustive()
    }
}

impl fmt::Debug for PrincipalToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A hash allows guessing tokens offline.
        f.debug_struct("Bearer")
            .field("principal", &self.principal)
            .field("share", &self.limits)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for OperatorToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A hash allows guessing tokens offline.
        f.debug_struct("OperatorToken")
            .field("name", &self.name)
            .field("principals", &self.principals)
            .finish_non_exhaustive()
    }
}

fn parse_principal(principal: Principal, table: &Value) -> Result<PrincipalToken, TokenStoreError> {
    let path = |key: &str| format!("principals.{principal}.{}", key.escape_debug());
    let Value::Table(table) = table else {
        return Err(shape_error(format!("principals.{principal}"), msgid!("a table with `token` or `token_blake3`")));
    };
    if let Some(key) = table.keys().find(|key| !PRINCIPAL_KEYS.contains(&key.as_str())) {
        return Err(shape_error(
            path(key),
            msgid!(
                "a known key; the keys are `token`, `token_blake3`, `host_token`, `host_token_blake3`, `requests_per_minute` and `concurrent`"
            ),
        ));
    }
    let number = |key: &str| match table.get(key) {
        None => Ok(None),
        Some(Value::Integer(number)) => {
            let number = u32::try_from(*number).ok().and_then(NonZeroU32::new);
            number.map(Some).ok_or_else(|| shape_error(path(key), msgid!("a number from 1 to 4294967295")))
        }
        Some(_) => Err(shape_error(path(key), msgid!("a number"))),
    };
    let hash = token_hash(table, TOKEN, principal.as_str(), &format!("principals.{principal}"))?;
    let has_host_token = HOST_TOKEN.iter().any(|key| table.contains_key(*key));
    let host_hash = has_host_token
        .then(|| token_hash(table, HOST_TOKEN, principal.as_str(), &format!("principals.{principal}")))
        .transpose()?;
    let share =
        PrincipalLimits { requests_per_minute: number("requests_per_minute")?, concurrent_runs: number("concurrent")? };
    Ok(PrincipalToken { principal, hash, host_hash, limits: share })
}

/// Checks that the tokens of the last principal differ from each other, and from those of the others.
fn check_distinct(bearers: &[PrincipalToken]) -> Result<(), TokenStoreError> {
    let Some((last, others)) = bearers.split_last() else { return Ok(()) };
    if last.host_hash == Some(last.hash) {
        return Err(TokenStoreError::HostTokenEqual { owner: last.principal.to_string() });
    }
    match others.iter().find(|other| last.hashes().any(|(hash, _)| other.scope_of(hash).is_some())) {
        Some(other) => {
            let (first, second) = (other.principal.to_string(), last.principal.to_string());
            Err(TokenStoreError::Duplicate { first, second })
        }
        None => Ok(()),
    }
}

fn parse_metrics(table: &Value) -> Result<MetricsToken, TokenStoreError> {
    let wants = msgid!("a table with one of `token` and `token_blake3`");
    let Value::Table(table) = table else { return Err(shape_error(METRICS_TABLE.to_owned(), wants)) };
    if let Some(key) = table.keys().find(|key| !["token", "token_blake3"].contains(&key.as_str())) {
        return Err(shape_error(
            format!("{METRICS_TABLE}.{}", key.escape_debug()),
            msgid!("a known key; the keys are `token` and `token_blake3`"),
        ));
    }
    token_hash(table, TOKEN, METRICS_TABLE, METRICS_TABLE).map(MetricsToken)
}

/// Parses the operators. Each decides for principals of the same file, with a token that no one else has.
fn parse_operators(table: Option<&Value>, bearers: &[PrincipalToken]) -> Result<Vec<OperatorToken>, TokenStoreError> {
    let tables = match table {
        None => return Ok(Vec::new()),
        Some(Value::Table(tables)) => tables,
        Some(_) => return Err(shape_error(OPERATORS_TABLE.to_owned(), msgid!("a table"))),
    };
    let mut operators: Vec<OperatorToken> = Vec::with_capacity(tables.len());
    for (name, table) in tables {
        let operator = parse_operator(name, table, bearers)?;
        let principal = bearers.iter().find(|bearer| bearer.scope_of(&operator.hash).is_some());
        let other = operators.iter().find(|other| other.hash == operator.hash);
        let owner = principal.map(|bearer| bearer.principal.to_string()).or_else(|| other.map(operator_path));
        if let Some(first) = owner {
            return Err(TokenStoreError::Duplicate { first, second: operator_path(&operator) });
        }
        operators.push(operator);
    }
    Ok(operators)
}

fn parse_operator(name: &str, table: &Value, bearers: &[PrincipalToken]) -> Result<OperatorToken, TokenStoreError> {
    // The names of people follow the rule of those of principals.
    let name = Principal::parse(name)?.to_string();
    let path = format!("{OPERATORS_TABLE}.{name}");
    let Value::Table(table) = table else {
        return Err(shape_error(path, msgid!("a table with `token` or `token_blake3`, and `principals`")));
    };
    if let Some(key) = table.keys().find(|key| !OPERATOR_KEYS.contains(&key.as_str())) {
        let expected = msgid!("a known key; the keys are `token`, `token_blake3` and `principals`");
        return Err(shape_error(format!("{path}.{}", key.escape_debug()), expected));
    }
    let known = |name: &Value| {
        let name = name.as_str()?;
        bearers.iter().map(PrincipalToken::principal).find(|principal| principal.as_str() == name).cloned()
    };
    let principals = table.get("principals").and_then(Value::as_array);
    let principals: Option<Vec<Principal>> = principals.and_then(|names| names.iter().map(known).collect());
    let mut principals = principals.filter(|principals| !principals.is_empty()).ok_or_else(|| {
        shape_error(
            format!("{path}.principals"),
            msgid!("a list of one or more names, each with a table `[principals.NAME]`"),
        )
    })?;
    principals.sort();
    principals.dedup();
    Ok(OperatorToken { hash: token_hash(table, TOKEN, &path, &path)?, name, principals })
}

/// Names an operator in an error. A principal may have the same name.
fn operator_path(operator: &OperatorToken) -> String {
    format!("{OPERATORS_TABLE}.{}", operator.name())
}

/// The hash of the token that a table has under one of two keys.
fn token_hash(table: &Table, [key, hash_key]: [&str; 2], owner: &str, path: &str) -> Result<Hash, TokenStoreError> {
    match (table.get(key), table.get(hash_key)) {
        (Some(Value::String(token)), None) => hash_token(token, owner),
        (None, Some(Value::String(hex))) => {
            Hash::from_hex(hex).map_err(|_| TokenStoreError::MalformedHash { owner: owner.to_owned() })
        }
        (Some(_), None) => Err(shape_error(format!("{path}.{key}"), msgid!("a string"))),
        (None, Some(_)) => Err(shape_error(format!("{path}.{hash_key}"), msgid!("a string"))),
        _ if [key, hash_key] == HOST_TOKEN => {
            Err(shape_error(path.to_owned(), msgid!("a table with one of `host_token` and `host_token_blake3`")))
        }
        _ => Err(shape_error(path.to_owned(), msgid!("a table with one of `token` and `token_blake3`"))),
    }
}

fn hash_token(token: &str, owner: &str) -> Result<Hash, TokenStoreError> {
    let owner = || owner.to_owned();
    if token.len() < MIN_TOKEN_BYTES {
        return Err(TokenStoreError::TooShort { owner: owner(), length: token.len() });
    }
    // The `b64token` syntax of RFC 6750.
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    if token.len() > MAX_TOKEN_BYTES || !token.bytes().all(fits) {
        return Err(TokenStoreError::Malformed { owner: owner() });
    }
    Ok(blake3::hash(token.as_bytes()))
}

fn syntax_error(text: &str, span: Option<Range<usize>>) -> TokenStoreError {
    let start = span.map_or(0, |span| span.start).min(text.len());
    let before = text.as_bytes().get(..start).unwrap_or_default();
    TokenStoreError::Syntax { line: before.split(|byte| *byte == b'\n').count() }
}

fn shape_error(path: String, expected: &'static str) -> TokenStoreError {
    TokenStoreError::Shape { path, expected: expected.into() }
}
