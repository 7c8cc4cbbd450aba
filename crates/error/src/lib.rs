//! The stable codes of errors, and what depends on them.
//!
//! Invariant: a code is never renamed or reused. Records and clients keep its text, so a code that is
//! read back is parsed with [`ErrorCode::parse`], and an unknown one stays a string.

// Lets the derive macro name this crate in its own tests.
#[cfg(test)]
extern crate self as toolcell_error;

use std::borrow::Cow;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use toolcell_i18n::{Lang, tr};

/// Implements `code()` and `hint()` for an error type from attributes on its variants.
///
/// See [`toolcell_error_derive::Coded`] for the attributes.
///
/// # Examples
/// ```
/// use toolcell_error::{Coded, ErrorCode};
///
/// #[derive(Coded)]
/// enum FindError {
///     #[code(ToolNotFound)]
///     #[hint("`toolcell list` shows all tools")]
///     Unknown(String),
///     #[code(PermissionDenied)]
///     #[hint(hint)]
///     Denied { hint: &'static str },
/// }
///
/// #[derive(Coded)]
/// enum ShowError {
///     #[coded(transparent)]
///     Find(FindError),
///     #[code(VersionNotFound)]
///     #[hint("omit the version")]
///     NoVersion,
/// }
///
/// let error = ShowError::Find(FindError::Unknown("average".to_owned()));
/// assert_eq!(error.code(), ErrorCode::ToolNotFound);
/// assert_eq!(error.hint(), "`toolcell list` shows all tools");
/// let error = ShowError::Find(FindError::Denied { hint: "ask the operator" });
/// assert_eq!((error.code().as_str(), error.hint()), ("permission-denied", "ask the operator"));
/// assert_eq!(ShowError::NoVersion.code(), "version-not-found");
/// ```
///
/// A variant without a code does not compile:
///
/// ```compile_fail
/// #[derive(toolcell_error::Coded)]
/// enum FindError {
///     #[hint("`toolcell list` shows all tools")]
///     Unknown,
/// }
/// ```
pub use toolcell_error_derive::Coded;

/// The class of the exit status of a command that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExitClass {
    /// The tool failed.
    ToolFailed,
    /// The arguments or the input are invalid.
    Usage,
    /// The analysis, a policy, a hook or a person refused.
    Refused,
    /// Something was not found, or conflicts with what exists.
    NotFound,
    /// A limit was hit.
    Limit,
    /// An integrity check failed.
    Integrity,
    /// A bug in Toolcell.
    Bug,
    /// The command was interrupted.
    Interrupted,
}

/// Declares the codes: each variant with its text and the class of its exit status.
macro_rules! error_codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal => $class:ident;)*) => {
        /// The stable code of an error.
        ///
        /// # Examples
        /// ```
        /// use toolcell_error::{ErrorCode, ExitClass};
        ///
        /// let code = ErrorCode::ToolNotFound;
        /// assert_eq!(code.as_str(), "tool-not-found");
        /// assert_eq!("tool-not-found".parse(), Ok(code));
        /// assert_eq!(code.exit_class(), ExitClass::NotFound);
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[$doc])* $variant,)*
        }

        impl ErrorCode {
            /// All codes, in alphabetical order.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the text of the code.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// Returns the code with this text; `None` if there is none.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Returns the class of the exit status of a command that fails with this code. The end of a
            /// call (a timeout, a limit, a crash) is not an error of the command and has its own status.
            #[must_use]
            pub const fn exit_class(self) -> ExitClass {
                match self {
                    $(Self::$variant => ExitClass::$class,)*
                }
            }
        }
    };
}

error_codes! {
    /// The tool has changed since its approval was requested.
    ApprovalChanged = "approval-changed" => NotFound;
    /// The grants of a suspended run have changed.
    AsleepGrantsChanged = "asleep-grants-changed" => Refused;
    /// A suspended run belongs to another version of the guest.
    AsleepGuest = "asleep-guest" => Refused;
    /// A suspended run belongs to another principal.
    AsleepPrincipal = "asleep-principal" => Refused;
    /// A suspended run belongs to another script.
    AsleepTool = "asleep-tool" => Refused;
    /// The file of bearer tokens has an invalid form.
    BearersInvalid = "bearers-invalid" => Usage;
    /// The body of an HTTP request ended early.
    BodyBroken = "body-broken" => Usage;
    /// The body of an HTTP request is not an MCP message.
    BodyInvalid = "body-invalid" => Usage;
    /// The body of an HTTP request arrived too slowly.
    BodyTimeout = "body-timeout" => Usage;
    /// The body of an HTTP request exceeds the limit.
    BodyTooLarge = "body-too-large" => Usage;
    /// A bug in Toolcell.
    Bug = "bug" => Bug;
    /// A line of a bundle is damaged.
    BundleInvalid = "bundle-invalid" => Integrity;
    /// A file is not a bundle, or a bundle of a newer version.
    BundleUnknown = "bundle-unknown" => Usage;
    /// All slots for calls are taken.
    Busy = "busy" => Limit;
    /// The operation was cancelled from outside.
    Cancelled = "cancelled" => Interrupted;
    /// The declaration of capabilities is invalid.
    CapabilitiesInvalid = "capabilities-invalid" => Usage;
    /// The configuration of an MCP client has another entry of this name.
    ClientEntryTaken = "client-entry-taken" => NotFound;
    /// The configuration of an MCP client changed while it was edited.
    ClientFileChanged = "client-file-changed" => NotFound;
    /// The configuration of an MCP client does not parse.
    ClientFileInvalid = "client-file-invalid" => Usage;
    /// The configuration of an MCP client has an unexpected structure.
    ClientFileShape = "client-file-shape" => Usage;
    /// The name of a server in the configuration of an MCP client is invalid.
    ClientNameInvalid = "client-name-invalid" => Usage;
    /// The URL of a server in the configuration of an MCP client is invalid.
    ClientUrlInvalid = "client-url-invalid" => Usage;
    /// The name of an environment variable in the configuration of an MCP client is invalid.
    ClientVariableInvalid = "client-variable-invalid" => Usage;
    /// A path or argument cannot be written into the configuration of an MCP client.
    ClientWordInvalid = "client-word-invalid" => Usage;
    /// The server is shutting down.
    Closing = "closing" => Usage;
    /// The operation needs an explicit confirmation.
    ConfirmRequired = "confirm-required" => Usage;
    /// The console output of a call exceeds its limit.
    ConsoleTooLarge = "console-too-large" => Usage;
    /// An HTTP request has an unsupported content type.
    ContentType = "content-type" => Usage;
    /// The guest crashed.
    Crashed = "crashed" => Usage;
    /// The analysis found a critical risk.
    CriticalRisk = "critical-risk" => Refused;
    /// A cursor does not belong to the list.
    CursorInvalid = "cursor-invalid" => Usage;
    /// The disk failed to read or write.
    DiskFailed = "disk-failed" => Usage;
    /// The disk is full.
    DiskFull = "disk-full" => Limit;
    /// The policy refuses duplicates, and this build cannot compare tools.
    DuplicatesUnsupported = "duplicates-unsupported" => Usage;
    /// An effect is not part of the approved plan.
    EffectNotApproved = "effect-not-approved" => Usage;
    /// A file exists already.
    FileExists = "file-exists" => NotFound;
    /// A file of the audit log is missing.
    FileMissing = "file-missing" => Usage;
    /// A file does not exist.
    FileNotFound = "file-not-found" => NotFound;
    /// A file cannot be read.
    FileUnreadable = "file-unreadable" => Usage;
    /// A file cannot be written.
    FileUnwritable = "file-unwritable" => Usage;
    /// The user may not open a granted folder.
    FilesDenied = "files-denied" => Usage;
    /// A granted folder does not exist.
    FilesMissing = "files-missing" => Usage;
    /// A granted folder overlaps a protected one.
    FilesProtected = "files-protected" => Refused;
    /// A filter of a list has an invalid value.
    FilterInvalid = "filter-invalid" => Usage;
    /// An operation depends on data that a rule about flows has a person decide about.
    FlowNotApproved = "flow-not-approved" => Usage;
    /// An operation depends on data that a rule about flows refuses there.
    FlowRefused = "flow-refused" => Refused;
    /// Where the data came from that a run was handed cannot be recorded.
    FlowUnrecorded = "flow-unrecorded" => Usage;
    /// Two host functions have the same name.
    FunctionInvalid = "function-invalid" => Usage;
    /// A host function cannot be called in this state.
    FunctionLater = "function-later" => Usage;
    /// The answer of a hook is invalid.
    GateAnswerInvalid = "gate-answer-invalid" => Usage;
    /// Too many runs of a hook hang.
    GateExhausted = "gate-exhausted" => Usage;
    /// A hook failed.
    GateFailed = "gate-failed" => Usage;
    /// The definition of a hook is invalid.
    GateInvalid = "gate-invalid" => Usage;
    /// The command of a hook did not start.
    GateNotStarted = "gate-not-started" => Usage;
    /// A hook exceeded its timeout.
    GateTimeout = "gate-timeout" => Usage;
    /// The file that defines a hook is not trusted.
    GateUntrusted = "gate-untrusted" => Usage;
    /// A grant is malformed.
    GrantInvalid = "grant-invalid" => Usage;
    /// The expected head of an audit log is malformed.
    HeadInvalid = "head-invalid" => Usage;
    /// The expected head of an audit log is missing.
    HeadMissing = "head-missing" => Usage;
    /// The head of an audit log is not the expected one.
    HeadWrong = "head-wrong" => Usage;
    /// An allowed host name is malformed.
    HostInvalid = "host-invalid" => Usage;
    /// An HTTP request has no `Host` header.
    HostMissing = "host-missing" => Usage;
    /// The host of an HTTP request is not allowed.
    HostRefused = "host-refused" => Usage;
    /// The HTTP server cannot listen on its address.
    HttpListen = "http-listen" => Usage;
    /// The HTTP server would be reachable without a token.
    HttpOpen = "http-open" => Usage;
    /// An abbreviated identifier has several matches.
    IdAmbiguous = "id-ambiguous" => NotFound;
    /// An identifier is malformed.
    IdInvalid = "id-invalid" => Usage;
    /// Stored content does not match its identifier.
    Integrity = "integrity" => Integrity;
    /// The server failed to handle an HTTP request.
    Internal = "internal" => Usage;
    /// The process of a run ended before the run did.
    Interrupted = "interrupted" => Usage;
    /// A key is malformed.
    KeyInvalid = "key-invalid" => Usage;
    /// A secret key needs its password.
    KeyLocked = "key-locked" => Usage;
    /// A key of the key-value storage is too long or malformed.
    KvKey = "kv-key" => Usage;
    /// The key-value storage needs a store.
    KvNoStore = "kv-no-store" => Usage;
    /// The key-value storage is not granted.
    KvNotGranted = "kv-not-granted" => Usage;
    /// The key-value storage of the tool exceeds its quota.
    KvQuota = "kv-quota" => Usage;
    /// A transaction of the key-value storage has too many changes.
    KvTooMany = "kv-too-many" => Usage;
    /// A value of the key-value storage exceeds its limit.
    KvValueTooLarge = "kv-value-too-large" => Usage;
    /// A limit is outside of its range.
    LimitInvalid = "limit-invalid" => Usage;
    /// The filter of the log is malformed.
    LogFilterInvalid = "log-filter-invalid" => Usage;
    /// The end of an audit log is lost.
    LostEnd = "lost-end" => Usage;
    /// A message exceeds the limit of the server.
    MessageTooLarge = "message-too-large" => Usage;
    /// An HTTP request has an unsupported method.
    MethodNotAllowed = "method-not-allowed" => Usage;
    /// An HTTP request may not read the metrics.
    MetricsForbidden = "metrics-forbidden" => Usage;
    /// The mode of a new tool is unknown.
    ModeUnsupported = "mode-unsupported" => Usage;
    /// The name of a tool is malformed.
    NameInvalid = "name-invalid" => Usage;
    /// The name of a tool is missing.
    NameRequired = "name-required" => Usage;
    /// The name of a tool is reserved.
    NameReserved = "name-reserved" => Usage;
    /// Another tool has the name.
    NameTaken = "name-taken" => NotFound;
    /// The address of a network request is forbidden.
    NetAddress = "net-address" => Usage;
    /// The body of a network request or response exceeds its limit.
    NetBody = "net-body" => Usage;
    /// A network connection broke.
    NetBroken = "net-broken" => Usage;
    /// The content coding of a network response is unsupported.
    NetCoding = "net-coding" => Usage;
    /// A header of a network request or response is invalid.
    NetHeader = "net-header" => Usage;
    /// A network request is not granted.
    NetNotGranted = "net-not-granted" => Usage;
    /// The URL of a network request is outside of the granted range.
    NetRange = "net-range" => Usage;
    /// A redirect of a network request is refused.
    NetRedirect = "net-redirect" => Usage;
    /// The TLS handshake of a network request failed.
    NetTls = "net-tls" => Usage;
    /// The server of a network request is unreachable.
    NetUnreachable = "net-unreachable" => Usage;
    /// This build has no network access.
    NetUnsupported = "net-unsupported" => Usage;
    /// The URL of a network request is malformed.
    NetUrl = "net-url" => Usage;
    /// The image of the guest cannot be mapped.
    NoImage = "no-image" => Usage;
    /// An instance of the guest cannot be created.
    NoInstance = "no-instance" => Limit;
    /// The random numbers of the system are unavailable.
    NoRandom = "no-random" => Limit;
    /// A thread cannot be started.
    NoThreads = "no-threads" => Limit;
    /// A jailed worker cannot be started.
    NoWorker = "no-worker" => Usage;
    /// An HTTP client does not accept the response.
    NotAcceptable = "not-acceptable" => Usage;
    /// The approval of a plan or tool is missing.
    NotApproved = "not-approved" => Refused;
    /// A tool cannot be restored, because it is not deleted.
    NotDeleted = "not-deleted" => NotFound;
    /// The path of an HTTP request does not exist.
    NotFound = "not-found" => Usage;
    /// The server is not ready.
    NotReady = "not-ready" => Usage;
    /// A file is not trusted.
    NotTrusted = "not-trusted" => NotFound;
    /// The metadata of a tool is invalid.
    NotesInvalid = "notes-invalid" => Usage;
    /// A host call failed.
    OperationFailed = "operation-failed" => Usage;
    /// A host call is unknown or malformed.
    OperationInvalid = "operation-invalid" => Usage;
    /// A host call is not granted.
    OperationNotGranted = "operation-not-granted" => Usage;
    /// The result of a host call cannot be passed to the tool.
    OperationResult = "operation-result" => Usage;
    /// An allowed origin is malformed.
    OriginInvalid = "origin-invalid" => Usage;
    /// The origin of an HTTP request is not allowed.
    OriginRefused = "origin-refused" => Usage;
    /// A call used up its fuel.
    OutOfFuel = "out-of-fuel" => Usage;
    /// A call exceeded its memory limit.
    OutOfMemory = "out-of-memory" => Usage;
    /// The output of a call exceeds its limit.
    OutputTooLarge = "output-too-large" => Usage;
    /// The server has no room for an HTTP request.
    Overloaded = "overloaded" => Usage;
    /// Parameters or their definition are invalid.
    ParametersInvalid = "parameters-invalid" => Usage;
    /// Required parameters are missing.
    ParametersMissing = "parameters-missing" => Usage;
    /// A policy, a hook or a person refused the call.
    PermissionDenied = "permission-denied" => Refused;
    /// A digest is not one of a recorded plan.
    PlanUnknown = "plan-unknown" => NotFound;
    /// A policy file changed while it was edited.
    PolicyFileChanged = "policy-file-changed" => NotFound;
    /// A policy file is invalid.
    PolicyInvalid = "policy-invalid" => Usage;
    /// The name of a principal is malformed.
    PrincipalInvalid = "principal-invalid" => Usage;
    /// A profile has no samples.
    ProfileEmpty = "profile-empty" => Usage;
    /// A profile is malformed.
    ProfileInvalid = "profile-invalid" => Usage;
    /// Two profiles use different fuel models.
    ProfileModelMismatch = "profile-model-mismatch" => Usage;
    /// A principal sends too many requests.
    RateLimited = "rate-limited" => Usage;
    /// A receipt was changed.
    ReceiptChanged = "receipt-changed" => Integrity;
    /// A receipt belongs to another version of the engine.
    ReceiptEngine = "receipt-engine" => Refused;
    /// A receipt belongs to another version of the guest.
    ReceiptGuest = "receipt-guest" => Refused;
    /// A receipt is malformed.
    ReceiptInvalid = "receipt-invalid" => Usage;
    /// The toolbox has no key to sign receipts.
    ReceiptNoKey = "receipt-no-key" => Usage;
    /// The run of a receipt cannot be replayed.
    ReceiptNotRepeatable = "receipt-not-repeatable" => Refused;
    /// The run reads too much for a receipt.
    ReceiptTooLarge = "receipt-too-large" => Refused;
    /// A receipt has an unknown version.
    ReceiptVersion = "receipt-version" => Usage;
    /// A run record does not exist.
    RecordNotFound = "record-not-found" => NotFound;
    /// A request is malformed.
    RequestInvalid = "request-invalid" => Usage;
    /// An MCP resource does not exist.
    ResourceNotFound = "resource-not-found" => Usage;
    /// A hook withheld the result of a run.
    ResultWithheld = "result-withheld" => Refused;
    /// The file of root certificates is invalid.
    RootsInvalid = "roots-invalid" => Usage;
    /// The file of root certificates cannot be read.
    RootsUnreadable = "roots-unreadable" => Usage;
    /// The identifier of a run is malformed.
    RunInvalid = "run-invalid" => Usage;
    /// A run is not suspended.
    RunNotAsleep = "run-not-asleep" => NotFound;
    /// The analysis refused the source before its run.
    SafetyCheckFailed = "safety-check-failed" => Refused;
    /// The value of a secret is invalid.
    SecretInvalid = "secret-invalid" => Usage;
    /// A secret would be sent where it is not granted.
    SecretMisplaced = "secret-misplaced" => Usage;
    /// The value of a secret is not set.
    SecretMissing = "secret-missing" => Usage;
    /// A secret is not granted.
    SecretNotGranted = "secret-not-granted" => Usage;
    /// An MCP server died, answered too late or sent too much.
    ServerFailed = "server-failed" => ToolFailed;
    /// A tool of an MCP server returned something else than it declares.
    ServerResult = "server-result" => ToolFailed;
    /// The definition of a tool of an MCP server has changed since it was trusted.
    ServerToolChanged = "server-tool-changed" => Refused;
    /// A tool of an MCP server failed.
    ServerToolFailed = "server-tool-failed" => ToolFailed;
    /// The definition of a tool of an MCP server is not trusted yet.
    ServerToolNew = "server-tool-new" => Refused;
    /// An MCP server has no tool of this name, or several that have it in code.
    ServerToolUnknown = "server-tool-unknown" => NotFound;
    /// An MCP server wants other credentials, or that a person signs in.
    ServerUnauthorized = "server-unauthorized" => Refused;
    /// The policy defines no MCP server of this name.
    ServerUnknown = "server-unknown" => NotFound;
    /// An MCP server cannot be reached.
    ServerUnreachable = "server-unreachable" => ToolFailed;
    /// A tool of an MCP server is not granted.
    ServersNotGranted = "servers-not-granted" => Refused;
    /// This build cannot call MCP servers.
    ServersUnsupported = "servers-unsupported" => Usage;
    /// An MCP session does not exist.
    SessionUnknown = "session-unknown" => Usage;
    /// A store is the copy of a shared library, and was opened without it.
    SharedCopy = "shared-copy" => Refused;
    /// What nodes share is not what this node can work with.
    SharedInvalid = "shared-invalid" => Integrity;
    /// It is not known whether the shared library was changed.
    SharedUnknown = "shared-unknown" => Limit;
    /// The shared library cannot be reached.
    SharedUnreachable = "shared-unreachable" => Limit;
    /// The server is shutting down, and starts no call of a tool.
    ShuttingDown = "shutting-down" => Usage;
    /// A signature is malformed.
    SignatureInvalid = "signature-invalid" => Usage;
    /// A signature is missing.
    SignatureMissing = "signature-missing" => Usage;
    /// The key of a signature is not trusted.
    SignatureUntrusted = "signature-untrusted" => Refused;
    /// The source of a tool is empty, binary or not UTF-8.
    SourceInvalid = "source-invalid" => Usage;
    /// The source of a tool is nested too deeply.
    SourceTooDeep = "source-too-deep" => Usage;
    /// The source of a tool exceeds its limit.
    SourceTooLarge = "source-too-large" => Usage;
    /// A call overflowed its stack.
    StackOverflow = "stack-overflow" => Usage;
    /// A call waits for a promise that never settles.
    Stalled = "stalled" => Usage;
    /// The request state of an MCP client is invalid.
    StateInvalid = "state-invalid" => Usage;
    /// The status of a tool does not allow the change.
    StatusIllegal = "status-illegal" => NotFound;
    /// A step of the history does not exist.
    StepNotFound = "step-not-found" => NotFound;
    /// Another process uses the store.
    StoreBusy = "store-busy" => Limit;
    /// A directory is not a store.
    StoreInvalid = "store-invalid" => NotFound;
    /// A newer version wrote the store.
    StoreNewer = "store-newer" => Usage;
    /// An older version wrote the store, and it is opened read-only.
    StoreOlder = "store-older" => Usage;
    /// The store belongs to another user.
    StoreOwner = "store-owner" => Refused;
    /// The store is read-only.
    StoreReadOnly = "store-read-only" => Usage;
    /// A standard stream cannot be used.
    Stream = "stream" => Usage;
    /// The successor of a deprecated tool is invalid.
    SuccessorInvalid = "successor-invalid" => NotFound;
    /// The source of a tool has a syntax error.
    SyntaxError = "syntax-error" => Refused;
    /// The source of a tool uses unsupported syntax.
    SyntaxUnsupported = "syntax-unsupported" => Refused;
    /// The configuration of telemetry is invalid.
    TelemetryInvalid = "telemetry-invalid" => Usage;
    /// Telemetry is installed already.
    TelemetryTwice = "telemetry-twice" => Usage;
    /// A test does not exist.
    TestNotFound = "test-not-found" => NotFound;
    /// The ticket of a suspended run is unknown.
    TicketUnknown = "ticket-unknown" => Usage;
    /// A call exceeded its deadline.
    Timeout = "timeout" => Usage;
    /// A TLS configuration is unsupported.
    TlsUnsupported = "tls-unsupported" => Usage;
    /// A bearer token is malformed.
    TokenInvalid = "token-invalid" => Usage;
    /// A bearer token is too short.
    TokenShort = "token-short" => Usage;
    /// Two principals have the same bearer token.
    TokenTwice = "token-twice" => Usage;
    /// Other users can read the file of bearer tokens.
    TokensReadable = "tokens-readable" => Usage;
    /// A run is too large to be suspended.
    TooLargeToSleep = "too-large-to-sleep" => Limit;
    /// Too many invalid bearer tokens were sent.
    TooManyAttempts = "too-many-attempts" => Usage;
    /// A call made too many host calls.
    TooManyOperations = "too-many-operations" => Usage;
    /// Another tool has the same source.
    ToolDuplicate = "tool-duplicate" => Usage;
    /// A tool threw an error.
    ToolFailed = "tool-failed" => ToolFailed;
    /// The store has the maximum number of tools.
    ToolLimitReached = "tool-limit-reached" => Limit;
    /// A name and an identifier belong to different tools.
    ToolMismatch = "tool-mismatch" => NotFound;
    /// A source declares no tool.
    ToolMissing = "tool-missing" => Refused;
    /// A tool does not exist.
    ToolNotFound = "tool-not-found" => NotFound;
    /// The MCP server has no such tool.
    ToolUnknown = "tool-unknown" => Usage;
    /// A toolbox is closed, or belongs to another process.
    ToolboxClosed = "toolbox-closed" => Usage;
    /// A call of another tool is not granted.
    ToolsNotGranted = "tools-not-granted" => Usage;
    /// Calls of other tools are nested too deeply.
    ToolsTooDeep = "tools-too-deep" => Usage;
    /// A file cannot be trusted, because other users can change it.
    TrustUnsafe = "trust-unsafe" => Refused;
    /// An HTTP request has no valid bearer token.
    Unauthorized = "unauthorized" => Usage;
    /// The arguments of a command are invalid.
    Usage = "usage" => Usage;
    /// The result of a tool is not of the type that its caller reads it as.
    ValueMismatch = "value-mismatch" => Usage;
    /// A version of a tool does not exist.
    VersionNotFound = "version-not-found" => NotFound;
    /// A jailed worker died.
    WorkerDied = "worker-died" => Usage;
}

impl ErrorCode {
    /// Whether the tool itself is at fault: it threw, or exceeded a limit. A cancelled or refused
    /// call, or a failure of the engine, says nothing about the tool.
    #[must_use]
    pub const fn is_tool_fault(self) -> bool {
        matches!(self, Self::ToolFailed) || self.is_limit_of_a_call()
    }

    /// Whether a call that ends with this code exceeded a limit, or waits for a promise that never
    /// settles. Cancellation and bugs of Toolcell are excluded.
    #[must_use]
    const fn is_limit_of_a_call(self) -> bool {
        matches!(
            self,
            Self::OutOfFuel
                | Self::Timeout
                | Self::OutOfMemory
                | Self::StackOverflow
                | Self::OutputTooLarge
                | Self::ConsoleTooLarge
                | Self::TooManyOperations
                | Self::Stalled
        )
    }

    /// Returns the title of the code, without the details of a single case. The Japanese titles are
    /// those of the contract, to the letter.
    ///
    /// # Examples
    /// ```
    /// use toolcell_error::ErrorCode;
    /// use toolcell_i18n::Lang;
    ///
    /// assert_eq!(ErrorCode::Timeout.title(Lang::Ja), Some("実行タイムアウト"));
    /// assert_eq!(ErrorCode::Timeout.title(Lang::En), Some("execution timed out"));
    /// assert_eq!(ErrorCode::Timeout.title(Lang::Zh), Some("执行超时"));
    /// assert_eq!(ErrorCode::Usage.title(Lang::En), None);
    /// ```
    #[must_use]
    pub fn title(self, lang: Lang) -> Option<&'static str> {
        // Another message may have the same text in English.
        let title = match self {
            Self::NameRequired => tr!(lang, "title" => "a name is required"),
            Self::NameInvalid => tr!(lang, "title" => "invalid name"),
            Self::ToolLimitReached => tr!(lang, "title" => "the limit of tools is reached"),
            Self::CriticalRisk => tr!(lang, "title" => "a critical security risk was found"),
            Self::ToolNotFound => tr!(lang, "title" => "tool not found"),
            Self::ParametersMissing => tr!(lang, "title" => "required parameters are missing"),
            Self::ParametersInvalid => tr!(lang, "title" => "invalid parameters"),
            Self::PermissionDenied => tr!(lang, "title" => "permission denied"),
            Self::ResultWithheld => tr!(lang, "title" => "the result is withheld"),
            Self::ConfirmRequired => tr!(lang, "title" => "to delete, say confirm: true"),
            Self::Timeout => tr!(lang, "title" => "execution timed out"),
            Self::OutOfFuel => tr!(lang, "title" => "out of fuel"),
            Self::OutOfMemory => tr!(lang, "title" => "out of memory"),
            Self::OutputTooLarge => tr!(lang, "title" => "the output is too large"),
            Self::Stalled => tr!(lang, "title" => "a promise never settles"),
            Self::Cancelled => tr!(lang, "title" => "execution was cancelled"),
            Self::ToolFailed => tr!(lang, "title" => "the tool failed"),
            Self::SyntaxError => tr!(lang, "title" => "syntax error"),
            Self::SyntaxUnsupported => tr!(lang, "title" => "unsupported syntax"),
            Self::SafetyCheckFailed => tr!(lang, "title" => "safety check failed"),
            Self::Integrity => tr!(lang, "title" => "the content does not match its identifier"),
            Self::ConsoleTooLarge => tr!(lang, "title" => "the console output is too large"),
            Self::TooManyOperations => tr!(lang, "title" => "too many operations at once"),
            Self::StackOverflow => tr!(lang, "title" => "stack overflow"),
            Self::Crashed => tr!(lang, "title" => "internal engine error"),
            Self::WorkerDied => tr!(lang, "title" => "the worker died"),
            Self::NoWorker => tr!(lang, "title" => "the jail is unavailable"),
            _ => return None,
        };
        Some(title)
    }

    /// Whether the message of such an error quotes only the client's input or its tool's messages,
    /// and nothing of the host.
    #[must_use]
    pub const fn quotes_only_the_client(self) -> bool {
        matches!(
            self,
            Self::CriticalRisk
                | Self::NameInvalid
                | Self::NameRequired
                | Self::ParametersInvalid
                | Self::RequestInvalid
                | Self::ResourceNotFound
                | Self::SyntaxError
                | Self::SyntaxUnsupported
                | Self::ToolFailed
                | Self::ToolNotFound
                | Self::ToolUnknown
        )
    }
}

/// A text is not the code of an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the code of an error")]
pub struct UnknownErrorCode(String);

impl FromStr for ErrorCode {
    type Err = UnknownErrorCode;

    fn from_str(text: &str) -> Result<Self, UnknownErrorCode> {
        Self::parse(text).ok_or_else(|| UnknownErrorCode(text.to_owned()))
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl AsRef<str> for ErrorCode {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl From<ErrorCode> for &'static str {
    fn from(code: ErrorCode) -> Self {
        code.as_str()
    }
}

impl From<ErrorCode> for String {
    fn from(code: ErrorCode) -> Self {
        code.as_str().to_owned()
    }
}

impl From<ErrorCode> for Cow<'static, str> {
    fn from(code: ErrorCode) -> Self {
        Cow::Borrowed(code.as_str())
    }
}

impl PartialEq<str> for ErrorCode {
    fn eq(&self, text: &str) -> bool {
        self.as_str() == text
    }
}

impl PartialEq<&str> for ErrorCode {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == *text
    }
}

impl PartialEq<ErrorCode> for str {
    fn eq(&self, code: &ErrorCode) -> bool {
        self == code.as_str()
    }
}

impl PartialEq<ErrorCode> for &str {
    fn eq(&self, code: &ErrorCode) -> bool {
        *self == code.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_each_code_is_its_name_in_words() {
        for code in ErrorCode::ALL {
            let mut words = String::new();
            for letter in format!("{code:?}").chars() {
                if letter.is_uppercase() && !words.is_empty() {
                    words.push('-');
                }
                words.extend(letter.to_lowercase());
            }
            assert_eq!(code.as_str(), words);
        }
    }

    #[test]
    fn codes_are_sorted_and_parse_back() {
        assert!(ErrorCode::ALL.is_sorted_by_key(|code| code.as_str()));
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::parse(code.as_str()), Some(*code));
        }
        assert_eq!(ErrorCode::parse("tool-not-foun"), None);
        assert_eq!("x".parse::<ErrorCode>().unwrap_err().to_string(), "`x` is not the code of an error");
    }

    #[test]
    fn a_code_serialises_as_its_text() {
        assert_eq!(serde_json::to_string(&ErrorCode::NameTaken).unwrap(), "\"name-taken\"");
    }

    #[test]
    fn the_tool_is_at_fault_for_what_it_throws_and_exceeds() {
        let faults: Vec<_> =
            ErrorCode::ALL.iter().filter(|code| code.is_tool_fault()).map(|code| code.as_str()).collect();
        let expected = [
            "console-too-large",
            "out-of-fuel",
            "out-of-memory",
            "output-too-large",
            "stack-overflow",
            "stalled",
            "timeout",
            "too-many-operations",
            "tool-failed",
        ];
        assert_eq!(faults, expected);
    }

    /// An error whose type has one code and one hint.
    #[derive(Coded)]
    #[code(GrantInvalid)]
    #[hint("write grants as in a policy file")]
    struct GrantError;

    /// An error without hints.
    #[derive(Coded)]
    #[coded(no_hint)]
    enum ListError {
        #[code(FilterInvalid)]
        Filter,
        #[coded(transparent)]
        Grant(GrantError),
    }

    const RETRY: &str = "try again";

    /// An error with defaults for all variants.
    #[derive(Coded)]
    #[code(StoreBusy)]
    #[hint(RETRY)]
    enum StoreError {
        Locked,
        #[code(DiskFull)]
        Full,
        #[coded(transparent)]
        Grant {
            source: GrantError,
        },
    }

    #[test]
    fn the_derive_takes_codes_and_hints_from_the_type_and_its_variants() {
        assert_eq!(
            (GrantError.code(), GrantError.hint()),
            (ErrorCode::GrantInvalid, "write grants as in a policy file")
        );
        assert_eq!(ListError::Filter.code(), ErrorCode::FilterInvalid);
        assert_eq!(ListError::Grant(GrantError).code(), ErrorCode::GrantInvalid);
        assert_eq!((StoreError::Locked.code(), StoreError::Locked.hint()), (ErrorCode::StoreBusy, "try again"));
        assert_eq!((StoreError::Full.code(), StoreError::Full.hint()), (ErrorCode::DiskFull, "try again"));
        let grant = StoreError::Grant { source: GrantError };
        assert_eq!((grant.code(), grant.hint()), (GrantError.code(), GrantError.hint()));
    }
}
